//! The first-party components that the binary carries, as `build.rs` built them from `guests/`.

/// Name and bytes of each.
pub static GUESTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
