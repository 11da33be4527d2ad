//! Parses a span of dates.
//!
//! Accepts `2024`, `2024-05`, `2024-05-17`, and ranges: `2023-11..2024`, `2024..`, `..2019`. All
//! dates are in UTC, like the dates of pages without a time zone.
//!
//! **Invariant:** a span ends after it begins. Any text that is not such a span gives `None`.

use std::ops::Range;

use crate::listing::date::days;

const DAY: i64 = 86_400;

/// Parses a span into Unix seconds. An open end is the smallest or largest `i64`.
pub fn span(text: &str) -> Option<Range<i64>> {
    let Some((from, until)) = text.trim().split_once("..") else {
        return one(text);
    };
    if from.trim().is_empty() && until.trim().is_empty() {
        return None;
    }
    let from = match from.trim() {
        "" => i64::MIN,
        from => one(from)?.start,
    };
    let until = match until.trim() {
        "" => i64::MAX,
        until => one(until)?.end,
    };
    (from < until).then_some(from..until)
}

fn one(text: &str) -> Option<Range<i64>> {
    let mut parts = text.trim().split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map(|part| number(part, 2));
    let day = parts.next().map(|part| number(part, 2));
    if parts.next().is_some() {
        return None;
    }
    let start = |year, month, day| Some(days(year, month, day)? * DAY);
    match (month, day) {
        (None, _) => Some(start(year, 1, 1)?..start(year + 1, 1, 1)?),
        (Some(month), None) => {
            let month = month?;
            let next = (year + month / 12, month % 12 + 1);
            Some(start(year, month, 1)?..start(next.0, next.1, 1)?)
        }
        (Some(month), Some(day)) => {
            let start = start(year, month?, day?)?;
            Some(start..start + DAY)
        }
    }
}

fn number(part: &str, digits: usize) -> Option<i64> {
    let fits = (1..=digits).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = if fits { part.parse().ok() } else { None };
    number.filter(|_| digits != 4 || part.len() == 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_dates_are_parsed_and_other_texts_refused() {
        const Y2024: i64 = 1_704_067_200;
        const MAY: i64 = 1_714_521_600;
        let check = |text: &str, expected: Option<Range<i64>>| {
            assert_eq!(span(text), expected, "{text:?}");
        };
        check("2024", Some(Y2024..Y2024 + 366 * DAY));
        check("2024-05", Some(MAY..MAY + 31 * DAY));
        check("2024-12", Some(Y2024 + 335 * DAY..Y2024 + 366 * DAY));
        check(" 2024-5-1 ", Some(MAY..MAY + DAY));
        check("2024..2024-05-01", Some(Y2024..MAY + DAY));
        check("2024-05..", Some(MAY..i64::MAX));
        check("..2023", Some(i64::MIN..Y2024));
        for none in [
            "",
            "..",
            "24",
            "2024-13",
            "2024-02-30",
            "2024-05-01-01",
            "2024..2023",
            "may",
            "+202",
            "2024-",
            "..x",
        ] {
            check(none, None);
        }
    }
}
