//! Version 0.1 of the boundary, `faucet:connector@0.1.0`: the one place that knows its types.

mod bind;
mod decode;
mod encode;
mod guest;
mod schema;
mod selection;
mod transform;

pub(crate) use guest::{Ended, Guest, Pre};
pub(crate) use transform::{GuestTransform, listed};

use crate::capability::Surroundings;
use crate::log::Level;
use bind::faucet::connector::host;
use wasmtime::component::{HasSelf, Linker};

/// The version that this module speaks.
pub(crate) const VERSION: &str = "0.1.0";

/// The interface that makes a component a transform, without its version.
pub(crate) const TRANSFORMS: &str = "faucet:connector/transforms";

/// The package that is the boundary.
pub(crate) const PACKAGE: &str = "faucet:connector";

/// Offers the interface `host`.
pub(crate) fn link(linker: &mut Linker<Surroundings>) -> wasmtime::Result<()> {
    host::add_to_linker::<_, HasSelf<Surroundings>>(linker, |surroundings| surroundings)
}

impl host::Host for Surroundings {
    fn log(&mut self, level: host::Level, message: String) {
        let level = match level {
            host::Level::Debug => Level::Debug,
            host::Level::Info => Level::Info,
            host::Level::Warn => Level::Warn,
            host::Level::Error => Level::Error,
        };
        self.log.line(level, &message);
    }
}
