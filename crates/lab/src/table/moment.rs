//! Format of times in tables.
//!
//! Times are Unix seconds in UTC, whole or with up to six decimals.
//!
//! **Invariant:** `parse(time_text(moment)) == moment`, since no floating point is involved.

use policy::Moment;

const MICROS: u64 = 1_000_000;

/// Parses a time. Returns `None` for invalid text, and for times before 1970.
pub(super) fn parse(text: &str) -> Option<Moment> {
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(decimals) || decimals.len() > 6 {
        return None;
    }
    let micros: u64 = format!("{decimals:0<6}").parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    let all = seconds.checked_mul(MICROS)?.checked_add(micros)?;
    Some(Moment::from_micros(all))
}

/// Formats a time for a cell, without trailing zeros.
pub fn time_text(moment: Moment) -> String {
    let (seconds, micros) = (moment.micros() / MICROS, moment.micros() % MICROS);
    match micros {
        0 => seconds.to_string(),
        _ => format!("{seconds}.{micros:06}")
            .trim_end_matches('0')
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_unix_seconds_with_at_most_six_decimals() {
        let at = |micros| Some(Moment::from_micros(micros));
        for (text, expected) in [
            ("0", at(0)),
            ("1652436336", at(1_652_436_336_000_000)),
            ("12.5", at(12_500_000)),
            ("12.000001", at(12_000_001)),
            ("18446744073709", at(18_446_744_073_709_000_000)),
            ("18446744073710", None),
            ("12.0000001", None),
            ("-1", None),
            ("+1", None),
            ("1e9", None),
            ("12.", None),
            (".5", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
        assert_eq!(time_text(Moment::from_micros(12_500_000)), "12.5");
    }

    proptest! {
        #[test]
        fn a_written_time_reads_as_the_same_time(micros: u64) {
            let moment = Moment::from_micros(micros);
            prop_assert_eq!(parse(&time_text(moment)), Some(moment));
        }
    }
}
