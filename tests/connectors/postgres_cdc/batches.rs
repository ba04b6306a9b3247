//! How transactions become batches.

use super::{Fixture, changes, last_bookmark};
use faucet_core::ports::{Batch, Boundary};
use serde_json::json;

#[test]
fn small_transactions_share_a_batch() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    for id in 0..50 {
        fixture.sql(&format!("INSERT INTO t VALUES ({id})"));
    }
    let batches = fixture.open().drain();
    let full: Vec<&Batch> = batches.iter().filter(|b| b.rows() > 0).collect();
    assert!(full.len() <= 3, "50 commits came in {} batches", full.len());
    assert_eq!(batches.iter().map(Batch::rows).sum::<usize>(), 50);
}

#[test]
fn a_large_transaction_comes_in_bounded_pieces() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, pad text)");
    fixture.capture();
    fixture.sql("INSERT INTO t SELECT i, repeat('x', 2000) FROM generate_series(1, 40000) i");
    fixture.sql("INSERT INTO t VALUES (0, 'after')");
    let mut stream = fixture.open();
    let (mut pieces, mut rows, mut most) = (0, 0, 0);
    loop {
        let batch = stream.next().unwrap();
        rows += batch.rows();
        most = most.max(batch.size_bytes());
        if batch.boundary != Boundary::Inside {
            break;
        }
        pieces += 1;
    }
    assert!(pieces >= 8, "80 MB came in {pieces} pieces");
    assert!(most < 12 * 1024 * 1024, "a batch of {most} bytes");
    // The batch that ends the transaction holds nothing of the next.
    assert_eq!(rows, 40_000);
    assert_eq!(changes(&stream.next().unwrap()), ["c t id=0 pad=after"]);
}

#[test]
fn pages_have_no_more_rows_than_asked() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(json!({"batch_size": 100}));
    fixture.capture();
    for _ in 0..5 {
        fixture.sql("INSERT INTO t SELECT i FROM generate_series((SELECT count(*) FROM t)::int, (SELECT count(*) FROM t)::int + 69) i");
    }
    let batches = fixture.open().drain();
    assert!(batches.iter().flat_map(|b| &b.pages).all(|p| p.rows() <= 100));
    assert!(batches.iter().all(|b| b.boundary != Boundary::Inside), "a transaction of 70 was cut");
    assert_eq!(batches.iter().map(Batch::rows).sum::<usize>(), 350);
}

#[test]
fn a_row_larger_than_a_batch_is_delivered() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, big text)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, repeat('x', 20000000)), (2, 'y')");
    assert_eq!(fixture.open().changes(), ["c t id=1 big=xxxxxxxx..(20000000)", "c t id=2 big=y"]);
}

#[test]
fn a_cycle_ends_at_the_first_boundary_after_so_many_changes() {
    let fixture =
        Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(json!({"max_messages": 3, "idle_timeout": "60s"}));
    fixture.capture();
    for id in [0, 10, 20] {
        fixture.sql(&format!("INSERT INTO t VALUES ({id}), ({id} + 1)"));
    }
    let mut stream = fixture.open();
    let batches = stream.drain();
    assert_eq!(batches.iter().map(Batch::rows).sum::<usize>(), 4);
    assert!(stream.next().is_none());
    stream.close();
    let rest = fixture.with(json!({"max_messages": 1})).resume(&last_bookmark(&batches)).changes();
    assert_eq!(rest, ["c t id=20", "c t id=21"]);
}

#[test]
fn a_cycle_ends_in_time_under_steady_writes() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)")
        .with(json!({"max_cycle_duration": "1s", "idle_timeout": "60s"}));
    fixture.capture();
    let mut stream = fixture.open();
    let client = fixture.client();
    let done = std::sync::atomic::AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut id = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                client.execute(&format!("INSERT INTO t VALUES ({id})"));
                id += 1;
            }
            id
        });
        let began = std::time::Instant::now();
        let batches = stream.drain();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
        assert!(batches.iter().all(|b| b.boundary != Boundary::Inside));
        stream.close();
        let written = writer.join().unwrap();
        (batches.iter().map(Batch::rows).sum::<usize>(), last_bookmark(&batches), written)
    });
    let (first, at, total) = written;
    assert!(first > 0);
    let rest: usize = fixture.resume(&at).drain().iter().map(Batch::rows).sum();
    assert_eq!(first + rest, total);
}
