//! What a crash may do to rows: the gate that decides it before a run, and the token that keeps the promise during one.

pub mod gate;
pub mod token;

pub use gate::{Mechanism, decide};
pub use token::Token;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Code;

/// What a crash may do to the rows of the page in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// They may be written again.
    #[default]
    AtLeastOnce,
    /// They have their effect once. Refused where source, sink and state store can't promise that together.
    ExactlyOnce,
}

/// Every kind of failure this module raises.
pub static CODES: &[&Code] = &[&token::MALFORMED];
