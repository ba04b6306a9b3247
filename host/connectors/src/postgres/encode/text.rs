//! Values as PostgreSQL's input functions read them, and the escapes of `COPY .. (FORMAT text)`.

use faucet_core::model::{
    Interval, Values, push_bytes_hex, push_date, push_interval, push_time, push_timestamp, push_uuid,
};

use super::{Lane, infinite};

/// A null in `COPY .. (FORMAT text)`.
pub const NULL: &[u8] = b"\\N";

/// Appends the slot as one field of `COPY .. (FORMAT text)`; null and absent alike as `\N`.
pub fn push_field(out: &mut Vec<u8>, lane: Lane<'_>, row: usize) {
    if lane.is_null(row) {
        return out.extend_from_slice(NULL);
    }
    match lane.values {
        Values::Text(a) | Values::Json(a) | Values::Native(a) => push_escaped(out, a.value(row).as_bytes()),
        // Starts with a backslash, and has no other character to escape.
        Values::Bytes(a) => {
            out.push(b'\\');
            push_bytes_hex(out, a.value(row));
        }
        // The text of every other kind has nothing to escape.
        _ => push_plain(out, lane, row),
    }
}

/// The same for a column of wide floats: a narrow one keeps its value, which its shortest spelling may not mean there.
pub fn push_widened(out: &mut Vec<u8>, lane: Lane<'_>, row: usize) {
    match lane.values {
        Values::F32(a) if !lane.is_null(row) => {
            let wide = f64::from(a.value(row));
            push_float(out, wide, ryu::Buffer::new().format(wide));
        }
        _ => push_field(out, lane, row),
    }
}

/// Appends bytes with what COPY would take for markup escaped.
pub fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|b| matches!(b, b'\\' | b'\n' | b'\r' | b'\t')) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\\');
        out.push(match rest[at] {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            other => other,
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends the text of a slot that holds a value, as PostgreSQL's input functions read it.
pub fn push_plain(out: &mut Vec<u8>, lane: Lane<'_>, row: usize) {
    match lane.values {
        Values::Bool(a) => out.extend_from_slice(if a.value(row) { b"true" } else { b"false" }),
        Values::I64(a) => out.extend_from_slice(itoa::Buffer::new().format(a.value(row)).as_bytes()),
        Values::U64(a) => out.extend_from_slice(itoa::Buffer::new().format(a.value(row)).as_bytes()),
        Values::F32(a) => push_float(out, a.value(row).into(), ryu::Buffer::new().format(a.value(row))),
        Values::F64(a) => push_float(out, a.value(row), ryu::Buffer::new().format(a.value(row))),
        Values::Decimal(a) | Values::Text(a) | Values::Json(a) | Values::Native(a) => {
            out.extend_from_slice(a.value(row).as_bytes());
        }
        Values::Bytes(a) => push_bytes_hex(out, a.value(row)),
        Values::Date(a) => push_date(out, a.value(row)),
        Values::Time(a) => push_time(out, a.value(row)),
        Values::Timestamp(a) => push_timestamp(out, a.value(row), b' ', ""),
        Values::TimestampTz(a) => push_timestamp(out, a.value(row), b' ', "+00"),
        Values::Interval(a) => {
            let value = Interval::from_bytes(*sixteen(a.value(row)));
            match infinite(value) {
                Some(text) => out.extend_from_slice(text),
                None => push_interval(out, value),
            }
        }
        Values::Uuid(a) => push_uuid(out, sixteen(a.value(row))),
    }
}

fn push_float(out: &mut Vec<u8>, value: f64, shortest: &str) {
    let text = match value {
        v if v.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => shortest,
    };
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn sixteen(bytes: &[u8]) -> &[u8; 16] {
    bytes.try_into().expect("intervals and UUIDs are 16 bytes wide in every column")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_nothing_else() {
        let mut out = Vec::new();
        push_escaped(&mut out, "a\tb\\N\r\nü\u{1}\\.".as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), "a\\tb\\\\N\\r\\nü\u{1}\\\\.");
    }
}
