//! Fields in PostgreSQL's binary format.
//!
//! Source of the forms: the `*_send` functions of each type, as the PostgreSQL manual's "COPY: Binary Format" refers to.

use faucet_core::model::{ColumnBuilder, Interval};

use super::{EPOCH_DAYS, Undecodable, unix_micros};
use crate::postgres::types::Wire;

/// Adds one slot: the non-null field `bytes`, which has the form `wire`. `scratch` is room to work in.
///
/// The column's kind must be the one that [`crate::postgres::types`] pairs with `wire`.
///
/// # Errors
/// When the bytes are not of that form, or the value is outside the kind's range; the column is unchanged then.
pub fn push(column: &mut ColumnBuilder, wire: Wire, bytes: &[u8], scratch: &mut Vec<u8>) -> Result<(), Undecodable> {
    match wire {
        Wire::Bool => match bytes {
            [0] => column.push_bool(false),
            [1] => column.push_bool(true),
            _ => return Err(Undecodable::Malformed),
        },
        Wire::Int2 => column.push_i64(i16::from_be_bytes(exactly(bytes)?).into()),
        Wire::Int4 => column.push_i64(i32::from_be_bytes(exactly(bytes)?).into()),
        Wire::Int8 => column.push_i64(i64::from_be_bytes(exactly(bytes)?)),
        Wire::Oid => column.push_i64(u32::from_be_bytes(exactly(bytes)?).into()),
        Wire::Float4 => column.push_f32(canonical_f32(f32::from_be_bytes(exactly(bytes)?))),
        Wire::Float8 => column.push_f64(canonical_f64(f64::from_be_bytes(exactly(bytes)?))),
        Wire::Numeric => {
            scratch.clear();
            numeric(bytes, scratch)?;
            column.push_str(utf8(scratch)?);
        }
        Wire::Text => column.push_str(utf8(bytes)?),
        Wire::Char => push_char(column, exactly(bytes)?)?,
        Wire::Bytea => column.push_bytes(bytes),
        Wire::Date => column.push_i32(date(i32::from_be_bytes(exactly(bytes)?))?),
        Wire::Time => column.push_i64(time(i64::from_be_bytes(exactly(bytes)?))?),
        Wire::Timestamp => column.push_i64(unix_micros(i64::from_be_bytes(exactly(bytes)?))?),
        Wire::Interval => column.push_interval(interval(exactly(bytes)?)),
        Wire::Uuid => column.push_uuid(exactly(bytes)?),
        Wire::Jsonb => match bytes {
            [1, text @ ..] => column.push_str(utf8(text)?),
            _ => return Err(Undecodable::Malformed),
        },
    }
    Ok(())
}

#[inline]
fn exactly<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Undecodable> {
    bytes.try_into().map_err(|_| Undecodable::Malformed)
}

#[inline]
fn utf8(bytes: &[u8]) -> Result<&str, Undecodable> {
    std::str::from_utf8(bytes).map_err(|_| Undecodable::NotUtf8)
}

/// The text format has one NaN only, so all NaNs become that one.
fn canonical_f32(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value }
}

fn canonical_f64(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn push_char(column: &mut ColumnBuilder, [byte]: [u8; 1]) -> Result<(), Undecodable> {
    match byte {
        0 => column.push_str(""),
        1..=0x7f => column.push_str(utf8(&[byte])?),
        // As the text format writes it since PostgreSQL 16; older servers send text that is not UTF-8.
        _ => column.push_str(utf8(&[b'\\', b'0' + (byte >> 6), b'0' + ((byte >> 3) & 7), b'0' + (byte & 7)])?),
    }
    Ok(())
}

fn date(days: i32) -> Result<i32, Undecodable> {
    if days == i32::MIN || days == i32::MAX {
        return Ok(days);
    }
    days.checked_add(EPOCH_DAYS).filter(|d| *d != i32::MAX).ok_or(Undecodable::OutOfRange)
}

fn time(micros: i64) -> Result<i64, Undecodable> {
    (0..=super::MICROS_PER_DAY).contains(&micros).then_some(micros).ok_or(Undecodable::Malformed)
}

fn interval(bytes: [u8; 16]) -> Interval {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    Interval {
        microseconds: i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        days: i32::from_be_bytes([i, j, k, l]),
        months: i32::from_be_bytes([m, n, o, p]),
    }
}

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const MINUS_INFINITY: u16 = 0xf000;
const MAX_SCALE: u16 = 0x3fff;

/// Writes a numeric as its text: all digits, and as many after the point as its display scale says.
fn numeric(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    let (header, digits) = bytes.split_first_chunk::<8>().ok_or(Undecodable::Malformed)?;
    let [a, b, c, d, e, f, g, h] = *header;
    let count = usize::from(u16::from_be_bytes([a, b]));
    let weight = i16::from_be_bytes([c, d]);
    let scale = u16::from_be_bytes([g, h]);
    let sign = u16::from_be_bytes([e, f]);
    match sign {
        0 | NEGATIVE => {}
        NAN => return special(count, b"NaN", out),
        INFINITY => return special(count, b"Infinity", out),
        MINUS_INFINITY => return special(count, b"-Infinity", out),
        _ => return Err(Undecodable::Malformed),
    }
    if scale > MAX_SCALE || digits.len() != count * 2 {
        return Err(Undecodable::Malformed);
    }
    if sign == NEGATIVE {
        out.push(b'-');
    }
    let digits = Digits { bytes: digits, weight: weight.into() };
    digits.push_whole(out)?;
    digits.push_fraction(scale.into(), out)
}

fn special(count: usize, text: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    if count != 0 {
        return Err(Undecodable::Malformed);
    }
    out.extend_from_slice(text);
    Ok(())
}

/// Base-10000 digits; the first stands for `10000^weight`.
struct Digits<'a> {
    bytes: &'a [u8],
    weight: i32,
}

impl Digits<'_> {
    /// The digit that stands for `10000^power`; zero outside the ones that were sent.
    #[inline]
    fn at(&self, power: i32) -> Result<u16, Undecodable> {
        let index = self.weight - power;
        let Ok(index) = usize::try_from(index) else { return Ok(0) };
        let Some(&[high, low]) = self.bytes.get(index * 2..index * 2 + 2).and_then(|b| b.first_chunk::<2>()) else {
            return Ok(0);
        };
        let digit = u16::from_be_bytes([high, low]);
        if digit < 10_000 { Ok(digit) } else { Err(Undecodable::Malformed) }
    }

    fn push_whole(&self, out: &mut Vec<u8>) -> Result<(), Undecodable> {
        if self.weight < 0 {
            out.push(b'0');
            return Ok(());
        }
        out.extend_from_slice(itoa::Buffer::new().format(self.at(self.weight)?).as_bytes());
        for power in (0..self.weight).rev() {
            out.extend_from_slice(&four(self.at(power)?));
        }
        Ok(())
    }

    fn push_fraction(&self, scale: usize, out: &mut Vec<u8>) -> Result<(), Undecodable> {
        if scale == 0 {
            return Ok(());
        }
        out.push(b'.');
        let end = out.len() + scale;
        let mut power = -1;
        while out.len() < end {
            out.extend_from_slice(&four(self.at(power)?));
            power -= 1;
        }
        out.truncate(end);
        Ok(())
    }
}

fn four(digit: u16) -> [u8; 4] {
    let ones = |n: u16| b'0' + (n % 10) as u8;
    [ones(digit / 1000), ones(digit / 100), ones(digit / 10), ones(digit)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::model::Kind;
    use proptest::prelude::{any, proptest};

    const ALL: [(Wire, Kind); 18] = [
        (Wire::Bool, Kind::Bool),
        (Wire::Int2, Kind::I64),
        (Wire::Int4, Kind::I64),
        (Wire::Int8, Kind::I64),
        (Wire::Oid, Kind::I64),
        (Wire::Float4, Kind::F32),
        (Wire::Float8, Kind::F64),
        (Wire::Numeric, Kind::Decimal),
        (Wire::Text, Kind::Text),
        (Wire::Char, Kind::Text),
        (Wire::Bytea, Kind::Bytes),
        (Wire::Date, Kind::Date),
        (Wire::Time, Kind::Time),
        (Wire::Timestamp, Kind::Timestamp),
        (Wire::Timestamp, Kind::TimestampTz),
        (Wire::Interval, Kind::Interval),
        (Wire::Uuid, Kind::Uuid),
        (Wire::Jsonb, Kind::Json),
    ];

    fn decimal(bytes: &[u8]) -> Result<String, Undecodable> {
        let mut out = Vec::new();
        numeric(bytes, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn numerics_keep_their_scale() {
        // Bytes: `select numeric_send(..)` on PostgreSQL 15.
        assert_eq!(decimal(&[0, 0, 0, 0, 0, 0, 0, 2]).unwrap(), "0.00");
        assert_eq!(decimal(&[0, 2, 0, 0, 0, 0, 0, 2, 0, 1, 0x13, 0x88]).unwrap(), "1.50");
        assert_eq!(decimal(&[0, 1, 0, 1, 0x40, 0, 0, 0, 0, 1]).unwrap(), "-10000");
        assert_eq!(decimal(&[0, 1, 0xff, 0xff, 0, 0, 0, 4, 0, 1]).unwrap(), "0.0001");
        assert_eq!(decimal(&[0, 0, 0, 0, 0xc0, 0, 0, 0]).unwrap(), "NaN");
    }

    #[test]
    fn timestamps_beyond_the_range_are_refused() {
        let mut column = ColumnBuilder::new(Kind::Timestamp);
        let mut put = |micros: i64| push(&mut column, Wire::Timestamp, &micros.to_be_bytes(), &mut Vec::new());
        // `timestamp '294276-12-31 23:59:59.999999'`.
        assert_eq!(put(9_223_371_331_199_999_999), Err(Undecodable::OutOfRange));
        assert_eq!(put(i64::MAX), Ok(()));
        assert_eq!(put(i64::MAX - super::super::EPOCH_MICROS), Err(Undecodable::OutOfRange));
        assert_eq!(put(i64::MAX - super::super::EPOCH_MICROS - 1), Ok(()));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_slot_or_an_error(bytes: Vec<u8>) {
            for (wire, kind) in ALL {
                let mut column = ColumnBuilder::new(kind);
                let pushed = push(&mut column, wire, &bytes, &mut Vec::new());
                assert_eq!(column.finish().len(), usize::from(pushed.is_ok()));
            }
        }

        #[test]
        fn any_numeric_header_gives_a_slot_or_an_error(
            weight: i16, sign in 0..6_usize, scale in 0..0x4100_u16, digits in proptest::collection::vec(any::<u16>(), 0..4)
        ) {
            let sign = [0, NEGATIVE, NAN, INFINITY, MINUS_INFINITY, 7][sign];
            let mut bytes = Vec::new();
            for part in [digits.len() as u16, weight as u16, sign, scale].into_iter().chain(digits) {
                bytes.extend_from_slice(&part.to_be_bytes());
            }
            let mut column = ColumnBuilder::new(Kind::Decimal);
            let pushed = push(&mut column, Wire::Numeric, &bytes, &mut Vec::new());
            assert_eq!(column.finish().len(), usize::from(pushed.is_ok()));
        }
    }
}
