//! Dates and times as text and back, in ISO 8601 as PostgreSQL spells it, over all of PostgreSQL's range.
//!
//! Reading is strict: what would lose something (a zone in a timestamp, a seventh digit of a second) is no value.

use faucet_sdk::Interval;

const DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01 from `2024-02-29`, `0044-03-15 BC`, `infinity` or `-infinity`.
pub fn date(text: &str) -> Option<i32> {
    match infinity(text) {
        Some(i64::MAX) => Some(i32::MAX),
        Some(_) => Some(i32::MIN),
        None => {
            let (text, is_bc) = era(text);
            i32::try_from(day(text, is_bc)?).ok().filter(|days| *days != i32::MAX && *days != i32::MIN)
        }
    }
}

/// Microseconds since midnight from `13:05`, `13:05:00` or `13:05:00.123456`, up to `24:00:00`.
pub fn time(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (number(text, 2)?, 0),
            Some((second, fraction)) => (number(second, 2)?, micros(fraction)?),
        },
    };
    if parts.next().is_some() || minute > 59 || second > 59 {
        return None;
    }
    let time = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    (time <= DAY).then_some(time)
}

/// Microseconds since 1970-01-01 00:00:00 from `2024-02-29 13:05:00` (or with `T`), a date alone, or an infinity.
pub fn timestamp(text: &str) -> Option<i64> {
    if let Some(infinity) = infinity(text) {
        return Some(infinity);
    }
    let (text, is_bc) = era(text);
    local(text, is_bc, 0)
}

/// As [`timestamp`], with a zone: `Z`, `+02`, `-03:30`, `+0330`.
pub fn timestamptz(text: &str) -> Option<i64> {
    if let Some(infinity) = infinity(text) {
        return Some(infinity);
    }
    let (text, is_bc) = era(text);
    let clock = text.find(['T', 't', ' '])?;
    let at = clock + text[clock..].find(['Z', 'z', '+', '-'])?;
    local(&text[..at], is_bc, offset(&text[at..])?)
}

/// Microseconds that a zone is ahead of UTC, from `Z`, `UTC`, `+02`, `-03:30`, `+0330` or `+00:53:28`.
pub fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z" | "UTC") {
        return Some(0);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let mut parts = [0; 3];
    match (digits.contains(':'), digits.len()) {
        (true, _) => {
            for (at, part) in digits.split(':').enumerate() {
                *parts.get_mut(at)? = number(part, 2)?;
            }
        }
        (false, 4) => (parts[0], parts[1]) = (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?),
        (false, _) => parts[0] = number(digits, 2)?,
    }
    let [hours, minutes, seconds] = parts;
    let fits = hours < 24 && minutes < 60 && seconds < 60;
    fits.then_some(sign * ((hours * 60 + minutes) * 60 + seconds) * 1_000_000)
}

/// An interval from ISO 8601, where each part may have its own sign: `P1Y2M-3DT4H5M-6.5S`.
pub fn interval(text: &str) -> Option<Interval> {
    let text = text.strip_prefix('P')?;
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    if time == Some("") || date.is_empty() && time.is_none() {
        return None;
    }
    let (mut months, mut days, mut microseconds) = (0_i64, 0_i64, 0_i64);
    for (count, fraction, unit) in parts(date)? {
        let (sum, size) = match unit {
            'Y' => (&mut months, 12),
            'M' => (&mut months, 1),
            'W' => (&mut days, 7),
            'D' => (&mut days, 1),
            _ => return None,
        };
        *sum = if fraction == 0 { sum.checked_add(count.checked_mul(size)?)? } else { return None };
    }
    for (count, fraction, unit) in parts(time.unwrap_or_default())? {
        let size = match unit {
            'H' if fraction == 0 => 3_600_000_000,
            'M' if fraction == 0 => 60_000_000,
            'S' => 1_000_000,
            _ => return None,
        };
        microseconds = microseconds.checked_add(count.checked_mul(size)?)?.checked_add(fraction)?;
    }
    Some(Interval { months: months.try_into().ok()?, days: days.try_into().ok()?, microseconds })
}

/// The parts of an interval: whole number, millionths with the same sign, and unit.
fn parts(mut text: &str) -> Option<Vec<(i64, i64, char)>> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let end = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, fraction) = match text[..end].split_once('.') {
            Some((number, fraction)) => (number, micros(fraction)?),
            None => (&text[..end], 0),
        };
        let sign = if number.starts_with('-') { -1 } else { 1 };
        parts.push((number.parse().ok()?, sign * fraction, char::from(text.as_bytes()[end])));
        text = &text[end + 1..];
    }
    Some(parts)
}

fn infinity(text: &str) -> Option<i64> {
    match text {
        "infinity" => Some(i64::MAX),
        "-infinity" => Some(i64::MIN),
        _ => None,
    }
}

/// Splits off the mark of years before the common era.
fn era(text: &str) -> (&str, bool) {
    text.strip_suffix(" BC").map_or((text, false), |text| (text, true))
}

/// A finite moment, of a clock that is `ahead` of UTC: one that would be read as an infinity is out of range.
fn local(text: &str, is_bc: bool, ahead: i64) -> Option<i64> {
    let (date, clock) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    // Wider than the result, as the first day of the range begins before it.
    let micros = i128::from(day(date, is_bc)?) * i128::from(DAY) + i128::from(time(clock)? - ahead);
    i64::try_from(micros).ok().filter(|micros| *micros != i64::MAX && *micros != i64::MIN)
}

fn day(text: &str, is_bc: bool) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let year = number(year, year.len().clamp(4, 7)).filter(|year| *year > 0)?;
    // Before the common era the years count down, and there is no year 0.
    let year = if is_bc { 1 - year } else { year };
    let valid = parts.next().is_none() && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    valid.then(|| days_from_civil(year, month, day))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that the leap day comes
/// last, and in eras of 400 years of 146097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The reverse of [`days_from_civil`]: year, month and day.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let since = days + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    // The day of the era without its leap days gives the year.
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let is_next_year = month >= 10;
    (era * 400 + year + i64::from(is_next_year), if is_next_year { month - 9 } else { month + 3 }, day)
}

/// Exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Digits after a point as millionths; more than six only if they are zero.
fn micros(fraction: &str) -> Option<i64> {
    let (kept, beyond) = fraction.split_at_checked(fraction.len().min(6))?;
    let nothing_lost = !kept.is_empty() && beyond.bytes().all(|byte| byte == b'0');
    nothing_lost.then(|| Some(number(kept, kept.len())? * 10_i64.pow(6 - kept.len() as u32)))?
}

fn push_padded(to: &mut String, number: i64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    (digits.len()..width).for_each(|_| to.push('0'));
    to.push_str(digits);
}

/// Appends the date, and says whether ` BC` must follow at the end.
fn push_day(to: &mut String, days: i64) -> bool {
    let (year, month, day) = civil_from_days(days);
    push_padded(to, if year <= 0 { 1 - year } else { year }, 4);
    to.push('-');
    push_padded(to, month, 2);
    to.push('-');
    push_padded(to, day, 2);
    year <= 0
}

pub(crate) fn push_date(to: &mut String, days: i32) {
    match days {
        i32::MIN => to.push_str("-infinity"),
        i32::MAX => to.push_str("infinity"),
        _ if push_day(to, days.into()) => to.push_str(" BC"),
        _ => {}
    }
}

pub(crate) fn push_time(to: &mut String, time: i64) {
    let seconds = time / 1_000_000;
    push_padded(to, seconds / 3600, 2);
    to.push(':');
    push_padded(to, seconds / 60 % 60, 2);
    to.push(':');
    push_padded(to, seconds % 60, 2);
    push_fraction(to, time % 1_000_000);
}

fn push_fraction(to: &mut String, micros: i64) {
    if micros != 0 {
        to.push('.');
        push_padded(to, micros, 6);
        to.truncate(to.trim_end_matches('0').len());
    }
}

pub(crate) fn push_timestamp(to: &mut String, micros: i64, zone: &str) {
    match micros {
        i64::MIN => return to.push_str("-infinity"),
        i64::MAX => return to.push_str("infinity"),
        _ => {}
    }
    let is_bc = push_day(to, micros.div_euclid(DAY));
    to.push('T');
    push_time(to, micros.rem_euclid(DAY));
    to.push_str(zone);
    to.push_str(if is_bc { " BC" } else { "" });
}

pub(crate) fn push_interval(to: &mut String, interval: Interval) {
    let Interval { months, days, microseconds } = interval;
    to.push('P');
    push_part(to, i64::from(months) / 12, 'Y');
    push_part(to, i64::from(months) % 12, 'M');
    push_part(to, days.into(), 'D');
    if microseconds != 0 {
        to.push('T');
        push_part(to, microseconds / 3_600_000_000, 'H');
        push_part(to, microseconds / 60_000_000 % 60, 'M');
        push_seconds(to, microseconds % 60_000_000);
    } else if months == 0 && days == 0 {
        to.push_str("T0S");
    }
}

fn push_part(to: &mut String, count: i64, unit: char) {
    if count != 0 {
        to.push_str(itoa::Buffer::new().format(count));
        to.push(unit);
    }
}

fn push_seconds(to: &mut String, micros: i64) {
    if micros == 0 {
        return;
    }
    to.push_str(if micros < 0 { "-" } else { "" });
    to.push_str(itoa::Buffer::new().format(micros.abs() / 1_000_000));
    push_fraction(to, micros.abs() % 1_000_000);
    to.push('S');
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let both = [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (-1, "1969-12-31"),
            (-719_162, "0001-01-01"),
            (-719_163, "0001-12-31 BC"),
            (2_932_897, "10000-01-01"),
            (2_145_042_905, "5874897-12-31"),
            (-2_440_588, "4714-11-24 BC"),
            (i32::MAX, "infinity"),
            (i32::MIN, "-infinity"),
        ];
        for (days, text) in both {
            let mut written = String::new();
            push_date(&mut written, days);
            assert_eq!((written.as_str(), date(text)), (text, Some(days)));
        }
        for bad in ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "24-01-01", "2024-01-01x", ""] {
            assert_eq!(date(bad), None, "{bad}");
        }
        assert_eq!((date("0000-01-01"), date("9999999-01-01")), (None, None), "no year 0, and none beyond the range");
    }

    #[test]
    fn times() {
        assert_eq!(time("00:00"), Some(0));
        assert_eq!(time("13:05:07.5"), Some(47_107_500_000));
        assert_eq!(time("13:05:07.50000000"), Some(47_107_500_000));
        assert_eq!(time("23:59:59.999999"), Some(DAY - 1));
        assert_eq!(time("24:00:00"), Some(DAY));
        for bad in ["24:00:01", "1:00", "12:60", "12:00:60", "12:00:00.1234567", "12:00:00.", "12", "12:00:00:00"] {
            assert_eq!(time(bad), None, "{bad}");
        }
        for (micros, text) in
            [(0, "00:00:00"), (47_107_500_000, "13:05:07.5"), (DAY, "24:00:00"), (1, "00:00:00.000001")]
        {
            let mut written = String::new();
            push_time(&mut written, micros);
            assert_eq!((written.as_str(), time(text)), (text, Some(micros)));
        }
    }

    #[test]
    fn timestamps() {
        assert_eq!(timestamp("1970-01-02"), Some(DAY));
        assert_eq!(timestamp("1970-01-01t00:00:01"), Some(1_000_000));
        assert_eq!(timestamptz("1970-01-01T02:00:00+02"), Some(0));
        assert_eq!(timestamptz("1970-01-01 00:00:00-03:30"), Some(12_600_000_000));
        assert_eq!(timestamptz("1970-01-01T00:53:28+00:53:28"), Some(0));
        assert_eq!(timestamptz("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamptz("-infinity"), Some(i64::MIN));
        assert_eq!(timestamptz("1970-01-01T00:00:00"), None, "a zone is needed");
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), None, "a zone is not understood");
        for bad in ["+", "+1", "+2460", "+24", "+02:60", "+02:00:00:00", "02", "+é1", ""] {
            assert_eq!(offset(bad), None, "{bad}");
        }
        for micros in
            [0, -1, 1_704_067_200_500_000, -62_135_596_800_000_001, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1]
        {
            let (mut bare, mut zoned) = (String::new(), String::new());
            push_timestamp(&mut bare, micros, "");
            push_timestamp(&mut zoned, micros, "Z");
            assert_eq!((timestamp(&bare), timestamptz(&zoned)), (Some(micros), Some(micros)), "{bare}");
        }
    }

    #[test]
    fn intervals() {
        let part = |months, days, microseconds| Interval { months, days, microseconds };
        let both = [
            (part(0, 0, 0), "PT0S"),
            (part(14, -3, 14_706_500_000), "P1Y2M-3DT4H5M6.5S"),
            (part(0, 0, -1), "PT-0.000001S"),
            (part(i32::MIN, i32::MAX, i64::MIN), "P-178956970Y-8M2147483647DT-2562047788H-54.775808S"),
            (part(0, 0, i64::MAX), "PT2562047788H54.775807S"),
        ];
        for (value, text) in both {
            let mut written = String::new();
            push_interval(&mut written, value);
            assert_eq!((written.as_str(), interval(text)), (text, Some(value)));
        }
        assert_eq!(interval("P2W"), Some(part(0, 14, 0)));
        for bad in
            ["P", "PT", "P1", "P1DT", "P1.5D", "1D", "PT1Y", "P1H", "P99999999999Y", "PT1.0000001S", "P-D", "PéD"]
        {
            assert_eq!(interval(bad), None, "{bad}");
        }
    }
}
