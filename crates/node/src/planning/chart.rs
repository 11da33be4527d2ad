//! Draws curves on a terminal.

use std::fmt::Write;

use super::CurvePoint;

const WIDTH: usize = 64;
const HEIGHT: usize = 14;

/// Draws the reached shares over fetches per day, which have a logarithmic scale. Each curve has a
/// letter; where two overlap, the first one is visible. Returns an empty text if there is nothing
/// to draw.
pub fn draw(curves: &[(char, &[CurvePoint])]) -> String {
    let points = || curves.iter().flat_map(|(_, curve)| curve.iter());
    let shown = |point: &&CurvePoint| point.reached > 0.02 && point.reached < 0.999;
    let across = points().filter(shown).map(|point| point.fetches_per_day);
    let (least, most) = across.fold((f64::INFINITY, 0.0_f64), |(least, most), x| {
        (least.min(x), most.max(x))
    });
    if !(least > 0.0 && most > least) {
        return String::new();
    }
    let column = |x: f64| ((x / least).ln() / (most / least).ln() * (WIDTH - 1) as f64).round();
    let mut cells = vec![[' '; WIDTH]; HEIGHT];
    for (letter, curve) in curves.iter().rev() {
        for point in curve.iter() {
            let at = column(point.fetches_per_day);
            if at >= 0.0 && at < WIDTH as f64 {
                let row = ((1.0 - point.reached.clamp(0.0, 1.0)) * (HEIGHT - 1) as f64).round();
                cells[row as usize][at as usize] = *letter;
            }
        }
    }
    let mut text = String::new();
    for (row, line) in cells.iter().enumerate() {
        let share = 100.0 * (1.0 - row as f64 / (HEIGHT - 1) as f64);
        let line: String = line.iter().collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{share:>4.0} % |{}", line.trim_end());
    }
    let (left, right) = (number(least), number(most));
    let gap = WIDTH.saturating_sub(left.len() + right.len());
    let _ = writeln!(text, "       +{}", "-".repeat(WIDTH));
    let _ = writeln!(
        text,
        "        {left}{}{right} fetches a day",
        " ".repeat(gap)
    );
    text
}

/// Formats a number of fetches: without decimals from 100 on, with one from 1 on, else with two.
pub fn number(fetches: f64) -> String {
    match fetches {
        fetches if fetches >= 100.0 => format!("{fetches:.0}"),
        fetches if fetches >= 1.0 => format!("{fetches:.1}"),
        fetches => format!("{fetches:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_from_left_to_right() {
        let point = |fetches_per_day: f64| CurvePoint {
            fetches_per_day,
            reached: fetches_per_day / (fetches_per_day + 100.0),
        };
        let curve: Vec<CurvePoint> = (0..60).map(|step| point(1.25f64.powi(step))).collect();
        let text = draw(&[('*', &curve)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), HEIGHT + 2);
        let columns: Vec<usize> = lines[..HEIGHT]
            .iter()
            .filter_map(|line| line.find('*'))
            .collect();
        assert!(
            columns.len() > 8 && columns.is_sorted_by(|a, b| a >= b),
            "{text}"
        );
        assert!(lines[HEIGHT + 1].ends_with("fetches a day"), "{text}");
        assert_eq!(draw(&[('*', &[])]), "");
    }
}
