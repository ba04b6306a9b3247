//! The ports: what a connector, a transform or a state store promises, and nothing else.
//!
//! Native connectors and WebAssembly components implement the same traits and pass the same conformance suite.
//! The three phases of a connector never fuse: its configuration is parsed, then validated (pure, offline), then opened
//! (I/O). Abilities that only some have (capture, splitting) are small traits that a connector returns.
//!
//! This module imports only `model` and `error`.

mod claim;
mod connector;
mod schema;
mod sink;
mod source;
mod split;
mod state;
mod survey;
mod transform;

pub use claim::{Claim, EMPTIED, FENCED, REPLACED, Standing};
pub use connector::{
    AnySink, AnySource, SinkCapabilities, SinkConnector, SinkContext, SourceCapabilities, SourceConnector,
    SourceContext, erase_sink, erase_source,
};
pub use schema::{OnDrift, OnIncompatible, SchemaPolicy};
pub use sink::{CODES as SINK_CODES, SetAside, Sink, WriteMode, refuse_token};
pub use source::{Batch, Bookmark, Boundary, Capture, Coverage, Discovered, Finding, Grade, Source};
pub use split::{Earlier, Part, Parts, Split, Wanted};
pub use state::{AnyStore, Expect, StateStore, Version, Versioned};
pub use survey::{CODES as SURVEY_CODES, Covered, Difference, Look, QUERY_DIFFERS, SOURCE_CHANGED, Survey, Weight};
pub use transform::{AnyTransform, Output, Rejected, Transform};
