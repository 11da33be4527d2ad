//! Parses the dates of sitemaps and feeds into Unix seconds.
//!
//! Sitemaps and Atom use W3C dates, a profile of ISO 8601: a year, a month, a day, or a time
//! with its zone. RSS uses RFC 822. Real files may have a space for the `T`, no zone, or a year
//! of two digits.
//!
//! **Invariant:** anything that is not a valid date is `None`. A date without a time stands for
//! its first second in UTC.

const DAY: i64 = 86_400;
/// The first second of 1971. Earlier dates come from clocks that were never set.
const FIRST: i64 = 365 * DAY;

/// Parses a date of either form, if it is plausible at `now`: after 1970 and at most a day in
/// the future (hostile-web.md, rows 54 and 67).
pub(super) fn plausible(text: &str, now: i64) -> Option<i64> {
    seconds(text).filter(|&at| at >= FIRST && at <= now.saturating_add(DAY))
}

/// Parses a date of either form.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let text = text.trim_ascii().as_bytes();
    w3c(DateCursor(text)).or_else(|| rfc822(DateCursor(text)))
}

/// Parses `2024`, `2024-05`, `2024-05-17`, `2024-05-17T10:20Z`, `2024-05-17T10:20:30.5+02:00`.
fn w3c(mut rest: DateCursor<'_>) -> Option<i64> {
    let year = rest.number(4, 4)?;
    let mut part = || match rest.skip(b"-") {
        true => rest.number(1, 2),
        false => Some(1),
    };
    let (month, day) = (part()?, part()?);
    let midnight = days(year, month, day)? * DAY;
    if rest.0.is_empty() {
        return Some(midnight);
    }
    if !rest.skip(b"T") && !rest.skip(b"t") && !rest.skip(b" ") {
        return None;
    }
    Some(midnight + rest.time_and_zone()?)
}

/// Parses `Fri, 17 May 2024 10:20:30 +0200`; the name of the day, the time, its seconds and the
/// zone are optional.
fn rfc822(mut rest: DateCursor<'_>) -> Option<i64> {
    if !rest.letters().is_empty() {
        rest.skip(b",");
    }
    rest.spaces();
    let day = rest.number(1, 2)?;
    rest.separator();
    let month = month(rest.letters())?;
    rest.separator();
    let short = rest
        .0
        .get(..4)
        .is_none_or(|year| !year.iter().all(u8::is_ascii_digit));
    let year = match rest.number(if short { 2 } else { 4 }, 4)? {
        year @ 0..50 => year + 2_000, // RFC 2822, 4.3.
        year @ 50..100 => year + 1_900,
        year => year,
    };
    let midnight = days(year, month, day)? * DAY;
    rest.spaces();
    if rest.0.is_empty() {
        return Some(midnight);
    }
    Some(midnight + rest.time_and_zone()?)
}

fn month(name: &[u8]) -> Option<i64> {
    const NAMES: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let start = name.get(..3)?;
    let place = NAMES
        .iter()
        .position(|name| start.eq_ignore_ascii_case(name))?;
    Some(place as i64 + 1)
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar; `None` for an invalid
/// date.
///
/// H. Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`. Years begin in
/// March, so that the leap day comes last, and 400 of them have 146,097 days.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The unread rest of a date.
struct DateCursor<'a>(&'a [u8]);

impl<'a> DateCursor<'a> {
    /// Parses `10:20`, `10:20:30` or `10:20:30.123` and a zone, into seconds after that day's
    /// midnight in UTC.
    fn time_and_zone(&mut self) -> Option<i64> {
        let hour = self.number(1, 2).filter(|&hour| hour < 24)?;
        self.skip(b":").then_some(())?;
        let minute = self.number(2, 2).filter(|&minute| minute < 60)?;
        let mut second = 0;
        if self.skip(b":") {
            second = self.number(1, 2).filter(|&second| second <= 60)?;
            if self.skip(b".") {
                self.0 = self.0.trim_ascii_start();
                while self.number(1, 9).is_some() {}
            }
        }
        self.spaces();
        let zone = self.zone()?;
        self.spaces();
        // The zone may be repeated by name: `+0200 (CEST)`.
        let ends = self.0.is_empty() || self.0.starts_with(b"(");
        ends.then_some(hour * 3_600 + minute * 60 + second - zone)
    }

    /// Parses a zone into seconds east of UTC. A missing zone is UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.0.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Some(named_zone(self.letters())),
        };
        self.0 = &self.0[1..];
        let hours = self.number(1, 2).filter(|&hours| hours <= 14)?;
        self.skip(b":");
        let minutes = match self.0.first() {
            Some(byte) if byte.is_ascii_digit() => {
                self.number(2, 2).filter(|&minutes| minutes < 60)?
            }
            _ => 0,
        };
        Some(sign * (hours * 3_600 + minutes * 60))
    }

    /// Parses a number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let digits = self
            .0
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (number, rest) = self.0.split_at(digits);
        (digits >= least).then(|| self.0 = rest)?;
        Some(
            number
                .iter()
                .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')),
        )
    }

    fn letters(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (letters, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        letters
    }

    fn skip(&mut self, prefix: &[u8]) -> bool {
        self.0
            .strip_prefix(prefix)
            .map(|rest| self.0 = rest)
            .is_some()
    }

    fn spaces(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// Skips spaces and the hyphen that some files use instead.
    fn separator(&mut self) {
        self.spaces();
        self.skip(b"-");
    }
}

/// Returns the offset of a named zone (RFC 822, 5.1). Other names count as UTC, because their
/// meaning is unknown (RFC 2822, 4.3).
fn named_zone(name: &[u8]) -> i64 {
    let hours = match name.to_ascii_uppercase().as_slice() {
        b"EST" | b"CDT" => -5,
        b"EDT" => -4,
        b"CST" | b"MDT" => -6,
        b"MST" | b"PDT" => -7,
        b"PST" => -8,
        _ => 0,
    };
    hours * 3_600
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_of_both_forms_are_parsed_and_others_refused() {
        let check =
            |text: &str, expected: Option<i64>| assert_eq!(seconds(text), expected, "{text:?}");
        let day = 1_715_904_000; // 2024-05-17T00:00:00Z
        check("2024", Some(1_704_067_200));
        check("2024-05", Some(1_714_521_600));
        check("2024-05-17", Some(day));
        check(" 2024-05-17\n", Some(day));
        check("2024-05-17T10:20Z", Some(day + 37_200));
        check("2024-05-17T10:20:30Z", Some(day + 37_230));
        check("2024-05-17T10:20:30.123456789Z", Some(day + 37_230));
        check("2024-05-17T10:20:30+02:00", Some(day + 30_030));
        check("2024-05-17T10:20:30-0530", Some(day + 57_030));
        check("2024-05-17T10:20:30", Some(day + 37_230)); // No zone: UTC.
        check("2024-05-17 10:20:30 UTC", Some(day + 37_230));
        check("2024-5-7", Some(day - 10 * DAY));
        check("2000-02-29", Some(951_782_400));
        check("1970-01-01", Some(0));
        check("1969-12-31T23:59:59Z", Some(-1));
        check("9999-12-31", Some(253_402_214_400));
        check("Fri, 17 May 2024 10:20:30 GMT", Some(day + 37_230));
        check("Fri, 17 May 2024 10:20:30 +0200", Some(day + 30_030));
        check("17 May 24 10:20:30 EST", Some(day + 55_230));
        check("17-May-2024 10:20", Some(day + 37_200));
        check(
            "Friday, 17 May 2024 10:20:30 +0200 (CEST)",
            Some(day + 30_030),
        );
        check("17 May 2024", Some(day));
        check("Sun, 06 Sep 94 00:00:00 GMT", Some(778_809_600));
        let wrong = "|yesterday|24|2024-13-01|2024-02-30|2023-02-29|1900-02-29|2024-05-17T|\
            2024-05-17T25:00Z|2024-05-17T10:61Z|2024-05-17T10:20Zulu time|2024/05/17|1715904000|\
            17 Floréal 2024|32 May 2024|2024-05-17T10:20:30+99:00|-2024-05-17|０２４";
        for wrong in wrong.split('|') {
            check(wrong, None);
        }
    }

    #[test]
    fn implausible_dates_are_ignored() {
        let now = 1_715_904_000;
        assert_eq!(plausible("2024-05-17", now), Some(now));
        assert_eq!(plausible("2024-05-18", now), Some(now + DAY));
        assert_eq!(plausible("2024-05-18T00:00:01Z", now), None);
        assert_eq!(plausible("9999-12-31", now), None);
        assert_eq!(plausible("1970-01-01", now), None);
        assert_eq!(plausible("1970-12-31", now), None);
        assert_eq!(plausible("1971-01-01", now), Some(FIRST));
        assert_eq!(plausible("1969", now), None);
        assert_eq!(plausible("2024-05-17", i64::MAX), Some(now));
    }

    proptest! {
        #[test]
        fn each_day_follows_the_one_before(year in 1i64..9_999, month in 1i64..=12, day in 1i64..=31) {
            if let Some(number) = days(year, month, day) {
                let next = days(year, month, day + 1)
                    .or_else(|| days(year, month + 1, 1))
                    .or_else(|| days(year + 1, 1, 1));
                prop_assert_eq!(next, Some(number + 1));
            }
        }

        #[test]
        fn any_text_is_parsed_without_panic(text in "\\PC{0,40}|[0-9TZ:+. -]{0,30}|[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9 :+]{0,20}") {
            seconds(&text);
        }
    }
}
