//! Values and rows as JSON text ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)), one way for every sink.
//!
//! | kind | as JSON | remarks |
//! |---|---|---|
//! | `boolean` | `true`, `false` | |
//! | `int64`, `uint64` | number | every digit, also beyond 2^53 |
//! | `float32`, `float64` | number | the shortest that reads back as the same float; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `decimal` | number | every digit and the scale (`1.50`); spelled as JSON wants it (`+.5` is `0.5`); else as floats |
//! | `text`, `native` | string | |
//! | `bytes` | string | PostgreSQL's hex format, `"\\x00ff"` |
//! | `date`, `time` | string | `"2024-01-31"`, `"23:59:59.5"` |
//! | `timestamp`, `timestamptz` | string | `"2024-01-31T23:59:59.5"`, the latter with `Z`; `infinity` and ` BC` as in other text |
//! | `interval` | string | ISO 8601, `"P1M-2DT3H"` |
//! | `uuid` | string | |
//! | `json` | itself | line breaks between its tokens become blanks, so that a row is one line |
//!
//! Null is `null`, and so is a JSON document that says `null`: JSON text can't tell them apart. An absent slot is left
//! out of its row.

use super::{Column, Page, Schema, ValueRef, text};
use crate::error::Result;

/// Appends `value`; an absent value as `null`, because a value by itself can't be left out.
#[inline]
pub fn push_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Absent | ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::Bool(true) => out.extend_from_slice(b"true"),
        ValueRef::Bool(false) => out.extend_from_slice(b"false"),
        ValueRef::I64(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        ValueRef::U64(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        ValueRef::F32(v) => push_float(out, v),
        ValueRef::F64(v) => push_float(out, v),
        ValueRef::Decimal(v) => push_decimal(out, v),
        ValueRef::Text(v) | ValueRef::Native(v) => push_string(out, v),
        ValueRef::Json(v) => push_document(out, v),
        ValueRef::Bytes(v) => quoted(out, |out| {
            out.push(b'\\'); // the backslash of `\x` is escaped by one more
            text::push_bytes_hex(out, v);
        }),
        ValueRef::Date(v) => quoted(out, |out| text::push_date(out, v)),
        ValueRef::Time(v) => quoted(out, |out| text::push_time(out, v)),
        ValueRef::Timestamp(v) => quoted(out, |out| text::push_timestamp(out, v, b'T', "")),
        ValueRef::TimestampTz(v) => quoted(out, |out| text::push_timestamp(out, v, b'T', "Z")),
        ValueRef::Interval(v) => quoted(out, |out| text::push_interval(out, v)),
        ValueRef::Uuid(v) => quoted(out, |out| text::push_uuid(out, v)),
    }
}

/// Writes the rows of pages under one schema as JSON objects, members in the order of the columns.
///
/// ```
/// use faucet_core::model::{Field, JsonRows, Kind, PageBuilder, Schema, TableId};
/// use std::sync::Arc;
/// let schema = Arc::new(Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64), Field::new("a", Kind::Text)]));
/// let mut page = PageBuilder::rows(schema.clone());
/// page.columns()[0].push_i64(9007199254740993);
/// page.columns()[1].push_absent();
/// page.end_row();
/// let mut out = Vec::new();
/// JsonRows::new(&schema)?.push_row(&mut out, &page.finish(), 0);
/// assert_eq!(out, br#"{"id":9007199254740993}"#);
/// # Ok::<(), faucet_core::error::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonRows {
    /// Per column: `"name":`, escaped once.
    names: Vec<Vec<u8>>,
}

impl JsonRows {
    /// Prepares to write rows of `schema`.
    ///
    /// # Errors
    /// `page.duplicate_column` when two fields have one name.
    pub fn new(schema: &Schema) -> Result<Self> {
        schema.check_names()?;
        let name = |name: &str| {
            let mut out = Vec::with_capacity(name.len() + 3);
            push_string(&mut out, name);
            out.push(b':');
            out
        };
        Ok(Self { names: schema.fields.iter().map(|f| name(&f.name)).collect() })
    }

    /// Appends one row of `page`, whose schema is the one this was made for; no line end.
    ///
    /// # Panics
    /// When `row` is out of range.
    #[inline]
    pub fn push_row(&self, out: &mut Vec<u8>, page: &Page, row: usize) {
        self.push_columns(out, page.columns(), row);
    }

    /// Appends one row of columns that stand beside a page (its before-images, say).
    pub(super) fn push_columns(&self, out: &mut Vec<u8>, columns: &[Column], row: usize) {
        debug_assert_eq!(self.names.len(), columns.len());
        out.push(b'{');
        let mut separate = false;
        for (name, column) in self.names.iter().zip(columns) {
            let value = column.value(row);
            if value == ValueRef::Absent {
                continue;
            }
            if separate {
                out.push(b',');
            }
            separate = true;
            out.extend_from_slice(name);
            push_value(out, value);
        }
        out.push(b'}');
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

fn push_float<F: text::Float>(out: &mut Vec<u8>, value: F) {
    let wide: f64 = value.into();
    if wide.is_finite() { text::push_float(out, value) } else { quoted(out, |out| text::push_float(out, value)) }
}

/// JSON wants a digit on both sides of the point, no leading zero and no plus sign; digits and scale stay as they are.
fn push_decimal(out: &mut Vec<u8>, value: &str) {
    if matches!(value, "NaN" | "Infinity" | "-Infinity") {
        return quoted(out, |out| out.extend_from_slice(value.as_bytes()));
    }
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    if value.starts_with('-') {
        out.push(b'-');
    }
    let end_of_whole = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end_of_whole);
    let whole = whole.trim_start_matches('0');
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole.as_bytes() });
    match rest.strip_prefix('.') {
        Some(fraction) if !fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            out.extend_from_slice(fraction.as_bytes());
        }
        _ => out.extend_from_slice(rest.as_bytes()),
    }
}

/// A line break inside a JSON text can only stand between tokens.
fn push_document(out: &mut Vec<u8>, document: &str) {
    let start = out.len();
    out.extend_from_slice(document.as_bytes());
    for byte in &mut out[start..] {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Appends `value` as a JSON string, quotes included.
#[inline]
pub fn push_string(out: &mut Vec<u8>, value: &str) {
    out.reserve(value.len() + 2);
    out.push(b'"');
    let mut rest = value.as_bytes();
    while let Some(plain) = position_of_special(rest) {
        out.extend_from_slice(&rest[..plain]);
        push_escaped(out, rest[plain]);
        rest = &rest[plain + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cold]
fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Index of the first byte that a JSON string must escape: a quote, a backslash or a control character.
///
/// Eight bytes at a time, by the usual carry trick: subtracting from a byte that is too small borrows into its top bit.
/// The trick may also mark bytes after the first hit, so only the first one counts.
#[inline]
fn position_of_special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES * 0x80;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = (below(word, 0x20) | equal(word, b'"') | equal(word, b'\\')) & TOPS;
        if hits != 0 {
            return Some(index * 8 + hits.trailing_zeros() as usize / 8);
        }
    }
    let in_tail = tail.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
    in_tail.map(|at| words.len() * 8 + at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
