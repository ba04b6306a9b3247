//! The three ways to mask a text.

use sha2::{Digest, Sha256};

/// How to mask a text.
#[derive(Debug, Clone)]
pub(crate) enum Method {
    Hash(Hash),
    Redact(String),
    Partial(Partial),
}

impl Method {
    /// Whether distinct values stay distinct.
    pub(crate) fn keeps_distinct(&self) -> bool {
        match self {
            Self::Hash(_) => true,
            Self::Redact(_) | Self::Partial(_) => false,
        }
    }

    /// Appends the masked `value` to `to`.
    pub(crate) fn write(&self, value: &str, to: &mut String) {
        match self {
            Self::Hash(hash) => hash.write(value, to),
            Self::Redact(text) => to.push_str(text),
            Self::Partial(partial) => partial.write(value, to),
        }
    }
}

/// SHA-256 that has read the salt.
#[derive(Debug, Clone)]
pub(crate) struct Hash(Sha256);

impl Hash {
    pub(crate) fn new(salt: Option<&str>) -> Self {
        Self(Sha256::new().chain_update(salt.unwrap_or_default()))
    }

    fn write(&self, value: &str, to: &mut String) {
        let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
        for byte in self.0.clone().chain_update(value).finalize() {
            to.push(digit(byte >> 4));
            to.push(digit(byte & 15));
        }
    }
}

/// Which part stays readable. Characters are Unicode scalar values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partial {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) domain: bool,
}

impl Partial {
    fn write(self, value: &str, to: &mut String) {
        let at = if self.domain { value.rfind('@').unwrap_or(value.len()) } else { value.len() };
        let (hidden, shown) = value.split_at(at);
        self.hide(hidden, to);
        to.push_str(shown);
    }

    /// A text too short to keep anything back is hidden whole.
    fn hide(self, text: &str, to: &mut String) {
        let is_ascii = text.is_ascii();
        let count = if is_ascii { text.len() } else { text.chars().count() };
        let kept = self.first.saturating_add(self.last);
        if count <= kept {
            return stars(count, to);
        }
        // Where character number `at` starts.
        let byte_at = |at: usize| match is_ascii {
            true => at,
            false => text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte),
        };
        to.push_str(&text[..byte_at(self.first)]);
        stars(count - kept, to);
        to.push_str(&text[byte_at(count - self.last)..]);
    }
}

fn stars(mut count: usize, to: &mut String) {
    // In pieces: one star after the other takes longer than all else that is done to a value.
    const PIECE: &str = "****************************************************************";
    while count > 0 {
        let piece = &PIECE[..count.min(PIECE.len())];
        to.push_str(piece);
        count -= piece.len();
    }
}
