//! Numbers as text for people: without exponents, with a unit or a noun.

use std::fmt::Display;

/// A worth of at least this means that the page is fetched at any price.
const ANY_PRICE: f64 = 1e15;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Returns a worth, a price or a rank as text, with the digits of [`significant`].
///
/// A number below 0.001 is written in millionths, billionths or trillionths.
pub fn amount(value: f64) -> String {
    let size = value.abs();
    if size >= ANY_PRICE {
        return "more than any price".into();
    }
    let (scale, unit) = match size {
        size if size == 0.0 || size >= 1e-3 => return significant(value),
        size if size >= 1e-6 => (1e6, "millionth"),
        size if size >= 1e-9 => (1e9, "billionth"),
        _ => (1e12, "trillionth"),
    };
    counted(significant(value * scale), unit)
}

/// Returns a number with its noun in the right form, such as `1 page` or `3 pages`.
///
/// `noun` is the singular. Only its last word changes.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {noun}");
    }
    let last = |ends: &[&str]| ends.iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !last(&["ay", "ey", "oy", "uy"]) => format!("{number} {stem}ies"),
        _ if last(&["ch", "sh", "s", "x"]) => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// Returns a rate with its unit, such as `3.5 fetches a minute`. `noun` is the singular.
///
/// The unit is the first of second, minute and hour in which the rate is at least 1, or else the
/// day.
pub fn rate(per_second: f64, noun: &str) -> String {
    let units = [("second", 1.0), ("minute", 60.0), ("hour", 3600.0)];
    let unit = units
        .into_iter()
        .find(|(_, seconds)| per_second * seconds >= 1.0);
    let (unit, seconds) = unit.unwrap_or(("day", DAY));
    let article = if unit == "hour" { "an" } else { "a" };
    let number = counted(significant(per_second * seconds), noun);
    format!("{number} {article} {unit}")
}

/// Returns a duration in seconds, minutes, hours or, from two days on, in days, such as `1.6 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 60.0 => format!("{} s", significant(seconds)),
        seconds if seconds < 3600.0 => format!("{} min", significant(seconds / 60.0)),
        seconds if seconds < 2.0 * DAY => format!("{} h", significant(seconds / 3600.0)),
        seconds => format!("{} days", significant(seconds / DAY)),
    }
}

/// Returns a number of bytes in B, kB, MB or GB; each unit is 1000 times the one before.
pub fn bytes(count: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(size, _)| count >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "B"));
    format!("{} {unit}", significant(count / size))
}

/// Returns a number with three significant digits and without trailing zeros after the point. From
/// 1000 on, all digits before the point are written.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let decimals = 2.0 - value.abs().log10().floor();
    let text = format!("{value:.*}", decimals.clamp(0.0, 9.0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_significant_digits_and_no_exponent() {
        let table = [
            (0.0, "0"),
            (12_345.0, "12345"),
            (4.5678, "4.57"),
            (10.0, "10"),
            (0.04, "0.04"),
            (4.97e-6, "4.97 millionths"),
            (2.5e-8, "25 billionths"),
            (1e-12, "1 trillionth"),
            (f64::MAX, "more than any price"),
        ];
        for (value, text) in table {
            assert_eq!(amount(value), text);
        }
    }

    #[test]
    fn nouns_follow_their_number() {
        let table = [
            (0, "page", "0 pages"),
            (1, "page", "1 page"),
            (2, "new page", "2 new pages"),
            (1, "copy", "1 copy"),
            (3, "copy", "3 copies"),
            (3, "day", "3 days"),
            (2, "fetch", "2 fetches"),
        ];
        for (number, noun, text) in table {
            assert_eq!(counted(number, noun), text);
        }
    }

    #[test]
    fn rates_and_durations_have_a_fitting_unit() {
        assert_eq!(rate(1.0, "fetch"), "1 fetch a second");
        assert_eq!(rate(10.0, "fetch"), "10 fetches a second");
        assert_eq!(rate(0.05, "fetch"), "3 fetches a minute");
        assert_eq!(rate(0.002, "poll"), "7.2 polls an hour");
        assert_eq!(rate(1e-6, "fetch"), "0.0864 fetches a day");
        assert_eq!(duration(1.6), "1.6 s");
        assert_eq!(duration(600.0), "10 min");
        assert_eq!(duration(90_000.0), "25 h");
        assert_eq!(duration(864_000.0), "10 days");
        assert_eq!(bytes(12_300_000.0), "12.3 MB");
        assert_eq!(bytes(17.0), "17 B");
    }
}
