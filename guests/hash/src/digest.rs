//! The hashes.

use faucet_sdk::config;
use faucet_values::{push_base64, push_hex};
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256, Sha512};

/// Which hash.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// SHA-256, 32 bytes.
    #[default]
    Sha256,
    /// SHA-512, 64 bytes.
    Sha512,
}

/// How to write a hash.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Hex digits in lower case.
    #[default]
    Hex,
    /// Base64 with padding.
    Base64,
}

/// A hash that has read its key.
#[derive(Debug)]
pub(crate) struct Digest {
    state: State,
    form: Form,
}

#[derive(Debug)]
enum State {
    Sha256,
    Sha512,
    Hmac256(Hmac<Sha256>),
    Hmac512(Hmac<Sha512>),
}

impl Digest {
    pub(crate) fn new(method: Method, form: Form, salt: Option<&str>) -> Self {
        const ANY_LENGTH: &str = "a key may have any length";
        let state = match (method, salt) {
            (Method::Sha256, None) => State::Sha256,
            (Method::Sha512, None) => State::Sha512,
            (Method::Sha256, Some(salt)) => State::Hmac256(Hmac::new_from_slice(salt.as_bytes()).expect(ANY_LENGTH)),
            (Method::Sha512, Some(salt)) => State::Hmac512(Hmac::new_from_slice(salt.as_bytes()).expect(ANY_LENGTH)),
        };
        Self { state, form }
    }

    /// Appends the hash of `input`.
    pub(crate) fn write(&self, input: &[u8], to: &mut String) {
        match &self.state {
            State::Sha256 => self.form.write(&Sha256::digest(input), to),
            State::Sha512 => self.form.write(&Sha512::digest(input), to),
            State::Hmac256(hmac) => self.form.write(&hmac.clone().chain_update(input).finalize().into_bytes(), to),
            State::Hmac512(hmac) => self.form.write(&hmac.clone().chain_update(input).finalize().into_bytes(), to),
        }
    }
}

impl Form {
    fn write(self, hash: &[u8], to: &mut String) {
        match self {
            Self::Hex => push_hex(to, hash),
            Self::Base64 => push_base64(to, hash),
        }
    }
}
