//! Whole tables: PostgreSQL to PostgreSQL and to a file.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Bench;
use super::cdc::TWIN;
use super::measure::{self, Sample};
use super::report::{Compare, Outcome};
use super::server::DATABASE;
use crate::failure::{Failure, Result};
use crate::process;

/// Everything about a table that a copy must share, as one text.
const SUMS: &str = "count(*), sum(id), sum(customer_id::bigint), sum(hashtext(sku)), sum(qty), sum(price), \
                    sum(discount::numeric), count(*) FILTER (WHERE active), sum(hashtext(meta::text)), \
                    sum(extract(epoch FROM updated_at))";

/// Rows appended to an empty table, next to a binary COPY piped between two `psql`.
pub fn append(bench: &mut Bench) -> Result<Outcome> {
    let script =
        "psql -qXc 'COPY orders TO STDOUT (FORMAT binary)' | psql -qXc 'COPY orders_dst FROM STDIN (FORMAT binary)'";
    alternate(bench, "append", "psql COPY | psql COPY", Compare::Everything, |bench, ours| {
        empty(bench)?;
        let sample = if ours { pipeline(bench, "append", "", &sink("append")) } else { shell(bench, script) }?;
        copied(bench, "note")?;
        Ok(sample)
    })
}

/// faucet next to itself: how far apart two runs of the same thing are on this machine.
pub fn same(bench: &mut Bench) -> Result<Outcome> {
    alternate(bench, "a/a", "append", Compare::Process, |bench, _| {
        empty(bench)?;
        let sample = pipeline(bench, "append", "", &sink("append"))?;
        copied(bench, "note")?;
        Ok(sample)
    })
}

/// Rows appended, next to pgcopydb cloning the same table into a new database. Nothing where that isn't installed.
pub fn pgcopydb(bench: &mut Bench) -> Result<Option<Outcome>> {
    if process::which("pgcopydb").is_none() {
        println!("append_pgcopydb: left out, pgcopydb is not installed");
        return Ok(None);
    }
    let (folder, target) = (bench.folder.join("pgcopydb"), bench.server.url("bench_clone"));
    let filter = bench.folder.join("pgcopydb.ini");
    std::fs::write(&filter, "[include-only-table]\npublic.orders\n")?;
    let script = format!(
        "rm -rf '{0}'; pgcopydb clone --source '{1}' --target '{target}' --dir '{0}' --filters '{2}' \
         --table-jobs 1 --index-jobs 1 >'{0}.log' 2>&1",
        folder.display(),
        bench.server.url(DATABASE),
        filter.display()
    );
    let clone = |bench: &Bench| {
        bench.server.execute("DROP DATABASE IF EXISTS bench_clone")?;
        bench.server.execute("CREATE DATABASE bench_clone")?;
        shell(bench, &script)
    };
    alternate(bench, "append_pgcopydb", "pgcopydb clone", Compare::Everything, |bench, ours| {
        empty(bench)?;
        if ours { pipeline(bench, "append", "", &sink("append")) } else { clone(bench) }
    })
    .map(Some)
}

/// The same through the mask component, next to the same without it.
pub fn append_mask(bench: &mut Bench) -> Result<Outcome> {
    let transforms =
        "  transforms:\n    - { type: mask, config: { columns: { note: { method: partial, keep_last: 4 } } } }\n";
    let masked = "CASE WHEN length(note) > 4 THEN repeat('*', length(note) - 4) || right(note, 4) \
                  ELSE repeat('*', length(note)) END";
    alternate(bench, "append_mask", "append", Compare::Process, |bench, ours| {
        empty(bench)?;
        let sample = pipeline(bench, "append", if ours { transforms } else { "" }, &sink("append"))?;
        copied(bench, if ours { masked } else { "note" })?;
        Ok(sample)
    })
}

/// Rows upserted into an empty table, or (`again`) into one that has them all, next to a COPY into a temporary table and
/// one INSERT .. ON CONFLICT.
pub fn upsert(bench: &mut Bench, id: &str, again: bool) -> Result<Outcome> {
    let columns = ["customer_id", "sku", "qty", "price", "discount", "active", "note", "meta", "updated_at"];
    let set = columns.map(|c| format!("{c} = excluded.{c}")).join(", ");
    let script = format!(
        "psql -qXc 'COPY orders TO STDOUT (FORMAT binary)' | psql -qX -c 'CREATE TEMP TABLE stage (LIKE orders)' \
         -c 'COPY stage FROM STDIN (FORMAT binary)' \
         -c 'INSERT INTO orders_dst SELECT * FROM stage ON CONFLICT (id) DO UPDATE SET {set}'"
    );
    alternate(bench, id, "COPY to temp + INSERT ON CONFLICT", Compare::Everything, |bench, ours| {
        empty(bench)?;
        if again {
            bench.server.execute("INSERT INTO orders_dst SELECT * FROM orders")?;
        }
        let sample = if ours { pipeline(bench, "upsert", "", &sink("upsert")) } else { shell(bench, &script) }?;
        copied(bench, "note")?;
        Ok(sample)
    })
}

/// Rows as JSON lines in a file, next to `psql` writing what the server turns into JSON.
pub fn jsonl(bench: &mut Bench) -> Result<Outcome> {
    let file = bench.folder.join("orders.jsonl");
    let script = format!("psql -qXAtc 'COPY (SELECT row_to_json(o) FROM orders o) TO STDOUT' > '{}'", file.display());
    let sink = format!("{{ type: jsonl, config: {{ path: {} }} }}", file.display());
    alternate(bench, "jsonl", "psql COPY row_to_json > file", Compare::Everything, |bench, ours| {
        if file.exists() {
            std::fs::remove_file(&file)?;
        }
        let sample = if ours { pipeline(bench, "jsonl", "", &sink) } else { shell(bench, &script) }?;
        written(bench, &file)?;
        Ok(sample)
    })
}

/// Runs baseline and workload in turn. `side(bench, true)` is faucet.
fn alternate(
    bench: &mut Bench,
    id: &str,
    baseline: &str,
    compare: Compare,
    side: impl Fn(&Bench, bool) -> Result<Sample>,
) -> Result<Outcome> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 1..=bench.runs {
        theirs.push(side(bench, false).map_err(|e| Failure::new(format!("{id}, baseline: {e}")))?);
        ours.push(side(bench, true).map_err(|e| Failure::new(format!("{id}: {e}")))?);
        let (a, b) = (ours[ours.len() - 1], theirs[theirs.len() - 1]);
        println!("{id} {run}/{}: {:.2} s, {:.2} s CPU; {baseline}: {:.2} s", bench.runs, a.wall_s, a.cpu_s, b.wall_s);
    }
    Ok(Outcome::new(id, baseline, compare, &ours, &theirs))
}

fn empty(bench: &Bench) -> Result<()> {
    bench.server.execute("TRUNCATE orders_dst")
}

fn shell(bench: &Bench, script: &str) -> Result<Sample> {
    let mut command = bench.server.script(script, DATABASE);
    measure::process(command.stdin(Stdio::null()), &bench.server)
}

/// The part of a configuration that writes `orders_dst`.
fn sink(mode: &str) -> String {
    let key = if mode == "upsert" { ", key: [id]" } else { "" };
    format!(
        "{{ type: postgres, config: {{ connection_url: \"${{env:BENCH_URL}}\", table_name: orders_dst, \
         column_mapping: auto_map, write_mode: {mode}{key} }} }}"
    )
}

/// Runs `faucet run` on a pipeline that reads `orders`.
fn pipeline(bench: &Bench, name: &str, transforms: &str, sink: &str) -> Result<Sample> {
    let config = format!(
        "version: 1\nname: bench_{name}\npipeline:\n  source: {{ type: postgres, \
         config: {{ connection_url: \"${{env:BENCH_URL}}\", query: \"SELECT * FROM orders\" }} }}\n{transforms}  sink: {sink}\n"
    );
    let mut command = faucet(bench, "run", name, &config)?;
    measure::process(&mut command, &bench.server).map_err(|e| with_log(bench, name, &e))
}

/// The binary on a configuration written for it; its output goes to `NAME.log`.
pub fn faucet(bench: &Bench, verb: &str, name: &str, config: &str) -> Result<Command> {
    let path = bench.folder.join(format!("{name}.yaml"));
    std::fs::write(&path, config)?;
    let log = File::create(path.with_extension("log"))?;
    let mut command = Command::new(&bench.faucet);
    command.arg("--quiet").arg(verb).arg(&path).current_dir(&bench.folder);
    command.env("BENCH_URL", bench.server.url(DATABASE)).env("BENCH_TWIN_URL", bench.server.url(TWIN));
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(command)
}

/// The error with what the binary said.
pub fn with_log(bench: &Bench, name: &str, error: &Failure) -> Failure {
    let log = std::fs::read_to_string(bench.folder.join(format!("{name}.log"))).unwrap_or_default();
    Failure::new(format!("{error}\n{}", log.trim_end()))
}

/// `orders_dst` holds what `orders` does, `note` being `expression` of it.
fn copied(bench: &Bench, expression: &str) -> Result<()> {
    let wanted = format!("SELECT ROW({SUMS}, sum(hashtext({expression})))::text FROM orders");
    let found = format!("SELECT ROW({SUMS}, sum(hashtext(note)))::text FROM orders_dst");
    let (wanted, found) = (bench.server.value(&wanted)?, bench.server.value(&found)?);
    if wanted == found {
        return Ok(());
    }
    Err(Failure::new(format!("the copy is wrong\n  source      {wanted}\n  destination {found}")))
}

/// Each line of the file is one order.
fn written(bench: &Bench, file: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Line {
        id: u64,
        qty: u64,
        note: Option<String>,
    }
    let (mut count, mut ids, mut quantity, mut notes) = (0_u64, 0_u64, 0_u64, 0_usize);
    for line in BufReader::new(File::open(file)?).lines() {
        let line: Line = serde_json::from_str(&line?).map_err(|e| Failure::new(format!("line {}: {e}", count + 1)))?;
        (count, ids, quantity) = (count + 1, ids + line.id, quantity + line.qty);
        notes += line.note.map_or(0, |n| n.len());
    }
    let found = format!("({count},{ids},{quantity},{notes})");
    let wanted = bench.server.value("SELECT ROW(count(*), sum(id), sum(qty), sum(length(note)))::text FROM orders")?;
    if wanted == found {
        return Ok(());
    }
    Err(Failure::new(format!("the file is wrong\n  source {wanted}\n  file   {found}")))
}
