//! A snapshot that is read in parts: what is recorded, what is read again, and how many parts run at once.

use async_trait::async_trait;
use faucet_core::error::Result;
use faucet_core::mirror::{Existing, Mirror, Rows, Snapshot, run};
use faucet_core::observe::Meter;
use faucet_core::pipeline::{Claiming, Ended, Limits, Recipe, Stop};
use faucet_core::ports::{Part, Parts, Split, Wanted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::QUICK;
use crate::world::{Piece, World};

/// One world for each part. The plan is a number; stamps count the runs.
#[derive(Clone)]
struct Parted {
    parts: Vec<World>,
    plan: Arc<Mutex<u32>>,
    wanted: Arc<Mutex<Vec<Wanted>>>,
}

impl Parted {
    fn new(parts: &[&[Piece]]) -> Self {
        let parts = parts.iter().map(|script| World::query(script)).collect();
        Self { parts, plan: Arc::new(Mutex::new(1)), wanted: Arc::default() }
    }

    fn rows(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.with(|s| s.rows.len())).collect()
    }

    /// The parts that had been finished at the last start, with their stamps.
    fn finished_before(&self) -> Vec<(u32, Value)> {
        let wanted = self.wanted.lock().unwrap();
        let earlier = wanted.last().and_then(|wanted| wanted.earlier.clone());
        earlier.map(|earlier| earlier.finished.into_iter().collect()).unwrap_or_default()
    }
}

#[async_trait]
impl Split for Parted {
    async fn plan(&mut self, wanted: Wanted) -> Result<Parts> {
        let mut runs = self.wanted.lock().unwrap();
        runs.push(wanted);
        let parts = (0..self.parts.len() as u32).map(|number| Part { number, spec: number.into() }).collect();
        Ok(Parts { plan: json!(*self.plan.lock().unwrap()), stamp: runs.len().into(), parts, rows: Some(12) })
    }

    async fn close(&mut self) {}
}

impl Rows for Parted {
    fn split(&self) -> Option<Box<dyn Split>> {
        Some(Box::new(self.clone()))
    }

    fn recipe(&self, part: Option<Value>) -> Arc<dyn Recipe> {
        let number = part.and_then(|part| part.as_u64()).expect("every part has a number");
        Arc::new(self.parts[number as usize].clone())
    }
}

fn mirror(parts: &Parted, stream: &World, concurrency: u32) -> Mirror {
    Mirror {
        name: "m".into(),
        capture: Box::new(stream.clone()),
        snapshot: Snapshot { rows: Arc::new(parts.clone()), destination: "d".into(), shards: None, concurrency },
        stream: Arc::new(stream.clone()),
        store: Arc::new(stream.clone()),
        continuous: false,
        tokens: false,
        claiming: Claiming::No,
        meter: Arc::new(Meter::default()),
        limits: Limits::default(),
        existing: Existing::Refuse,
        retry: QUICK,
    }
}

async fn once(parts: &Parted, stream: &World, concurrency: u32) -> Result<Ended> {
    run(mirror(parts, stream, concurrency), &Stop::default()).await
}

fn marker(stream: &World) -> Value {
    stream.with(|s| s.state["m::__replication__"].clone())
}

const ROWS: &[Piece] = &[Piece::Transaction(2), Piece::Transaction(1)];

#[tokio::test]
async fn finished_parts_are_recorded_and_handed_to_the_next_run() {
    let (parts, stream) = (Parted::new(&[ROWS, ROWS, ROWS]), World::new(&[Piece::Idle]));
    parts.parts[1].with(|s| s.sink_fails_at = Some(2));
    let error = once(&parts, &stream, 1).await.unwrap_err();
    assert!(error.contexts().iter().any(|context| context.contains("part 2 of 3")), "{error:?}");
    let finished = json!({"plan": 1, "destination": "d", "total": 3, "finished": {"0": 1}});
    assert_eq!(marker(&stream), json!({"stage": "snapshot", "position": 0, "snapshot": finished}));
    assert_eq!(parts.rows()[2], 0, "no part starts after one failed");

    parts.parts[1].with(|s| s.sink_fails_at = None);
    once(&parts, &stream, 1).await.unwrap();
    assert_eq!(parts.finished_before(), [(0, json!(1))]);
    assert_eq!(marker(&stream), json!({"stage": "cdc", "position": 0}), "what is done needs no parts");
    assert_eq!(stream.with(|s| s.captures), 1);
}

#[tokio::test]
async fn another_plan_forgets_what_was_finished() {
    let (parts, stream) = (Parted::new(&[ROWS, ROWS, ROWS]), World::new(&[]));
    parts.parts[2].with(|s| s.sink_fails_at = Some(0));
    once(&parts, &stream, 1).await.unwrap_err();
    assert_eq!(marker(&stream)["snapshot"]["finished"], json!({"0": 1, "1": 1}));
    *parts.plan.lock().unwrap() = 2;
    parts.parts[1].with(|s| s.sink_fails_at = Some(0));
    once(&parts, &stream, 1).await.unwrap_err();
    assert_eq!(marker(&stream)["snapshot"], json!({"plan": 2, "destination": "d", "total": 3, "finished": {"0": 2}}));
}

#[tokio::test]
async fn other_transforms_or_another_sink_forget_what_was_finished() {
    let (parts, stream) = (Parted::new(&[ROWS, ROWS, ROWS]), World::new(&[Piece::Idle]));
    parts.parts[2].with(|s| s.sink_fails_at = Some(0));
    once(&parts, &stream, 1).await.unwrap_err();
    assert_eq!(marker(&stream)["snapshot"]["finished"], json!({"0": 1, "1": 1}));
    parts.parts[2].with(|s| s.sink_fails_at = None);
    let mut elsewhere = mirror(&parts, &stream, 1);
    elsewhere.snapshot.destination = "another".into();
    run(elsewhere, &Stop::default()).await.unwrap();
    assert_eq!(parts.finished_before(), [], "all is read again");
}

#[tokio::test]
async fn a_part_is_not_recorded_before_its_rows_are_durable() {
    let (parts, stream) = (Parted::new(&[ROWS]), World::new(&[]));
    // The marker of the join point is the first state written, the one of the part the third.
    stream.with(|s| s.state_fails = 0);
    parts.parts[0].with(|s| s.sink_fails_at = Some(2));
    once(&parts, &stream, 1).await.unwrap_err();
    assert_eq!(parts.rows(), [2], "the last row is not durable");
    assert!(marker(&stream).get("snapshot").is_none());
}

#[tokio::test]
async fn the_first_part_prepares_the_destination_alone() {
    // An empty part prepares nothing, so the next one is alone, too.
    let (parts, stream) = (Parted::new(&[&[], ROWS, &[Piece::Silence], &[Piece::Silence]]), World::new(&[]));
    let stop = Stop::default();
    let opened = |n: usize| parts.parts[n].with(|s| s.opened_at.len());
    let (ended, ()) = tokio::join!(run(mirror(&parts, &stream, 2), &stop), async {
        while opened(3) == 0 {
            assert!(opened(2) == 0 || parts.rows()[1] > 0, "a second part runs before anything is durable");
            tokio::task::yield_now().await;
        }
        stop.drain();
    });
    assert_eq!(ended.unwrap(), Ended::Stopped);
    assert_eq!(marker(&stream)["snapshot"]["finished"], json!({"0": 1, "1": 1}));
}

#[tokio::test]
async fn no_more_parts_run_at_once_than_asked_for() {
    let silent: &[Piece] = &[Piece::Transaction(1), Piece::Silence];
    let (parts, stream) = (Parted::new(&[ROWS, silent, silent, silent, ROWS]), World::new(&[]));
    let stop = Stop::default();
    let (ended, ()) = tokio::join!(run(mirror(&parts, &stream, 3), &stop), async {
        while parts.rows()[1..4] != [1, 1, 1] {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        stop.drain();
    });
    assert_eq!(ended.unwrap(), Ended::Stopped, "what is left is read by the next run");
    assert_eq!(parts.parts[4].with(|s| s.opened_at.len()), 0);
}
