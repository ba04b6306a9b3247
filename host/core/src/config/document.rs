//! [`Document`]: a configuration exactly as it is written.
//!
//! The schema derived here is the contract: it checks files, completes keys in editors and is the reference that
//! people read. Unknown keys are refused everywhere. What the keys of a connector's `config` mean is the connector's
//! business.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ByteSize, Span};
use crate::delivery::Delivery;
use crate::ports::SchemaPolicy;

/// A faucet pipeline: where rows come from, what happens to them, where they go.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-not-yet" = json!({
    "matrix": "write one file for each pipeline for now",
    "schedule": "start faucet from cron or a systemd timer for now",
    "schema_drift": "write `schema: { on_drift: ... }`, which holds for the whole pipeline",
    "tenants": "write one file for each tenant for now",
})))]
pub struct Document {
    /// The version of this format. There is only version 1.
    #[serde(default = "first_version")]
    #[schemars(extend("const" = 1))]
    pub version: u32,
    /// The pipeline's name. Its bookmarks are kept under it, so renaming a pipeline makes it start over.
    #[schemars(length(min = 1, max = 100), regex(pattern = "^[A-Za-z0-9_.-]*$"))]
    #[schemars(extend("x-pattern-hint" = "use letters, digits, `_`, `.` and `-`"))]
    pub name: String,
    /// The stages.
    pub pipeline: Pipeline,
    /// Where bookmarks are kept. The same as `pipeline.state`: give one of the two.
    pub state: Option<ConnectorSpec>,
    /// Where rows go that can't be written. The same as `pipeline.dlq`: give one of the two.
    pub dlq: Option<DeadLetterQueue>,
    /// Copies what the source holds, then follows its changes. Used by `faucet mirror`; `faucet run` ignores it.
    pub mirror: Option<Mirror>,
    /// The older name of `mirror`: give one of the two.
    pub replication: Option<Mirror>,
    /// WebAssembly components by the name that `type` uses.
    #[serde(default)]
    pub plugins: BTreeMap<String, Plugin>,
    /// What happens when the source's columns change.
    #[serde(default)]
    pub schema: SchemaPolicy,
    /// What a crash may do to the rows of the page in hand.
    #[serde(default)]
    pub delivery: Delivery,
    /// How the pipeline runs.
    #[serde(default)]
    pub execution: Execution,
    /// What it says while it runs.
    #[serde(default)]
    pub observability: Observability,
}

impl Document {
    /// The state block and its path, under whichever of its two places it was written.
    pub fn store(&self) -> Option<(&ConnectorSpec, &'static str)> {
        let inner = self.pipeline.state.as_ref().map(|spec| (spec, "pipeline.state"));
        inner.or_else(|| self.state.as_ref().map(|spec| (spec, "state")))
    }

    /// The dead-letter queue and its path, under whichever of its two places it was written.
    pub fn dead_letters(&self) -> Option<(&DeadLetterQueue, &'static str)> {
        let inner = self.pipeline.dlq.as_ref().map(|queue| (queue, "pipeline.dlq"));
        inner.or_else(|| self.dlq.as_ref().map(|queue| (queue, "dlq")))
    }

    /// The mirror block and its path, under whichever of its two names it was written.
    pub fn mirror(&self) -> Option<(&Mirror, &'static str)> {
        let older = self.replication.as_ref().map(|mirror| (mirror, "replication"));
        self.mirror.as_ref().map(|mirror| (mirror, "mirror")).or(older)
    }
}

fn first_version() -> u32 {
    1
}

/// The stages rows pass through.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-not-yet" = json!({
    "sinks": "a pipeline has one sink for now",
})))]
pub struct Pipeline {
    /// Where rows come from.
    pub source: ConnectorSpec,
    /// What happens to them, in order.
    #[serde(default)]
    pub transforms: Vec<ConnectorSpec>,
    /// Where they go.
    pub sink: ConnectorSpec,
    /// Where bookmarks are kept. Without it every run starts over.
    pub state: Option<ConnectorSpec>,
    /// Where rows go that can't be written. Without it such a row stops the run.
    pub dlq: Option<DeadLetterQueue>,
}

/// Where rows go that a transform rejects or that can't be written: those without a value in the key, those the
/// destination refuses, and under `schema: { on_drift: quarantine }` those with a value in a column it lacks. The others
/// are written. Each row set aside becomes one with the columns `at`, `pipeline`, `stage`, `table`, `code`, `reason` and
/// `row`, which holds it as JSON. After a crash it can be there twice.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterQueue {
    /// A sink that appends, such as `jsonl`.
    pub sink: ConnectorSpec,
    /// Most rows that are set aside within an hour; one more stops the run, because then more is wrong than a few rows.
    #[serde(default = "most_dead_letters")]
    #[schemars(range(min = 1))]
    pub max_rows: u64,
}

fn most_dead_letters() -> u64 {
    1000
}

/// A connector, transform or state store by its type, with its own configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectorSpec {
    /// Which one. `faucet list` names them all.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Its own keys.
    #[serde(default)]
    pub config: Map<String, Value>,
}

/// How a mirror begins and goes on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-not-yet" = json!({
    "tables": NOT_YET_TABLES, "destination": NOT_YET_TABLES, "per_table": NOT_YET_TABLES, "new_tables": NOT_YET_TABLES,
    "without_primary_key": NOT_YET_TABLES, "on_table_error": NOT_YET_TABLES, "max_table_failures": NOT_YET_TABLES,
    "retry_paused_secs": NOT_YET_TABLES, "discover_interval_secs": NOT_YET_TABLES, "lag_warning_secs": NOT_YET_TABLES,
})))]
pub struct Mirror {
    /// What a mirror does. There is one mode: copy the rows, then follow their changes.
    #[serde(default)]
    pub mode: MirrorMode,
    /// Whether to go on following changes until stopped. `false` ends when the source has been quiet for its idle
    /// timeout.
    #[serde(default = "yes")]
    pub continuous: bool,
    /// How the rows that are already there are read.
    pub snapshot: Snapshot,
}

const NOT_YET_TABLES: &str = "a mirror has one table for now: write one file for each table";

fn yes() -> bool {
    true
}

/// The modes of a mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MirrorMode {
    /// Capture a position, copy the rows, then follow the changes from that position.
    #[default]
    SnapshotThenCdc,
}

/// How the rows that are already there are read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// A source that reads the same table as it is now, such as `postgres` with a `query`.
    pub source: ConnectorSpec,
    /// How many ranges the table is cut into. Each is finished for good: a restart goes on with those that are left.
    /// Default: one for each 256 MiB of the table, at most 256. `1` reads it by one query.
    #[schemars(range(min = 1, max = 4096))]
    pub shards: Option<u32>,
    /// How many ranges are read and written at once, each over connections of its own at both ends. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
}

/// A WebAssembly component.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-not-yet" = json!({
    "oci": "name a local file with `path` for now",
})))]
pub struct Plugin {
    /// The component's `.wasm` file, relative to the folder of this configuration. Without it and without `oci`, the entry is
    /// about the component of this name that comes with faucet: what it may do, and use.
    #[schemars(length(min = 1))]
    pub path: Option<String>,
    /// Where the component is in an OCI registry, in place of `path`: REGISTRY/REPOSITORY:TAG, with or instead of a tag
    /// @sha256:DIGEST. It is the one that `faucet plugin pull` fetched and wrote into `faucet.lock`; a pipeline asks no registry.
    #[schemars(length(min = 1))]
    pub oci: Option<String>,
    /// The SHA-256 of the component in hexadecimal. Another one is refused.
    #[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"), extend("x-pattern-hint" = "64 hexadecimal digits, as sha256sum prints them"))]
    pub sha256: Option<String>,
    /// What it may do beyond its pages. It gets what it asks for, this grants and the operator's ceiling allows. Without
    /// this, nothing: no network, no files, no environment, no clock, no randomness. Only a component that comes with
    /// faucet has then what it asks for.
    pub grants: Option<Map<String, Value>>,
    /// The values of the secrets that `grants.secrets` names. The plugin sees the names only; the host puts the values
    /// into its HTTP requests.
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    /// How much memory and time each call may take.
    pub limits: Option<Map<String, Value>>,
    /// Whether a transform is loaded again when its file changes while the pipeline runs.
    #[serde(default)]
    pub reload: Reload,
    /// The file of a candidate for a transform, relative to the folder of this configuration. It is given the same pages
    /// and the same configuration; what it makes of them is compared with what this component makes, differences are
    /// logged, and nothing of it is written.
    pub shadow: Option<String>,
}

/// Whether a transform is loaded again while the pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reload {
    /// The component stays what it was at the start.
    #[default]
    Never,
    /// When the file changes, the next page goes through the new component. One that can't be loaded, or does not accept
    /// the configuration, is logged, and the old one goes on.
    OnChange,
}

/// A value that no message shows.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true))]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// How the pipeline runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Execution {
    /// What happens after a failure that may pass.
    pub retry: RetryPolicy,
    /// How many bytes of rows may wait between two stages. Bounds the memory of the whole pipeline.
    pub buffer_size: ByteSize,
    /// How long stopping may take before the page in hand is given up.
    pub shutdown_timeout: Span,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            buffer_size: ByteSize::from_mib(16),
            shutdown_timeout: Span::from_secs(30),
        }
    }
}

/// What happens after a failure that may pass, such as a lost connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// How often the same work is tried in all before the run fails. A continuous mirror goes on regardless.
    #[schemars(range(min = 1))]
    pub max_attempts: u32,
    /// The delay before the second attempt. Each further delay is twice as long, with jitter.
    pub initial_backoff: Span,
    /// The longest delay.
    pub max_backoff: Span,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 5, initial_backoff: Span::from_millis(500), max_backoff: Span::from_secs(30) }
    }
}

/// What the pipeline says while it runs. Options on the command line win.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Observability {
    /// The least important messages that are logged.
    pub log_level: LogLevel,
    /// How messages are written.
    pub log_format: LogFormat,
    /// How often progress is reported when it isn't shown live on a terminal.
    pub progress_interval: Span,
}

impl Default for Observability {
    fn default() -> Self {
        Self { log_level: LogLevel::Info, log_format: LogFormat::Text, progress_interval: Span::from_secs(5) }
    }
}

/// How important a log message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Also what may become a failure.
    Warn,
    /// Also what happens, once for each run or phase.
    Info,
    /// Also every page and acknowledgement.
    Debug,
    /// Everything.
    Trace,
}

/// How log messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}
