//! Dates and times as text, as faucet's own sinks write them.

use client::civil;
use faucet_sdk::Interval;
use std::fmt::Write as _;

const DAY: i64 = 86_400_000_000;

/// `2024-01-31`, `0044-03-15 BC`, `infinity`.
pub(crate) fn date(days: i32) -> String {
    match days {
        i32::MIN => "-infinity".to_owned(),
        i32::MAX => "infinity".to_owned(),
        days => day(days.into(), ""),
    }
}

/// `23:59:59.5`.
pub(crate) fn time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}{}", fraction(micros % 1_000_000))
}

/// `2024-01-31T23:59:59.5` and the zone.
pub(crate) fn timestamp(micros: i64, zone: &str) -> String {
    match micros {
        i64::MIN => "-infinity".to_owned(),
        i64::MAX => "infinity".to_owned(),
        micros => day(micros.div_euclid(DAY), &format!("T{}{zone}", time(micros.rem_euclid(DAY)))),
    }
}

/// A date, what follows it, and the era.
fn day(days: i64, after: &str) -> String {
    let (year, month, day) = civil(days);
    let (year, era) = if year <= 0 { (1 - year, " BC") } else { (year, "") };
    format!("{year:04}-{month:02}-{day:02}{after}{era}")
}

fn fraction(micros: i64) -> String {
    match micros {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    }
}

/// ISO 8601, each part with its own sign: `P1Y2M-3DT4H5M6.5S`.
pub(crate) fn interval(span: Interval) -> String {
    let mut out = "P".to_owned();
    let part = |out: &mut String, value: i64, unit: char| {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    };
    part(&mut out, (span.months / 12).into(), 'Y');
    part(&mut out, (span.months % 12).into(), 'M');
    part(&mut out, span.days.into(), 'D');
    if span.microseconds != 0 {
        out.push('T');
        part(&mut out, span.microseconds / 3_600_000_000, 'H');
        part(&mut out, span.microseconds / 60_000_000 % 60, 'M');
        let micros = span.microseconds % 60_000_000;
        if micros != 0 {
            let sign = if micros < 0 { "-" } else { "" };
            let micros = micros.abs();
            let _ = write!(out, "{sign}{}{}S", micros / 1_000_000, fraction(micros % 1_000_000));
        }
    }
    if out.len() == 1 {
        out.push_str("T0S");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_everywhere_in_faucet() {
        assert_eq!(
            (date(0), date(i32::MIN), date(-719_893)),
            ("1970-01-01".into(), "-infinity".into(), "0002-01-01 BC".into())
        );
        assert_eq!((time(86_400_000_000), time(1_500_000)), ("24:00:00".to_owned(), "00:00:01.5".to_owned()));
        assert_eq!(timestamp(1_704_067_200_500_000, ""), "2024-01-01T00:00:00.5");
        assert_eq!(timestamp(-1, "Z"), "1969-12-31T23:59:59.999999Z");
        assert_eq!(timestamp(i64::MAX, "Z"), "infinity");
        let span = |months, days, microseconds| interval(Interval { months, days, microseconds });
        assert_eq!(span(0, 0, 0), "PT0S");
        assert_eq!(span(14, -3, 14_706_500_000), "P1Y2M-3DT4H5M6.5S");
        assert_eq!(span(-1, 1, -1), "P-1M1DT-0.000001S");
    }
}
