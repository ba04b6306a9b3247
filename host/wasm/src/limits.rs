//! What a plugin may use: the `limits:` block, and its enforcement inside the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Output that is always allowed, however small the page was.
const OUTPUT_FLOOR: usize = 4 << 20;

/// Entries of all tables of an instance together. Rust components need a few thousand.
const TABLE_ENTRIES: usize = 200_000;

/// What one instance of a plugin may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory, in MiB.
    #[schemars(range(min = 1, max = 4096))]
    pub memory_mb: u32,
    /// How long one call may take, in milliseconds of real time.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub deadline_ms: u32,
    /// How many times the size of its page an output may have. 4 MiB are always allowed.
    #[schemars(range(min = 1, max = 1024))]
    pub output_ratio: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_mb: 64, deadline_ms: 2000, output_ratio: 16 }
    }
}

impl Limits {
    /// JSON Schema of the block.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }

    /// How long one call may take.
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms.into())
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
    fn the_block_refuses_unknown_keys_and_has_defaults() {
        let limits: Limits = serde_json::from_str(r#"{ "memory_mb": 8 }"#).unwrap();
        assert_eq!(limits, Limits { memory_mb: 8, deadline_ms: 2000, output_ratio: 16 });
        assert!(serde_json::from_str::<Limits>(r#"{ "memory": 8 }"#).is_err());
    }
}
