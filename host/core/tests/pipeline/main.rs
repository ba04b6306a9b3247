//! The pipeline and the mirror's driver over in-memory ports: order of durability, draining, trying again.
#![allow(missing_docs, clippy::unwrap_used)]

mod mirror;
mod parts;
mod survey;
mod world;

use faucet_core::StateKey;
use faucet_core::error::Result;
use faucet_core::observe::{Meter, Phase};
use faucet_core::pipeline::ack::Keeper;
use faucet_core::pipeline::{Claiming, Ended, Limits, Repeatable, RetryPolicy, Stop, Terms, run};
use std::sync::Arc;
use std::time::Duration;
use world::{Entry, Piece, World};

const RESUMES: Repeatable = Repeatable { resumes: true, absorbs: false };
const NOTHING: Repeatable = Repeatable { resumes: false, absorbs: false };
const QUICK: RetryPolicy = RetryPolicy {
    max_attempts: Some(3),
    initial_backoff: Duration::from_millis(1),
    max_backoff: Duration::from_millis(2),
};

fn terms(world: &World, tokens: bool) -> Terms {
    Terms {
        keeper: Some(Keeper { store: Arc::new(world.clone()), key: StateKey::row("p", "default") }),
        tokens,
        claiming: Claiming::No,
        phase: Phase::Copying,
        page_failpoint: "none",
        meter: Arc::new(Meter::default()),
        limits: Limits { channel_bytes: 1 << 20, commit_bytes: 1 << 20 },
    }
}

async fn go(world: &World, repeatable: Repeatable, tokens: bool) -> Result<Ended> {
    run(world, &terms(world, tokens), repeatable, QUICK, &Stop::default()).await
}

/// A1 and A2: no bookmark is stored before its rows are durable, none is confirmed before it is stored.
fn assert_order(world: &World) {
    let rows_at = |bookmark: u64| {
        let before = World { script: Arc::new(world.script[..bookmark as usize].to_vec()), ..world.clone() };
        before.all_rows().len() as i64
    };
    let (mut durable, mut stored) = (0, 0);
    for entry in world.journal() {
        match entry {
            Entry::Sink(rows) => durable = rows,
            Entry::State(at) => {
                assert!(rows_at(at) <= durable, "A1: {at} stored with {durable} rows durable");
                stored = at;
            }
            Entry::Upstream(at) => assert!(at <= stored, "A2: {at} confirmed with {stored} stored"),
            Entry::Letters | Entry::Finished | Entry::Closed => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sink_then_state_then_upstream() {
    let world = World::new(&[Piece::Transaction(3), Piece::Idle, Piece::Part(2), Piece::Transaction(2), Piece::Idle]);
    assert_eq!(go(&world, RESUMES, false).await.unwrap(), Ended::Exhausted);
    assert_order(&world);
    assert_eq!(world.with(|s| s.rows.clone()), world.all_rows());
    assert_eq!(world.with(|s| s.pruned_to), 5, "the last position is confirmed before the source is closed");
    assert_eq!(world.journal().last(), Some(&Entry::Closed));
}

#[tokio::test]
async fn what_was_read_before_a_fault_is_settled_and_the_rest_comes_once() {
    let world = World::new(&[Piece::Transaction(2), Piece::Part(1), Piece::Fault, Piece::Transaction(3)]);
    assert_eq!(go(&world, RESUMES, false).await.unwrap(), Ended::Exhausted);
    assert_order(&world);
    assert_eq!(world.with(|s| s.rows.clone()), world.all_rows(), "no row is missing and none came twice");
    assert_eq!(world.with(|s| s.opened_at.clone()), [0, 1], "the unfinished transaction is read again from its start");
}

#[tokio::test]
async fn a_failing_sink_is_reported_and_nothing_of_its_transaction_counts() {
    let world = World::new(&[Piece::Transaction(2), Piece::Part(2), Piece::Transaction(2)]);
    world.with(|s| s.sink_fails_at = Some(4));
    let error = go(&world, RESUMES, false).await.unwrap_err();
    assert_eq!(error.code().id, "test.broken");
    assert_order(&world);
    assert_eq!(world.with(|s| s.rows.clone()), [0, 1]);
    assert_eq!(world.with(|s| s.pruned_to), 1);
}

#[tokio::test]
async fn a_query_that_committed_rows_is_not_tried_again_unless_that_is_harmless() {
    let script = [Piece::Transaction(2), Piece::Fault, Piece::Transaction(1)];
    let appending = World::query(&script);
    assert_eq!(go(&appending, NOTHING, false).await.unwrap_err().code().id, "test.flaky");
    assert_eq!(appending.with(|s| s.rows.clone()), [0, 1]);

    let early = World::query(&[Piece::Fault, Piece::Transaction(1)]);
    assert_eq!(go(&early, NOTHING, false).await.unwrap(), Ended::Exhausted);

    let absorbing = World::query(&script);
    go(&absorbing, Repeatable { resumes: false, absorbs: true }, false).await.unwrap();
    assert_eq!(absorbing.with(|s| s.rows.clone()), [0, 1, 0, 1, 2], "it starts over and the sink absorbs it");
    assert!(absorbing.journal().contains(&Entry::Finished));
}

#[tokio::test]
async fn attempts_end() {
    let world = World::new(&[Piece::Fault, Piece::Fault, Piece::Fault, Piece::Fault, Piece::Transaction(1)]);
    world.with(|s| s.faults_left = 40);
    assert_eq!(go(&world, RESUMES, false).await.unwrap_err().code().id, "test.flaky");
    assert_eq!(world.with(|s| s.opened_at.len()), 3);
}

#[tokio::test]
async fn a_stop_drains_to_the_last_boundary_and_confirms_it() {
    let world = World::new(&[Piece::Transaction(2), Piece::Part(2), Piece::Silence]);
    let (stop, terms) = (Stop::default(), terms(&world, false));
    let (ended, ()) = tokio::join!(run(&world, &terms, RESUMES, QUICK, &stop), async {
        while world.with(|s| s.pruned_to) < 1 {
            tokio::task::yield_now().await;
        }
        stop.drain();
    });
    assert_eq!(ended.unwrap(), Ended::Stopped);
    assert_order(&world);
    assert_eq!(world.with(|s| s.rows.clone()), [0, 1], "an unfinished transaction is not committed");
    assert!(!world.journal().contains(&Entry::Finished), "a stop is not the source's end");
}

#[tokio::test]
async fn an_abort_ends_at_once() {
    let world = World::new(&[Piece::Silence]);
    let (stop, terms) = (Stop::default(), terms(&world, false));
    let (ended, ()) = tokio::join!(run(&world, &terms, RESUMES, QUICK, &stop), async { stop.abort() });
    assert_eq!(ended.unwrap(), Ended::Stopped);
}

#[tokio::test]
async fn small_commits_are_settled_together() {
    let world = World::new(&[Piece::Transaction(1); 300]);
    go(&world, RESUMES, false).await.unwrap();
    assert_order(&world);
    assert_eq!(world.with(|s| s.rows.clone()), world.all_rows());
    let commits = world.journal().iter().filter(|e| matches!(e, Entry::Sink(_))).count();
    assert!(commits < 200, "{commits} commits for 300 small transactions");
    let writes = world.with(|s| s.writes);
    assert!(writes < 200, "{writes} pages written for 300 small transactions");
}

#[tokio::test]
async fn the_parts_of_a_large_transaction_are_written_before_its_end() {
    // Rows that gather are bounded by `commit_bytes`, though nothing of the transaction may be committed yet (P1).
    let world = World::new(&[Piece::Part(100), Piece::Part(100), Piece::Part(100), Piece::Silence]);
    let (stop, mut terms) = (Stop::default(), terms(&world, false));
    terms.limits = Limits { channel_bytes: 1 << 10, commit_bytes: 1 << 10 };
    let (ended, ()) = tokio::join!(run(&world, &terms, RESUMES, QUICK, &stop), async {
        while world.with(|s| s.writes) < 3 {
            tokio::task::yield_now().await;
        }
        stop.drain();
    });
    assert_eq!(ended.unwrap(), Ended::Stopped);
    assert_eq!(world.with(|s| s.rows.len()), 0, "an unfinished transaction is not committed");
}

#[tokio::test]
async fn rows_that_cannot_be_written_are_in_the_queue_before_a_bookmark_passes_them() {
    let world = World::new(&[Piece::Transaction(3), Piece::Transaction(3), Piece::Transaction(3)]);
    world.with(|s| (s.most_letters, s.rejects, s.refuses) = (Some(3), vec![1, 7], vec![5]));
    // The first letters are written, and the state store fails: the rows come again, and so do the letters.
    world.with(|s| s.state_fails = 1);
    go(&world, RESUMES, false).await.unwrap();
    let of = |stage: &str, id| (stage.to_owned(), id);
    let mut letters = world.with(|s| s.letters.clone());
    letters.sort();
    letters.dedup();
    assert_eq!(letters, [of("picky", 1), of("picky", 7), of("sink", 5)]);
    let mut rows = world.with(|s| s.rows.clone());
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows, [0, 2, 3, 4, 6, 8]);
    // L1: between two bookmarks that pass a letter, letters were made durable.
    let journal = world.journal();
    let first = journal.iter().position(|e| matches!(e, Entry::State(_))).unwrap();
    assert!(journal[..first].contains(&Entry::Letters), "{journal:?}");
}

#[tokio::test]
async fn too_many_letters_end_the_run_before_its_bookmark() {
    let world = World::new(&[Piece::Transaction(3)]);
    world.with(|s| (s.most_letters, s.refuses) = (Some(1), vec![0, 1]));
    assert_eq!(go(&world, RESUMES, false).await.unwrap_err().code().id, "dlq.too_many_rows");
    assert_eq!(world.with(|s| s.letters.len()), 2, "they say why");
    assert_eq!(world.with(|s| s.pruned_to), 0);
}

#[tokio::test]
async fn without_a_queue_a_rejected_row_stops_the_run() {
    let world = World::new(&[Piece::Transaction(3)]);
    world.with(|s| s.rejects = vec![1]);
    assert_eq!(go(&world, RESUMES, false).await.unwrap_err().code().id, "pipeline.rows_rejected");
    assert_eq!(world.with(|s| s.rows.len()), 0);
}

#[tokio::test]
async fn tokens_close_the_window_between_sink_and_state() {
    // The sink commits, the state store fails: without tokens those rows come twice.
    let script = [Piece::Transaction(2), Piece::Idle, Piece::Transaction(3)];
    let without = World::new(&script);
    without.with(|s| s.state_fails = 1);
    go(&without, RESUMES, false).await.unwrap();
    assert_ne!(without.with(|s| s.rows.clone()), without.all_rows(), "this is the window");

    let with = World::new(&script);
    with.with(|s| s.state_fails = 1);
    go(&with, RESUMES, true).await.unwrap();
    assert_order(&with);
    assert_eq!(with.with(|s| s.rows.clone()), with.all_rows());
}
