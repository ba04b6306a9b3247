//! Spans of time, read one after the other.

use client::{Moment, is_still, unix_now};
use faucet_sdk::{Error, Result};

/// The spans from a bookmark to now.
#[derive(Debug)]
pub(crate) struct Spans {
    size: i64,
    start: Moment,
    now: Moment,
}

impl Spans {
    /// Spans of `size` seconds from `start` to now.
    ///
    /// # Errors
    /// If the clock stands still.
    pub(crate) fn new(size: i64, start: Moment) -> Result<Self> {
        let now = unix_now();
        if is_still(now) {
            return Err(Error::new(
                "`window` reads up to now, and needs the real time: add `clock: true` to the grants",
            ));
        }
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Ok(Self { size, start, now: Moment { seconds, fraction: String::new(), zoned: true } })
    }

    /// Start and end of the span that is read.
    pub(crate) fn current(&self) -> (&Moment, Moment) {
        let end = Moment { seconds: self.start.seconds.saturating_add(self.size), ..self.start.clone() };
        (&self.start, end.min(self.now.clone()))
    }

    /// Goes on to the next span; false if this was the last.
    pub(crate) fn advance(&mut self) -> bool {
        let (_, end) = self.current();
        let more = end < self.now;
        self.start = end;
        more
    }
}

/// Seconds of `90m`, `12h` or `7d`.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<u32>().ok().filter(|count| *count > 0).map(|count| i64::from(count) * unit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn spans_meet_and_end_now() {
        let moment = |text| Moment::parse(text).unwrap();
        let mut spans =
            Spans { size: 86_400, start: moment("2024-06-01T12:00:00.5Z"), now: moment("2024-06-03T00:00:00Z") };
        let mut seen = Vec::new();
        loop {
            let (start, end) = spans.current();
            seen.push((start.rfc3339(), end.rfc3339()));
            if !spans.advance() {
                break;
            }
        }
        let wanted =
            [("2024-06-01T12:00:00.5Z", "2024-06-02T12:00:00.5Z"), ("2024-06-02T12:00:00.5Z", "2024-06-03T00:00:00Z")];
        assert_eq!(seen, wanted.map(|(start, end)| (start.to_owned(), end.to_owned())));
        let mut future = Spans { size: 60, start: moment("2030-01-01T00:00:00Z"), now: moment("2024-06-03T00:00:00Z") };
        assert!(!future.advance());
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!((seconds("90m"), seconds("12h"), seconds("7d")), (Some(5400), Some(43_200), Some(604_800)));
        for bad in ["", "7", "d", "0d", "-1d", "1.5h", "7w", "é"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
