//! Fields of `COPY .. (FORMAT binary)`: a length, then the value in the form of the destination's type.
//!
//! Source of the forms: the `*_recv` functions of each type, as the PostgreSQL manual's "COPY: Binary Format" refers to.

use faucet_core::model::{Interval, Values};

use super::{Lane, Unwritable, text};
use crate::postgres::decode::{EPOCH_DAYS, EPOCH_MICROS};
use crate::postgres::types::Wire;

/// What every binary copy starts with: signature, no flags, no header extension.
pub const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What every binary copy ends with.
pub const TRAILER: &[u8] = &[0xff, 0xff];
/// A null field.
pub const NULL: &[u8] = &[0xff, 0xff, 0xff, 0xff];

/// Appends the slot as one field in the form `wire`; null and absent alike as a null.
///
/// # Errors
/// When the value does not fit the form. What was appended for it is garbage then.
///
/// # Panics
/// When [`super::direct`] does not allow the pair of kind and form.
#[inline]
pub fn push_field(out: &mut Vec<u8>, lane: Lane<'_>, row: usize, wire: Wire) -> Result<(), Unwritable> {
    if lane.is_null(row) {
        out.extend_from_slice(NULL);
        return Ok(());
    }
    match (wire, lane.values) {
        (Wire::Bool, Values::Bool(a)) => push_fixed(out, [u8::from(a.value(row))]),
        (Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid, Values::I64(a)) => push_integer(out, a.value(row), wire)?,
        (Wire::Int2 | Wire::Int4 | Wire::Int8 | Wire::Oid, Values::U64(a)) => push_integer(out, a.value(row), wire)?,
        (Wire::Float4, Values::F32(a)) => push_fixed(out, a.value(row).to_be_bytes()),
        (Wire::Float8, Values::F32(a)) => push_fixed(out, f64::from(a.value(row)).to_be_bytes()),
        (Wire::Float8, Values::F64(a)) => push_fixed(out, a.value(row).to_be_bytes()),
        (Wire::Numeric, Values::Decimal(a)) => push_numeric(out, a.value(row).as_bytes())?,
        (Wire::Numeric, Values::I64(a)) => push_numeric(out, itoa::Buffer::new().format(a.value(row)).as_bytes())?,
        (Wire::Numeric, Values::U64(a)) => push_numeric(out, itoa::Buffer::new().format(a.value(row)).as_bytes())?,
        (Wire::Text, Values::Text(a) | Values::Decimal(a) | Values::Json(a) | Values::Native(a)) => {
            push_bytes(out, a.value(row).as_bytes());
        }
        (Wire::Jsonb, Values::Text(a) | Values::Decimal(a) | Values::Json(a) | Values::Native(a)) => {
            push_sized(out, |out| {
                out.push(1);
                out.extend_from_slice(a.value(row).as_bytes());
            });
        }
        (Wire::Bytea, Values::Bytes(a)) => push_bytes(out, a.value(row)),
        (Wire::Date, Values::Date(a)) => push_fixed(out, since_2000(a.value(row))?.to_be_bytes()),
        (Wire::Time, Values::Time(a)) => push_fixed(out, a.value(row).to_be_bytes()),
        (Wire::Timestamp, Values::Timestamp(a) | Values::TimestampTz(a)) => {
            push_fixed(out, micros_since_2000(a.value(row))?.to_be_bytes());
        }
        (Wire::Interval, Values::Interval(a)) => push_interval(out, Interval::from_bytes(*text::sixteen(a.value(row)))),
        (Wire::Uuid, Values::Uuid(a)) => push_fixed(out, *text::sixteen(a.value(row))),
        (Wire::Text, _) => push_sized(out, |out| text::push_plain(out, lane, row)),
        (wire, values) => unreachable!("bug: {} values have no direct form {wire:?}", values.kind()),
    }
    Ok(())
}

/// Appends a field of known width.
#[inline]
pub fn push_fixed<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&(N as u32).to_be_bytes());
    out.extend_from_slice(&bytes);
}

/// Appends a field of any width.
#[inline]
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends a field that `write` writes.
#[inline]
pub fn push_sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

#[inline]
fn push_integer<T>(out: &mut Vec<u8>, value: T, wire: Wire) -> Result<(), Unwritable>
where
    i16: TryFrom<T>,
    i32: TryFrom<T>,
    i64: TryFrom<T>,
    u32: TryFrom<T>,
{
    match wire {
        Wire::Int2 => push_fixed(out, i16::try_from(value).map_err(|_| Unwritable::TooLarge)?.to_be_bytes()),
        Wire::Int4 => push_fixed(out, i32::try_from(value).map_err(|_| Unwritable::TooLarge)?.to_be_bytes()),
        Wire::Oid => push_fixed(out, u32::try_from(value).map_err(|_| Unwritable::TooLarge)?.to_be_bytes()),
        _ => push_fixed(out, i64::try_from(value).map_err(|_| Unwritable::TooLarge)?.to_be_bytes()),
    }
    Ok(())
}

fn since_2000(days: i32) -> Result<i32, Unwritable> {
    match days {
        i32::MIN | i32::MAX => Ok(days),
        _ => days.checked_sub(EPOCH_DAYS).filter(|d| *d != i32::MIN).ok_or(Unwritable::TooLarge),
    }
}

fn micros_since_2000(micros: i64) -> Result<i64, Unwritable> {
    match micros {
        i64::MIN | i64::MAX => Ok(micros),
        _ => micros.checked_sub(EPOCH_MICROS).filter(|m| *m != i64::MIN).ok_or(Unwritable::TooLarge),
    }
}

fn push_interval(out: &mut Vec<u8>, value: Interval) {
    out.extend_from_slice(&16_u32.to_be_bytes());
    out.extend_from_slice(&value.microseconds.to_be_bytes());
    out.extend_from_slice(&value.days.to_be_bytes());
    out.extend_from_slice(&value.months.to_be_bytes());
}

/// Most digits before the point, and most after it, that a `numeric` holds.
const MOST_WHOLE: usize = 131_072;
const MOST_FRACTION: usize = 16_383;

fn push_numeric(out: &mut Vec<u8>, number: &[u8]) -> Result<(), Unwritable> {
    let special = match number {
        b"NaN" => 0xc000_u16,
        b"Infinity" => 0xd000,
        b"-Infinity" => 0xf000,
        _ => return push_finite(out, number),
    };
    let [high, low] = special.to_be_bytes();
    push_fixed(out, [0, 0, 0, 0, high, low, 0, 0]);
    Ok(())
}

fn push_finite(out: &mut Vec<u8>, number: &[u8]) -> Result<(), Unwritable> {
    let (negative, digits) = match number {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.iter().any(|b| matches!(b, b'e' | b'E')) {
        return push_digits(out, negative, &without_exponent(digits)?);
    }
    push_digits(out, negative, digits)
}

fn all_digits(text: &[u8]) -> Result<(), Unwritable> {
    if text.iter().all(u8::is_ascii_digit) { Ok(()) } else { Err(Unwritable::NotANumber) }
}

/// Writes digits with at most one point as base-10000 digits.
fn push_digits(out: &mut Vec<u8>, negative: bool, digits: &[u8]) -> Result<(), Unwritable> {
    let point = digits.iter().position(|b| *b == b'.').unwrap_or(digits.len());
    let whole = &digits[..point];
    let whole = &whole[whole.iter().take_while(|b| **b == b'0').count()..];
    let fraction = digits.get(point + 1..).unwrap_or_default();
    all_digits(whole)?;
    all_digits(fraction)?;
    if whole.len() > MOST_WHOLE || fraction.len() > MOST_FRACTION {
        return Err(Unwritable::TooLarge);
    }
    let (whole_groups, fraction_groups) = (whole.len().div_ceil(4), fraction.len().div_ceil(4));
    let sign = if negative { 0x4000_u16 } else { 0 };
    let header =
        [(whole_groups + fraction_groups) as u16, (whole_groups as i32 - 1) as u16, sign, fraction.len() as u16];
    push_sized(out, |out| {
        header.iter().for_each(|part| out.extend_from_slice(&part.to_be_bytes()));
        // The first group of the whole part may be short, and so may the last of the fraction.
        let (head, rest) = whole.split_at(whole.len() % 4);
        if !head.is_empty() {
            push_group(out, head);
        }
        rest.chunks(4).for_each(|group| push_group(out, group));
        fraction.chunks(4).for_each(|group| match group.len() {
            4 => push_group(out, group),
            short => push_scaled(out, group, 10_u16.pow(4 - short as u32)),
        });
    });
    Ok(())
}

fn push_group(out: &mut Vec<u8>, digits: &[u8]) {
    push_scaled(out, digits, 1);
}

fn push_scaled(out: &mut Vec<u8>, digits: &[u8], scale: u16) {
    let value = digits.iter().fold(0, |n, d| n * 10 + u16::from(d - b'0'));
    out.extend_from_slice(&(value * scale).to_be_bytes());
}

/// The same number with its point moved to where the exponent puts it. Rare: no database writes numbers this way.
fn without_exponent(number: &[u8]) -> Result<Vec<u8>, Unwritable> {
    let at = number.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(number.len());
    let (mantissa, exponent) = (&number[..at], number.get(at + 1..).unwrap_or_default());
    let (whole, fraction) = mantissa.split_at(mantissa.iter().position(|b| *b == b'.').unwrap_or(mantissa.len()));
    all_digits(whole)?;
    all_digits(fraction.get(1..).unwrap_or_default())?;
    all_digits(exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent))?;
    let exponent: i32 = std::str::from_utf8(exponent).ok().and_then(|e| e.parse().ok()).ok_or(Unwritable::TooLarge)?;
    let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let new_point = (whole.len() as i64) + i64::from(exponent);
    let most = (MOST_WHOLE + MOST_FRACTION) as i64;
    if !(-most..=most).contains(&new_point) {
        return Err(Unwritable::TooLarge);
    }
    let mut out = Vec::new();
    if new_point <= 0 {
        out.push(b'.');
        out.extend(std::iter::repeat_n(b'0', new_point.unsigned_abs() as usize));
        out.extend_from_slice(&digits);
        return Ok(out);
    }
    let new_point = new_point as usize;
    out.extend_from_slice(&digits[..new_point.min(digits.len())]);
    out.extend(std::iter::repeat_n(b'0', new_point.saturating_sub(digits.len())));
    if new_point < digits.len() {
        out.push(b'.');
        out.extend_from_slice(&digits[new_point..]);
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::postgres::decode;
    use faucet_core::model::{Column, ColumnBuilder, Kind, ValueRef};
    use proptest::prelude::{any, prop_assert, proptest};

    fn decimals(text: &str) -> Result<String, Unwritable> {
        let mut out = Vec::new();
        push_numeric(&mut out, text.as_bytes())?;
        let mut column = ColumnBuilder::new(Kind::Decimal);
        decode::binary::push(&mut column, Wire::Numeric, &out[4..], &mut Vec::new()).unwrap();
        let column = column.finish();
        let ValueRef::Decimal(back) = column.value(0) else { unreachable!() };
        Ok(back.to_owned())
    }

    #[test]
    fn numerics_are_written_whole() {
        let same =
            ["0", "1.50", "-12345.678901", "0.00", "0.0001", "10000", "99999999999999999999", "NaN", "-Infinity"];
        for number in same {
            assert_eq!(decimals(number).unwrap(), number);
        }
        for (other, number) in [("+7", "7"), (".5", "0.5"), ("5.", "5"), ("0012", "12"), ("-0", "-0")] {
            assert_eq!(decimals(other).unwrap(), number);
        }
        for (exponent, number) in
            [("1e3", "1000"), ("1.5e1", "15"), ("1.25e-3", "0.00125"), ("12E0", "12"), ("1.5e0", "1.5")]
        {
            assert_eq!(decimals(exponent).unwrap(), number);
        }
        assert_eq!(decimals("1e-16383").unwrap().len(), 16_385);
        for wide in ["1e131072", "1e-16384", "1e999999999", "1e99999999999"] {
            assert_eq!(decimals(wide), Err(Unwritable::TooLarge), "{wide}");
        }
        for bad in ["abc", "1.2.3", "--1", "1e+-3", "１"] {
            assert_eq!(decimals(bad), Err(Unwritable::NotANumber), "{bad}");
        }
    }

    fn column(kind: Kind, fill: impl FnOnce(&mut ColumnBuilder)) -> Column {
        let mut builder = ColumnBuilder::new(kind);
        fill(&mut builder);
        builder.finish()
    }

    #[test]
    fn an_integer_that_does_not_fit_is_refused() {
        let wide = column(Kind::I64, |c| c.push_i64(2_147_483_648));
        let field = |wire| push_field(&mut Vec::new(), Lane::new(&wide), 0, wire);
        assert_eq!(field(Wire::Int2), Err(Unwritable::TooLarge));
        assert_eq!(field(Wire::Int4), Err(Unwritable::TooLarge));
        assert_eq!(field(Wire::Oid), Ok(()));
        assert_eq!(field(Wire::Int8), Ok(()));
        let unsigned = column(Kind::U64, |c| c.push_u64(u64::MAX));
        assert_eq!(push_field(&mut Vec::new(), Lane::new(&unsigned), 0, Wire::Int8), Err(Unwritable::TooLarge));
    }

    #[test]
    fn every_direct_pair_is_written() {
        let wires = [
            Wire::Bool,
            Wire::Int2,
            Wire::Int4,
            Wire::Int8,
            Wire::Oid,
            Wire::Float4,
            Wire::Float8,
            Wire::Numeric,
            Wire::Text,
            Wire::Char,
            Wire::Bytea,
            Wire::Date,
            Wire::Time,
            Wire::Timestamp,
            Wire::Interval,
            Wire::Uuid,
            Wire::Jsonb,
        ];
        for kind in Kind::ALL {
            let one = column(kind, |c| match kind {
                Kind::Bool => c.push_bool(true),
                Kind::I64 | Kind::Time | Kind::Timestamp | Kind::TimestampTz => c.push_i64(1),
                Kind::U64 => c.push_u64(1),
                Kind::F32 => c.push_f32(1.0),
                Kind::F64 => c.push_f64(1.0),
                Kind::Decimal | Kind::Text | Kind::Json | Kind::Native => c.push_str("1"),
                Kind::Bytes => c.push_bytes(b"1"),
                Kind::Date => c.push_i32(1),
                Kind::Interval => c.push_interval(Interval::default()),
                Kind::Uuid => c.push_uuid([1; 16]),
            });
            for wire in wires.into_iter().filter(|w| super::super::direct(kind, *w)) {
                let mut out = Vec::new();
                push_field(&mut out, Lane::new(&one), 0, wire).unwrap();
                assert_eq!(out.len(), 4 + u32::from_be_bytes(out[..4].try_into().unwrap()) as usize);
            }
        }
    }

    proptest! {
        #[test]
        fn decimals_read_back(whole in "0|[1-9][0-9]{0,40}", fraction in "(\\.[0-9]{1,40})?", negative: bool) {
            let number = format!("{}{whole}{fraction}", if negative { "-" } else { "" });
            prop_assert!(decimals(&number).unwrap() == number);
        }

        #[test]
        fn timestamps_read_back(micros in any::<i64>()) {
            let one = column(Kind::Timestamp, |c| c.push_i64(micros));
            let mut out = Vec::new();
            if push_field(&mut out, Lane::new(&one), 0, Wire::Timestamp).is_ok() {
                let mut back = ColumnBuilder::new(Kind::Timestamp);
                decode::binary::push(&mut back, Wire::Timestamp, &out[4..], &mut Vec::new()).unwrap();
                prop_assert!(back.finish().value(0) == ValueRef::Timestamp(micros));
            }
        }
    }
}
