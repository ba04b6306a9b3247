//! Values in PostgreSQL's text format, under the session settings named in [`super`].
//!
//! Source of the forms: PostgreSQL manual, "Data Types", output styles ISO (dates) and iso_8601 (intervals).

use faucet_core::model::{ColumnBuilder, Interval, Kind};

use super::{EPOCH_DAYS, MICROS_PER_DAY, MICROS_PER_SECOND, Undecodable, finite};

/// Adds one slot: the non-null value `text`, decoded as the column's kind. `scratch` is room to work in.
///
/// # Errors
/// When the text is not of the kind's form, or the value is outside the kind's range; the column is unchanged then.
pub fn push(column: &mut ColumnBuilder, text: &[u8], scratch: &mut Vec<u8>) -> Result<(), Undecodable> {
    match column.kind() {
        Kind::Bool => column.push_bool(boolean(text)?),
        Kind::I64 => column.push_i64(parsed(text)?),
        Kind::U64 => column.push_u64(parsed(text)?),
        Kind::F32 => column.push_f32(parsed(float(text)?)?),
        Kind::F64 => column.push_f64(parsed(float(text)?)?),
        Kind::Decimal => column.push_str(decimal(text)?),
        Kind::Text | Kind::Json | Kind::Native => column.push_str(utf8(text)?),
        Kind::Bytes => {
            scratch.clear();
            unhex(text, scratch)?;
            column.push_bytes(scratch);
        }
        Kind::Date => column.push_i32(date(text)?),
        Kind::Time => column.push_i64(time(text)?),
        Kind::Timestamp | Kind::TimestampTz => column.push_i64(timestamp(text)?),
        Kind::Interval => column.push_interval(interval(text)?),
        Kind::Uuid => column.push_uuid(uuid(text)?),
    }
    Ok(())
}

fn utf8(text: &[u8]) -> Result<&str, Undecodable> {
    std::str::from_utf8(text).map_err(|_| Undecodable::NotUtf8)
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Result<T, Undecodable> {
    utf8(text)?.parse().map_err(|_| Undecodable::Malformed)
}

fn boolean(text: &[u8]) -> Result<bool, Undecodable> {
    match text {
        b"t" => Ok(true),
        b"f" => Ok(false),
        _ => Err(Undecodable::Malformed),
    }
}

/// Lets through what PostgreSQL writes for floats, all of which Rust reads too.
fn float(text: &[u8]) -> Result<&[u8], Undecodable> {
    let special = matches!(text, b"NaN" | b"Infinity" | b"-Infinity");
    if special || text.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e')) {
        return Ok(text);
    }
    Err(Undecodable::Malformed)
}

fn decimal(text: &[u8]) -> Result<&str, Undecodable> {
    if matches!(text, b"NaN" | b"Infinity" | b"-Infinity") {
        return utf8(text);
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = digits.splitn(2, |b| *b == b'.');
    if parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit)) {
        return utf8(text);
    }
    Err(Undecodable::Malformed)
}

fn unhex(text: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    let hex = text.strip_prefix(b"\\x").ok_or(Undecodable::Malformed)?;
    let (pairs, []) = hex.as_chunks::<2>() else { return Err(Undecodable::Malformed) };
    out.reserve(pairs.len());
    for [high, low] in pairs {
        out.push(nibble(*high)? << 4 | nibble(*low)?);
    }
    Ok(())
}

fn nibble(digit: u8) -> Result<u8, Undecodable> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(Undecodable::Malformed),
    }
}

fn uuid(text: &[u8]) -> Result<[u8; 16], Undecodable> {
    let mut out = [0; 16];
    let mut rest = text;
    for (i, byte) in out.iter_mut().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            rest = rest.strip_prefix(b"-").ok_or(Undecodable::Malformed)?;
        }
        let ([high, low], after) = rest.split_first_chunk::<2>().ok_or(Undecodable::Malformed)?;
        *byte = nibble(*high)? << 4 | nibble(*low)?;
        rest = after;
    }
    if rest.is_empty() { Ok(out) } else { Err(Undecodable::Malformed) }
}

/// A reader over the ASCII of dates, times and intervals.
struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn eat(&mut self, expected: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == expected => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn need(&mut self, expected: u8) -> Result<(), Undecodable> {
        if self.eat(expected) { Ok(()) } else { Err(Undecodable::Malformed) }
    }

    fn digits(&mut self) -> &'a [u8] {
        let count = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits
    }

    /// An unsigned number of at least `least` digits; more than a dozen digits is nobody's date.
    fn number(&mut self, least: usize) -> Result<i64, Undecodable> {
        let digits = self.digits();
        if !(least..=12).contains(&digits.len()) {
            return Err(Undecodable::Malformed);
        }
        Ok(digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
    }

    /// A two-digit number up to `most`.
    fn pair(&mut self, most: i64) -> Result<i64, Undecodable> {
        let before = self.rest.len();
        let number = self.number(2)?;
        if before - self.rest.len() != 2 || number > most {
            return Err(Undecodable::Malformed);
        }
        Ok(number)
    }

    /// The microseconds of an optional fraction of a second.
    fn fraction(&mut self) -> Result<i64, Undecodable> {
        if !self.eat(b'.') {
            return Ok(0);
        }
        let digits = self.digits();
        if !(1..=6).contains(&digits.len()) {
            return Err(Undecodable::Malformed);
        }
        Ok((0..6).fold(0, |n, i| n * 10 + digits.get(i).map_or(0, |d| i64::from(d - b'0'))))
    }

    fn end(&self) -> Result<(), Undecodable> {
        if self.rest.is_empty() { Ok(()) } else { Err(Undecodable::Malformed) }
    }

    fn civil(&mut self) -> Result<Civil, Undecodable> {
        let year = self.number(4)?;
        self.need(b'-')?;
        let month = self.pair(12)?;
        self.need(b'-')?;
        let day = self.pair(31)?;
        if month == 0 || day == 0 || year == 0 {
            return Err(Undecodable::Malformed);
        }
        Ok(Civil { year, month, day })
    }

    /// Microseconds since midnight.
    fn clock(&mut self) -> Result<i64, Undecodable> {
        let hours = self.pair(24)?;
        self.need(b':')?;
        let minutes = self.pair(59)?;
        self.need(b':')?;
        let seconds = self.pair(59)?;
        let micros = (hours * 3600 + minutes * 60 + seconds) * MICROS_PER_SECOND + self.fraction()?;
        if micros > MICROS_PER_DAY { Err(Undecodable::Malformed) } else { Ok(micros) }
    }

    /// An optional offset such as `+00`, `-03:30` or `+00:19:32`, in microseconds.
    fn offset(&mut self) -> Result<i64, Undecodable> {
        let sign = if self.eat(b'+') {
            1
        } else if self.eat(b'-') {
            -1
        } else {
            return Ok(0);
        };
        let mut seconds = self.pair(24)? * 3600;
        for unit in [60, 1] {
            if self.eat(b':') {
                seconds += self.pair(59)? * unit;
            }
        }
        Ok(sign * seconds * MICROS_PER_SECOND)
    }

    fn before_christ(&mut self) -> bool {
        match self.rest.strip_prefix(b" BC") {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

struct Civil {
    year: i64,
    month: i64,
    day: i64,
}

impl Civil {
    /// Days since 1970-01-01 in the proleptic Gregorian calendar.
    fn days(&self, before_christ: bool) -> i64 {
        let year = if before_christ { 1 - self.year } else { self.year };
        // Years start in March, so that a leap day ends its year; then whole 400-year cycles of 146,097 days.
        let (year, month) = if self.month > 2 { (year, self.month - 3) } else { (year - 1, self.month + 9) };
        let (cycle, year_of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * month + 2) / 5 + self.day - 1;
        let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
        cycle * 146_097 + day_of_cycle - 719_468
    }
}

fn date(text: &[u8]) -> Result<i32, Undecodable> {
    match text {
        b"infinity" => return Ok(i32::MAX),
        b"-infinity" => return Ok(i32::MIN),
        _ => {}
    }
    let mut scan = Scanner { rest: text };
    let civil = scan.civil()?;
    let days = civil.days(scan.before_christ());
    scan.end()?;
    let days = i32::try_from(days).map_err(|_| Undecodable::OutOfRange)?;
    // As the binary form, which counts from 2000 and keeps both ends for infinity.
    let both_fit = days != i32::MAX && days.checked_sub(EPOCH_DAYS).is_some_and(|d| d != i32::MIN);
    if both_fit { Ok(days) } else { Err(Undecodable::OutOfRange) }
}

fn time(text: &[u8]) -> Result<i64, Undecodable> {
    let mut scan = Scanner { rest: text };
    let micros = scan.clock()?;
    scan.end()?;
    Ok(micros)
}

fn timestamp(text: &[u8]) -> Result<i64, Undecodable> {
    match text {
        b"infinity" => return Ok(i64::MAX),
        b"-infinity" => return Ok(i64::MIN),
        _ => {}
    }
    let mut scan = Scanner { rest: text };
    let civil = scan.civil()?;
    scan.need(b' ')?;
    let clock = scan.clock()?;
    let offset = scan.offset()?;
    let days = civil.days(scan.before_christ());
    scan.end()?;
    finite(days.checked_mul(MICROS_PER_DAY).and_then(|day| day.checked_add(clock - offset)))
}

/// Both infinities of PostgreSQL 17 have every part at its end.
const INFINITE: Interval = Interval { months: i32::MAX, days: i32::MAX, microseconds: i64::MAX };
const MINUS_INFINITE: Interval = Interval { months: i32::MIN, days: i32::MIN, microseconds: i64::MIN };

fn interval(text: &[u8]) -> Result<Interval, Undecodable> {
    match text {
        b"infinity" => return Ok(INFINITE),
        b"-infinity" => return Ok(MINUS_INFINITE),
        _ => {}
    }
    let mut scan = Scanner { rest: text };
    scan.need(b'P')?;
    let (mut months, mut days, mut micros) = (0_i128, 0_i128, 0_i128);
    let mut timed = false;
    while !scan.rest.is_empty() {
        if !timed && scan.eat(b'T') {
            timed = true;
            continue;
        }
        let (whole, part, unit) = interval_part(&mut scan)?;
        match (timed, unit) {
            (false, b'Y') => months += whole * 12,
            (false, b'M') => months += whole,
            (false, b'D') => days += whole,
            (true, b'H') => micros += whole * 3_600_000_000,
            (true, b'M') => micros += whole * 60_000_000,
            (true, b'S') => micros += whole * 1_000_000 + part,
            _ => return Err(Undecodable::Malformed),
        }
        if part != 0 && unit != b'S' {
            return Err(Undecodable::Malformed);
        }
    }
    Ok(Interval { months: narrow(months)?, days: narrow(days)?, microseconds: narrow(micros)? })
}

/// A signed number, the microseconds of its fraction under the same sign, and its unit.
fn interval_part(scan: &mut Scanner<'_>) -> Result<(i128, i128, u8), Undecodable> {
    let sign = if scan.eat(b'-') { -1 } else { 1 };
    let whole = i128::from(scan.number(1)?);
    let part = i128::from(scan.fraction()?);
    let (unit, rest) = scan.rest.split_first().ok_or(Undecodable::Malformed)?;
    scan.rest = rest;
    Ok((sign * whole, sign * part, *unit))
}

fn narrow<T: TryFrom<i128>>(number: i128) -> Result<T, Undecodable> {
    T::try_from(number).map_err(|_| Undecodable::OutOfRange)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::model::{push_date, push_interval, push_time, push_timestamp};
    use proptest::prelude::{any, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn offsets_are_applied() {
        assert_eq!(timestamp(b"1970-01-01 00:00:00+00"), Ok(0));
        assert_eq!(timestamp(b"1970-01-01 05:30:00+05:30"), Ok(0));
        assert_eq!(timestamp(b"1969-12-31 19:40:28-04:19:32"), Ok(0));
    }

    #[test]
    fn what_is_no_value_is_malformed() {
        let text = ["", "2024", "2024-13-01", "2024-00-10", "0000-01-01", "2024-01-01T00:00:00", "24:00:01", "1:2:3"];
        for bad in text {
            let bad = bad.as_bytes();
            assert_eq!(date(bad), Err(Undecodable::Malformed));
            assert_eq!(timestamp(bad), Err(Undecodable::Malformed));
            assert_eq!(time(bad), Err(Undecodable::Malformed));
            assert_eq!(interval(bad), Err(Undecodable::Malformed));
            assert_eq!(uuid(bad), Err(Undecodable::Malformed));
        }
        for bad in ["", "-", ".5", "5.", "1e5", "infinity", "0x1", "1.2.3"] {
            assert_eq!(decimal(bad.as_bytes()), Err(Undecodable::Malformed), "{bad}");
        }
        assert!(float(b"inf").is_err());
    }

    /// As PostgreSQL 17 writes them, and as our own sink does.
    #[test]
    fn infinite_intervals_read_back() {
        use crate::postgres::encode::{Lane, text::push_plain};
        for text in ["infinity", "-infinity"] {
            let mut column = ColumnBuilder::new(Kind::Interval);
            push(&mut column, text.as_bytes(), &mut Vec::new()).unwrap();
            let column = column.finish();
            let mut out = Vec::new();
            push_plain(&mut out, Lane::new(&column), 0);
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn timestamps_beyond_the_range_are_refused() {
        assert_eq!(timestamp(b"294276-12-31 23:59:59.999999"), Err(Undecodable::OutOfRange));
        assert_eq!(timestamp(b"294247-01-10 04:00:54.775806"), Ok(i64::MAX - 1));
        assert_eq!(timestamp(b"294247-01-10 04:00:54.775807"), Err(Undecodable::OutOfRange));
    }

    proptest! {
        #[test]
        fn every_date_and_time_reads_back(days in -2_440_588..2_145_031_949_i32, micros in 0..=MICROS_PER_DAY) {
            prop_assert_eq!(date(&written(|out| push_date(out, days))), Ok(days));
            prop_assert_eq!(time(&written(|out| push_time(out, micros))), Ok(micros));
        }

        #[test]
        fn every_timestamp_reads_back(micros in -210_866_803_200_000_000..i64::MAX) {
            prop_assert_eq!(timestamp(&written(|out| push_timestamp(out, micros, b' ', "+00"))), Ok(micros));
        }

        #[test]
        fn every_interval_reads_back(months: i32, days: i32, microseconds: i64) {
            let value = Interval { months, days, microseconds };
            prop_assert_eq!(interval(&written(|out| push_interval(out, value))), Ok(value));
        }

        #[test]
        fn any_bytes_give_a_slot_or_an_error(
            text in prop_oneof![any::<Vec<u8>>(), "[-+P0-9.:TYMDHS BCe\\\\xinfty]{0,30}".prop_map(String::into_bytes)]
        ) {
            for kind in Kind::ALL {
                let mut column = ColumnBuilder::new(kind);
                let pushed = push(&mut column, &text, &mut Vec::new());
                assert_eq!(column.finish().len(), usize::from(pushed.is_ok()));
            }
        }
    }
}
