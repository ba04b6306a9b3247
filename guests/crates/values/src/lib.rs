//! What several components of this workspace share: values as exact text and back, from one kind to another, and in
//! JSON documents; the choices that their configurations have in common; and a column made from other columns.
//!
//! It is a library that is linked into the components, not a component.

mod base64;
mod change;
mod computed;
pub mod config;
mod convert;
pub mod decimal;
pub mod document;
mod json;
mod names;
mod parse;
pub mod temporal;
mod text;

pub use base64::push as push_base64;
pub use change::Changes;
pub use computed::Computed;
pub use convert::{Bytes, Converted, Epoch, Reading, is_convertible};
pub use json::{push_json, push_json_string};
pub use names::{check_new_name, is_pattern, matches, protect_op, rename_all};
pub use parse::parse;
pub use text::push_text;
