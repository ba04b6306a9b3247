//! SHA-256 digests, the names of manifests and components.

use crate::fault::BAD_REFERENCE;
use faucet_core::error::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// The SHA-256 of some bytes, written `sha256:` and 64 lower-case hexadecimal digits as in the OCI image specification.
///
/// ```
/// use faucet_registry::Digest;
/// let digest = Digest::of(b"abc");
/// assert_eq!(digest.to_string(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
/// assert!("sha512:00".parse::<Digest>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 64 digits without `sha256:`.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    /// # Errors
    /// `registry.bad_reference`: another algorithm, another length, or other characters.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::new(&BAD_REFERENCE, format!("'{}' is no digest: {why}", shown(text)));
        let Some(hex) = text.strip_prefix("sha256:") else {
            return Err(wrong("it has to begin with 'sha256:', the only algorithm that is used"));
        };
        let digits: Option<Vec<u8>> = hex.bytes().map(value_of).collect();
        let Some(digits) = digits else {
            return Err(wrong("after 'sha256:' come the digits 0-9 and a-f, in lower case"));
        };
        let pairs: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        match <[u8; 32]>::try_from(pairs) {
            Ok(bytes) if digits.len() == 64 => Ok(Self(bytes)),
            _ => Err(wrong(&format!("64 digits come after 'sha256:', and here are {}", digits.len()))),
        }
    }
}

/// The value of a lower-case hexadecimal digit. Upper case is another name for the same bytes, and a name is one text.
fn value_of(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The start of a text of somebody else, without what a terminal would act on.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 200;
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if text.chars().count() > MOST {
        shown.push('…');
    }
    shown
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_spelling() {
        let good = Digest::of(b"x").to_string();
        assert_eq!(good.parse::<Digest>().unwrap().to_string(), good);
        let long = format!("{good}0");
        for bad in ["", "sha256:", &good[7..], &good.to_uppercase(), &good[..70], &long, "sha256:é", "SHA256:00"] {
            let error = bad.parse::<Digest>().unwrap_err();
            assert_eq!(error.code().id, "registry.bad_reference", "{bad}");
        }
        let upper = format!("sha256:{}", good[7..].to_uppercase());
        assert!(upper.parse::<Digest>().is_err());
    }

    #[test]
    fn foreign_text_is_cut_and_tamed() {
        assert_eq!(shown("a\u{1b}[31mb\n"), "a[31mb");
        assert_eq!(shown(&"é".repeat(300)).chars().count(), 201);
    }
}
