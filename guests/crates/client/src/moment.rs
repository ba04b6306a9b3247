//! Points in time as headers and APIs write them.

use std::cmp::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;

/// The time since 1970-01-01 UTC.
pub fn unix_now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Whether a clock stands still: it does at the start of 1970 unless the real time is granted.
pub fn is_still(now: Duration) -> bool {
    now < Duration::from_secs(DAY as u64)
}

/// A date and time of day to any precision, as RFC 3339 writes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Seconds since 1970-01-01 00:00:00, UTC if it is zoned.
    pub seconds: i64,
    /// Digits of the fraction of a second, without trailing zeros.
    pub fraction: String,
    /// Whether it says its offset from UTC.
    pub zoned: bool,
}

impl Moment {
    /// Reads `2024-06-01T12:30:00.25+02:00`; the separator may be a blank, the offset may be left out or lack its minutes.
    pub fn parse(text: &str) -> Option<Self> {
        let (day, rest) = (text.get(..10)?, text.get(10..)?);
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let clock = seconds_of_day(rest.get(..8)?)?;
        let rest = rest.get(8..)?;
        let (fraction, rest) = match rest.strip_prefix(['.', ',']) {
            Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("0", rest),
        };
        if fraction.is_empty() {
            return None;
        }
        let offset = offset(rest)?;
        let seconds = date(day)? * DAY + clock - offset.unwrap_or(0);
        Some(Self { seconds, fraction: fraction.trim_end_matches('0').to_owned(), zoned: offset.is_some() })
    }

    /// Midnight of a day, in UTC.
    pub fn midnight(days: i64) -> Self {
        Self { seconds: days * DAY, fraction: String::new(), zoned: true }
    }

    /// `2024-06-01`.
    pub fn day(&self) -> String {
        let (year, month, day) = civil(self.seconds.div_euclid(DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `2024-06-01T10:30:00.25Z`.
    pub fn rfc3339(&self) -> String {
        let clock = self.seconds.rem_euclid(DAY);
        let point = if self.fraction.is_empty() { "" } else { "." };
        let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
        format!("{}T{hour:02}:{minute:02}:{second:02}{point}{}Z", self.day(), self.fraction)
    }

    /// Whole units since 1970, of which a second has `10^digits`. What is beyond the unit is cut off.
    pub fn units(&self, digits: usize) -> Option<i64> {
        let kept: String = self.fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
        let fraction = if kept.is_empty() { 0 } else { kept.parse::<i64>().ok()? };
        self.seconds.checked_mul(10_i64.checked_pow(digits.try_into().ok()?)?)?.checked_add(fraction)
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        let time = self.seconds.cmp(&other.seconds).then_with(|| self.fraction.cmp(&other.fraction));
        time.then(self.zoned.cmp(&other.zoned))
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Days since 1970-01-01 of `2024-06-01`.
pub fn date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?);
    let days = days_from_civil(year, month, day);
    (civil(days) == (year, month, day)).then_some(days)
}

/// A time of day as `23:59:59`; a leap second is the first one of the next minute.
fn seconds_of_day(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 8 || bytes[2] != b':' || bytes[5] != b':' {
        return None;
    }
    let (hour, minute, second) = (digits(&text[..2])?, digits(&text[3..5])?, digits(&text[6..])?);
    (hour < 24 && minute < 60 && second < 61).then_some(hour * 3600 + minute * 60 + second)
}

/// `Z`, `+02:00`, `+0200` or `+02` in seconds; inner none if there is no offset, outer if it is something else.
fn offset(text: &str) -> Option<Option<i64>> {
    let (sign, rest) = match text.as_bytes().first() {
        None => return Some(None),
        Some(b'Z' | b'z') if text.len() == 1 => return Some(Some(0)),
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        Some(_) => return None,
    };
    let (hours, minutes) = match rest.len() {
        2 => (digits(rest)?, 0),
        4 => (digits(rest.get(..2)?)?, digits(rest.get(2..)?)?),
        5 if rest.as_bytes()[2] == b':' => (digits(rest.get(..2)?)?, digits(rest.get(3..)?)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

fn digits(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Seconds since 1970 of a date in a header, in any of its three forms (RFC 9110, section 5.6.7).
pub(crate) fn http_date(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match words[..] {
        [_, day, month, year, time, "GMT"] => (day, month, year, time),
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|known| *known == month)? as i64 + 1;
    let year = match digits(year)? {
        short @ 0..70 => 2000 + short,
        short @ 70..100 => 1900 + short,
        year => year,
    };
    let days = days_from_civil(year, month, digits(day)?);
    Some(days * DAY + seconds_of_day(time)?)
}

/// Days since 1970-01-01 of a day of the Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that a leap day ends its year.
    let year = if month <= 2 { year - 1 } else { year };
    let of_cycle = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year - 719_468
}

/// Year (0 is 1 BC), month and day of a day since 1970-01-01.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (cycle, of_cycle) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (month, day) = ((from_march + 2) % 12 + 1, of_year - (153 * from_march + 2) / 5 + 1);
    (cycle * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_one_to_one() {
        for days in (-800_000..800_000).step_by(37) {
            let (year, month, day) = civil(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!((date("2000-02-29"), date("1900-02-29"), date("1969-12-31")), (Some(11_016), None, Some(-1)));
        for bad in ["2024-13-01", "2024-00-01", "2024-1-1", "2024/01/01", "24-01-01", "", "aaaa-bb-cc"] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn moments_compare_as_instants() {
        let ascending = [
            "1969-12-31T23:59:59.9Z",
            "1970-01-01T00:00:00Z",
            "2024-06-01T12:00:00+02:00",
            "2024-06-01T10:00:00.000001Z",
            "2024-06-01 10:00:00.25+00",
            "2024-06-01T08:30:00-0200",
        ];
        let moments: Vec<Moment> = ascending.iter().map(|text| Moment::parse(text).unwrap()).collect();
        assert!(moments.is_sorted_by(|a, b| a < b), "{moments:?}");
        assert_eq!(Moment::parse("2024-06-01T12:00:00.500Z"), Moment::parse("2024-06-01T14:00:00.5+02:00"));
        assert!(!Moment::parse("2024-06-01T12:00:00").unwrap().zoned);
        for bad in
            ["2024-06-01", "2024-06-01T12:00", "2024-06-01T12:00:00.", "2024-06-01T25:00:00Z", "x", "é024-06-01T"]
        {
            assert_eq!(Moment::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn moments_are_written_in_utc() {
        let moment = Moment::parse("2024-06-01T00:30:00.1234567+02:00").unwrap();
        assert_eq!((moment.rfc3339(), moment.day()), ("2024-05-31T22:30:00.1234567Z".into(), "2024-05-31".into()));
        assert_eq!((moment.units(0), moment.units(3)), (Some(1_717_194_600), Some(1_717_194_600_123)));
        assert_eq!(Moment::parse("1969-12-31T23:59:59.5Z").unwrap().units(3), Some(-500));
    }

    #[test]
    fn headers_have_three_forms_of_dates() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(http_date(text), Some(784_111_777), "{text}");
        }
        assert_eq!(http_date("Sun, 06 Foo 1994 08:49:37 GMT"), None);
    }
}
