//! What a mirror needs.

use super::super::plan::Purpose;
use super::Facts;
use crate::delivery::gate::Store;
use crate::error::Problem;
use crate::ports::WriteMode;

/// Whether the mirror's rules apply to this use of the configuration.
pub(super) fn applies(facts: &Facts<'_>) -> bool {
    match facts.purpose {
        Purpose::Run => false,
        Purpose::Mirror => true,
        Purpose::Validate => facts.document.mirror().is_some(),
    }
}

pub(super) fn check(facts: &Facts<'_>) -> Vec<Problem> {
    if !applies(facts) {
        return Vec::new();
    }
    let Some((_, at)) = facts.document.mirror() else {
        let problem = Problem::error("", "`faucet mirror` needs a `mirror` block");
        return vec![problem.hint("add mirror: { snapshot: { source: ... } }, or use `faucet run`")];
    };
    let source = temporary_slot(facts).or_else(|| capture(facts));
    [store(facts), source, snapshot(facts, at), shards(facts, at), concurrency(facts, at), append(facts)]
        .into_iter()
        .flatten()
        .collect()
}

fn store(facts: &Facts<'_>) -> Option<Problem> {
    let message = match facts.store()? {
        Store::Durable => return None,
        Store::Volatile => "a mirror needs a state store that outlives the process: `memory` would lose its place",
        Store::None => "a mirror needs a state store, where it keeps its place",
    };
    let hint = "use state: { type: file, config: { path: ./state } }";
    Some(Problem::error(facts.store_path(), message).hint(hint))
}

/// A temporary slot ends with the session that makes it, so nothing keeps the log from the captured position on.
fn temporary_slot(facts: &Facts<'_>) -> Option<Problem> {
    let config = &facts.document.pipeline.source.config;
    if config.get("slot_type").and_then(serde_json::Value::as_str) != Some("temporary") {
        return None;
    }
    let message = "a mirror needs a permanent replication slot: a temporary one is gone before streaming starts";
    let problem = Problem::error("pipeline.source.config.slot_type", message);
    Some(problem.hint("remove `slot_type`, or write `slot_type: permanent`"))
}

fn capture(facts: &Facts<'_>) -> Option<Problem> {
    if facts.source?.capture {
        return None;
    }
    let name = &facts.document.pipeline.source.kind;
    let message = format!("the source `{name}` can't capture a position to mirror from");
    let hint =
        "a mirror's pipeline.source reads changes, such as `postgres-cdc`; the query goes to mirror.snapshot.source";
    Some(Problem::error("pipeline.source.type", message).hint(hint))
}

fn snapshot(facts: &Facts<'_>, at: &str) -> Option<Problem> {
    if !facts.snapshot?.changes {
        return None;
    }
    let (mirror, _) = facts.document.mirror()?;
    let kind = &mirror.snapshot.source.kind;
    let message = format!("a snapshot reads rows, but the source `{kind}` delivers changes");
    Some(
        Problem::error(format!("{at}.snapshot.source.type"), message)
            .hint("use a query source, such as `postgres` with `query`"),
    )
}

/// Ranges that were asked for can be had.
fn shards(facts: &Facts<'_>, at: &str) -> Option<Problem> {
    let (mirror, _) = facts.document.mirror()?;
    let (Some(2..), snapshot) = (mirror.snapshot.shards, facts.snapshot?) else { return None };
    if facts.sink.as_ref().is_some_and(|sink| sink.write_mode == WriteMode::Overwrite) {
        let message = "a sink that replaces everything at its end is filled by one run, without ranges";
        return Some(Problem::error(format!("{at}.snapshot.shards"), message).hint("remove `shards`"));
    }
    if snapshot.changes || snapshot.split {
        return None;
    }
    let message = format!("the source `{}` can't be read in ranges", mirror.snapshot.source.kind);
    let hint = "remove `shards`, or use a source whose tables can be cut, such as `postgres`";
    Some(Problem::error(format!("{at}.snapshot.shards"), message).hint(hint))
}

/// What is read at once can be written at once, and there is more than one range to read.
fn concurrency(facts: &Facts<'_>, at: &str) -> Option<Problem> {
    let (mirror, _) = facts.document.mirror()?;
    let Some(2..) = mirror.snapshot.concurrency else { return None };
    let path = format!("{at}.snapshot.concurrency");
    if facts.sink.as_ref().is_some_and(|sink| !sink.parallel) {
        let message = format!("the sink `{}` takes one writer at a time", facts.document.pipeline.sink.kind);
        let hint = "remove `concurrency`, or use a sink that takes several, such as `postgres` with `upsert`";
        return Some(Problem::error(path, message).hint(hint));
    }
    if super::dlq::takes_one_writer(facts) {
        let message = "the sink of the dlq takes one writer at a time, and each range has one";
        return Some(Problem::error(path, message).hint("remove `concurrency`, or use a table as the queue"));
    }
    if facts.snapshot.is_some_and(|snapshot| !snapshot.changes && !snapshot.split) {
        let message = format!("the source `{}` is read by one query", mirror.snapshot.source.kind);
        return Some(Problem::error(path, message).hint("remove `concurrency`"));
    }
    if mirror.snapshot.shards == Some(1) {
        let message = "`concurrency` has no effect: there is one range";
        return Some(Problem::warning(path, message).hint("raise `shards`, or leave it out to go by size"));
    }
    None
}

fn append(facts: &Facts<'_>) -> Option<Problem> {
    if facts.sink.as_ref()?.write_mode != WriteMode::Append {
        return None;
    }
    let message = "an appending sink gets rows twice that change while the snapshot runs, and keeps every version";
    let hint = "use `write_mode: upsert` with a `key` for a true mirror";
    Some(Problem::warning("pipeline.sink.config.write_mode", message).hint(hint))
}
