//! State keys as file names, and back.
//!
//! Letters, digits, `-`, `_` and inner dots stand for themselves, everything else is `%` and two hexadecimal digits for
//! each byte of UTF-8, so that `orders::cdc` is `orders%3A%3Acdc.json`. A name that would exceed what file systems allow
//! is cut and ends in `~` and a hash; such a file says its key inside.

use sha2::{Digest, Sha256};

/// The ending of state files.
pub(super) const ENDING: &str = ".json";

/// The longest escaped key that is written out. File systems allow 255 bytes; the ending and temporary names need some.
const LONGEST: usize = 200;

/// How much of a longer key's name is readable.
const READABLE: usize = 120;

/// The file name for `key`.
pub(super) fn file_name(key: &str) -> String {
    let escaped = escape(key);
    if escaped.len() <= LONGEST {
        return escaped + ENDING;
    }
    let hash = hex(&Sha256::digest(key.as_bytes()));
    // Escaped text is ASCII, so any cut is a character boundary.
    format!("{}~{hash}{ENDING}", &escaped[..READABLE])
}

/// What a file's name says about the key it holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The key itself.
    Key(String),
    /// Only that it is a long one; the file says which.
    Long,
    /// Not a state file.
    Other,
}

/// Reads a file name.
pub(super) fn named(file_name: &str) -> Named {
    let Some(stem) = file_name.strip_suffix(ENDING) else { return Named::Other };
    if stem.contains('~') {
        return Named::Long;
    }
    match unescape(stem) {
        // Only names that we would write ourselves: `%41` or `a%2` are somebody else's.
        Some(key) if self::file_name(&key) == file_name => Named::Key(key),
        Some(_) | None => Named::Other,
    }
}

fn escape(key: &str) -> String {
    let mut escaped = String::with_capacity(key.len() + 8);
    for (nth, byte) in key.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || (byte == b'.' && nth > 0);
        if plain {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            escaped.push_str(&hex(&[byte]).to_uppercase());
        }
    }
    escaped
}

fn unescape(stem: &str) -> Option<String> {
    let bytes = stem.as_bytes();
    let mut key = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            key.push(u8::from_str_radix(stem.get(at + 1..at + 3)?, 16).ok()?);
            at += 3;
        } else {
            key.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(key).ok()
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_readable_as_file_names() {
        assert_eq!(file_name("orders::cdc"), "orders%3A%3Acdc.json");
        assert_eq!(file_name("postgres-cdc:slot_1"), "postgres-cdc%3Aslot_1.json");
        assert_eq!(file_name("../x"), "%2E.%2Fx.json");
        assert_eq!(file_name(""), ".json");
    }

    #[test]
    fn other_files_are_not_taken_for_ours() {
        for other in ["README", "a.txt", "%41.json", "a%2.json", "a%zz.json", "%3a.json", "é.json", ".tmp-1.json.tmp"]
        {
            assert_eq!(named(other), Named::Other, "{other}");
        }
    }

    proptest! {
        #[test]
        fn names_and_keys_are_the_same(key in any::<String>()) {
            let name = file_name(&key);
            prop_assert!(name.len() < 255 && name.is_ascii() && !name.contains('/'));
            match named(&name) {
                Named::Key(back) => prop_assert_eq!(back, key),
                Named::Long => prop_assert!(key.len() > LONGEST / 3),
                Named::Other => prop_assert!(false, "{}", name),
            }
        }

        #[test]
        fn different_keys_have_different_names(a in "[a-z:%~.]{0,300}", b in "[a-z:%~.]{0,300}") {
            prop_assume!(a != b);
            prop_assert_ne!(file_name(&a), file_name(&b));
        }
    }
}
