//! What [`faucet_core::ports::Sink`] promises.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use faucet_core::ports::{Sink, SinkCapabilities, WriteMode};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::rows::{Act, Row, acts, broken, every_kind, page, without_key};

/// A destination of its own, which can be opened as often as a test wants.
#[async_trait]
pub trait Destination: Sized + Send + Sync {
    /// An empty destination; `None` when it has no such mode. Under `upsert` the key is `id` and `__op` = `d` deletes.
    async fn new(mode: WriteMode) -> Option<Self>;

    /// What the connector says it can do.
    fn capabilities(&self) -> SinkCapabilities;

    /// A new sink on it.
    async fn open(&self) -> faucet_core::error::Result<Box<dyn Sink>>;

    /// The rows that somebody else sees there now, in any order.
    async fn rows(&self) -> Vec<Row>;
}

/// The test of every promise, for one destination.
macro_rules! sink_suite {
    ($destination:ty) => {
        $crate::sinks::sink_suite!($destination;
            committed_rows_stay, uncommitted_rows_go, nothing_is_seen_before_its_commit, a_failed_page_leaves_nothing,
            a_dropped_write_leaves_nothing, a_transaction_may_be_many_pages, an_empty_commit_does_nothing,
            closing_twice_is_fine, tokens_go_with_their_rows, tokens_are_refused_where_they_cant_be_kept,
            appending_keeps_what_is_there, overwriting_waits_for_the_end, upserts_converge, every_kind_is_taken);
    };
    ($destination:ty; $($promise:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                $crate::sinks::$promise::<$destination>().await;
            }
        )*
    };
}
pub(crate) use sink_suite;

const MODES: [WriteMode; 3] = [WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite];

/// The destinations in all their modes.
async fn all<D: Destination>() -> Vec<D> {
    let mut found = Vec::new();
    for mode in MODES {
        if let Some(destination) = D::new(mode).await {
            let said = destination.capabilities();
            assert_eq!(said.write_mode, mode);
            assert!(said.modes.contains(&mode), "{mode:?} is not among the modes it says it has");
            found.push(destination);
        }
    }
    assert!(!found.is_empty());
    found
}

async fn seen<D: Destination>(destination: &D) -> Vec<Row> {
    let mut rows = destination.rows().await;
    rows.sort();
    rows
}

fn expected(rows: &[(i64, &str)]) -> Vec<Row> {
    rows.iter().map(|(id, a)| (*id, Some((*a).to_owned()))).collect()
}

async fn open<D: Destination>(destination: &D) -> Box<dyn Sink> {
    destination.open().await.expect("the destination opens")
}

/// Writes, commits, finishes.
async fn put<D: Destination>(destination: &D, rows: &[(i64, &str)]) {
    let mut sink = open(destination).await;
    sink.write(page(rows)).await.expect("the page is written");
    sink.commit(None).await.expect("it is committed");
    sink.finish().await.expect("it is finished");
    sink.close().await.expect("it is closed");
}

/// `Ok` from a commit means durable: nothing else has to happen.
pub async fn committed_rows_stay<D: Destination>() {
    for destination in all::<D>().await {
        let mut sink = open(&destination).await;
        sink.write(page(&[(1, "x"), (2, "y")])).await.unwrap();
        sink.commit(None).await.unwrap();
        if destination.capabilities().write_mode == WriteMode::Overwrite {
            sink.finish().await.unwrap();
        }
        drop(sink);
        assert_eq!(seen(&destination).await, expected(&[(1, "x"), (2, "y")]));
        let sink = open(&destination).await;
        drop(sink);
        assert_eq!(seen(&destination).await, expected(&[(1, "x"), (2, "y")]), "opening changed something");
    }
}

/// What was not committed is gone when the sink is dropped or closed.
pub async fn uncommitted_rows_go<D: Destination>() {
    for destination in all::<D>().await {
        put(&destination, &[(1, "x")]).await;
        for close in [false, true] {
            let mut sink = open(&destination).await;
            sink.write(page(&[(2, "y")])).await.unwrap();
            if close {
                sink.close().await.unwrap();
            }
            drop(sink);
            assert_eq!(seen(&destination).await, expected(&[(1, "x")]), "closed: {close}");
        }
        let mut sink = open(&destination).await;
        sink.write(page(&[(1, "x"), (3, "z")])).await.unwrap();
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
        let rows = seen(&destination).await;
        assert!(!rows.contains(&(2, Some("y".into()))), "a dropped row came back: {rows:?}");
    }
}

/// A sink with transactions shows a commit's rows all at once.
pub async fn nothing_is_seen_before_its_commit<D: Destination>() {
    for destination in all::<D>().await {
        if !destination.capabilities().transactional {
            continue;
        }
        put(&destination, &[(1, "x")]).await;
        let mut sink = open(&destination).await;
        sink.write(page(&[(2, "y")])).await.unwrap();
        sink.write(page(&[(3, "z")])).await.unwrap();
        assert_eq!(seen(&destination).await, expected(&[(1, "x")]));
        sink.close().await.unwrap();
    }
}

/// A page is written whole or fails whole, and an error takes nothing with it that was committed.
pub async fn a_failed_page_leaves_nothing<D: Destination>() {
    for destination in all::<D>().await {
        put(&destination, &[(1, "x")]).await;
        let keyed = destination.capabilities().write_mode == WriteMode::Upsert;
        for bad in [Some(broken()), keyed.then(without_key)].into_iter().flatten() {
            let mut sink = open(&destination).await;
            sink.write(page(&[(1, "x"), (2, "y")])).await.unwrap();
            let error = sink.write(bad).await.expect_err("the page can't be written");
            assert!(error.hint_text().is_some(), "the error says not what to do: {error:?}");
            drop(sink);
            assert_eq!(seen(&destination).await, expected(&[(1, "x")]));
        }
        let mut sink = open(&destination).await;
        sink.write(page(&[(1, "x"), (5, "v")])).await.unwrap();
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
        assert!(seen(&destination).await.contains(&(5, Some("v".into()))), "it is usable again");
    }
}

/// A write that is given up in the middle is as if it had never begun, once the sink is dropped.
pub async fn a_dropped_write_leaves_nothing<D: Destination>() {
    for destination in all::<D>().await {
        put(&destination, &[(1, "x")]).await;
        let mut sink = open(&destination).await;
        let rows: Vec<(i64, &str)> = (2..20_000).map(|id| (id, "y")).collect();
        let given_up = tokio::time::timeout(Duration::from_micros(50), sink.write(page(&rows))).await;
        drop(given_up);
        drop(sink);
        assert_eq!(seen(&destination).await, expected(&[(1, "x")]));
        put(&destination, &[(1, "x")]).await;
    }
}

/// The pages between two commits are one transaction.
pub async fn a_transaction_may_be_many_pages<D: Destination>() {
    for destination in all::<D>().await {
        let mut sink = open(&destination).await;
        for id in 1..=50 {
            sink.write(page(&[(id, "x")])).await.unwrap();
        }
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
        assert_eq!(seen(&destination).await.len(), 50);
    }
}

/// A commit without rows and without a token does nothing.
pub async fn an_empty_commit_does_nothing<D: Destination>() {
    for destination in all::<D>().await {
        let mut sink = open(&destination).await;
        sink.commit(None).await.unwrap();
        sink.write(page(&[(1, "x")])).await.unwrap();
        sink.commit(None).await.unwrap();
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
        assert_eq!(seen(&destination).await, expected(&[(1, "x")]));
    }
}

/// Closing is idempotent.
pub async fn closing_twice_is_fine<D: Destination>() {
    for destination in all::<D>().await {
        let mut sink = open(&destination).await;
        sink.write(page(&[(1, "x")])).await.unwrap();
        sink.close().await.unwrap();
        sink.close().await.unwrap();
    }
}

/// A token is stored with its rows or not at all, under its own scope, and outlives the sink.
pub async fn tokens_go_with_their_rows<D: Destination>() {
    for destination in all::<D>().await {
        if !destination.capabilities().tokens {
            continue;
        }
        let mut sink = open(&destination).await;
        assert_eq!(sink.last_token("s").await.unwrap(), None);
        sink.write(page(&[(1, "x")])).await.unwrap();
        drop(sink);
        let mut sink = open(&destination).await;
        assert_eq!(sink.last_token("s").await.unwrap(), None);
        sink.write(page(&[(1, "x")])).await.unwrap();
        sink.commit(Some(("s", "1"))).await.unwrap();
        drop(sink);
        let mut sink = open(&destination).await;
        assert_eq!(sink.last_token("s").await.unwrap().as_deref(), Some("1"));
        assert_eq!(sink.last_token("other").await.unwrap(), None);
        sink.commit(Some(("s", "2"))).await.unwrap();
        sink.commit(Some(("other", "é \" ' \\"))).await.unwrap();
        drop(sink);
        let mut sink = open(&destination).await;
        assert_eq!(sink.last_token("s").await.unwrap().as_deref(), Some("2"));
        assert_eq!(sink.last_token("other").await.unwrap().as_deref(), Some("é \" ' \\"));
        assert_eq!(seen(&destination).await, expected(&[(1, "x")]));
    }
}

/// Where a token can't be kept, a commit that has one fails: to forget it would lose rows later.
pub async fn tokens_are_refused_where_they_cant_be_kept<D: Destination>() {
    for destination in all::<D>().await {
        if destination.capabilities().tokens {
            continue;
        }
        let mut sink = open(&destination).await;
        assert_eq!(sink.last_token("s").await.unwrap(), None);
        sink.write(page(&[(1, "x")])).await.unwrap();
        sink.commit(Some(("s", "1"))).await.expect_err("the token can't be kept");
        drop(sink);
        assert!(seen(&destination).await.is_empty());
    }
}

/// Append adds, also what is there already.
pub async fn appending_keeps_what_is_there<D: Destination>() {
    let Some(destination) = D::new(WriteMode::Append).await else { return };
    put(&destination, &[(1, "x")]).await;
    put(&destination, &[(1, "x"), (2, "y")]).await;
    assert_eq!(seen(&destination).await, expected(&[(1, "x"), (1, "x"), (2, "y")]));
}

/// The rows of a run replace all rows, when the run ends and not before, also when there are none.
pub async fn overwriting_waits_for_the_end<D: Destination>() {
    let Some(destination) = D::new(WriteMode::Overwrite).await else { return };
    put(&destination, &[(1, "x"), (2, "y")]).await;
    let mut given_up = open(&destination).await;
    given_up.write(page(&[(3, "z")])).await.unwrap();
    given_up.commit(None).await.unwrap();
    drop(given_up);
    assert_eq!(seen(&destination).await, expected(&[(1, "x"), (2, "y")]));
    let mut sink = open(&destination).await;
    for id in [4, 5] {
        sink.write(page(&[(id, "w")])).await.unwrap();
        sink.commit(None).await.unwrap();
        assert_eq!(seen(&destination).await, expected(&[(1, "x"), (2, "y")]));
    }
    sink.finish().await.unwrap();
    assert_eq!(seen(&destination).await, expected(&[(4, "w"), (5, "w")]));
    drop(sink);
    let mut empty = open(&destination).await;
    empty.finish().await.unwrap();
    assert!(seen(&destination).await.is_empty());
}

/// A step of a change stream.
#[derive(Debug, Clone)]
enum Step {
    Act(Act),
    Page,
    Commit,
    /// The sink is lost; the stream goes on from the last commit.
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let act = prop_oneof![
        4 => (0..6_i64, prop::sample::select(vec!["a", "b", ""])).prop_map(|(id, a)| Act::Put(id, a)),
        2 => (0..6_i64).prop_map(Act::Touch),
        2 => (0..6_i64).prop_map(Act::Delete),
    ];
    let step = prop_oneof![
        8 => act.prop_map(Step::Act),
        2 => Just(Step::Page),
        2 => Just(Step::Commit),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..60)
}

/// Upserts and deletes in their order end in the same rows, whatever pages and commits they come in, and whatever is
/// written again after a loss.
pub async fn upserts_converge<D: Destination>() {
    if D::new(WriteMode::Upsert).await.is_none() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    for _ in 0..24 {
        let steps = steps().new_tree(&mut runner).expect("the strategy has no filter").current();
        let destination = D::new(WriteMode::Upsert).await.expect("it has the mode");
        stream(&destination, &steps).await;
    }
}

async fn stream<D: Destination>(destination: &D, steps: &[Step]) {
    let mut sink = open(destination).await;
    let (mut rows, mut committed) = (BTreeMap::new(), BTreeMap::new());
    let mut waiting = Vec::new();
    for step in steps.iter().chain([&Step::Commit]) {
        match step {
            Step::Act(act) => {
                apply(&mut rows, act);
                waiting.push(act.clone());
            }
            Step::Page | Step::Commit => {
                if !waiting.is_empty() {
                    sink.write(acts(&std::mem::take(&mut waiting))).await.unwrap();
                }
                if let Step::Commit = step {
                    sink.commit(None).await.unwrap();
                    committed = rows.clone();
                }
            }
            Step::Crash => {
                waiting.clear();
                rows = committed.clone();
                drop(sink);
                sink = open(destination).await;
            }
        }
    }
    let expected: Vec<Row> = committed.into_iter().map(|(id, a)| (id, Some(a))).collect();
    assert_eq!(seen(destination).await, expected, "after {steps:?}");
}

fn apply(rows: &mut BTreeMap<i64, String>, act: &Act) {
    match act {
        Act::Put(id, a) => drop(rows.insert(*id, (*a).to_owned())),
        Act::Touch(_) => {}
        Act::Delete(id) => drop(rows.remove(id)),
    }
}

/// Values of every kind, nulls and absent slots are written without an error.
pub async fn every_kind_is_taken<D: Destination>() {
    for destination in all::<D>().await {
        let mut sink = open(&destination).await;
        sink.write(every_kind()).await.unwrap();
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
    }
}
