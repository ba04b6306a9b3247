//! What [`faucet_core::ports::Source`] promises.

use std::task::Poll;

use async_trait::async_trait;
use faucet_core::ports::{Batch, Bookmark, Boundary, Source, SourceCapabilities};

use crate::rows::{Row, rows_of};

/// A place to read from, with rows `(0, "row 0")`, `(1, "row 1")` and so on, in that order.
#[async_trait]
pub trait Origin: Sized + Send + Sync {
    /// A place with that many rows, which come in several batches when there are more than a few.
    async fn new(rows: usize) -> Self;

    /// What the connector says it can do.
    fn capabilities(&self) -> SourceCapabilities;

    /// A new source on it.
    async fn open(&self, bookmark: Option<Bookmark>) -> faucet_core::error::Result<Box<dyn Source>>;
}

/// The test of every promise, for one origin.
macro_rules! source_suite {
    ($origin:ty) => {
        $crate::origins::source_suite!($origin;
            all_rows_come_once_and_in_order, nothing_is_lost_by_a_dropped_call, it_can_be_left_at_any_time,
            it_goes_on_exactly_after_a_bookmark, confirming_again_is_fine, pages_are_as_they_were_announced);
    };
    ($origin:ty; $($promise:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                $crate::origins::$promise::<$origin>().await;
            }
        )*
    };
}
pub(crate) use source_suite;

const MANY: usize = 2_500;

fn expected(rows: usize) -> Vec<Row> {
    (0..rows as i64).map(|id| (id, Some(format!("row {id}")))).collect()
}

fn rows(batches: &[Batch]) -> Vec<Row> {
    batches.iter().flat_map(|b| &b.pages).flat_map(rows_of).collect()
}

async fn drain(source: &mut dyn Source) -> Vec<Batch> {
    let mut batches = Vec::new();
    while let Some(batch) = source.next().await.expect("the source can be read") {
        batches.push(batch);
    }
    batches
}

/// Every row comes, once, in order; then the end, and the end again.
pub async fn all_rows_come_once_and_in_order<O: Origin>() {
    for count in [0, 1, MANY] {
        let origin = O::new(count).await;
        let mut source = origin.open(None).await.unwrap();
        let batches = drain(source.as_mut()).await;
        assert_eq!(rows(&batches), expected(count));
        let ends = batches.last().is_none_or(|batch| batch.boundary != Boundary::Inside);
        assert!(ends, "the last transaction was left open");
        assert_eq!(source.next().await.unwrap(), None);
        source.close().await.unwrap();
        let mut again = origin.open(None).await.unwrap();
        assert_eq!(rows(&drain(again.as_mut()).await), expected(count), "a second source sees the same");
    }
}

/// A call of `next` that is dropped before it returned loses nothing.
pub async fn nothing_is_lost_by_a_dropped_call<O: Origin>() {
    let origin = O::new(MANY).await;
    let mut source = origin.open(None).await.unwrap();
    let mut batches = Vec::new();
    loop {
        for _ in 0..3 {
            let mut next = source.next();
            let once = std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await;
            match once {
                Poll::Pending => {}
                Poll::Ready(Ok(Some(batch))) => batches.push(batch),
                Poll::Ready(other) => assert_eq!(other.unwrap(), None),
            }
        }
        match source.next().await.unwrap() {
            Some(batch) => batches.push(batch),
            None => break,
        }
    }
    assert_eq!(rows(&batches), expected(MANY));
}

/// A source is closed or dropped at any time, and closed twice.
pub async fn it_can_be_left_at_any_time<O: Origin>() {
    let origin = O::new(MANY).await;
    for batches in [0, 1, 2] {
        let mut closed = origin.open(None).await.unwrap();
        let mut dropped = origin.open(None).await.unwrap();
        for _ in 0..batches {
            closed.next().await.unwrap();
            dropped.next().await.unwrap();
        }
        closed.close().await.unwrap();
        closed.close().await.unwrap();
        drop(dropped);
    }
    let mut source = origin.open(None).await.unwrap();
    assert_eq!(rows(&drain(source.as_mut()).await), expected(MANY));
}

/// A replayable source has a bookmark at every commit, and one opened there continues exactly behind it.
pub async fn it_goes_on_exactly_after_a_bookmark<O: Origin>() {
    let origin = O::new(MANY).await;
    if !origin.capabilities().replayable {
        return;
    }
    let mut source = origin.open(None).await.unwrap();
    let batches = drain(source.as_mut()).await;
    assert!(batches.len() > 2, "too few batches to learn anything from");
    for (index, batch) in batches.iter().enumerate() {
        match &batch.boundary {
            Boundary::Inside => {}
            Boundary::Commit(None) => panic!("batch {index} ends a transaction without a bookmark"),
            Boundary::Commit(Some(bookmark)) => {
                let mut resumed = origin.open(Some(bookmark.clone())).await.unwrap();
                assert_eq!(rows(&drain(resumed.as_mut()).await), rows(&batches[index + 1..]));
            }
        }
    }
}

/// Confirming is cumulative and idempotent, and changes nothing for who reads on.
pub async fn confirming_again_is_fine<O: Origin>() {
    let origin = O::new(MANY).await;
    let mut source = origin.open(None).await.unwrap();
    let (mut batches, mut bookmarks) = (Vec::new(), Vec::new());
    while let Some(batch) = source.next().await.unwrap() {
        if let Boundary::Commit(Some(bookmark)) = &batch.boundary {
            bookmarks.push(bookmark.clone());
            // Not every one: losing a call costs nothing.
            if bookmarks.len() % 3 != 1 {
                source.confirm(bookmark).await.unwrap();
                source.confirm(bookmark).await.unwrap();
            }
        }
        batches.push(batch);
    }
    if let Some(last) = bookmarks.last() {
        source.confirm(last).await.unwrap();
    }
    assert_eq!(rows(&batches), expected(MANY));
    source.close().await.unwrap();
}

/// Pages carry changes where changes were announced, with positions that rise from row to row.
pub async fn pages_are_as_they_were_announced<O: Origin>() {
    let origin = O::new(MANY).await;
    let announced = origin.capabilities();
    let mut source = origin.open(None).await.unwrap();
    let mut last: Option<Vec<u8>> = None;
    for page in drain(source.as_mut()).await.iter().flat_map(|b| &b.pages) {
        assert_eq!(page.change().is_some(), announced.changes);
        for row in 0..page.rows() {
            let Some(change) = page.change() else { break };
            let position = change.positions.get(row);
            assert!(last.as_deref().is_none_or(|before| before < position), "a position does not rise");
            last = Some(position.to_vec());
        }
    }
}
