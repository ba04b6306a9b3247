//! Version 0.1 of the boundary, `faucet:connector@0.1.0`: the one place that knows its types.

mod bind;
mod bookmark;
mod decode;
mod encode;
mod ended;
mod guest;
mod imports;
mod rows;
mod schema;
mod schemas;
mod selection;
mod sink;
mod source;
mod transform;

pub(crate) use ended::{Ended, listed};
pub use guest::Role;
pub(crate) use guest::{Guest, Pre};
pub(crate) use imports::link;
pub(crate) use sink::{PluginSink, check as check_sink};
pub(crate) use source::{PluginSource, SourceCapture, check as check_source};
pub(crate) use transform::{GuestTransform, open as open_transform};

/// The version that this module speaks.
pub(crate) const VERSION: &str = "0.1.0";

/// The package that is the boundary.
pub(crate) const PACKAGE: &str = "faucet:connector";
