//! Text to values: what a file's columns are read with when the configuration names their kinds.
//!
//! The grammar is what [`super::text`] writes, with the spellings of ISO 8601 beside PostgreSQL's. It is strict: text
//! that holds more than the kind can (a zone in a `timestamp`, a seventh digit of a second) is refused, never cut (M3).

use std::fmt;
use std::str::FromStr;

use super::{ColumnBuilder, Interval, Kind, raw, text};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A text is not a value of the kind it is read as. Says nothing of the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotOfKind(pub Kind);

impl fmt::Display for NotOfKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Bool => "not a boolean (true or false)",
            Kind::I64 => "not a whole number from -2^63 to 2^63-1",
            Kind::U64 => "not a whole number from 0 to 2^64-1",
            Kind::F32 | Kind::F64 => "not a number",
            Kind::Decimal => "not a decimal number",
            Kind::Text | Kind::Native => "not text",
            Kind::Bytes => "not bytes (\\x and pairs of hex digits)",
            Kind::Date => "not a date (2024-01-31)",
            Kind::Time => "not a time (23:59:59.999999)",
            Kind::Timestamp => "not a timestamp without a zone (2024-01-31 23:59:59)",
            Kind::TimestampTz => "not an instant with a zone (2024-01-31 23:59:59Z)",
            Kind::Interval => "not an interval (P1Y2M3DT4H5M6S)",
            Kind::Uuid => "not a UUID",
            Kind::Json => "not JSON",
        })
    }
}

impl std::error::Error for NotOfKind {}

impl ColumnBuilder {
    /// Adds the value that `text` spells in the column's kind; on an error nothing was added.
    ///
    /// # Errors
    /// When the text is no value of that kind.
    #[inline]
    pub fn push_parsed(&mut self, text: &str) -> Result<(), NotOfKind> {
        let kind = self.kind();
        self.push_if_parsed(kind, text).ok_or(NotOfKind(kind))
    }

    fn push_if_parsed(&mut self, kind: Kind, text: &str) -> Option<()> {
        match kind {
            Kind::Text | Kind::Native => self.push_str(text),
            Kind::I64 => self.push_i64(text.parse().ok()?),
            Kind::U64 => self.push_u64(text.parse().ok()?),
            Kind::Bool => self.push_bool(parse_bool(text)?),
            Kind::F32 => self.push_f32(parse_float(text, f32::is_infinite)?),
            Kind::F64 => self.push_f64(parse_float(text, f64::is_infinite)?),
            Kind::Decimal => self.push_str(Some(text).filter(|t| text::is_decimal(t))?),
            Kind::Json => self.push_str(Some(text).filter(|t| raw::is_json(t))?),
            Kind::Bytes => self.push_bytes(&parse_bytes_hex(text)?),
            Kind::Date => self.push_i32(parse_date(text)?),
            Kind::Time => self.push_i64(parse_time(text)?),
            Kind::Timestamp => self.push_i64(parse_timestamp(text)?),
            Kind::TimestampTz => self.push_i64(parse_timestamptz(text)?),
            Kind::Interval => self.push_interval(parse_interval(text)?),
            Kind::Uuid => self.push_uuid(parse_uuid(text)?),
        }
        Some(())
    }
}

/// Reads `true`, `false`, `t`, `f`, `1` or `0`; letters of any case.
pub fn parse_bool(text: &str) -> Option<bool> {
    let is = |words: [&str; 3]| words.iter().any(|w| text.eq_ignore_ascii_case(w));
    match (is(["true", "t", "1"]), is(["false", "f", "0"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    }
}

/// Only the spellings of [`Kind::Decimal`]: Rust's own parser also takes `inf` and `nan` in any case. A number too large
/// for the kind is refused: it is not infinite.
fn parse_float<F: FromStr + Copy>(text: &str, is_infinite: fn(F) -> bool) -> Option<F> {
    let value: F = if text::is_decimal(text) { text.parse().ok()? } else { return None };
    (!is_infinite(value) || text.ends_with("Infinity")).then_some(value)
}

/// Reads PostgreSQL's hex format, `\x00ff`.
pub fn parse_bytes_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.strip_prefix("\\x")?.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(hex_digit(*high)? << 4 | hex_digit(*low)?)).collect()
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|d| d as u8)
}

/// Reads a UUID in its 8-4-4-4-12 form, letters of any case.
pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let bytes: &[u8; 36] = text.as_bytes().try_into().ok()?;
    let dashes = [8, 13, 18, 23];
    if dashes.iter().any(|&at| bytes[at] != b'-') {
        return None;
    }
    let mut digits = bytes.iter().enumerate().filter(|(at, _)| !dashes.contains(at)).map(|(_, b)| hex_digit(*b));
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        *byte = digits.next()?? << 4 | digits.next()??;
    }
    Some(uuid)
}

/// Reads `2024-01-31`, `0044-03-15 BC`, `infinity` or `-infinity` as days since 1970-01-01.
pub fn parse_date(text: &str) -> Option<i32> {
    match text {
        "infinity" => return Some(i32::MAX),
        "-infinity" => return Some(i32::MIN),
        _ => {}
    }
    let (text, before_christ) = era(text);
    let days = i32::try_from(civil_days(text, before_christ)?).ok()?;
    (days != i32::MAX && days != i32::MIN).then_some(days)
}

fn era(text: &str) -> (&str, bool) {
    text.strip_suffix(" BC").map_or((text, false), |rest| (rest, true))
}

fn civil_days(text: &str, before_christ: bool) -> Option<i64> {
    let (rest, day) = text.rsplit_once('-')?;
    let (year, month) = rest.rsplit_once('-')?;
    if year.len() < 4 || year.len() > 7 {
        return None;
    }
    let (year, month, day) = (digits(year)?, two_digits(month)?, two_digits(day)?);
    if year == 0 {
        return None;
    }
    let year = if before_christ { 1 - year } else { year };
    days_from_civil(year, month, day)
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar; `year` is astronomical (0 is 1 BC).
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let days_in_month = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => return None,
    };
    if !(1..=days_in_month).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day ends its year; cycles of 400 years have 146,097 days.
    let year = year - i64::from(month <= 2);
    let (cycle, year_of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    Some(cycle * 146_097 + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year - 719_468)
}

/// Reads `23:59`, `23:59:59` or `23:59:59.000001` (up to `24:00:00`) as microseconds since midnight.
pub fn parse_time(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
    let (seconds, micros) = match parts.next() {
        None => (0, 0),
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            (two_digits(whole)?, fraction_micros(fraction)?)
        }
    };
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let total = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    (total <= MICROS_PER_DAY).then_some(total)
}

/// Reads a date and a time with `' '` or `'T'` between and no zone, or an infinity, as microseconds.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    if let Some(infinity) = infinite(text) {
        return Some(infinity);
    }
    let (text, before_christ) = era(text);
    let (date, time) = split_date(text)?;
    local_micros(date, time, before_christ)
}

/// Reads a date, a time and a zone (`Z`, `+02`, `-02:30`, `+0230`), or an infinity, as microseconds since the Unix epoch.
pub fn parse_timestamptz(text: &str) -> Option<i64> {
    if let Some(infinity) = infinite(text) {
        return Some(infinity);
    }
    let (text, before_christ) = era(text);
    let (date, time) = split_date(text)?;
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at(zone_at);
    finite(local_micros(date, time, before_christ)?.checked_sub(zone_seconds(zone)? * 1_000_000)?)
}

fn infinite(text: &str) -> Option<i64> {
    match text {
        "infinity" => Some(i64::MAX),
        "-infinity" => Some(i64::MIN),
        _ => None,
    }
}

fn finite(micros: i64) -> Option<i64> {
    (micros != i64::MAX && micros != i64::MIN).then_some(micros)
}

fn split_date(text: &str) -> Option<(&str, &str)> {
    let at = text.find([' ', 'T', 't'])?;
    Some((&text[..at], &text[at + 1..]))
}

fn local_micros(date: &str, time: &str, before_christ: bool) -> Option<i64> {
    let time = parse_time(time).filter(|&t| t < MICROS_PER_DAY)?;
    finite(civil_days(date, before_christ)?.checked_mul(MICROS_PER_DAY)?.checked_add(time)?)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = match zone.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, zone.strip_prefix('+')?),
    };
    let part = |from: usize| rest.get(from..from + 2).and_then(two_digits);
    let (hours, minutes, seconds) = match (rest.len(), rest.contains(':')) {
        (2, false) => (part(0)?, 0, 0),
        (4, false) => (part(0)?, part(2)?, 0),
        (5, true) if rest.as_bytes()[2] == b':' => (part(0)?, part(3)?, 0),
        (8, true) if rest.as_bytes()[2] == b':' && rest.as_bytes()[5] == b':' => (part(0)?, part(3)?, part(6)?),
        _ => return None,
    };
    (minutes < 60 && seconds < 60).then_some(sign * ((hours * 60 + minutes) * 60 + seconds))
}

/// Reads an ISO 8601 interval whose parts each may have a sign: `P1Y2M-3DT4H5M-6.5S`.
pub fn parse_interval(text: &str) -> Option<Interval> {
    let text = text.strip_prefix('P')?;
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let (mut months, mut days, mut micros) = (0_i64, 0_i64, 0_i64);
    let mut parts = 0;
    each_part(date, |whole, fraction, unit| {
        parts += 1;
        let (sum, factor) = match unit {
            'Y' => (&mut months, 12),
            'M' => (&mut months, 1),
            'W' => (&mut days, 7),
            'D' => (&mut days, 1),
            _ => return None,
        };
        *sum = fraction.is_none().then_some(sum.checked_add(whole.parse::<i64>().ok()?.checked_mul(factor)?)?)?;
        Some(())
    })?;
    each_part(time.unwrap_or(""), |whole, fraction, unit| {
        parts += 1;
        let factor = match (unit, fraction) {
            ('H', None) => 3_600_000_000,
            ('M', None) => 60_000_000,
            ('S', _) => 1_000_000,
            _ => return None,
        };
        let part = whole.parse::<i64>().ok()?.checked_mul(factor)?;
        let fraction = fraction.map_or(Some(0), fraction_micros)?;
        let signed = if whole.starts_with('-') { -fraction } else { fraction };
        micros = micros.checked_add(part)?.checked_add(signed)?;
        Some(())
    })?;
    let ends_well = parts > 0 && time != Some("");
    ends_well.then_some(Interval {
        months: i32::try_from(months).ok()?,
        days: i32::try_from(days).ok()?,
        microseconds: micros,
    })
}

/// Calls `part` with each number (whole part with its sign, fraction) and the letter after it.
fn each_part(mut text: &str, mut part: impl FnMut(&str, Option<&str>, char) -> Option<()>) -> Option<()> {
    while !text.is_empty() {
        let at = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, rest) = text.split_at(at);
        let (whole, fraction) = number.split_once('.').map_or((number, None), |(w, f)| (w, Some(f)));
        part(whole, fraction, rest.chars().next()?)?;
        text = &rest[1..];
    }
    Some(())
}

/// Digits of a second's fraction as microseconds; more than six only when they say nothing.
fn fraction_micros(fraction: &str) -> Option<i64> {
    let (kept, beyond) = fraction.split_at_checked(fraction.len().min(6))?;
    if beyond.bytes().any(|b| b != b'0') {
        return None;
    }
    Some(digits(kept)? * 10_i64.pow(6 - kept.len() as u32))
}

fn two_digits(text: &str) -> Option<i64> {
    if text.len() == 2 { digits(text) } else { None }
}

/// Up to 18 ASCII digits and nothing else.
fn digits(text: &str) -> Option<i64> {
    let good = (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::{ValueRef, push_date, push_interval, push_text, push_time, push_timestamp, push_uuid};
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn kind_of(value: ValueRef<'_>) -> Kind {
        match value {
            ValueRef::Absent | ValueRef::Null | ValueRef::Text(_) => Kind::Text,
            ValueRef::Bool(_) => Kind::Bool,
            ValueRef::I64(_) => Kind::I64,
            ValueRef::U64(_) => Kind::U64,
            ValueRef::F32(_) => Kind::F32,
            ValueRef::F64(_) => Kind::F64,
            ValueRef::Decimal(_) => Kind::Decimal,
            ValueRef::Bytes(_) => Kind::Bytes,
            ValueRef::Date(_) => Kind::Date,
            ValueRef::Time(_) => Kind::Time,
            ValueRef::Timestamp(_) => Kind::Timestamp,
            ValueRef::TimestampTz(_) => Kind::TimestampTz,
            ValueRef::Interval(_) => Kind::Interval,
            ValueRef::Uuid(_) => Kind::Uuid,
            ValueRef::Json(_) => Kind::Json,
            ValueRef::Native(_) => Kind::Native,
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            days in -2_440_588..2_145_031_949_i32, time in 0..=MICROS_PER_DAY, micros in any::<i64>(),
            months in any::<i32>(), interval_days in any::<i32>(), uuid in any::<[u8; 16]>(),
            instant in -210_866_803_200_000_000..9_223_371_331_200_000_000_i64,
        ) {
            prop_assert_eq!(parse_date(&written(|o| push_date(o, days))), Some(days));
            prop_assert_eq!(parse_time(&written(|o| push_time(o, time))), Some(time));
            for separator in [b' ', b'T'] {
                let stamp = written(|o| push_timestamp(o, instant, separator, ""));
                prop_assert_eq!(parse_timestamp(&stamp), Some(instant));
                for zone in ["Z", "+00", "+00:00"] {
                    let stamp = written(|o| push_timestamp(o, instant, separator, zone));
                    prop_assert_eq!(parse_timestamptz(&stamp), Some(instant));
                }
            }
            let interval = Interval { months, days: interval_days, microseconds: micros };
            prop_assert_eq!(parse_interval(&written(|o| push_interval(o, interval))), Some(interval));
            prop_assert_eq!(parse_uuid(&written(|o| push_uuid(o, &uuid))), Some(uuid));
        }

        #[test]
        fn every_kind_survives_text(
            number in any::<i64>(), unsigned in any::<u64>(), float in any::<f64>(), narrow in any::<f32>(),
            text in any::<String>(), bytes in any::<Vec<u8>>(), truth in any::<bool>(),
        ) {
            let values = [
                ValueRef::Bool(truth), ValueRef::I64(number), ValueRef::U64(unsigned), ValueRef::F64(float),
                ValueRef::F32(narrow), ValueRef::F64(f64::NAN), ValueRef::F32(f32::NEG_INFINITY),
                ValueRef::Decimal("-1.50"), ValueRef::Text(&text), ValueRef::Native(&text), ValueRef::Bytes(&bytes),
                ValueRef::Json("{\"a\": 1.0}"), ValueRef::TimestampTz(i64::MAX), ValueRef::Timestamp(i64::MIN),
            ];
            for value in values {
                let mut source = ColumnBuilder::new(kind_of(value));
                source.push(value);
                let mut read = ColumnBuilder::new(kind_of(value));
                read.push_parsed(&written(|o| push_text(o, value))).unwrap();
                prop_assert!(read.finish().value(0).same(&source.finish().value(0)), "{:?}", value);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}", numeric in "[-+0-9TZPYMDHS:. BCefinity]{0,30}") {
            for text in [&text, &numeric] {
                for kind in Kind::ALL {
                    let _ = ColumnBuilder::new(kind).push_parsed(text);
                }
            }
        }
    }

    #[test]
    fn nothing_is_cut_or_guessed() {
        for bad in ["2024-02-30", "2023-02-29", "2024-13-01", "0000-01-01", "24-01-01", "2024-1-1", "2024-01-01 "] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        for bad in ["24:00:00.000001", "12:60", "1:00", "12:00:00.0000001", "12:00:60", "12", "12:00:00Z"] {
            assert_eq!(parse_time(bad), None, "{bad}");
        }
        assert_eq!(parse_time("12:00:00.0000010"), Some(43_200_000_001));
        assert_eq!(parse_timestamp("2024-01-01 00:00:00Z"), None, "a zone would be lost");
        assert_eq!(parse_timestamptz("2024-01-01 00:00:00"), None, "an instant needs a zone");
        assert_eq!(parse_timestamptz("2024-01-01T00:00:00+02:30"), parse_timestamptz("2023-12-31 21:30:00Z"));
        assert_eq!(parse_timestamptz("0001-01-01 00:00:00-02 BC"), parse_timestamptz("0001-01-01 02:00:00Z BC"));
        for bad in ["P", "PT", "P1", "P1DT", "P1.5D", "1D", "PT1Y", "P1H", "P99999999999Y"] {
            assert_eq!(parse_interval(bad), None, "{bad}");
        }
        assert_eq!(parse_interval("P2W").unwrap().days, 14);
    }

    #[test]
    fn each_kind_reads_its_own_text_and_refuses_other() {
        let read = |kind, text: &str| {
            let mut builder = ColumnBuilder::new(kind);
            builder.push_parsed(text).map(|()| builder.finish())
        };
        assert_eq!(read(Kind::I64, "-9223372036854775808").unwrap().value(0), ValueRef::I64(i64::MIN));
        assert_eq!(read(Kind::U64, "18446744073709551615").unwrap().value(0), ValueRef::U64(u64::MAX));
        assert_eq!(read(Kind::F64, "-Infinity").unwrap().value(0), ValueRef::F64(f64::NEG_INFINITY));
        assert_eq!(read(Kind::Decimal, "1.50").unwrap().value(0), ValueRef::Decimal("1.50"));
        assert_eq!(read(Kind::Bytes, "\\x00fF").unwrap().value(0), ValueRef::Bytes(&[0, 255]));
        assert_eq!(read(Kind::Bool, "T").unwrap().value(0), ValueRef::Bool(true));
        assert_eq!(read(Kind::F32, "1e39"), Err(NotOfKind(Kind::F32)), "too large is not infinite");
        let refused = [
            (Kind::I64, "9223372036854775808"),
            (Kind::I64, "1.0"),
            (Kind::U64, "-1"),
            (Kind::F64, "nan"),
            (Kind::Decimal, "1,5"),
            (Kind::Bytes, "\\x0"),
            (Kind::Bool, "yes"),
            (Kind::Uuid, "00000000000000000000000000000000"),
            (Kind::Json, "{a:1}"),
        ];
        for (kind, text) in refused {
            assert_eq!(read(kind, text), Err(NotOfKind(kind)), "{kind} {text}");
        }
    }
}
