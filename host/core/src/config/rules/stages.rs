//! Source, transforms and sink of one pipeline.
//!
//! A source of changes delivers `{op, before, after}`; `cdc_unwrap` makes plain rows of them and marks deletes in a
//! column that the sink's `delete_marker` names. The three have to agree.

use super::super::path;
use super::Facts;
use crate::delivery::gate::Store;
use crate::error::{Problem, Severity};
use crate::ports::{OnDrift, SinkCapabilities, WriteMode};

const UNWRAP: &str = "put { type: cdc_unwrap } first under pipeline.transforms";

pub(super) fn check(facts: &Facts<'_>) -> Vec<Problem> {
    let mut problems = order(facts);
    if let Some(sink) = &facts.sink {
        problems.extend(key(facts, sink));
        problems.extend(other_key(facts, sink));
        problems.extend(deletes(facts, sink));
        problems.extend(overwrite(facts, sink));
        problems.extend(evolve(facts, sink));
    }
    problems.extend(forgotten_place(facts));
    problems
}

/// Where in the chain changes become plain rows.
fn unwrap_at(facts: &Facts<'_>) -> Option<usize> {
    facts.stages.transforms.iter().position(|kind| kind.as_ref().is_some_and(|kind| kind.takes_changes()))
}

/// Whether plain rows reach the sink; true also when a transform is unknown, which is reported already.
fn is_unwrapped(facts: &Facts<'_>) -> bool {
    !facts.changes() || unwrap_at(facts).is_some() || facts.stages.transforms.iter().any(Option::is_none)
}

/// Transforms that take plain rows come after the one that makes them.
fn order(facts: &Facts<'_>) -> Vec<Problem> {
    let Some(source) = facts.source else { return Vec::new() };
    let name = &facts.document.pipeline.source.kind;
    let unwrap = unwrap_at(facts);
    let mut problems = Vec::new();
    for (nth, kind) in facts.stages.transforms.iter().enumerate() {
        let Some(kind) = kind else { continue };
        let at = path::key(&path::item("pipeline.transforms", nth), "type");
        if source.changes && !kind.takes_changes() && unwrap.is_some_and(|unwrap| nth < unwrap) {
            let message = format!("`{}` takes plain rows, but stands before `cdc_unwrap`", kind.name());
            problems.push(Problem::error(at, message).hint(UNWRAP));
        } else if source.changes && !kind.takes_changes() && unwrap.is_none() {
            let message =
                format!("`{}` gets change records (op, before, after), not the rows of `{name}`", kind.name());
            problems.push(Problem::warning(at, message).hint(UNWRAP));
        } else if !source.changes && kind.takes_changes() {
            let message = format!("`{}` has nothing to do: the source `{name}` delivers plain rows", kind.name());
            problems.push(Problem::warning(at, message).hint("remove it, or read changes with a CDC source"));
        } else if kind.takes_changes() && unwrap.is_some_and(|unwrap| nth > unwrap) {
            let message = format!("`{}` has nothing to do: the rows are plain already", kind.name());
            problems.push(Problem::warning(at, message).hint("remove it"));
        }
    }
    problems
}

fn key(facts: &Facts<'_>, sink: &SinkCapabilities) -> Vec<Problem> {
    if sink.write_mode != WriteMode::Upsert {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if sink.key.is_empty() && !sink_reports_key(facts) {
        let problem = Problem::error("pipeline.sink.config", "`write_mode: upsert` needs a `key`");
        problems.push(problem.hint("name the columns that identify a row: key: [id]"));
    }
    if !is_unwrapped(facts) {
        let message = "`write_mode: upsert` takes plain rows, but changes would reach it";
        problems.push(Problem::error("pipeline.sink.config.write_mode", message).hint(UNWRAP));
    }
    problems
}

/// Whether the sink's own check speaks of the missing key already.
fn sink_reports_key(facts: &Facts<'_>) -> bool {
    let config = serde_json::Value::Object(facts.document.pipeline.sink.config.clone());
    let problems = facts.stages.sink.as_ref().map(|kind| kind.validate(&config)).unwrap_or_default();
    problems.iter().any(|p| p.severity == Severity::Error && (p.path == "key" || p.message.contains("`key`")))
}

/// A change of key is seen by the transform and applied by the sink: they have to mean the same columns.
fn other_key(facts: &Facts<'_>, sink: &SinkCapabilities) -> Option<Problem> {
    let nth = unwrap_at(facts)?;
    let key = facts.document.pipeline.transforms.get(nth)?.config.get("key")?.as_array()?;
    let mut unwrap: Vec<&str> = key.iter().filter_map(|column| column.as_str()).collect();
    let mut upsert: Vec<&str> = sink.key.iter().map(String::as_str).collect();
    unwrap.sort_unstable();
    upsert.sort_unstable();
    if unwrap.is_empty() || upsert.is_empty() || unwrap == upsert {
        return None;
    }
    let at = format!("{}.config.key", path::item("pipeline.transforms", nth));
    let message = format!("[{}] is not the sink's key, which is [{}]", unwrap.join(", "), upsert.join(", "));
    // A transform in between may rename the columns, so this may be meant.
    Some(Problem::warning(at, message).hint("a changed key is applied right only if both name the same columns"))
}

fn deletes(facts: &Facts<'_>, sink: &SinkCapabilities) -> Option<Problem> {
    let marked = sink.delete_marker.is_some();
    let unwrapped = unwrap_at(facts).is_some() && facts.changes();
    if marked && facts.source.is_some() && !unwrapped && facts.stages.transforms.iter().all(Option::is_some) {
        let message = "`delete_marker` has no effect: without `cdc_unwrap` no row is marked as a delete";
        let hint = if facts.changes() { UNWRAP } else { "remove it, or read changes with a CDC source" };
        // A query can deliver a marker column of its own, so this may be meant.
        return Some(Problem::warning("pipeline.sink.config.delete_marker", message).hint(hint));
    }
    if !marked && facts.changes() && sink.write_mode == WriteMode::Upsert {
        let message = "rows deleted at the source will stay: the sink has no `delete_marker`";
        let hint = "add delete_marker: { field: __op, values: [d] }";
        return Some(Problem::warning("pipeline.sink.config", message).hint(hint));
    }
    None
}

fn overwrite(facts: &Facts<'_>, sink: &SinkCapabilities) -> Option<Problem> {
    if !facts.changes() || sink.write_mode != WriteMode::Overwrite {
        return None;
    }
    let message = "`write_mode: overwrite` would replace the whole destination with the changes of one run";
    Some(Problem::error("pipeline.sink.config.write_mode", message).hint("use `write_mode: upsert` with a `key`"))
}

fn evolve(facts: &Facts<'_>, sink: &SinkCapabilities) -> Option<Problem> {
    if facts.document.schema.on_drift != OnDrift::Evolve || sink.evolves {
        return None;
    }
    let name = &facts.document.pipeline.sink.kind;
    let message = format!("the sink `{name}` can't add columns to what is there already");
    let hint = "use `fail`, `warn` or `ignore`, or a sink whose columns can change";
    Some(Problem::error("schema.on_drift", message).hint(hint))
}

/// Without a store that lasts, a stream of changes starts anew in every run and misses what came between.
fn forgotten_place(facts: &Facts<'_>) -> Option<Problem> {
    let lasting = matches!(facts.store(), None | Some(Store::Durable));
    // A mirror without a lasting store is refused by its own rule.
    if lasting || !facts.changes() || super::mirror::applies(facts) {
        return None;
    }
    let message = "changes made between two runs can be lost: no state store keeps the place";
    Some(Problem::warning(facts.store_path(), message).hint("add state: { type: file, config: { path: ./state } }"))
}
