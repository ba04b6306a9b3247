//! The delivery gate: what a pipeline can promise, decided from its configuration alone.
//!
//! `delivery: exactly_once` asks for at least effectively-once. Two mechanisms give it:
//!
//! * **Watermark**: the source resumes exactly at a bookmark, the sink stores a token in the same transaction as the
//!   rows, and the state store outlives the process. Nothing is ever written twice.
//! * **Keyed upsert**: the sink replaces rows by key, so writing a page again changes nothing. Any source will do.
//!
//! Where both are possible the watermark is used. A `memory` state store is refused under `exactly_once` either way:
//! asking for it there can only be a mistake. There is no fallback at run time.

use std::fmt;

use super::Delivery;
use crate::error::Problem;
use crate::ports::{SinkCapabilities, SourceCapabilities, WriteMode};

/// How rows get their effect once, or why they may get it twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// Rows of the page in hand may be written again after a crash.
    AtLeastOnce,
    /// A token in the sink's own transaction says what is written.
    Watermark,
    /// Rows may be written again after a crash, which changes nothing.
    KeyedUpsert,
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeastOnce => "at-least-once",
            Self::Watermark => "effectively-once (watermark)",
            Self::KeyedUpsert => "effectively-once (keyed upsert)",
        })
    }
}

/// Where bookmarks are kept, as far as the gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// Nowhere: there is no `state`.
    None,
    /// In a store that ends with the process.
    Volatile,
    /// In a store that outlives it.
    Durable,
}

/// Everything the gate goes by.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What the configuration asks for.
    pub delivery: Delivery,
    /// The source's `type`.
    pub source_name: &'a str,
    /// What the source can do.
    pub source: SourceCapabilities,
    /// The sink's `type`.
    pub sink_name: &'a str,
    /// What the sink can do, and how it writes.
    pub sink: &'a SinkCapabilities,
    /// The state store.
    pub store: Store,
    /// The path of the state block, for messages.
    pub store_path: &'a str,
}

/// Decides how the pipeline keeps what `delivery` asks for.
///
/// # Errors
/// The sides that stand in the way, with what would help; paths start at the document.
pub fn decide(facts: &Facts<'_>) -> Result<Mechanism, Vec<Problem>> {
    match facts.delivery {
        Delivery::AtLeastOnce => Ok(Mechanism::AtLeastOnce),
        Delivery::ExactlyOnce if watermark(facts) => Ok(Mechanism::Watermark),
        Delivery::ExactlyOnce if keyed_upsert(facts.sink) && facts.store != Store::Volatile => {
            Ok(Mechanism::KeyedUpsert)
        }
        Delivery::ExactlyOnce => Err(obstacles(facts)),
    }
}

fn watermark(facts: &Facts<'_>) -> bool {
    facts.source.replayable && facts.sink.tokens && facts.store == Store::Durable
}

fn keyed_upsert(sink: &SinkCapabilities) -> bool {
    sink.write_mode == WriteMode::Upsert && !sink.key.is_empty()
}

const DURABLE: &str = "use a state store that outlives the process, such as `type: file`";

fn volatile(facts: &Facts<'_>) -> Problem {
    let message = "`delivery: exactly_once` needs a state store that outlives the process: `memory` loses its place";
    Problem::error(facts.store_path, message).hint(DURABLE)
}

fn obstacles(facts: &Facts<'_>) -> Vec<Problem> {
    if keyed_upsert(facts.sink) {
        return vec![volatile(facts)];
    }
    let mut problems = Vec::new();
    if !facts.source.replayable {
        let message = format!(
            "`delivery: exactly_once`: the source `{}` is the limit: read again from a bookmark it may give other rows",
            facts.source_name
        );
        problems.push(Problem::error("pipeline.source.type", message));
    }
    if !facts.sink.tokens {
        let message = format!(
            "`delivery: exactly_once`: the sink `{}` is the limit: it can't store a commit token together with the rows",
            facts.sink_name
        );
        problems.push(Problem::error("pipeline.sink.type", message));
    }
    match facts.store {
        Store::None => {
            let message = "`delivery: exactly_once` needs a state store that outlives the process";
            problems.push(Problem::error(facts.store_path, message).hint(DURABLE));
        }
        Store::Volatile => problems.push(volatile(facts)),
        Store::Durable => {}
    }
    let hint = way_out(facts);
    for problem in problems.iter_mut().filter(|p| p.hint.is_none()) {
        problem.hint = Some(hint.clone());
    }
    problems
}

/// What would make the gate open.
fn way_out(facts: &Facts<'_>) -> String {
    let sink = facts.sink_name;
    if facts.sink.write_mode == WriteMode::Upsert {
        format!("name the `key` of the sink `{sink}`: a keyed upsert is effectively-once with any source")
    } else if facts.sink.modes.contains(&WriteMode::Upsert) {
        format!(
            "set `write_mode: upsert` and `key` on the sink `{sink}`: a keyed upsert is effectively-once with any source"
        )
    } else {
        "choose another source or sink, or `delivery: at_least_once`".to_owned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const STORES: [Store; 3] = [Store::None, Store::Volatile, Store::Durable];
    const MODES: [WriteMode; 3] = [WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite];

    fn sink(mode: WriteMode, keyed: bool, tokens: bool, offers_upsert: bool) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: mode,
            key: if keyed { vec!["id".to_owned()] } else { Vec::new() },
            delete_marker: None,
            modes: if offers_upsert { vec![WriteMode::Append, WriteMode::Upsert] } else { vec![WriteMode::Append] },
            transactional: tokens,
            tokens,
            claims: tokens,
            evolves: true,
            sets_aside: true,
            parallel: true,
        }
    }

    fn facts(delivery: Delivery, replayable: bool, sink: &SinkCapabilities, store: Store) -> Facts<'_> {
        Facts {
            delivery,
            source_name: "pg",
            source: SourceCapabilities { replayable, ..SourceCapabilities::default() },
            sink_name: "lake",
            sink,
            store,
            store_path: "pipeline.state",
        }
    }

    /// The whole table of `exactly_once`, one line for each combination of what the gate looks at.
    #[test]
    fn the_whole_table() {
        let mut table = Vec::new();
        for replayable in [true, false] {
            for tokens in [true, false] {
                for mode in MODES {
                    for keyed in [true, false] {
                        for store in STORES {
                            let sink = sink(mode, keyed, tokens, true);
                            let facts = facts(Delivery::ExactlyOnce, replayable, &sink, store);
                            let outcome = match decide(&facts) {
                                Ok(mechanism) => mechanism.to_string(),
                                Err(problems) => {
                                    let paths: Vec<_> = problems.iter().map(|p| p.path.as_str()).collect();
                                    format!("refused: {}", paths.join(", "))
                                }
                            };
                            table.push(format!(
                                "replayable={replayable:<5} tokens={tokens:<5} {mode:?}{} {store:?} => {outcome}",
                                if keyed { "+key" } else { "" }
                            ));
                        }
                    }
                }
            }
        }
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn at_least_once_is_always_possible() {
        for replayable in [true, false] {
            for store in STORES {
                let sink = sink(WriteMode::Append, false, false, false);
                assert_eq!(decide(&facts(Delivery::AtLeastOnce, replayable, &sink, store)), Ok(Mechanism::AtLeastOnce));
            }
        }
    }

    #[test]
    fn what_is_accepted_has_a_mechanism_behind_it_and_what_is_refused_has_a_way_out() {
        for replayable in [true, false] {
            for (tokens, offers) in [(true, true), (true, false), (false, true), (false, false)] {
                for (mode, keyed) in MODES.into_iter().flat_map(|mode| [(mode, true), (mode, false)]) {
                    for store in STORES {
                        let sink = sink(mode, keyed, tokens, offers);
                        match decide(&facts(Delivery::ExactlyOnce, replayable, &sink, store)) {
                            Ok(Mechanism::Watermark) => assert!(replayable && tokens && store == Store::Durable),
                            Ok(Mechanism::KeyedUpsert) => assert!(mode == WriteMode::Upsert && keyed),
                            Ok(Mechanism::AtLeastOnce) => panic!("a weaker promise than was asked for"),
                            Err(problems) => {
                                assert!(!problems.is_empty());
                                assert!(problems.iter().all(|p| p.hint.is_some()));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_keyed_upsert_is_suggested_only_where_the_sink_has_it() {
        let hint = |mode, offers| {
            let sink = sink(mode, false, false, offers);
            let problems = decide(&facts(Delivery::ExactlyOnce, false, &sink, Store::Durable)).unwrap_err();
            problems[0].hint.clone().unwrap()
        };
        assert!(hint(WriteMode::Append, true).contains("`write_mode: upsert`"));
        assert!(hint(WriteMode::Upsert, true).contains("name the `key`"));
        assert!(hint(WriteMode::Append, false).contains("at_least_once"));
    }
}
