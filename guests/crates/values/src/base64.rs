//! Base64 with padding ([RFC 4648](https://www.rfc-editor.org/rfc/rfc4648), section 4).

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` as base64.
pub fn push(to: &mut String, bytes: &[u8]) {
    to.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            to.push(if digit <= group.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
}

/// The bytes that `text` stands for; none if it is no base64, or its last digit has bits that no byte takes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            let value = group.get(at).map_or(Some(0), |digit| DIGITS.iter().position(|known| known == digit))?;
            bits = bits << 6 | value as u32;
        }
        let [_, all @ ..] = bits.to_be_bytes();
        let (kept, cut) = all.split_at(group.len() - 1);
        if cut.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_vectors_of_the_rfc() {
        let both =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in both {
            let mut written = String::new();
            push(&mut written, bytes.as_bytes());
            assert_eq!((written.as_str(), decode(text)), (text, Some(bytes.as_bytes().to_vec())));
        }
        for bad in ["Zg", "Zg=", "Zh==", "Z===", "Zm9v=", "====", "Zm9\u{e9}", "Zg==Zg=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
