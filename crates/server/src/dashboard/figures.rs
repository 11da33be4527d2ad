//! Formats numbers, sizes and times for the dashboard.

use jiff::{SignedDuration, Timestamp};

/// Formats a number with at most three decimals; below 0.001 and from a million on, with an
/// exponent.
pub fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        "0".into()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{number:.2e}")
    } else if size < 10.0 {
        let text = format!("{number:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else if size < 100.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// Formats a count with narrow spaces between groups of three digits.
pub fn amount(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes in a decimal unit from B to TB.
pub fn bytes(count: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let (mut size, mut unit) = (count, 0);
    while size >= 999.5 && unit < UNITS.len() - 1 {
        size /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{size:.0} B"),
        _ if size < 10.0 => format!("{size:.1} {}", UNITS[unit]),
        _ => format!("{size:.0} {}", UNITS[unit]),
    }
}

/// Formats a share, 0 to 1, in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Formats a time relative to now: `12 s ago`, `in 3 min`. Returns an empty text if `text` is not a
/// time.
pub fn when(text: &str, now: Timestamp) -> String {
    let Ok(time) = text.parse::<Timestamp>() else {
        return String::new();
    };
    let off = time.duration_since(now);
    let span = span(off.unsigned_abs().as_secs_f64());
    match off > SignedDuration::ZERO {
        true => format!("in {span}"),
        false => format!("{span} ago"),
    }
}

/// Formats a duration in one unit, from milliseconds to years.
pub fn span(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 99.5 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.0} h", s / 3600.0),
        s if s < 400.0 * 86_400.0 => format!("{:.0} d", s / 86_400.0),
        s => format!("{:.1} y", s / (365.25 * 86_400.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sizes_and_times_have_a_short_form() {
        let shorts = [0.0, 0.5, 12.34, 1234.0, 1e-7, 2.5e9].map(short);
        assert_eq!(shorts, ["0", "0.5", "12.3", "1234", "1.00e-7", "2.50e9"]);
        assert_eq!(amount(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((amount(0), amount(999)), ("0".into(), "999".into()));
        let sizes = [0.0, 999.0, 1500.0, 25e6, 1e15].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.5 kB", "25 MB", "1000 TB"]);
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        assert_eq!(when("2026-11-16T11:59:30Z", now), "30 s ago");
        assert_eq!(when("2026-11-16T15:00:00Z", now), "in 3 h");
        assert_eq!(when("<script>", now), "");
        assert_eq!(
            (span(0.02), span(90_000.0)),
            ("20 ms".into(), "25 h".into())
        );
    }
}
