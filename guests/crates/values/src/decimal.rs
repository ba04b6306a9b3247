//! Exact comparison of decimal texts of any length, without arithmetic and, for values of rows, without allocation.
//!
//! The order is PostgreSQL's: minus infinity, the numbers, infinity, NaN; NaN equals NaN.

use std::cmp::Ordering;

/// A decimal, split into its digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal<'a> {
    /// `-Infinity`.
    NegativeInfinity,
    /// A number: `whole` has no leading zeros, `fraction` no trailing ones; zero is not negative.
    Finite {
        /// Whether it is less than zero.
        negative: bool,
        /// Digits before the point.
        whole: &'a str,
        /// Digits after the point.
        fraction: &'a str,
    },
    /// `Infinity`.
    Infinity,
    /// `NaN`.
    NaN,
}

impl<'a> Decimal<'a> {
    /// Reads digits with an optional sign and point, or the name of a value that is no number. No exponent.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        match digits {
            "NaN" => return Some(Self::NaN),
            "Infinity" if negative => return Some(Self::NegativeInfinity),
            "Infinity" => return Some(Self::Infinity),
            _ => {}
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let negative = negative && whole.len() + fraction.len() > 0;
        Some(Self::Finite { negative, whole, fraction })
    }

    /// The greatest integer not above it, and whether it has a fraction. What no 64-bit integer reaches is cut.
    pub fn floor(self) -> (i128, bool) {
        let (negative, whole, fraction) = match self {
            Self::NegativeInfinity => return (i128::MIN, false),
            Self::Infinity | Self::NaN => return (i128::MAX, false),
            Self::Finite { negative, whole, fraction } => (negative, whole, fraction),
        };
        let digits = if whole.is_empty() { Ok(0) } else { whole.parse::<i128>() };
        match (digits, negative) {
            (Err(_), true) => (i128::MIN, false),
            (Err(_), false) => (i128::MAX, false),
            (Ok(value), true) => (-value - i128::from(!fraction.is_empty()), !fraction.is_empty()),
            (Ok(value), false) => (value, !fraction.is_empty()),
        }
    }

    /// The integer it is; none if it has a fraction, is no number, or is far beyond 64 bits.
    pub fn integer(self) -> Option<i128> {
        match self.floor() {
            (i128::MIN | i128::MAX, _) | (_, true) => None,
            (integer, false) => Some(integer),
        }
    }

    fn rank(self) -> u8 {
        match self {
            Self::NegativeInfinity => 0,
            Self::Finite { .. } => 1,
            Self::Infinity => 2,
            Self::NaN => 3,
        }
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (Self::Finite { negative, whole, fraction }, Self::Finite { negative: n, whole: w, fraction: f }) =
            (self, other)
        else {
            return self.rank().cmp(&other.rank());
        };
        let size = || whole.len().cmp(&w.len()).then_with(|| whole.cmp(w)).then_with(|| fraction.cmp(f));
        match (negative, n) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => size(),
            (true, true) => size().reverse(),
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A decimal that owns its text; its exponent, if it had one, is written out.
#[derive(Debug, Clone)]
pub struct DecimalText(String);

/// Exponents beyond this are refused: written out they would fill memory.
const MAX_EXPONENT: u32 = 20_000;

impl DecimalText {
    /// The text, without an exponent.
    pub fn into_text(self) -> String {
        self.0
    }

    /// Reads what [`Decimal::parse`] reads, and an exponent.
    pub fn new(text: &str) -> Option<Self> {
        let text = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => written_out(digits, exponent.parse().ok()?)?,
            None => text.to_owned(),
        };
        Decimal::parse(&text)?;
        Some(Self(text))
    }

    /// Its digits.
    pub fn as_decimal(&self) -> Decimal<'_> {
        Decimal::parse(&self.0).expect("it was parsed when it was made")
    }
}

fn written_out(digits: &str, exponent: i32) -> Option<String> {
    if exponent.unsigned_abs() > MAX_EXPONENT {
        return None;
    }
    let Decimal::Finite { negative, whole, fraction } = Decimal::parse(digits)? else {
        return None;
    };
    let all = format!("{whole}{fraction}");
    if all.is_empty() {
        return Some("0".to_owned());
    }
    let point = whole.len() as i32 + exponent;
    let sign = if negative { "-" } else { "" };
    let (len, zeros) = (all.len() as i32, |count: i32| "0".repeat(count.max(0) as usize));
    Some(match point {
        point if point <= 0 => format!("{sign}0.{}{all}", zeros(-point)),
        point if point >= len => format!("{sign}{all}{}", zeros(point - len)),
        point => format!("{sign}{}.{}", &all[..point as usize], &all[point as usize..]),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_the_order_of_their_numbers() {
        let ascending = [
            "-Infinity",
            "-12345678901234567890.1",
            "-10",
            "-9.99",
            "-9.9",
            "-0.1",
            "-0.01",
            "0",
            "0.00000000000000000001",
            "0.1",
            "0.11",
            "0.2",
            "1",
            "1.0000000000000000000000001",
            "9",
            "10",
            "99999999999999999999999999",
            "Infinity",
            "NaN",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(Decimal::parse(a).unwrap().cmp(&Decimal::parse(b).unwrap()), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn writing_does_not_matter() {
        for (a, b) in [("0", "-0.00"), ("1", "+01.0"), ("0.5", ".5"), ("7", "7."), ("NaN", "NaN")] {
            assert_eq!(Decimal::parse(a).unwrap().cmp(&Decimal::parse(b).unwrap()), Ordering::Equal, "{a} {b}");
        }
        for bad in ["", "-", ".", "1.2.3", "1e5", "x", "--1", "0x1", "infinity", " 1"] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn exponents_of_the_configuration_are_written_out() {
        let cases = [("1e3", "1000"), ("1.5e1", "15"), ("1.25e1", "12.5"), ("-2.5E-3", "-0.0025"), ("0e9", "0")];
        for (from, to) in cases {
            assert_eq!(DecimalText::new(from).unwrap().as_decimal(), Decimal::parse(to).unwrap(), "{from}");
        }
        assert!(DecimalText::new("1e999999999").is_none() && DecimalText::new("1e-2147483648").is_none());
        assert!(DecimalText::new("1e").is_none());
    }

    #[test]
    fn the_floor_of_a_decimal() {
        let cases = [
            ("10.5", (10, true)),
            ("-10.5", (-11, true)),
            ("-0.1", (-1, true)),
            ("0.0", (0, false)),
            ("-3", (-3, false)),
        ];
        for (text, floor) in cases {
            assert_eq!(Decimal::parse(text).unwrap().floor(), floor, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(60)).unwrap().floor(), (i128::MAX, false));
        assert_eq!(Decimal::parse("-Infinity").unwrap().floor(), (i128::MIN, false));
        for (text, integer) in [("-12.00", Some(-12)), ("0", Some(0)), ("0.5", None), ("NaN", None), ("Infinity", None)]
        {
            assert_eq!(Decimal::parse(text).unwrap().integer(), integer, "{text}");
        }
    }
}
