//! A source that changes while a mirror streams from it.

use async_trait::async_trait;
use faucet_core::error::Result;
use faucet_core::mirror::{Existing, Mirror, Snapshot, run};
use faucet_core::model::Position;
use faucet_core::observe::Meter;
use faucet_core::pipeline::{Claiming, Limits, Stop};
use faucet_core::ports::{Bookmark, Capture, Covered, Difference, Discovered, Finding, Look, Survey, Weight};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::QUICK;
use crate::world::{Piece, World};

/// A source that is another from look to look.
#[derive(Clone)]
struct Changing {
    world: World,
    /// What each look finds, from the last to the first.
    looks: Arc<Mutex<Vec<Vec<Difference>>>>,
    known: Arc<Mutex<Vec<Option<Covered>>>>,
}

impl Changing {
    fn new(world: &World, looks: &[&[Difference]]) -> Self {
        let looks = looks.iter().rev().map(|found| found.to_vec()).collect();
        Self { world: world.clone(), looks: Arc::new(Mutex::new(looks)), known: Arc::default() }
    }

    fn looked(&self) -> usize {
        self.known.lock().unwrap().len()
    }
}

#[async_trait]
impl Survey for Changing {
    async fn look(&mut self, known: Option<&Covered>, _: Option<&Value>) -> Result<Look> {
        let mut looks = self.known.lock().unwrap();
        looks.push(known.cloned());
        let now = Covered { table: None, record: json!(looks.len()) };
        Ok(Look { now, findings: self.looks.lock().unwrap().pop().unwrap_or_default() })
    }
}

#[async_trait]
impl Capture for Changing {
    async fn capture(&mut self) -> Result<Bookmark> {
        self.world.capture().await
    }

    fn position(&self, bookmark: &Bookmark) -> Result<Position> {
        self.world.position(bookmark)
    }

    async fn discover(&mut self) -> Result<Vec<Discovered>> {
        Ok(vec![])
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        Some(Box::new(self.clone()))
    }

    async fn examine(&mut self, _: Option<&Bookmark>) -> Result<Vec<Finding>> {
        Ok(vec![])
    }

    async fn release(&mut self) -> Result<bool> {
        Ok(true)
    }
}

fn mirror(capture: &Changing, stream: &World, meter: &Arc<Meter>) -> Mirror {
    let snapshot = World::query(&[Piece::Transaction(1)]);
    Mirror {
        name: "m".into(),
        capture: Box::new(capture.clone()),
        snapshot: Snapshot { rows: Arc::new(snapshot), destination: String::new(), shards: None, concurrency: 1 },
        stream: Arc::new(stream.clone()),
        store: Arc::new(stream.clone()),
        continuous: true,
        tokens: false,
        claiming: Claiming::No,
        meter: meter.clone(),
        limits: Limits::default(),
        existing: Existing::Refuse,
        retry: QUICK,
    }
}

fn arrived() -> Difference {
    Difference::new(Weight::Arrived, "a came")
}

#[tokio::test(start_paused = true)]
async fn a_running_stream_is_looked_after_every_minute() {
    let stream = World::new(&[Piece::Silence]);
    let gone = Difference::new(Weight::Missed, "g went");
    // Before and after the capture; before the snapshot what came will be read; at the start of the stream nothing; a minute
    // later both.
    let capture = Changing::new(&stream, &[&[], &[], &[arrived(), gone], &[], &[arrived()]]);
    let (meter, stop) = (Arc::new(Meter::default()), Stop::default());
    let (ended, ()) = tokio::join!(run(mirror(&capture, &stream, &meter), &stop), async {
        while capture.looked() < 4 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_secs(59)).await;
        assert_eq!((capture.looked(), meter.reading().resync_required), (4, true));
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(capture.looked(), 5);
        stop.drain();
    });
    ended.unwrap();
    let marker = stream.with(|s| s.state["m::__replication__"].clone());
    assert_eq!(marker["stage"], "cdc");
    assert_eq!(marker["resync_required"], json!(["g went", "a came"]));
    assert_eq!(marker["covered"]["record"], 5);
    let known: Vec<Option<Value>> = capture.known.lock().unwrap().iter().map(|k| Some(k.clone()?.record)).collect();
    assert_eq!(known, [None, Some(json!(1)), Some(json!(2)), Some(json!(3)), Some(json!(4))]);
}

#[tokio::test(start_paused = true)]
async fn what_is_another_table_ends_the_stream_and_every_later_start() {
    let stream = World::new(&[Piece::Silence]);
    let other = Difference::new(Weight::Refused, "t is another table");
    let capture =
        Changing::new(&stream, &[&[], &[], &[], &[], std::slice::from_ref(&other), std::slice::from_ref(&other)]);
    let meter = Arc::new(Meter::default());
    let stop = Stop::default();
    for looks in [5, 6] {
        let error = run(mirror(&capture, &stream, &meter), &stop).await.unwrap_err();
        assert_eq!((error.code().id, capture.looked()), ("mirror.source_changed", looks));
        assert!(error.hint_text().is_some_and(|hint| hint.contains("mirror --replace")));
    }
    let marker = stream.with(|s| s.state["m::__replication__"].clone());
    assert_eq!(marker["resync_required"], json!(["t is another table"]), "{marker}");
    assert_eq!(marker["covered"]["record"], 4, "what is refused is not recorded as the new truth");
}

#[tokio::test]
async fn a_source_that_changes_while_its_position_is_captured_is_refused() {
    let stream = World::new(&[Piece::Transaction(1)]);
    for weight in [Weight::Refused, Weight::Missed] {
        let capture = Changing::new(&stream, &[&[], &[Difference::new(weight, "it changed")]]);
        let error = run(mirror(&capture, &stream, &Arc::default()), &Stop::default()).await.unwrap_err();
        assert_eq!(error.code().id, "mirror.source_changed");
        assert!(stream.with(|s| s.state.is_empty()), "nothing is recorded");
    }
    let capture = Changing::new(&stream, &[&[Difference::new(Weight::Misread("mend it"), "wrong query")]]);
    let error = run(mirror(&capture, &stream, &Arc::default()), &Stop::default()).await.unwrap_err();
    assert_eq!((error.code().id, stream.with(|s| s.captures)), ("mirror.query_differs", 2), "before anything is made");
}
