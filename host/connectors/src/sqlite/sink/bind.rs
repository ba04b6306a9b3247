//! A value as SQLite is to store it in a column, exactly or not at all.
//!
//! What a column's affinity would change is found here, before SQLite changes it in silence.

use faucet_core::model::{ValueRef, push_text, push_timestamp};
use rusqlite::types::ValueRef as Stored;

use crate::sqlite::kinds::Affinity;

/// Whole numbers up to here, either way, are floats too.
const LARGEST_EXACT: u64 = 1 << 53;

/// SQLite's float keeps this many digits of a number that comes as text.
const EXACT_DIGITS: usize = 15;

/// Why a value can't be stored as it is: what SQLite would make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misfit(pub &'static str);

/// The stored form of `value`; text that isn't lent by the page is put into `scratch`.
#[inline]
pub(super) fn stored<'a>(
    value: ValueRef<'a>,
    affinity: Affinity,
    scratch: &'a mut Vec<u8>,
) -> Result<Stored<'a>, Misfit> {
    Ok(match value {
        ValueRef::Absent | ValueRef::Null => Stored::Null,
        ValueRef::Bool(v) if affinity != Affinity::Text => Stored::Integer(v.into()),
        ValueRef::I64(v) => integer(v, affinity)?,
        ValueRef::U64(v) => match i64::try_from(v) {
            Ok(v) => integer(v, affinity)?,
            Err(_) if affinity.is_numeric() => return Err(Misfit("a rounded float of an integer above 2^63")),
            Err(_) => spelled(value, scratch),
        },
        ValueRef::F32(v) => float(value, v.into(), affinity, scratch),
        ValueRef::F64(v) => float(value, v, affinity, scratch),
        ValueRef::Decimal(v) => match affinity.is_numeric() && !survives(v, affinity) {
            true => return Err(Misfit("a rounded float of a decimal number")),
            false => Stored::Text(v.as_bytes()),
        },
        ValueRef::Text(v) | ValueRef::Native(v) | ValueRef::Json(v) => match affinity.is_numeric() && is_number(v) {
            true => return Err(Misfit("a number of a text that looks like one")),
            false => Stored::Text(v.as_bytes()),
        },
        ValueRef::Bytes(v) => Stored::Blob(v),
        ValueRef::Timestamp(v) => {
            scratch.clear();
            push_timestamp(scratch, v, b' ', "");
            Stored::Text(scratch)
        }
        ValueRef::TimestampTz(v) => {
            scratch.clear();
            push_timestamp(scratch, v, b' ', "+00:00");
            Stored::Text(scratch)
        }
        ValueRef::Bool(_) | ValueRef::Date(_) | ValueRef::Time(_) | ValueRef::Interval(_) | ValueRef::Uuid(_) => {
            spelled(value, scratch)
        }
    })
}

fn spelled<'a>(value: ValueRef<'_>, scratch: &'a mut Vec<u8>) -> Stored<'a> {
    scratch.clear();
    push_text(scratch, value);
    Stored::Text(scratch)
}

fn integer(value: i64, affinity: Affinity) -> Result<Stored<'static>, Misfit> {
    if affinity == Affinity::Real && value.unsigned_abs() > LARGEST_EXACT {
        return Err(Misfit("a rounded float of an integer above 2^53"));
    }
    Ok(Stored::Integer(value))
}

/// SQLite stores NaN as null and prints floats for text columns with 15 digits: both are spelled out instead.
fn float<'a>(value: ValueRef<'_>, wide: f64, affinity: Affinity, scratch: &'a mut Vec<u8>) -> Stored<'a> {
    if wide.is_nan() || affinity == Affinity::Text { spelled(value, scratch) } else { Stored::Real(wide) }
}

/// Whether SQLite, which turns a decimal's text into a number here, gets the same number.
fn survives(text: &str, affinity: Affinity) -> bool {
    if affinity != Affinity::Real && text.parse::<i64>().is_ok() {
        return true;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let Ok(exponent) = exponent.parse::<i32>() else { return false };
    if !mantissa.contains(|c: char| c.is_ascii_digit()) {
        // NaN and the infinities look like no number, so they stay text.
        return true;
    }
    let digits = || mantissa.bytes().filter(u8::is_ascii_digit);
    let leading = digits().take_while(|&b| b == b'0').count();
    let trailing = digits().rev().take_while(|&b| b == b'0').count();
    let significant = digits().count().saturating_sub(leading + trailing);
    significant <= EXACT_DIGITS && mantissa.len() < 290 && exponent.unsigned_abs() < 200
}

/// Whether SQLite takes the text for a number: blanks around it are ignored.
fn is_number(text: &str) -> bool {
    let text = text.trim_matches(|c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c'));
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !(whole.is_empty() && fraction.is_empty()) && digits(whole) && digits(fraction);
    let exponent = exponent.map(|e| e.strip_prefix(['-', '+']).unwrap_or(e));
    has_digits && exponent.is_none_or(|e| !e.is_empty() && digits(e))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;
    use rusqlite::types::{ToSqlOutput, Value};

    const COLUMNS: [(&str, Affinity); 5] = [
        ("INTEGER", Affinity::Integer),
        ("TEXT", Affinity::Text),
        ("BLOB", Affinity::Blob),
        ("REAL", Affinity::Real),
        ("NUMERIC", Affinity::Numeric),
    ];

    /// What SQLite gives back after storing `value` in a column declared so; `None` when it was refused before.
    fn through(value: ValueRef<'_>, declared: &str, affinity: Affinity) -> Option<Value> {
        let mut scratch = Vec::new();
        let stored = stored(value, affinity, &mut scratch).ok()?;
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&format!("CREATE TABLE t (c {declared})")).unwrap();
        connection.execute("INSERT INTO t VALUES (?1)", [ToSqlOutput::Borrowed(stored)]).unwrap();
        Some(connection.query_row("SELECT c FROM t", [], |row| row.get(0)).unwrap())
    }

    /// The number without the zeros that don't change it, as text.
    fn number(text: &str) -> String {
        let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let digits = digits.trim_start_matches('0');
        let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        if digits.is_empty() {
            "0".to_owned()
        } else {
            format!("{sign}{}", digits.strip_prefix('.').map_or(digits.to_owned(), |d| format!(".{d}")))
        }
    }

    proptest! {
        /// Whatever SQLite makes of it, a number that was let through is the same number, and a text the same text.
        #[test]
        fn nothing_that_is_let_through_changes(
            integer in prop_oneof![any::<i64>(), -100..100_i64], float in any::<f64>(),
            decimal in "-?[0-9]{1,22}(\\.[0-9]{1,22})?", text in "[ -]?[0-9a.e+ ]{0,6}[ ]?",
        ) {
            for (declared, affinity) in COLUMNS {
                match through(ValueRef::I64(integer), declared, affinity) {
                    Some(Value::Integer(found)) => prop_assert_eq!(found, integer),
                    Some(Value::Real(found)) => prop_assert_eq!(found as i128, i128::from(integer)),
                    Some(Value::Text(found)) => prop_assert_eq!(found, integer.to_string()),
                    None => prop_assert_eq!(affinity, Affinity::Real),
                    other => prop_assert!(false, "{:?}", other),
                }
                match through(ValueRef::F64(float), declared, affinity).unwrap() {
                    Value::Real(found) => prop_assert!(found == float),
                    Value::Integer(found) => prop_assert!(found as f64 == float),
                    Value::Text(found) => {
                        let read: f64 = found.parse().unwrap();
                        prop_assert!(read == float || (read.is_nan() && float.is_nan()));
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
                match through(ValueRef::Decimal(&decimal), declared, affinity) {
                    Some(Value::Text(found)) => prop_assert_eq!(&found, &decimal),
                    Some(Value::Integer(found)) => prop_assert_eq!(number(&found.to_string()), number(&decimal)),
                    Some(Value::Real(found)) => prop_assert_eq!(number(&format!("{found}")), number(&decimal)),
                    None => prop_assert!(affinity.is_numeric()),
                    other => prop_assert!(false, "{:?}", other),
                }
                match through(ValueRef::Text(&text), declared, affinity) {
                    Some(Value::Text(found)) => prop_assert_eq!(&found, &text),
                    None => prop_assert!(affinity.is_numeric()),
                    other => prop_assert!(false, "{:?} {:?}", other, text),
                }
            }
        }
    }

    #[test]
    fn unusual_values_are_kept() {
        for (declared, affinity) in COLUMNS {
            let nan = through(ValueRef::F64(f64::NAN), declared, affinity);
            assert_eq!(nan, Some(Value::Text("NaN".into())), "{declared}");
            for text in ["NaN", "Infinity", "-Infinity"] {
                assert_eq!(through(ValueRef::Decimal(text), declared, affinity), Some(Value::Text(text.into())));
            }
            let bytes = through(ValueRef::Bytes(b"12"), declared, affinity);
            assert_eq!(bytes, Some(Value::Blob(b"12".to_vec())));
            let large = through(ValueRef::U64(u64::MAX), declared, affinity);
            assert_eq!(large, (!affinity.is_numeric()).then(|| Value::Text(u64::MAX.to_string())));
        }
        assert_eq!(through(ValueRef::Text("007"), "INTEGER", Affinity::Integer), None);
        assert_eq!(through(ValueRef::Json("1.50"), "JSON", Affinity::Numeric), None);
        assert_eq!(through(ValueRef::Text(" 1 "), "NUMERIC", Affinity::Numeric), None);
    }
}
