//! Fingerprints of records: equal for records that say the same, however an API writes them.

use crate::json::{Raw, Shape, elements, members, shape};
use faucet_sdk::Result;
use faucet_values::push_hex;
use sha2::{Digest, Sha256};

/// Bytes of a fingerprint: two of 10,000 records share one with a chance of 1 in 10^31.
const BYTES: usize = 16;

/// Deeper than this, a value counts as it is written.
const DEPTH: usize = 32;

/// The fingerprint of a record, in hex digits.
pub(crate) fn of(record: &Raw) -> Result<String> {
    let mut hash = Sha256::new();
    update(&mut hash, record, DEPTH)?;
    let mut out = String::with_capacity(BYTES * 2);
    push_hex(&mut out, &hash.finalize()[..BYTES]);
    Ok(out)
}

/// Every part is preceded by what it is and how long it is, so that no two values give the same bytes.
fn update(hash: &mut Sha256, raw: &Raw, depth: usize) -> Result<()> {
    match shape(raw)? {
        Shape::Object if depth > 0 => {
            let mut members = members(raw)?;
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            part(hash, b'{', &members.len().to_string());
            for (name, value) in members {
                part(hash, b'n', &name);
                update(hash, value, depth - 1)?;
            }
        }
        Shape::Array if depth > 0 => {
            let elements = elements(raw)?;
            part(hash, b'[', &elements.len().to_string());
            for element in elements {
                update(hash, element, depth - 1)?;
            }
        }
        Shape::Text(text) => part(hash, b't', &text),
        Shape::Null | Shape::Boolean(_) | Shape::Number(_) | Shape::Object | Shape::Array => part(hash, b'v', raw),
    }
    Ok(())
}

fn part(hash: &mut Sha256, what: u8, text: &str) {
    hash.update([what]);
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::document;

    fn print(text: &str) -> String {
        of(document(text).unwrap()).unwrap()
    }

    #[test]
    fn writing_does_not_matter_and_content_does() {
        let record = print(r#"{"id":1,"a":{"x":"A","y":[1,2]}}"#);
        assert_eq!(record.len(), 32);
        assert_eq!(print(r#" { "a" : {"y":[1, 2],"x":"\u0041"}, "id":1 } "#), record);
        for other in [
            r#"{"id":2,"a":{"x":"A","y":[1,2]}}"#,
            r#"{"id":"1","a":{"x":"A","y":[1,2]}}"#,
            r#"{"id":1,"a":{"x":"A","y":[2,1]}}"#,
            r#"{"id":1,"a":{"x":"A","y":[1,2]},"b":null}"#,
            r#"{"id":1,"ax":{"":"A","y":[1,2]}}"#,
        ] {
            assert_ne!(print(other), record, "{other}");
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(print(&deep), print(&deep));
    }
}
