//! The dead-letter queue, and what asks for one.

use super::Facts;
use crate::delivery::Delivery;
use crate::error::Problem;
use crate::ports::{OnDrift, SinkCapabilities, WriteMode};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Problem> {
    [quarantine(facts), exactly_once(facts), appends(facts), same_place(facts)].into_iter().flatten().collect()
}

fn quarantine(facts: &Facts<'_>) -> Option<Problem> {
    if facts.document.schema.on_drift != OnDrift::Quarantine {
        return None;
    }
    if facts.document.dead_letters().is_none() {
        let problem = Problem::error("schema.on_drift", "`quarantine` needs a place for the rows");
        return Some(problem.hint("add dlq: { sink: { type: jsonl, config: { path: ./rejected.jsonl } } }"));
    }
    let sink = facts.sink.as_ref()?;
    if sink.sets_aside || sink.evolves {
        return None;
    }
    let name = &facts.document.pipeline.sink.kind;
    let message = format!("the sink `{name}` can't set single rows aside");
    Some(Problem::error("schema.on_drift", message).hint("use `fail`, `warn` or `ignore`"))
}

/// A row is in the queue before the commit that passes it, so a crash in between puts it there twice.
fn exactly_once(facts: &Facts<'_>) -> Option<Problem> {
    let (_, at) = facts.document.dead_letters()?;
    if facts.document.delivery != Delivery::ExactlyOnce {
        return None;
    }
    let message = "a dead-letter queue can get a row twice, which `delivery: exactly_once` rules out";
    Some(Problem::error(at, message).hint("remove the queue, or `delivery: exactly_once`"))
}

/// Whether there is a queue that only one sink may write to.
pub(super) fn takes_one_writer(facts: &Facts<'_>) -> bool {
    capabilities(facts).is_some_and(|sink| !sink.parallel)
}

/// What the queue's sink can do.
fn capabilities(facts: &Facts<'_>) -> Option<SinkCapabilities> {
    let (queue, _) = facts.document.dead_letters()?;
    let config = serde_json::Value::Object(queue.sink.config.clone());
    facts.stages.dead_letters.as_ref()?.capabilities(&config).ok()
}

fn appends(facts: &Facts<'_>) -> Option<Problem> {
    let (_, at) = facts.document.dead_letters()?;
    if capabilities(facts)?.write_mode == WriteMode::Append {
        return None;
    }
    let message = "a dead-letter queue keeps every row it gets: its sink has to append";
    Some(Problem::error(format!("{at}.sink.config.write_mode"), message).hint("remove `write_mode`"))
}

fn same_place(facts: &Facts<'_>) -> Option<Problem> {
    let (queue, at) = facts.document.dead_letters()?;
    if queue.sink != facts.document.pipeline.sink {
        return None;
    }
    let problem = Problem::error(format!("{at}.sink"), "the queue is the same as `pipeline.sink`");
    Some(problem.hint("give it a file or a table of its own"))
}
