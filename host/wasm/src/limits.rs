//! What a plugin may use: the `limits:` block, and its enforcement inside the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Output that is always allowed, however small the page was.
const OUTPUT_FLOOR: usize = 4 << 20;

/// Entries of all tables of an instance together. Rust components need a few thousand.
const TABLE_ENTRIES: usize = 200_000;

/// How long a call of a transform may take, and any call that must not touch the world.
pub(crate) const QUICK: u32 = 2_000;

/// How long a call of a source or a sink may take, which waits for others.
pub(crate) const PATIENT: u32 = 60_000;

/// What one instance of a plugin may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory, in MiB.
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mb: u32,
    /// How long one call may take, in milliseconds of real time, waiting for answers included. Default: 2000 for a
    /// transform, 60000 for a source or a sink.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub deadline_ms: Option<u32>,
    /// How many times the size of its page an output may have. 4 MiB are always allowed.
    #[schemars(range(min = 1, max = 1024))]
    pub output_ratio: u32,
    /// Lines it may log in one call; the rest is dropped.
    #[schemars(range(max = 1_000_000))]
    pub log_lines: u32,
    /// HTTP requests it may send within a minute, all its instances together.
    #[schemars(range(min = 1))]
    pub http_requests_per_minute: u32,
    /// Size of the answer to an HTTP request, in MiB.
    #[schemars(range(min = 1, max = 1024))]
    pub http_response_mb: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_mb: 64,
            deadline_ms: None,
            output_ratio: 16,
            log_lines: 100,
            http_requests_per_minute: 600,
            http_response_mb: 16,
        }
    }
}

impl Limits {
    /// JSON Schema of the block.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }

    /// The lesser of both, key by key. `usual` is the deadline where none is set.
    #[must_use]
    pub(crate) fn capped(self, most: &Self, usual: u32) -> Self {
        let deadline = self.deadline_ms.unwrap_or(usual);
        Self {
            memory_mb: self.memory_mb.min(most.memory_mb),
            deadline_ms: Some(most.deadline_ms.map_or(deadline, |most| deadline.min(most))),
            output_ratio: self.output_ratio.min(most.output_ratio),
            log_lines: self.log_lines.min(most.log_lines),
            http_requests_per_minute: self.http_requests_per_minute.min(most.http_requests_per_minute),
            http_response_mb: self.http_response_mb.min(most.http_response_mb),
        }
    }

    /// The same for a call that must not touch the world.
    #[must_use]
    pub(crate) fn quick(self) -> Self {
        Self { deadline_ms: Some(self.deadline_ms.unwrap_or(QUICK).min(QUICK)), ..self }
    }

    /// How long one call may take, in milliseconds.
    pub(crate) fn deadline_ms(&self) -> u32 {
        self.deadline_ms.unwrap_or(QUICK)
    }

    /// How long one call may take.
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms().into())
    }

    /// Bytes a guest may hand over in one call whose input had `input` bytes.
    pub(crate) fn output_bytes(&self, input: usize) -> usize {
        input.saturating_mul(self.output_ratio as usize).max(OUTPUT_FLOOR)
    }
}

/// Counts what an instance has, and refuses more.
#[derive(Debug)]
pub(crate) struct Meter {
    memory: usize,
    memory_left: usize,
    table_left: usize,
    /// What was refused in this call: what a trap that follows is about.
    refused: Option<Refused>,
}

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Memory beyond this many bytes.
    Memory(usize),
    /// Table entries beyond this many.
    Table(usize),
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        let memory = (limits.memory_mb as usize) << 20;
        Self { memory, memory_left: memory, table_left: TABLE_ENTRIES, refused: None }
    }

    /// What was refused since the last [`Meter::next_call`].
    pub(crate) fn refused(&self) -> Option<Refused> {
        self.refused
    }

    /// A new call: what was refused in earlier ones explains nothing about it.
    pub(crate) fn next_call(&mut self) {
        self.refused = None;
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let granted = take(&mut self.memory_left, desired.saturating_sub(current));
        if !granted {
            self.refused = Some(Refused::Memory(self.memory));
        }
        Ok(granted)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let granted = take(&mut self.table_left, desired.saturating_sub(current));
        if !granted {
            self.refused = Some(Refused::Table(TABLE_ENTRIES));
        }
        Ok(granted)
    }
}

fn take(left: &mut usize, wanted: usize) -> bool {
    let rest = left.checked_sub(wanted);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_memories_of_an_instance_count_together() {
        let mut meter = Meter::new(&Limits { memory_mb: 1, ..Limits::default() });
        assert!(meter.memory_growing(0, 600_000, None).unwrap());
        assert!(!meter.memory_growing(0, 600_000, None).unwrap());
        assert_eq!(meter.refused(), Some(Refused::Memory(1 << 20)));
        assert!(meter.memory_growing(600_000, 1 << 20, None).unwrap(), "a refusal takes nothing");
        assert!(!meter.memory_growing(1 << 20, (1 << 20) + 1, None).unwrap());
    }

    #[test]
    fn a_small_page_still_has_room_to_answer() {
        let limits = Limits::default();
        assert_eq!(limits.output_bytes(10), 4 << 20);
        assert_eq!(limits.output_bytes(1 << 20), 16 << 20);
    }

    #[test]
    fn a_ceiling_caps_every_key_and_leaves_lower_ones() {
        let most = Limits { memory_mb: 32, deadline_ms: Some(1000), http_requests_per_minute: 10, ..Limits::default() };
        let capped = Limits { memory_mb: 8, ..Limits::default() }.capped(&most, PATIENT);
        let wanted =
            Limits { memory_mb: 8, deadline_ms: Some(1000), http_requests_per_minute: 10, ..Limits::default() };
        assert_eq!(capped, wanted);
        assert_eq!(Limits::default().capped(&Limits::default(), PATIENT).deadline_ms(), PATIENT);
    }

    #[test]
    fn the_block_refuses_unknown_keys_and_has_defaults() {
        let limits: Limits = serde_json::from_str(r#"{ "memory_mb": 8 }"#).unwrap();
        assert_eq!(limits, Limits { memory_mb: 8, ..Limits::default() });
        assert!(serde_json::from_str::<Limits>(r#"{ "memory": 8 }"#).is_err());
    }
}
