//! Partitions that change while a mirror streams.

use async_trait::async_trait;
use faucet_core::error::Result;
use faucet_core::mirror::{Mirror, Snapshot, run};
use faucet_core::model::Position;
use faucet_core::observe::Meter;
use faucet_core::pipeline::{Limits, Stop};
use faucet_core::ports::{
    Bookmark, Capture, Discovered, Finding, Partition, PartitionChange, PartitionSet, Partitions,
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::QUICK;
use crate::world::{Piece, World};

/// A source whose partitions change from look to look.
#[derive(Clone)]
struct Changing {
    world: World,
    /// What each look finds, from the last to the first.
    looks: Arc<Mutex<Vec<Vec<PartitionChange>>>>,
    known: Arc<Mutex<Vec<Option<PartitionSet>>>>,
}

#[async_trait]
impl Partitions for Changing {
    async fn look(&mut self, known: Option<&PartitionSet>) -> Result<(PartitionSet, Vec<PartitionChange>)> {
        let mut looks = self.known.lock().unwrap();
        looks.push(known.cloned());
        let now = (1..=looks.len() as u32)
            .map(|n| (n, Partition { name: format!("p{n}"), file: Some(n), held: true }))
            .collect();
        Ok((now, self.looks.lock().unwrap().pop().unwrap_or_default()))
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

    fn partitions(&self) -> Option<Box<dyn Partitions>> {
        Some(Box::new(self.clone()))
    }

    async fn examine(&mut self, _: Option<&Bookmark>) -> Result<Vec<Finding>> {
        Ok(vec![])
    }

    async fn release(&mut self) -> Result<bool> {
        Ok(true)
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_stream_is_looked_after_every_minute() {
    let (snapshot, stream) = (World::query(&[Piece::Transaction(1)]), World::new(&[Piece::Silence]));
    let (attached, gone) = (PartitionChange::Attached("a".into()), PartitionChange::Gone("g".into()));
    // Before the snapshot what is attached will be read; at the start of the stream nothing; a minute later both.
    let looks = vec![vec![attached.clone(), gone], vec![], vec![attached]];
    let capture = Changing { world: stream.clone(), looks: Arc::new(Mutex::new(looks)), known: Arc::default() };
    let meter = Arc::new(Meter::default());
    let mirror = Mirror {
        name: "m".into(),
        capture: Box::new(capture.clone()),
        snapshot: Snapshot {
            rows: Arc::new(snapshot.clone()),
            destination: String::new(),
            shards: None,
            concurrency: 1,
        },
        stream: Arc::new(stream.clone()),
        store: Arc::new(stream.clone()),
        continuous: true,
        tokens: false,
        meter: meter.clone(),
        limits: Limits::default(),
        retry: QUICK,
    };
    let stop = Stop::default();
    let looked = || capture.known.lock().unwrap().len();
    let (ended, ()) = tokio::join!(run(mirror, &stop), async {
        while looked() < 2 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_secs(59)).await;
        assert_eq!((looked(), meter.reading().resync_required), (2, false));
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!((looked(), meter.reading().resync_required), (3, true));
        stop.drain();
    });
    ended.unwrap();
    let marker = stream.with(|s| s.state["m::__replication__"].clone());
    assert_eq!(marker["stage"], "cdc");
    assert_eq!(marker["resync_required"].as_array().map(Vec::len), Some(2), "{marker}");
    assert_eq!(marker["partitions"]["3"], json!({"name": "p3", "file": 3, "held": true}));
    let known = capture.known.lock().unwrap();
    assert_eq!(known[0], None, "the first look has nothing to compare with");
    assert_eq!(known[1].as_ref().map(PartitionSet::len), Some(1), "the end of the snapshot keeps what is known");
}
