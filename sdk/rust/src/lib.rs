//! Write faucet transforms in Rust.
//!
//! A transform is a WebAssembly component: faucet loads it at run time and runs it in a sandbox. This is all of one:
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
mod log;
mod op;
mod output;
mod page;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod transform;
mod value;

pub use bindings::faucet::connector::types::Kind;
pub use builder::ColumnBuilder;
pub use column::Column;
pub use error::{Error, Result};
pub use faucet_sdk_macro::{config, transform};
pub use log::{Level, log};
pub use op::Op;
pub use output::{Output, PageOut};
pub use page::{OP_COLUMN, Page, Row, Rows};
pub use transform::{About, Transform};
pub use value::{Interval, Value, kind_name};

#[doc(hidden)]
pub use {schemars, serde, serde_json};

/// Exports a component. `#[transform]` writes this.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($transform:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::component::Component<$transform>;
    $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
        };
    };
}
