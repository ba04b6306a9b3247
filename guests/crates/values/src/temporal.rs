//! Dates and times from configuration text, in the forms of ISO 8601 that PostgreSQL prints.

const DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01 from `2024-02-29`, `infinity` or `-infinity`.
pub(crate) fn date(text: &str) -> Option<i64> {
    infinity(text).or_else(|| day(text))
}

/// Microseconds since midnight from `13:05`, `13:05:00` or `13:05:00.123456`, up to `24:00:00`.
pub(crate) fn time(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
    if parts.next().is_some() || minute > 59 || second > 59 || fraction.len() > 6 {
        return None;
    }
    let micros = if fraction.is_empty() { 0 } else { number(fraction, fraction.len())? };
    let micros = micros * 10_i64.pow(6 - fraction.len() as u32);
    let time = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
    (time <= DAY).then_some(time)
}

/// Microseconds since 1970-01-01 00:00:00 from `2024-02-29 13:05:00` (or with `T`), a date alone, or an infinity.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    if let Some(infinity) = infinity(text) {
        return Some(infinity);
    }
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    day(date)?.checked_mul(DAY)?.checked_add(time(clock)?)
}

/// As [`timestamp`], with a zone: `Z`, `+02`, `-03:30`.
pub(crate) fn timestamptz(text: &str) -> Option<i64> {
    if let Some(infinity) = infinity(text) {
        return Some(infinity);
    }
    if let Some(local) = text.strip_suffix(['Z', 'z']) {
        return timestamp(local);
    }
    let clock = text.find(['T', ' '])?;
    let at = clock + text[clock..].find(['+', '-'])?;
    timestamp(&text[..at])?.checked_sub(offset(&text[at..])?)
}

fn offset(text: &str) -> Option<i64> {
    let (hours, minutes) = text[1..].split_once(':').unwrap_or((&text[1..], "00"));
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    let micros = (hours * 60 + minutes) * 60_000_000;
    (hours < 24 && minutes < 60).then_some(if text.starts_with('-') { -micros } else { micros })
}

fn infinity(text: &str) -> Option<i64> {
    match text {
        "infinity" => Some(i64::MAX),
        "-infinity" => Some(i64::MIN),
        _ => None,
    }
}

fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let year = number(year, year.len().max(4))?;
    let valid = parts.next().is_none() && year <= 300_000 && (1..=12).contains(&month);
    (valid && day >= 1 && day <= days_in(year, month)).then(|| days_from_civil(year, month, day))
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

/// Exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date("1970-01-01"), Some(0));
        assert_eq!(date("2000-02-29"), Some(11_016));
        assert_eq!(date("1969-12-31"), Some(-1));
        assert_eq!(date("0001-01-01"), Some(-719_162));
        assert_eq!(date("infinity"), Some(i64::MAX));
        for bad in ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "24-01-01", "2024-01-01x", ""] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(time("00:00"), Some(0));
        assert_eq!(time("13:05:07.5"), Some(47_107_500_000));
        assert_eq!(time("23:59:59.999999"), Some(DAY - 1));
        assert_eq!(time("24:00:00"), Some(DAY));
        for bad in ["24:00:01", "1:00", "12:60", "12:00:60", "12:00:00.1234567", "12", "12:00:00:00"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn timestamps() {
        assert_eq!(timestamp("1970-01-02"), Some(DAY));
        assert_eq!(timestamp("1970-01-01T00:00:01"), Some(1_000_000));
        assert_eq!(timestamptz("1970-01-01T02:00:00+02"), Some(0));
        assert_eq!(timestamptz("1970-01-01 00:00:00-03:30"), Some(12_600_000_000));
        assert_eq!(timestamptz("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamptz("-infinity"), Some(i64::MIN));
        assert_eq!(timestamptz("1970-01-01T00:00:00"), None, "a zone is needed");
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), None, "a zone is not understood");
    }
}
