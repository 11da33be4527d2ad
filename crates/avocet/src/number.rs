//! Numbers as text for people, without exponents.

/// A worth from this on means that the page is fetched at any price.
const ANY_PRICE: f64 = 1e15;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Returns a worth, a price or a rank with three significant digits.
///
/// Small ones are counted in millionths, billionths or trillionths.
pub fn amount(value: f64) -> String {
    let size = value.abs();
    if size >= ANY_PRICE {
        return "more than any price".into();
    }
    let (scale, unit) = match size {
        size if size == 0.0 || size >= 1e-3 => (1.0, ""),
        size if size >= 1e-6 => (1e6, " millionths"),
        size if size >= 1e-9 => (1e9, " billionths"),
        _ => (1e12, " trillionths"),
    };
    format!("{}{unit}", significant(value * scale))
}

/// Returns a number of things, such as `1 page` or `3 pages`.
pub fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// Returns a rate in the shortest unit of time in which it is at least one, such as
/// `3.5 fetches a minute`.
pub fn rate(per_second: f64, what: &str) -> String {
    let units = [("second", 1.0), ("minute", 60.0), ("hour", 3600.0)];
    let unit = units
        .into_iter()
        .find(|(_, seconds)| per_second * seconds >= 1.0);
    let (unit, seconds) = unit.unwrap_or(("day", DAY));
    let article = if unit == "hour" { "an" } else { "a" };
    format!(
        "{} {what} {article} {unit}",
        significant(per_second * seconds)
    )
}

/// Returns a duration in the largest unit in which it is at least one, such as `1.6 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 60.0 => format!("{} s", significant(seconds)),
        seconds if seconds < 3600.0 => format!("{} min", significant(seconds / 60.0)),
        seconds if seconds < 2.0 * DAY => format!("{} h", significant(seconds / 3600.0)),
        seconds => format!("{} days", significant(seconds / DAY)),
    }
}

/// Returns a number of bytes in B, kB, MB or GB, of 1000 each.
pub fn bytes(count: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(size, _)| count >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "B"));
    format!("{} {unit}", significant(count / size))
}

/// Returns a number with three significant digits, without trailing zeros.
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
    fn numbers_have_three_digits_and_no_exponent() {
        let table = [
            (0.0, "0"),
            (12_345.0, "12345"),
            (4.5678, "4.57"),
            (10.0, "10"),
            (0.04, "0.04"),
            (4.97e-6, "4.97 millionths"),
            (2.5e-8, "25 billionths"),
            (1e-12, "1 trillionths"),
            (f64::MAX, "more than any price"),
        ];
        for (value, text) in table {
            assert_eq!(amount(value), text);
        }
    }

    #[test]
    fn rates_and_durations_have_a_fitting_unit() {
        assert_eq!(rate(10.0, "fetches"), "10 fetches a second");
        assert_eq!(rate(0.05, "fetches"), "3 fetches a minute");
        assert_eq!(rate(0.002, "polls"), "7.2 polls an hour");
        assert_eq!(rate(1e-6, "fetches"), "0.0864 fetches a day");
        assert_eq!(duration(1.6), "1.6 s");
        assert_eq!(duration(600.0), "10 min");
        assert_eq!(duration(90_000.0), "25 h");
        assert_eq!(duration(864_000.0), "10 days");
        assert_eq!(bytes(12_300_000.0), "12.3 MB");
        assert_eq!(bytes(17.0), "17 B");
    }
}
