//! Keys that are given twice, names that aren't used, and numbers that contradict each other.

use super::super::catalog::Part;
use super::super::path;
use super::super::stages::Declared;
use super::Facts;
use crate::error::Problem;

/// The smallest buffer that lets stages overlap, in bytes.
const SMALLEST_BUFFER: u64 = 64 << 10;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Problem> {
    let mut problems = twice(facts);
    problems.extend(execution(facts));
    problems.extend(unused_plugins(facts));
    problems
}

fn unused_plugins(facts: &Facts<'_>) -> Vec<Problem> {
    let unused = facts.stages.plugins.iter().filter(|plugin| !plugin.used);
    let warning = |plugin: &Declared| {
        let name = &plugin.name;
        let place = match plugin.loaded.as_ref().map(|loaded| &loaded.part) {
            Some(Part::Source(_)) => "as pipeline.source",
            Some(Part::Sink(_)) => "as pipeline.sink",
            Some(Part::Transform(_)) | None => "under pipeline.transforms",
        };
        let problem = Problem::warning(path::key("plugins", name), format!("no stage uses the plugin `{name}`"));
        problem.hint(format!("put {{ type: {name} }} {place}, or remove the plugin"))
    };
    unused.map(warning).collect()
}

fn twice(facts: &Facts<'_>) -> Vec<Problem> {
    let document = facts.document;
    let mut problems = Vec::new();
    if document.state.is_some() && document.pipeline.state.is_some() {
        let problem = Problem::error("state", "the state store is given twice: here and as `pipeline.state`");
        problems.push(problem.hint("remove one of the two; they mean the same"));
    }
    if document.dlq.is_some() && document.pipeline.dlq.is_some() {
        let problem = Problem::error("dlq", "the dead-letter queue is given twice: here and as `pipeline.dlq`");
        problems.push(problem.hint("remove one of the two; they mean the same"));
    }
    if document.mirror.is_some() && document.replication.is_some() {
        let problem = Problem::error("replication", "the mirror is given twice: here and as `mirror`");
        problems.push(problem.hint("remove `replication`, which is the older name"));
    }
    problems
}

fn execution(facts: &Facts<'_>) -> Vec<Problem> {
    let execution = &facts.document.execution;
    let retry = execution.retry;
    let mut problems = Vec::new();
    if retry.initial_backoff.is_zero() {
        problems.push(Problem::error("execution.retry.initial_backoff", "must be more than 0"));
    }
    if retry.initial_backoff > retry.max_backoff {
        let message = format!("{} is more than `max_backoff`, which is {}", retry.initial_backoff, retry.max_backoff);
        problems.push(Problem::error("execution.retry.initial_backoff", message));
    }
    if execution.buffer_size.bytes() < SMALLEST_BUFFER {
        let message = format!("must be at least 64KiB, found {}", execution.buffer_size);
        problems.push(Problem::error("execution.buffer_size", message));
    }
    if execution.shutdown_timeout.is_zero() {
        let problem = Problem::error("execution.shutdown_timeout", "must be more than 0");
        problems.push(problem.hint("a second Ctrl-C or SIGTERM stops at once"));
    }
    if facts.document.observability.progress_interval.is_zero() {
        problems.push(Problem::error("observability.progress_interval", "must be more than 0"));
    }
    problems
}
