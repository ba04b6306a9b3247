//! Configuration: from a YAML or JSON file to something that can run, with every problem found before it does.
//!
//! `text -> parse -> interpolate -> check -> stages -> rules -> Plan`; [`load`] is the whole way. Nothing here connects
//! anywhere. Invariants: every problem is reported at once, with its place; no message holds a value that came from the
//! environment or a file; what passes the checks can be read by the connector it is for.

mod byte_size;
pub mod catalog;
pub mod check;
pub mod document;
mod interpolate;
mod load;
mod locate;
mod parse;
pub mod path;
mod plan;
mod problem;
mod quantity;
mod redact;
mod rules;
pub mod schema;
mod span;
mod stages;
mod suggest;
mod text;

pub use byte_size::ByteSize;
pub use catalog::{Catalog, LoadedPlugin, Part, PluginLoader};
pub use document::Document;
pub use interpolate::{Interpolated, Origins, ProcessSurroundings, Surroundings, interpolate};
pub use load::{Loaded, load, references};
pub use locate::{Locations, Position, Spot, Survey};
pub use parse::parse;
pub use plan::{DeadLettersPlan, MirrorPlan, Plan, PluginPlan, Purpose, Stage};
pub use problem::{Located, Report};
pub use redact::Redactor;
pub use span::Span;
pub use text::{ConfigText, Format, UNREADABLE};

use crate::error::Code;

/// Every kind of failure this module raises.
pub static CODES: &[&Code] = &[&UNREADABLE];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod fixture;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
