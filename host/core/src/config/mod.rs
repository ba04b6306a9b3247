//! Configuration: from a YAML or JSON file to something that can run, with every problem found before it does.

mod byte_size;
pub mod check;
pub mod document;
mod interpolate;
mod locate;
mod parse;
pub mod path;
mod problem;
mod quantity;
mod redact;
mod span;
mod suggest;
mod text;

pub use byte_size::ByteSize;
pub use document::Document;
pub use interpolate::{Interpolated, Origins, ProcessSurroundings, Surroundings, interpolate};
pub use locate::{Locations, Position, Spot, Survey};
pub use parse::parse;
pub use problem::{Located, Report};
pub use redact::Redactor;
pub use span::Span;
pub use text::{ConfigText, Format, UNREADABLE};

use crate::error::Code;

/// Every kind of failure this module raises.
pub static CODES: &[&Code] = &[&UNREADABLE];
