//! Components in OCI registries, in a store on disk, and in a lock file.
//!
//! The way from a [`Reference`] in a configuration to a component that runs has two halves. `faucet plugin pull` asks the
//! registry ([`Client`]), keeps the bytes under the name of their digest ([`Store`]) and writes down what the reference
//! stood for ([`Lock`]): [`lock_all`]. A pipeline takes the second half alone and never sees the network: [`resolve`].
//!
//! What always holds: no byte leaves this crate whose digest was not checked against the one that was asked for; no
//! error and no debug output holds a secret; nothing of a registry is read or waited for without a bound.

mod artifact;
mod client;
mod credentials;
mod digest;
mod durable;
mod fault;
mod fetch;
mod lock;
mod reference;
mod resolve;
mod store;

pub use artifact::Metadata;
pub use client::{Client, Options, Pulled};
pub use credentials::{Credential, Credentials, Secret};
pub use digest::Digest;
pub use fault::CODES;
pub use fetch::{Fetched, Mode, Report, lock_all};
pub use lock::{Lock, Locked};
pub use reference::Reference;
pub use resolve::{Resolved, resolve};
pub use store::Store;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Components beyond this are neither pushed, pulled nor read; the host that runs them has the same limit.
const LARGEST: u64 = 256 << 20;

/// A file of at most `most` bytes; [`io::ErrorKind::FileTooLarge`] for a longer one.
fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}
