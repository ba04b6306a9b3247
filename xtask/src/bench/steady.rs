//! A steady load: 1,000 small transactions a second, and how long after its commit each row can be seen at the
//! destination.
//!
//! Writers insert rows of ascending ids, each in a transaction of its own, and note when their commits returned. A
//! reader asks the destination again and again for the highest id of each writer. Both use the clock of this process.

use std::thread;
use std::time::{Duration, Instant};

use faucet_tests::Client;
use faucet_tests::watchdog::signal;

use super::Bench;
use super::cdc::{self, TWIN};
use super::measure::{Run, Sample};
use super::report::{Compare, Outcome};
use super::server::DATABASE;
use super::tables::{faucet, with_log};
use crate::failure::{Failure, Result};

const WRITERS: i64 = 4;
/// Transactions of each writer, and how often it makes one.
const EACH: i64 = 2_500;
const EVERY: Duration = Duration::from_millis(4);
/// Ids of one writer start this far from those of the next.
const APART: i64 = 1_000_000;

/// Runs faucet and a native subscription in turn under the load. `wall_s` of a run is its 99th percentile.
pub fn steady(bench: &mut Bench) -> Result<Outcome> {
    prepare(bench)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 1..=bench.runs {
        theirs.push(native(bench)?);
        ours.push(through_faucet(bench)?);
        let shown =
            |(name, (p50, p99)): (&str, (f64, f64))| format!("{name}: half within {p50:.1} ms, 99 % {p99:.1} ms");
        let pair = [("faucet", ours[ours.len() - 1].1), ("subscription", theirs[theirs.len() - 1].1)];
        println!("steady {run}/{}: {}", bench.runs, pair.map(shown).join("; "));
    }
    let samples = |side: &[(Sample, (f64, f64))]| side.iter().map(|(sample, _)| *sample).collect::<Vec<_>>();
    let (p50, p99) =
        ours.iter().map(|(_, latency)| *latency).fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
    let outcome =
        Outcome::new("steady", "CREATE SUBSCRIPTION", Compare::Everything, &samples(&ours), &samples(&theirs));
    Ok(outcome.with_latency(p50, p99))
}

fn prepare(bench: &Bench) -> Result<()> {
    let server = &bench.server;
    cdc::prepare_twin(bench)?;
    let table = "CREATE TABLE IF NOT EXISTS steady (id bigint PRIMARY KEY, at timestamptz DEFAULT now(), note text)";
    server.execute(table)?;
    let twin = Client::try_connect(&server.url(TWIN))?;
    twin.try_execute(table)?;
    twin.try_execute(&table.replace("steady", "steady_dst"))?;
    if server.value("SELECT count(*) FROM pg_publication WHERE pubname = 'steady'")? == "0" {
        server.execute("CREATE PUBLICATION steady FOR TABLE steady")?;
    }
    Ok(())
}

fn through_faucet(bench: &Bench) -> Result<(Sample, (f64, f64))> {
    let server = &bench.server;
    Client::try_connect(&server.url(TWIN))?.try_execute("TRUNCATE steady_dst")?;
    fresh_slot(bench)?;
    let state = bench.folder.join("state");
    if state.exists() {
        std::fs::remove_dir_all(&state)?;
    }
    let config =
        cdc::configuration("steady", "at_least_once", "steady_run", "steady_dst", &state.display().to_string());
    let mut command = faucet(bench, "run", "steady", &config)?;
    let run = Run::start(&mut command, server)?;
    let watched = load(bench, "steady_dst").map_err(|e| with_log(bench, "steady", &e))?;
    signal(run.pid().unwrap_or_default(), "TERM");
    let sample = run.finish().map_err(|e| with_log(bench, "steady", &e))?;
    cdc::drop_slot(bench, "steady_run")?;
    Ok((Sample { wall_s: watched.1 / 1000.0, ..sample }, watched))
}

fn native(bench: &Bench) -> Result<(Sample, (f64, f64))> {
    let server = &bench.server;
    let twin = Client::try_connect(&server.url(TWIN))?;
    twin.try_execute("TRUNCATE steady")?;
    fresh_slot(bench)?;
    server.settle()?;
    let before = server.cpu_s();
    cdc::subscribe(bench, &twin, "steady", "steady_run")?;
    let watched = load(bench, "steady")?;
    let sample = Sample { wall_s: watched.1 / 1000.0, pg_cpu_s: server.cpu_s() - before, ..Sample::default() };
    cdc::unsubscribe(&twin)?;
    cdc::drop_slot(bench, "steady_run")?;
    Ok((sample, watched))
}

fn fresh_slot(bench: &Bench) -> Result<()> {
    bench.server.execute("TRUNCATE steady")?;
    bench.server.execute("SELECT pg_create_logical_replication_slot('steady_run', 'pgoutput')")
}

/// Writes the load and watches `table` of the twin; the median and the 99th percentile of the latency, in ms.
fn load(bench: &Bench, table: &str) -> Result<(f64, f64)> {
    // One row first: what starts up doesn't count.
    let reader = Client::try_connect(&bench.server.url(TWIN))?;
    bench.server.execute("INSERT INTO steady VALUES (-1)")?;
    let since = Instant::now();
    while reader.try_rows(&format!("SELECT FROM {table} WHERE id = -1"))?.is_empty() {
        if since.elapsed() > Duration::from_secs(60) {
            return Err(Failure::new("the first row never arrived"));
        }
        thread::sleep(Duration::from_millis(10));
    }
    let url = bench.server.url(DATABASE);
    let writers: Vec<_> = (0..WRITERS).map(|writer| (writer, url.clone())).collect();
    let writers: Vec<_> = writers.into_iter().map(|(n, url)| thread::spawn(move || write(&url, n * APART))).collect();
    let seen = watch(&reader, table)?;
    let mut latencies = Vec::new();
    for (writer, seen) in writers.into_iter().zip(seen) {
        let committed = writer.join().map_err(|_| Failure::new("a writer panicked"))??;
        latencies.extend(committed.iter().enumerate().map(|(id, at)| latency(&seen, id as i64, *at)));
    }
    latencies.sort_by(f64::total_cmp);
    let at = |share: usize| latencies[(latencies.len() - 1) * share / 100];
    Ok((at(50), at(99)))
}

/// When each of a writer's commits returned.
fn write(url: &str, first: i64) -> Result<Vec<Instant>> {
    let client = Client::try_connect(url)?;
    let start = Instant::now();
    let mut committed = Vec::new();
    for id in 0..EACH {
        let due = start + EVERY * u32::try_from(id).unwrap_or(u32::MAX);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        client.try_execute(&format!("INSERT INTO steady VALUES ({}, now(), 'steady as she goes')", first + id))?;
        committed.push(Instant::now());
    }
    Ok(committed)
}

/// For each writer, its highest id that was seen, and when the question was answered.
fn watch(reader: &Client, table: &str) -> Result<Vec<Vec<(i64, Instant)>>> {
    let highest = |writer: i64| {
        let (first, next) = (writer * APART, (writer + 1) * APART);
        format!("(SELECT COALESCE(max(id), {first} - 1) - {first} FROM {table} WHERE id >= {first} AND id < {next})")
    };
    let sql = format!("SELECT {}", (0..WRITERS).map(highest).collect::<Vec<_>>().join(", "));
    let mut seen = vec![Vec::new(); WRITERS as usize];
    let start = Instant::now();
    loop {
        let row = reader.try_rows(&sql)?.into_iter().next().unwrap_or_default();
        let now = Instant::now();
        let ids: Vec<i64> = row.into_iter().flatten().filter_map(|id| id.parse().ok()).collect();
        for (seen, id) in seen.iter_mut().zip(&ids) {
            if seen.last().is_none_or(|(last, _)| last < id) {
                seen.push((*id, now));
            }
        }
        if ids.iter().all(|id| *id == EACH - 1) {
            return Ok(seen);
        }
        if start.elapsed() > Duration::from_secs(120) {
            return Err(Failure::new("not all rows arrived within 120 s"));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Milliseconds from a commit to the first answer that had the row.
fn latency(seen: &[(i64, Instant)], id: i64, committed: Instant) -> f64 {
    let first = seen.partition_point(|(highest, _)| *highest < id);
    let at = seen.get(first).map_or(committed, |(_, at)| *at);
    at.saturating_duration_since(committed).as_secs_f64() * 1000.0
}
