//! Change streams: a backlog of changes is drained into a table, next to PostgreSQL's own logical replication.
//!
//! The backlog is made once per workload, behind a slot that nobody reads; each run drains a copy of that slot. The
//! last change inserts a row with id 0: its arrival is the end of a run, on both sides. Both write to another database
//! of the same server, the twin: what is written to the source's own would be decoded with the backlog.

use std::time::Duration;

use faucet_tests::Client;
use faucet_tests::watchdog::signal;

use super::Bench;
use super::measure::{Run, Sample};
use super::report::{Compare, Outcome};
use super::server::DATABASE;
use super::tables::{faucet, with_log};
use crate::failure::{Failure, Result};

/// A backlog, and how it is drained.
struct Workload {
    id: &'static str,
    transactions: u32,
    changes_each: u32,
    delivery: &'static str,
}

const WORKLOADS: [Workload; 5] = [
    Workload { id: "c1", transactions: 500, changes_each: 1000, delivery: "at_least_once" },
    Workload { id: "c2", transactions: 500, changes_each: 1000, delivery: "exactly_once" },
    Workload { id: "c3", transactions: 20_000, changes_each: 10, delivery: "at_least_once" },
    Workload { id: "c4", transactions: 1, changes_each: 332_000, delivery: "at_least_once" },
    // Deletes end where the 200,000 first rows do: some 5,000,000 changes.
    Workload { id: "c5", transactions: 1, changes_each: 5_400_000, delivery: "at_least_once" },
];

/// The database that is written to. The tables of native subscriptions have the names of the source's.
pub const TWIN: &str = "bench_twin";

/// No stream needs more memory, whatever the size of its transactions.
const MOST_MIB: f64 = 128.0;

/// No run takes longer.
const LIMIT_S: f64 = 900.0;

/// Drains the backlog of workload `id`, in turn with a native subscription.
pub fn drain(bench: &mut Bench, id: &str) -> Result<Outcome> {
    let workload = WORKLOADS.iter().find(|w| w.id == id).ok_or_else(|| Failure::new(format!("no workload {id}")))?;
    prepare(bench, workload)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 1..=bench.runs {
        theirs.push(native(bench, workload).map_err(|e| Failure::new(format!("{id}, subscription: {e}")))?);
        ours.push(through_faucet(bench, workload).map_err(|e| Failure::new(format!("{id}: {e}")))?);
        let (a, b) = (ours[ours.len() - 1], theirs[theirs.len() - 1]);
        println!("{id} {run}/{}: {:.2} s, {:.2} s CPU; subscription: {:.2} s", bench.runs, a.wall_s, a.cpu_s, b.wall_s);
    }
    bench.server.execute(&format!("SELECT pg_drop_replication_slot('{id}')"))?;
    Ok(Outcome::new(id, "CREATE SUBSCRIPTION", Compare::Everything, &ours, &theirs))
}

/// Makes the database that is written to, once.
pub fn prepare_twin(bench: &Bench) -> Result<()> {
    match bench.server.value(&format!("SELECT count(*) FROM pg_database WHERE datname = '{TWIN}'"))?.as_str() {
        "0" => bench.server.execute(&format!("CREATE DATABASE {TWIN}")),
        _ => Ok(()),
    }
}

fn prepare(bench: &Bench, workload: &Workload) -> Result<()> {
    let server = &bench.server;
    println!("{}: {} transactions of {} changes", workload.id, workload.transactions, workload.changes_each);
    prepare_twin(bench)?;
    if server.value("SELECT count(*) FROM pg_proc WHERE proname = 'make_changes'")? == "0" {
        server.execute(include_str!("../../../tests/bench/changes.sql"))?;
    }
    let (id, transactions, each) = (workload.id, workload.transactions, workload.changes_each);
    server.execute(&format!("SELECT prepare_source('{id}')"))?;
    server.execute(&format!("SELECT pg_create_logical_replication_slot('{id}', 'pgoutput')"))?;
    server.execute(&format!("CALL make_changes('{id}', {transactions}, {each})"))?;
    // Both start with the same rows, copied once and kept.
    let script = format!(
        "pg_dump --schema-only --table {id} --no-publications {DATABASE} | psql -qX {TWIN} >/dev/null
         psql -qXc 'CREATE TABLE IF NOT EXISTS changes_base (LIKE {id}); TRUNCATE changes_base;
                    CREATE TABLE IF NOT EXISTS changes_dst (LIKE {id} INCLUDING ALL)' {TWIN}
         psql -qXc 'COPY changes_base TO STDOUT (FORMAT binary)' {DATABASE} |
           psql -qXc 'COPY changes_base FROM STDIN (FORMAT binary)' {TWIN}"
    );
    crate::process::run(&mut server.script(&script, DATABASE))
}

/// A copy of the backlog's slot, for one run.
fn copy_slot(bench: &Bench, workload: &Workload) -> Result<String> {
    let slot = format!("{}_run", workload.id);
    bench.server.execute(&format!("SELECT pg_copy_logical_replication_slot('{}', '{slot}')", workload.id))?;
    Ok(slot)
}

/// Drops it once the reader has let go of it.
pub fn drop_slot(bench: &Bench, slot: &str) -> Result<()> {
    let sql = format!("SELECT pg_drop_replication_slot('{slot}')");
    let dropped = || bench.server.execute(&sql).map_err(|e| e.to_string());
    faucet_tests::wait::try_eventually(Duration::from_secs(20), dropped).map_err(Failure::new)
}

/// Waits for the last row of the backlog.
fn wait_for_end(client: &Client, table: &str, mut check: impl FnMut() -> Result<f64>) -> Result<()> {
    let sql = format!("SELECT 1 FROM {table} WHERE id = 0");
    loop {
        if !client.try_rows(&sql)?.is_empty() {
            return Ok(());
        }
        if check()? > LIMIT_S {
            return Err(Failure::new(format!("not drained after {LIMIT_S} s")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn same(bench: &Bench, source: &str, client: &Client, destination: &str) -> Result<()> {
    let sums = |table: &str| {
        format!(
            "SELECT ROW(count(*), sum(id), sum(qty), sum(price), sum(hashtext(note)), max(updated_at))::text FROM {table}"
        )
    };
    let wanted = bench.server.value(&sums(source))?;
    let found = client.try_rows(&sums(destination))?.into_iter().next().and_then(|r| r.into_iter().next()).flatten();
    if found.as_deref() == Some(&wanted) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the result is wrong\n  source      {wanted}\n  destination {}",
        found.unwrap_or_default()
    )))
}

fn through_faucet(bench: &Bench, workload: &Workload) -> Result<Sample> {
    let server = &bench.server;
    let twin = Client::try_connect(&server.url(TWIN))?;
    twin.try_execute("TRUNCATE changes_dst; INSERT INTO changes_dst SELECT * FROM changes_base")?;
    // An earlier run's token would say that all of this is here already.
    twin.try_execute("DROP TABLE IF EXISTS _faucet_commit_token")?;
    let slot = copy_slot(bench, workload)?;
    let state = bench.folder.join("state");
    if state.exists() {
        std::fs::remove_dir_all(&state)?;
    }
    let folder = state.display().to_string();
    let config = configuration(workload.id, workload.delivery, &slot, "changes_dst", &folder);
    let mut command = faucet(bench, "run", workload.id, &config)?;
    let run = Run::start(&mut command, server)?;
    let outcome = wait_for_end(&twin, "changes_dst", || run.check().map(|()| run.elapsed()));
    let wall_s = run.elapsed();
    outcome.map_err(|e| with_log(bench, workload.id, &e))?;
    signal(run.pid().unwrap_or_default(), "TERM");
    let sample = run.finish().map_err(|e| with_log(bench, workload.id, &e))?;
    same(bench, workload.id, &twin, "changes_dst")?;
    if sample.rss_mib > MOST_MIB {
        return Err(Failure::new(format!("it took {:.0} MiB of memory, and {MOST_MIB} are enough", sample.rss_mib)));
    }
    drop_slot(bench, &slot)?;
    Ok(Sample { wall_s, ..sample })
}

/// A pipeline that writes the changes of publication `id` into `table`.
pub fn configuration(id: &str, delivery: &str, slot: &str, table: &str, state: &str) -> String {
    format!(
        r#"version: 1
name: bench_{id}
delivery: {delivery}
pipeline:
  source:
    type: postgres-cdc
    config:
      connection_url: "${{env:BENCH_URL}}"
      slot_name: {slot}
      publication_name: {id}
      idle_timeout: 600
  transforms:
    - {{ type: cdc_unwrap, config: {{}} }}
  sink:
    type: postgres
    config:
      connection_url: "${{env:BENCH_TWIN_URL}}"
      table_name: {table}
      column_mapping: auto_map
      write_mode: upsert
      key: [id]
      delete_marker: {{ field: __op, values: [d] }}
  state: {{ type: file, config: {{ path: {state} }} }}
"#
    )
}

/// The same backlog through a subscription of the same server. All its CPU is the server's.
fn native(bench: &Bench, workload: &Workload) -> Result<Sample> {
    let (server, id) = (&bench.server, workload.id);
    let twin = Client::try_connect(&server.url(TWIN))?;
    twin.try_execute(&format!("TRUNCATE {id}; INSERT INTO {id} SELECT * FROM changes_base"))?;
    let slot = copy_slot(bench, workload)?;
    server.settle()?;
    let (before, start) = (server.cpu_s(), std::time::Instant::now());
    subscribe(bench, &twin, id, &slot)?;
    wait_for_end(&twin, id, || Ok(start.elapsed().as_secs_f64()))?;
    let sample =
        Sample { wall_s: start.elapsed().as_secs_f64(), pg_cpu_s: server.cpu_s() - before, ..Sample::default() };
    same(bench, id, &twin, id)?;
    unsubscribe(&twin)?;
    drop_slot(bench, &slot)?;
    Ok(sample)
}

/// Starts a subscription of the twin that reads `slot`.
pub fn subscribe(bench: &Bench, twin: &Client, publication: &str, slot: &str) -> Result<()> {
    Ok(twin.try_execute(&format!(
        "CREATE SUBSCRIPTION bench CONNECTION '{}' PUBLICATION {publication} \
         WITH (create_slot = false, copy_data = false, slot_name = '{slot}')",
        bench.server.url(DATABASE)
    ))?)
}

/// Ends it; the slot stays.
pub fn unsubscribe(twin: &Client) -> Result<()> {
    for step in [
        "ALTER SUBSCRIPTION bench DISABLE",
        "ALTER SUBSCRIPTION bench SET (slot_name = NONE)",
        "DROP SUBSCRIPTION bench",
    ] {
        twin.try_execute(step)?;
    }
    Ok(())
}
