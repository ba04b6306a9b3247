//! Numbers of any size, exact: compared, and written out without an exponent.

use std::cmp::Ordering;

/// The most digits that are written out for one number.
const MOST_DIGITS: i64 = 1000;

/// A number: zero, or `0.DIGITS` times ten to the power of `exponent`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    /// No zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads digits with an optional sign, point and exponent.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        let exponent = whole.len() as i64 - leading as i64 + i64::from(exponent);
        Some(Self { negative, digits, exponent })
    }

    /// Digits with sign and point; none if that were thousands of zeros.
    pub(crate) fn written_out(&self) -> Option<String> {
        let (sign, digits, len) = (if self.negative { "-" } else { "" }, &self.digits, self.digits.len() as i64);
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        if self.exponent.abs().max(len) > MOST_DIGITS {
            return None;
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        Some(match self.exponent {
            point if point <= 0 => format!("{sign}0.{}{digits}", zeros(-point)),
            point if point >= len => format!("{sign}{digits}{}", zeros(point - len)),
            point => {
                let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
                format!("{sign}{whole}.{fraction}")
            }
        })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (mine, others) = (sign(self), sign(other));
        let size = || self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        match mine.cmp(&others) {
            Ordering::Equal if mine < 0 => size().reverse(),
            Ordering::Equal => size(),
            order => order,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_the_order_of_their_numbers() {
        let ascending = [
            "-1e400",
            "-12345678901234567890.1",
            "-10",
            "-9.99",
            "-9.9",
            "-0.1",
            "-0.01",
            "0",
            "1e-400",
            "0.1",
            "0.11",
            "0.2",
            "1",
            "1.0000000000000000000000001",
            "9",
            "10",
            "99",
            "100",
            "1e3",
            "9007199254740992",
            "9007199254740993",
            "99999999999999999999",
            "1e400",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(Decimal::parse(a).unwrap().cmp(&Decimal::parse(b).unwrap()), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn writing_does_not_matter() {
        for (a, b) in [("0", "-0.00"), ("1", "+01.0"), ("0.5", ".5"), ("7", "7."), ("1500", "1.5e3"), ("0", "0e99")] {
            assert_eq!(Decimal::parse(a), Decimal::parse(b), "{a} {b}");
        }
        for bad in ["", "-", ".", "1.2.3", "x", "--1", "0x1", "NaN", "Infinity", " 1", "1e", "1e99999999999", "1 "] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn exponents_are_written_out() {
        let cases = [
            ("1e3", "1000"),
            ("1.5e1", "15"),
            ("1.25E+1", "12.5"),
            ("-2.5e-3", "-0.0025"),
            ("0e9", "0"),
            ("-0", "0"),
            ("12.340", "12.34"),
            ("18446744073709551616", "18446744073709551616"),
        ];
        for (from, to) in cases {
            assert_eq!(Decimal::parse(from).unwrap().written_out().as_deref(), Some(to), "{from}");
        }
        assert_eq!(Decimal::parse("1e1001").unwrap().written_out(), None);
        assert_eq!(Decimal::parse("1e-2000000000").unwrap().written_out(), None);
    }
}
