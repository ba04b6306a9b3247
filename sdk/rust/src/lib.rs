//! Write faucet transforms, sources and sinks in Rust.
//!
//! A plugin is a WebAssembly component: faucet loads it at run time and runs it in a sandbox. This is all of a transform:
//!
//! ```
//! use faucet_sdk::{Output, Page, Result, Transform, config, transform};
//!
//! #[config]
//! struct Config {
//!     /// Text columns to turn to upper case.
//!     columns: Vec<String>,
//! }
//!
//! struct Uppercase(Config);
//!
//! #[transform(summary = "Turns text columns to upper case")]
//! impl Transform for Uppercase {
//!     type Config = Config;
//!
//!     fn open(config: Config) -> Result<Self> {
//!         Ok(Self(config))
//!     }
//!
//!     fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
//!         let mut out = page.pass();
//!         for name in &self.0.columns {
//!             out.set(page.column(name)?.map_text(|value, to| to.push_str(&value.to_uppercase()))?)?;
//!         }
//!         Ok(out.into())
//!     }
//! }
//! ```
//!
//! In `Cargo.toml` say `crate-type = ["cdylib", "rlib"]`, and build with
//! `cargo build --release --target wasm32-wasip2`. A whole project is in `examples/plugins/uppercase`.
//!
//! Sources and sinks are written the same way: see [`Source`] and [`Sink`].
//!
//! What to know:
//! - A page is one table's rows in columns. Columns that a transform does not touch never leave the host.
//! - Absent is not null. [`Column::map_text`] and [`ColumnBuilder`] keep both; see [`Value`].
//! - Rows of a change-data source carry `__op`. Let deletes and truncates through: see [`Op`].
//! - A panic ends the instance; its message reaches the user. Prefer [`Error`] with words that help.
//! - [`testing`] runs a transform natively over pages written as JSON.

#[doc(hidden)]
pub mod bindings;
mod bits;
mod builder;
mod column;
#[doc(hidden)]
pub mod component;
mod error;
mod host;
pub mod http;
mod new_page;
mod op;
mod output;
mod page;
mod sink;
mod source;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod transform;
mod value;
mod wants;

pub use bindings::faucet::connector::types::Kind;
pub use builder::ColumnBuilder;
pub use column::Column;
pub use error::{Error, Result};
pub use faucet_sdk_macro::{config, sink, source, transform};
pub use host::{Level, count, gauge, log, secrets};
pub use new_page::{Changes, NewPage};
pub use op::Op;
pub use output::{Output, PageOut};
pub use page::{OP_COLUMN, Page, Row, Rows};
pub use sink::{Mode, Rejected, Sink, SinkAbilities};
pub use source::{Batch, Bookmark, Discovered, Source, SourceAbilities};
pub use transform::{About, Transform};
pub use value::{Interval, Value, kind_name};
pub use wants::Wants;

#[doc(hidden)]
pub use {schemars, serde, serde_json};

/// Exports a component. `#[transform]`, `#[source]` and `#[sink]` write this.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($world:ident, $exported:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::component::$world<$exported>;
            $crate::__export_world!($world);
        };
    };
}

/// The export of one world.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_world {
    (Transform) => {
        $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
    };
    (Source) => {
        $crate::bindings::source::export_source!(Exported with_types_in $crate::bindings::source);
    };
    (Sink) => {
        $crate::bindings::sink::export_sink!(Exported with_types_in $crate::bindings::sink);
    };
}
