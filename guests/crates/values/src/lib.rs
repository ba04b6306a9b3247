//! What several components of this workspace share: values as exact text and back, from one kind to another, and in
//! JSON documents; the choices that their configurations have in common; and a column made from other columns.
//!
//! It is a library that is linked into the components, not a component.

mod base64;
mod change;
mod computed;
pub mod config;
mod constant;
mod convert;
pub mod decimal;
pub mod document;
mod json;
mod names;
mod or_null;
mod ordered;
mod parse;
pub mod temporal;
mod text;

pub use base64::push as push_base64;
pub use change::Changes;
pub use computed::{Computed, Lacks, first_absent};
pub use constant::{constant_kind, constant_text};
pub use convert::{Bytes, Converted, Epoch, Made, Reading, is_convertible};
pub use json::{push_json, push_json_string};
pub use names::{check_key_stays, check_new_name, give_up_key, protect_op, rename_all, selected};
pub use or_null::{NamedNull, OrNull};
pub use ordered::Ordered;
pub use parse::parse;
pub use text::{push_hex, push_text};
