//! Values as text, one way for every sink: ISO 8601 in PostgreSQL's spelling.
//!
//! Calendar arithmetic is our own because no calendar crate spans PostgreSQL's range (4713 BC to 5874897 AD). It is
//! the proleptic Gregorian calendar counted in 400-year cycles of 146,097 days.

use super::{Interval, ValueRef};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Appends `value` as text that reads back as the same value ([`super::ColumnBuilder::push_parsed`]): what files and text
/// columns hold. Null and absent append nothing: how they are told from empty text is the caller's business.
pub fn push_text(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Absent | ValueRef::Null => {}
        ValueRef::Bool(true) => out.extend_from_slice(b"true"),
        ValueRef::Bool(false) => out.extend_from_slice(b"false"),
        ValueRef::I64(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        ValueRef::U64(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
        ValueRef::F32(v) => push_float(out, v),
        ValueRef::F64(v) => push_float(out, v),
        ValueRef::Decimal(v) | ValueRef::Text(v) | ValueRef::Json(v) | ValueRef::Native(v) => {
            out.extend_from_slice(v.as_bytes());
        }
        ValueRef::Bytes(v) => push_bytes_hex(out, v),
        ValueRef::Date(v) => push_date(out, v),
        ValueRef::Time(v) => push_time(out, v),
        ValueRef::Timestamp(v) => push_timestamp(out, v, b'T', ""),
        ValueRef::TimestampTz(v) => push_timestamp(out, v, b'T', "Z"),
        ValueRef::Interval(v) => push_interval(out, v),
        ValueRef::Uuid(v) => push_uuid(out, v),
    }
}

/// Both widths of float.
pub(super) trait Float: ryu::Float + Into<f64> {}
impl Float for f32 {}
impl Float for f64 {}

/// Appends the shortest number that reads back as the same float, or `NaN`, `Infinity`, `-Infinity`.
pub(super) fn push_float<F: Float>(out: &mut Vec<u8>, value: F) {
    let wide: f64 = value.into();
    let text = if wide.is_finite() {
        return out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
    } else if wide.is_nan() {
        "NaN"
    } else if wide > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    out.extend_from_slice(text.as_bytes());
}

/// Year (astronomical: 0 is 1 BC), month and day of `days` since 1970-01-01.
fn civil(days: i64) -> (i64, u32, u32) {
    // Days since 0000-03-01, so that a leap day ends its year.
    let shifted = days + 719_468;
    let cycle = shifted.div_euclid(146_097);
    let day_of_cycle = shifted.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_cycle + cycle * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

fn push_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(digits.len())));
    out.extend_from_slice(digits);
}

/// Appends the date part and says whether it lies before the common era (` BC` goes at the very end).
fn push_civil(out: &mut Vec<u8>, days: i64) -> bool {
    let (year, month, day) = civil(days);
    let before_christ = year <= 0;
    push_padded(out, if before_christ { 1 - year } else { year } as u64, 4);
    out.push(b'-');
    push_padded(out, month.into(), 2);
    out.push(b'-');
    push_padded(out, day.into(), 2);
    before_christ
}

/// Appends days since 1970-01-01 as `2024-01-31`, `0044-03-15 BC`, `infinity` or `-infinity`.
pub fn push_date(out: &mut Vec<u8>, days: i32) {
    match days {
        i32::MIN => out.extend_from_slice(b"-infinity"),
        i32::MAX => out.extend_from_slice(b"infinity"),
        _ => {
            if push_civil(out, days.into()) {
                out.extend_from_slice(b" BC");
            }
        }
    }
}

/// Appends microseconds since midnight as `23:59:59.000001`; no fraction when it is zero. `24:00:00` is a value.
pub fn push_time(out: &mut Vec<u8>, micros: i64) {
    let seconds = micros / 1_000_000;
    push_clock(out, (seconds / 3600) as u64, seconds % 3600, micros % 1_000_000);
}

fn push_clock(out: &mut Vec<u8>, hours: u64, seconds: i64, micros: i64) {
    push_padded(out, hours, 2);
    out.push(b':');
    push_padded(out, (seconds / 60) as u64, 2);
    out.push(b':');
    push_padded(out, (seconds % 60) as u64, 2);
    push_fraction(out, micros as u64);
}

fn push_fraction(out: &mut Vec<u8>, micros: u64) {
    if micros == 0 {
        return;
    }
    out.push(b'.');
    push_padded(out, micros, 6);
    while out.last() == Some(&b'0') {
        out.pop();
    }
}

/// Appends microseconds since the Unix epoch: date, `separator` (`b' '` or `b'T'`), time, `zone` (`""`, `"+00"`, `"Z"`),
/// then ` BC` where it applies; or `infinity`, `-infinity`.
pub fn push_timestamp(out: &mut Vec<u8>, micros: i64, separator: u8, zone: &str) {
    match micros {
        i64::MIN => out.extend_from_slice(b"-infinity"),
        i64::MAX => out.extend_from_slice(b"infinity"),
        _ => {
            let before_christ = push_civil(out, micros.div_euclid(MICROS_PER_DAY));
            out.push(separator);
            push_time(out, micros.rem_euclid(MICROS_PER_DAY));
            out.extend_from_slice(zone.as_bytes());
            if before_christ {
                out.extend_from_slice(b" BC");
            }
        }
    }
}

/// Appends an interval as PostgreSQL's `iso_8601` style writes it (`P1Y2M-3DT4H5M6.000007S`, `PT0S`): the parts stay
/// apart and each has its own sign.
pub fn push_interval(out: &mut Vec<u8>, value: Interval) {
    let start = out.len();
    out.push(b'P');
    push_part(out, (value.months / 12).into(), b'Y');
    push_part(out, (value.months % 12).into(), b'M');
    push_part(out, value.days.into(), b'D');
    if value.microseconds != 0 {
        out.push(b'T');
        push_part(out, value.microseconds / 3_600_000_000, b'H');
        push_part(out, value.microseconds / 60_000_000 % 60, b'M');
        push_seconds(out, value.microseconds % 60_000_000);
    }
    if out.len() == start + 1 {
        out.extend_from_slice(b"T0S");
    }
}

fn push_part(out: &mut Vec<u8>, value: i64, unit: u8) {
    if value != 0 {
        out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        out.push(unit);
    }
}

fn push_seconds(out: &mut Vec<u8>, micros: i64) {
    if micros == 0 {
        return;
    }
    if micros < 0 {
        out.push(b'-');
    }
    let micros = micros.unsigned_abs();
    out.extend_from_slice(itoa::Buffer::new().format(micros / 1_000_000).as_bytes());
    push_fraction(out, micros % 1_000_000);
    out.push(b'S');
}

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(super) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().flat_map(|b| [HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]));
}

/// Appends bytes as PostgreSQL's hex format: `\x00ff`.
pub fn push_bytes_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"\\x");
    push_hex(out, bytes);
}

/// Appends a UUID in its 8-4-4-4-12 form.
pub fn push_uuid(out: &mut Vec<u8>, uuid: &[u8; 16]) {
    for (i, part) in [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].into_iter().enumerate() {
        if i > 0 {
            out.push(b'-');
        }
        push_hex(out, part);
    }
}

/// Whether `text` is a decimal number as [`super::Kind::Decimal`] allows it: sign, digits, fraction, exponent, or one
/// of `NaN`, `Infinity`, `-Infinity`.
pub(super) fn is_decimal(text: &str) -> bool {
    is_plain_decimal(text.as_bytes()) || is_any_decimal(text)
}

/// Whether it is digits with at most a minus and a point, as nearly all are.
fn is_plain_decimal(text: &[u8]) -> bool {
    let (mut has_digit, mut has_point) = (false, false);
    for byte in text.strip_prefix(b"-").unwrap_or(text) {
        match byte {
            b'0'..=b'9' => has_digit = true,
            b'.' if !has_point => has_point = true,
            _ => return false,
        }
    }
    has_digit
}

fn is_any_decimal(text: &str) -> bool {
    if matches!(text, "NaN" | "Infinity" | "-Infinity") {
        return true;
    }
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let exponent_is_fine = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    exponent_is_fine && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text is UTF-8")
    }

    #[test]
    fn dates_span_the_whole_range() {
        // Expected values: what PostgreSQL 15 prints for `date 'epoch' + n`.
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (-719_162, "0001-01-01"),
            (-719_163, "0001-12-31 BC"),
            (2_932_897, "10000-01-01"),
            (2_145_042_905, "5874897-12-31"),
            (-2_440_588, "4714-11-24 BC"),
            (i32::MAX, "infinity"),
            (i32::MIN, "-infinity"),
        ];
        for (days, expected) in cases {
            assert_eq!(text(|out| push_date(out, days)), expected);
        }
    }

    #[test]
    fn timestamps_keep_microseconds_on_both_sides_of_the_epoch() {
        let stamp = |micros| text(|out| push_timestamp(out, micros, b' ', "+00"));
        assert_eq!(stamp(-1), "1969-12-31 23:59:59.999999+00");
        assert_eq!(stamp(1_704_067_200_500_000), "2024-01-01 00:00:00.5+00");
        assert_eq!(stamp(-62_135_596_800_000_001), "0001-12-31 23:59:59.999999+00 BC");
        assert_eq!(stamp(i64::MAX), "infinity");
        assert_eq!(text(|out| push_time(out, 86_400_000_000)), "24:00:00");
    }

    #[test]
    fn interval_parts_stay_apart() {
        let show = |months, days, microseconds| text(|out| push_interval(out, Interval { months, days, microseconds }));
        assert_eq!(show(0, 0, 0), "PT0S");
        assert_eq!(show(1, -2, 11_045_000_006), "P1M-2DT3H4M5.000006S");
        assert_eq!(show(-14, 0, -500_000), "P-1Y-2MT-0.5S");
        assert_eq!(show(12, 0, 0), "P1Y");
    }

    #[test]
    fn decimals_are_told_from_other_text() {
        for good in ["0", "-1.50", "1e-16383", ".5", "5.", "NaN", "-Infinity", "+7"] {
            assert!(is_decimal(good), "{good}");
        }
        for bad in ["", ".", "-", "1e", "0x1", "1,5", " 1", "infinity", "１"] {
            assert!(!is_decimal(bad), "{bad}");
        }
    }
}
