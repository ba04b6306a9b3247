//! The `config:` block of `postgres-cdc`.

use faucet_core::config::Span;
use faucet_core::error::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::num::{NonZeroU32, NonZeroU64};

use crate::postgres::endpoint::{ConnectionUrl, Endpoint, TlsConfig};
use crate::postgres::types::Timestamps;

/// How long a slot lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SlotType {
    /// Until it is dropped. The server keeps its log for it meanwhile.
    #[default]
    Permanent,
    /// As long as the session: only what is committed while faucet runs is delivered. Not for a mirror.
    Temporary,
}

/// Settings of the `postgres-cdc` source: a stream of every committed change to the tables of a publication.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostgresCdcConfig {
    /// The source database. The role needs REPLICATION, and the connection must be direct, not through a pooler.
    pub connection_url: ConnectionUrl,
    /// TLS settings; each key replaces its counterpart in the URL.
    #[serde(default)]
    pub tls: Option<TlsConfig>,
    /// The replication slot: 1 to 63 of `a-z`, `0-9` and `_`; unique on the server, one per pipeline.
    pub slot_name: String,
    /// The publication that says which tables are covered.
    #[schemars(extend("x-identity" = true))]
    pub publication_name: String,
    /// Whether a slot that isn't there is created. Never done when a bookmark is stored: the changes since would be
    /// missing.
    #[serde(default = "yes")]
    pub create_slot_if_missing: bool,
    /// How long the slot lives.
    #[serde(default)]
    pub slot_type: SlotType,
    /// The cycle ends when no change came for so long and everything committed until then was delivered.
    #[serde(default = "idle_timeout")]
    pub idle_timeout: Span,
    /// The cycle ends at the first end of a transaction after so long, even under steady writes.
    #[serde(default = "max_cycle_duration")]
    pub max_cycle_duration: Span,
    /// How often the server is told the durable position. Shortened to a third of the server's `wal_sender_timeout`
    /// where that is less.
    #[serde(default = "status_update_interval")]
    pub status_update_interval: Span,
    /// Changes in a page at most. Consecutive transactions share a batch until it has so many changes or 8 MiB; a
    /// larger transaction comes in several batches that are still committed as one.
    #[serde(default = "batch_size")]
    pub batch_size: NonZeroU32,
    /// The cycle ends at the first end of a transaction after so many changes. Default: no limit.
    #[serde(default)]
    pub max_messages: Option<NonZeroU64>,
    /// How often a message without content is written into the source's log, so that a database where nothing happens
    /// still has positions to confirm. Needs a role that may write. Default: never.
    #[serde(default)]
    pub heartbeat_interval: Option<Span>,
    /// Whether a slot that is created is kept in step on the standbys of its server, to survive a failover. Needs
    /// PostgreSQL 17.
    #[serde(default)]
    pub failover: bool,
    /// How long a finished transaction waits for the next to share its batch.
    #[serde(default = "linger")]
    pub linger: Span,
    /// How timestamps travel. A mirror's snapshot and stream should agree.
    #[serde(default)]
    pub timestamps: Timestamps,
}

fn yes() -> bool {
    true
}

fn idle_timeout() -> Span {
    Span::from_secs(30)
}

fn max_cycle_duration() -> Span {
    Span::from_secs(300)
}

fn status_update_interval() -> Span {
    Span::from_secs(10)
}

fn batch_size() -> NonZeroU32 {
    NonZeroU32::new(5000).expect("5000 is not zero")
}

fn linger() -> Span {
    Span::from_millis(3)
}

impl PostgresCdcConfig {
    /// What is wrong with it, without any I/O.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Endpoint::problems(&self.connection_url, self.tls.as_ref());
        if let Some(problem) = slot_name_problem(&self.slot_name) {
            problems.push(problem);
        }
        if self.publication_name.is_empty() || self.publication_name.contains('\0') {
            problems.push(
                Problem::error("publication_name", "the publication's name is empty").hint(
                    "name the publication to stream; `CREATE PUBLICATION name FOR TABLE schema.table` creates one",
                ),
            );
        }
        let spans = [
            ("idle_timeout", self.idle_timeout),
            ("max_cycle_duration", self.max_cycle_duration),
            ("status_update_interval", self.status_update_interval),
        ];
        let heartbeat = self.heartbeat_interval.map(|span| ("heartbeat_interval", span));
        for (key, _) in spans.into_iter().chain(heartbeat).filter(|(_, span)| span.is_zero()) {
            problems.push(Problem::error(key, format!("`{key}` must be longer than zero")));
        }
        if self.linger > Span::from_secs(1) {
            problems.push(Problem::error("linger", "`linger` can be one second at most"));
        }
        if self.slot_type == SlotType::Temporary && self.failover {
            let text = "a temporary slot ends with its session, so there is nothing to fail over";
            problems.push(Problem::error("failover", text).hint("remove `failover`, or use a permanent slot"));
        }
        if self.slot_type == SlotType::Temporary && !self.create_slot_if_missing {
            let text = "a temporary slot only exists while faucet runs, so faucet must be allowed to create it";
            problems
                .push(Problem::error("create_slot_if_missing", text).hint("set it to true, or use a permanent slot"));
        }
        problems
    }
}

/// Source: PostgreSQL manual, "Replication Slots": lower-case letters, digits and underscores, at most 63 of them.
fn slot_name_problem(name: &str) -> Option<Problem> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if (1..=63).contains(&name.len()) && name.chars().all(fits) {
        return None;
    }
    let proposal: String = name.to_lowercase().chars().map(|c| if fits(c) { c } else { '_' }).take(63).collect();
    let problem = Problem::error("slot_name", "a slot's name is 1 to 63 lower-case letters, digits and underscores");
    Some(if proposal.is_empty() { problem } else { problem.hint(format!("use `{proposal}`")) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(extra: serde_json::Value) -> Result<PostgresCdcConfig, serde_json::Error> {
        let mut block = json!({"connection_url": "postgres://u@h/d", "slot_name": "s", "publication_name": "p"});
        block.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(block)
    }

    fn paths(extra: serde_json::Value) -> Vec<String> {
        config(extra).unwrap().problems().into_iter().map(|p| p.path).collect()
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let config = config(json!({})).unwrap();
        assert!(config.create_slot_if_missing && config.problems().is_empty());
        assert_eq!(config.slot_type, SlotType::Permanent);
        assert_eq!(config.idle_timeout, Span::from_secs(30));
        assert_eq!(config.max_cycle_duration, Span::from_secs(300));
        assert_eq!(config.status_update_interval, Span::from_secs(10));
        assert_eq!(config.batch_size.get(), 5000);
        assert_eq!(config.max_messages, None);
    }

    #[test]
    fn each_key_is_checked() {
        assert_eq!(paths(json!({"slot_name": "Orders-1"})), ["slot_name"]);
        assert_eq!(paths(json!({"slot_name": ""})), ["slot_name"]);
        assert_eq!(paths(json!({"slot_name": "a".repeat(64)})), ["slot_name"]);
        assert_eq!(paths(json!({"publication_name": ""})), ["publication_name"]);
        assert_eq!(paths(json!({"idle_timeout": 0, "status_update_interval": "0s"})).len(), 2);
        assert_eq!(paths(json!({"linger": "2s"})), ["linger"]);
        assert_eq!(paths(json!({"connection_url": "postgres://h"})), ["connection_url"]);
        assert_eq!(paths(json!({"slot_type": "temporary", "create_slot_if_missing": false})).len(), 1);
        assert!(config(json!({"slot": "x"})).unwrap_err().to_string().contains("slot_name"));
        assert!(config(json!({"batch_size": 0})).is_err());
    }

    #[test]
    fn a_bad_slot_name_gets_a_proposal() {
        let problem = slot_name_problem("Orders-1").unwrap();
        assert_eq!(problem.hint.as_deref(), Some("use `orders_1`"));
    }
}
