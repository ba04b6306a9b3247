//! Exact arithmetic on decimal text with a unit: the part [`Span`](super::Span) and [`ByteSize`](super::ByteSize) share.
//!
//! Floating point is avoided: `0.1s` is one hundred million nanoseconds, not nearly that.

/// Splits `30s` into its decimal number and what follows it.
pub(super) fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// The decimal `number` times `unit`, in whole units of the smallest step. `None` when it isn't a plain decimal number,
/// when a fraction of a step would remain, or when it exceeds `u64`.
pub(super) fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    let whole: u64 = digits(whole)?;
    let mut total = u128::from(whole) * u128::from(unit);
    if !fraction.is_empty() {
        let fraction = fraction.trim_end_matches('0');
        let denominator = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let numerator = if fraction.is_empty() { 0 } else { u128::from(digits(fraction)?) };
        let part = numerator.checked_mul(u128::from(unit))?;
        if part % denominator != 0 {
            return None;
        }
        total += part / denominator;
    }
    u64::try_from(total).ok()
}

fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn decimals_scale_exactly() {
        assert_eq!(scaled("1", 1_000), Some(1_000));
        assert_eq!(scaled("0.1", 1_000_000_000), Some(100_000_000));
        assert_eq!(scaled("1.50", 1024), Some(1536));
        assert_eq!(scaled("18446744073709551615", 1), Some(u64::MAX));
    }

    #[test]
    fn what_is_not_a_whole_number_of_steps_is_refused() {
        for bad in ["", ".", "1.", ".5", "1.2.3", "0.3x", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(scaled(bad, 1), None, "{bad}");
        }
        assert_eq!(scaled("0.3", 1), None);
        assert_eq!(scaled("0.0000000000000000000000000000000000000000001", 1_000), None);
    }

    #[test]
    fn a_number_ends_where_the_unit_begins() {
        assert_eq!(split_number("1.5MiB"), ("1.5", "MiB"));
        assert_eq!(split_number("30"), ("30", ""));
        assert_eq!(split_number("s"), ("", "s"));
    }
}
