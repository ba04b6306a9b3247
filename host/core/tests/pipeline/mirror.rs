//! The mirror's driver: what it stores, in which order, and where it resumes.

use faucet_core::error::Result;
use faucet_core::mirror::{Existing, Mirror, Snapshot, run};
use faucet_core::observe::Meter;
use faucet_core::pipeline::{Claiming, Ended, Limits, Stop};
use serde_json::json;
use std::sync::Arc;

use crate::QUICK;
use crate::world::{Piece, World};

fn mirror(snapshot: &World, stream: &World, continuous: bool) -> Mirror {
    Mirror {
        name: "m".into(),
        capture: Box::new(stream.clone()),
        snapshot: Snapshot {
            rows: Arc::new(snapshot.clone()),
            destination: String::new(),
            shards: None,
            concurrency: 1,
        },
        stream: Arc::new(stream.clone()),
        store: Arc::new(stream.clone()),
        continuous,
        tokens: false,
        claiming: Claiming::No,
        meter: Arc::new(Meter::default()),
        limits: Limits::default(),
        existing: Existing::Refuse,
        retry: QUICK,
    }
}

async fn once(snapshot: &World, stream: &World) -> Result<Ended> {
    run(mirror(snapshot, stream, false), &Stop::default()).await
}

#[tokio::test]
async fn a_fresh_mirror_captures_snapshots_and_streams() {
    let (snapshot, stream) =
        (World::query(&[Piece::Transaction(4)]), World::new(&[Piece::Transaction(2), Piece::Idle]));
    assert_eq!(once(&snapshot, &stream).await.unwrap(), Ended::Exhausted);
    assert_eq!(snapshot.with(|s| s.rows.clone()), [0, 1, 2, 3]);
    assert_eq!(stream.with(|s| s.rows.clone()), [0, 1]);
    assert_eq!(stream.with(|s| s.state["m::cdc"].clone()), json!({"bookmark": 2}));
    assert_eq!(stream.with(|s| s.state["m::__replication__"].clone()), json!({"stage": "cdc", "position": 0}));
    crate::assert_order(&stream);
}

#[tokio::test]
async fn a_failed_snapshot_is_redone_from_the_same_position() {
    let (snapshot, stream) = (World::query(&[Piece::Transaction(4)]), World::new(&[Piece::Transaction(2)]));
    snapshot.with(|s| s.sink_fails_at = Some(2));
    assert_eq!(once(&snapshot, &stream).await.unwrap_err().code().id, "test.broken");
    assert_eq!(stream.with(|s| s.state["m::__replication__"].clone()), json!({"stage": "snapshot", "position": 0}));
    assert_eq!(stream.with(|s| s.rows.len()), 0, "nothing is streamed before the snapshot is done");

    snapshot.with(|s| s.sink_fails_at = None);
    once(&snapshot, &stream).await.unwrap();
    assert_eq!(stream.with(|s| s.captures), 1, "the captured position is kept");
    assert_eq!(snapshot.with(|s| s.rows.clone()), [0, 1, 2, 3]);
}

#[tokio::test]
async fn a_finished_snapshot_is_not_read_again() {
    let (snapshot, stream) = (World::query(&[Piece::Transaction(1)]), World::new(&[Piece::Transaction(2)]));
    once(&snapshot, &stream).await.unwrap();
    once(&snapshot, &stream).await.unwrap();
    assert_eq!(snapshot.with(|s| s.opened_at.len()), 1);
    assert_eq!(stream.with(|s| s.opened_at.clone()), [0, 1], "it resumes where it was");
}

#[tokio::test]
async fn a_continuous_mirror_rides_out_faults_and_stops_when_asked() {
    let script =
        [Piece::Transaction(1), Piece::Fault, Piece::Transaction(1), Piece::Fault, Piece::Idle, Piece::Silence];
    let (snapshot, stream) = (World::query(&[Piece::Transaction(1)]), World::new(&script));
    let stop = Stop::default();
    let (ended, ()) = tokio::join!(run(mirror(&snapshot, &stream, true), &stop), async {
        while stream.with(|s| s.pruned_to) < 5 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        stop.drain();
    });
    assert_eq!(ended.unwrap(), Ended::Stopped);
    assert_eq!(stream.with(|s| s.rows.clone()), [0, 1], "each change once");
    crate::assert_order(&stream);
}

#[tokio::test]
async fn a_marker_without_its_bookmark_is_refused() {
    let (snapshot, stream) = (World::query(&[]), World::new(&[]));
    stream.with(|s| s.state.insert("m::__replication__".into(), json!({"stage": "cdc", "position": 7})));
    assert_eq!(once(&snapshot, &stream).await.unwrap_err().code().id, "mirror.bookmark_missing");
    stream.with(|s| s.state.insert("m::__replication__".into(), json!("cdc")));
    assert_eq!(once(&snapshot, &stream).await.unwrap_err().code().id, "mirror.not_a_marker");
}
