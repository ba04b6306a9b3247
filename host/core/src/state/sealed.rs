//! [`Sealer`]: encryption of state files at rest.
//!
//! AES-256-GCM (NIST SP 800-38D) with a fresh random nonce of 96 bits for every write. The key is the SHA-256 of the key
//! text: a derivation, not a stretching, so the text has to be random. The state key a value belongs to is authenticated
//! with it: a file copied over another key's file does not open.

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::SEALED;
use crate::error::{Error, Result};

/// The `encryption` block of a file store.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Encryption {
    /// The key's text. Use at least 32 random characters from a secrets manager, not a password.
    #[schemars(length(min = 1), extend("writeOnly" = true))]
    pub key: String,
    /// Earlier keys, which still open what they sealed. The next write seals it with `key`.
    #[serde(default)]
    #[schemars(inner(length(min = 1)), extend("writeOnly" = true))]
    pub previous_keys: Vec<String>,
    /// The algorithm. There is one.
    #[serde(default)]
    pub algorithm: Algorithm,
}

/// How state files are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Algorithm {
    /// AES with a 256-bit key in Galois/Counter Mode.
    #[default]
    #[serde(rename = "aes-256-gcm")]
    Aes256Gcm,
}

/// What goes before the state key in the authenticated data, so that a sealed value of another use never opens here.
const CONTEXT: &[u8] = b"faucet state 1\0";

/// Bytes of a nonce.
const NONCE: usize = 12;

/// A sealed value as it stands in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sealed {
    /// The algorithm.
    sealed: Algorithm,
    /// The state key, which the seal is bound to. The file's name tells it anyway.
    pub(super) key: String,
    /// The nonce, in Base64.
    nonce: String,
    /// Ciphertext and tag, in Base64.
    data: String,
}

/// Seals with one key and opens with several.
pub struct Sealer {
    current: Aes256Gcm,
    previous: Vec<Aes256Gcm>,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer").field("previous", &self.previous.len()).finish_non_exhaustive()
    }
}

impl Sealer {
    /// A sealer with the keys of `config`.
    pub fn new(config: &Encryption) -> Self {
        let Algorithm::Aes256Gcm = config.algorithm;
        Self { current: cipher(&config.key), previous: config.previous_keys.iter().map(|key| cipher(key)).collect() }
    }

    /// Seals `plain` for the state key `key`.
    pub(super) fn seal(&self, key: &str, plain: &[u8]) -> Result<Sealed> {
        let nonce: [u8; NONCE] = rand::random();
        let payload = Payload { msg: plain, aad: &authenticated(key) };
        let data = self
            .current
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| Error::new(&SEALED, format!("the state under '{key}' is too large to be sealed")))?;
        let (nonce, data) = (STANDARD.encode(nonce), STANDARD.encode(data));
        Ok(Sealed { sealed: Algorithm::Aes256Gcm, key: key.to_owned(), nonce, data })
    }

    /// Opens what was sealed for the key it names.
    ///
    /// # Errors
    /// [`SEALED`] when no key opens it; it doesn't say which part was wrong, because that can't be known.
    pub(super) fn open(&self, sealed: &Sealed) -> Result<Vec<u8>> {
        let key = &sealed.key;
        let refuse = || {
            Error::new(&SEALED, format!("the state under '{key}' can't be opened with the keys under `encryption`"))
                .hint("put the key it was sealed with under `encryption.previous_keys`")
        };
        let nonce = STANDARD.decode(&sealed.nonce).ok().and_then(|nonce| <[u8; NONCE]>::try_from(nonce).ok());
        let nonce = Nonce::from(nonce.ok_or_else(refuse)?);
        let data = STANDARD.decode(&sealed.data).map_err(|_| refuse())?;
        let authenticated = authenticated(key);
        let open = |cipher: &Aes256Gcm| cipher.decrypt(&nonce, Payload { msg: &data, aad: &authenticated }).ok();
        std::iter::once(&self.current).chain(&self.previous).find_map(open).ok_or_else(refuse)
    }
}

fn cipher(key: &str) -> Aes256Gcm {
    Aes256Gcm::new(&<[u8; 32]>::from(Sha256::digest(key.as_bytes())).into())
}

fn authenticated(key: &str) -> Vec<u8> {
    [CONTEXT, key.as_bytes()].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sealer(key: &str, previous: &[&str]) -> Sealer {
        Sealer::new(&Encryption {
            key: key.to_owned(),
            previous_keys: previous.iter().map(|&key| key.to_owned()).collect(),
            algorithm: Algorithm::default(),
        })
    }

    #[test]
    fn only_the_right_key_and_the_right_state_key_open() {
        let sealed = sealer("one", &[]).seal("a::cdc", b"position").unwrap();
        assert!(!sealed.data.contains("position"));
        assert_eq!(sealer("one", &[]).open(&sealed).unwrap(), b"position");
        assert_eq!(sealer("two", &["one"]).open(&sealed).unwrap(), b"position");
        assert_eq!(sealer("two", &[]).open(&sealed).unwrap_err().code().id, "state.sealed");
        let renamed = Sealed { key: "b::cdc".to_owned(), ..sealed };
        assert_eq!(sealer("one", &[]).open(&renamed).unwrap_err().code().id, "state.sealed");
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let sealer = sealer("one", &[]);
        let mut sealed = sealer.seal("k", b"position").unwrap();
        let data = STANDARD.decode(&sealed.data).unwrap();
        for byte in 0..data.len() {
            let mut changed = data.clone();
            changed[byte] ^= 1;
            sealed.data = STANDARD.encode(changed);
            assert!(sealer.open(&sealed).is_err(), "byte {byte}");
        }
        for damaged in [STANDARD.encode(&data[..3]), String::new(), "?".to_owned()] {
            sealed.data = damaged;
            assert!(sealer.open(&sealed).is_err());
        }
    }

    #[test]
    fn the_same_value_is_never_sealed_the_same_way() {
        let sealer = sealer("one", &[]);
        assert_ne!(sealer.seal("k", b"x").unwrap().data, sealer.seal("k", b"x").unwrap().data);
    }

    #[test]
    fn a_sealer_does_not_print_its_keys() {
        assert_eq!(format!("{:?}", sealer("secret-key", &["old-key"])), "Sealer { previous: 1, .. }");
    }

    /// NIST's example for AES-256-GCM without a message (test case 13 of the GCM specification), through the cipher we
    /// configure: the tag of nothing under an all-zero key and nonce.
    #[test]
    fn the_cipher_is_the_standard_one() {
        let cipher = Aes256Gcm::new(&[0u8; 32].into());
        let tag = cipher.encrypt(&Nonce::from([0u8; NONCE]), &b""[..]).unwrap();
        assert_eq!(crate::state::escape::hex(&tag), "530f8afbc74536b9a963b4f1c4cb738b");
    }
}
