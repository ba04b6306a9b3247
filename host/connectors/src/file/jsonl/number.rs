//! Which kind holds a number's text without losing anything.

/// Whole numbers up to here, either way, are floats too.
const LARGEST_EXACT: u64 = 1 << 53;

/// A number as JSON spells it.
#[derive(Clone, Copy)]
pub(super) struct Number<'a> {
    text: &'a str,
}

/// The smallest kind that holds a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberSort {
    /// A whole number that `i64` and `f64` hold.
    SmallInteger,
    /// A whole number that only `i64` holds.
    Integer,
    /// A number with a fraction or an exponent (or -0) that `f64` holds.
    Float,
    /// None of these.
    Decimal,
}

impl<'a> Number<'a> {
    /// The number that `text` spells.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text }
    }

    /// As an `i64`, if it is one.
    #[inline]
    pub(super) fn integer(self) -> Option<i64> {
        if self.text == "-0" { None } else { self.text.parse().ok() }
    }

    /// As an `f64` that prints the same number.
    pub(super) fn float(self) -> Option<f64> {
        match self.integer() {
            Some(integer) if integer.unsigned_abs() <= LARGEST_EXACT => Some(integer as f64),
            Some(_) => None,
            None => {
                let float: f64 = self.text.parse().ok()?;
                (float.is_finite() && self.is_spelled_by(float)).then_some(float)
            }
        }
    }

    /// See [`NumberSort`].
    pub(super) fn sort(self) -> NumberSort {
        match (self.integer(), self.float()) {
            (Some(_), Some(_)) => NumberSort::SmallInteger,
            (Some(_), None) => NumberSort::Integer,
            (None, Some(_)) => NumberSort::Float,
            (None, None) => NumberSort::Decimal,
        }
    }

    /// Up to 15 digits survive the way into a float and back; beyond, the shortest spelling of the float has to be the
    /// same number.
    fn is_spelled_by(self, float: f64) -> bool {
        if self.text.len() <= 15 && !self.text.contains(['e', 'E']) {
            return true;
        }
        let mut buffer = ryu::Buffer::new();
        Digits::of(self.text).is_some_and(|digits| Some(digits) == Digits::of(buffer.format_finite(float)))
    }
}

/// The digits from the first to the last that is not zero, and the power of ten of the last one.
#[derive(PartialEq, Eq)]
struct Digits {
    digits: [u8; Self::MOST],
    count: usize,
    power: i64,
}

impl Digits {
    /// Floats print 17 digits at most.
    const MOST: usize = 20;

    /// `None` when there are more digits than any float prints.
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent.parse::<i64>().unwrap_or(i64::from(i32::MAX));
        let mut found = Self { digits: [b'0'; Self::MOST], count: 0, power: 0 };
        let mut zeros = 0;
        let all = whole.trim_start_matches('-').bytes().chain(fraction.bytes());
        for digit in all.skip_while(|&b| b == b'0') {
            if digit == b'0' {
                zeros += 1;
                continue;
            }
            let at = found.count + zeros;
            *found.digits.get_mut(at)? = digit;
            found.count = at + 1;
            zeros = 0;
        }
        if found.count > 0 {
            found.power = exponent - fraction.len() as i64 + zeros as i64;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_number_has_its_sort() {
        let cases = [
            ("0", NumberSort::SmallInteger),
            ("-9007199254740992", NumberSort::SmallInteger),
            ("9007199254740993", NumberSort::Integer),
            ("9223372036854775808", NumberSort::Decimal),
            ("100000000000000000000", NumberSort::Float),
            ("18446744073709551615", NumberSort::Decimal),
            ("1.5", NumberSort::Float),
            ("1.50", NumberSort::Float),
            ("-0", NumberSort::Float),
            ("0.1", NumberSort::Float),
            ("0.30000000000000004", NumberSort::Float),
            ("0.1000000000000000055", NumberSort::Decimal),
            ("1e308", NumberSort::Float),
            ("1e400", NumberSort::Decimal),
            ("1e-400", NumberSort::Decimal),
            ("0e-999999999999999999999", NumberSort::Float),
            ("123456789012345678901234567890.5", NumberSort::Decimal),
        ];
        for (text, expected) in cases {
            assert_eq!(Number::of(text).sort(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_a_float_prints_is_a_float(float in any::<f64>()) {
            prop_assume!(float.is_finite());
            let text = ryu::Buffer::new().format_finite(float).to_owned();
            prop_assert_eq!(Number::of(&text).float().map(f64::to_bits), Some(float.to_bits()));
        }
    }
}
