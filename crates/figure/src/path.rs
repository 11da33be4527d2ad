//! SVG paths of lines and markers.
//!
//! **Invariant:** coordinates are rounded to tenths of a user unit, so that the same figure
//! gives the same bytes on every machine.

use std::fmt::Write;

use super::style;

/// Returns the path of a line through points in SVG user units.
pub fn line_path(points: &[(f64, f64)]) -> String {
    let mut path = SvgPath::default();
    for (number, &point) in points.iter().enumerate() {
        path.to(if number == 0 { 'm' } else { 'l' }, tenths(point));
    }
    format!("<path class=\"line\" d=\"{}\"/>", path.drawn)
}

/// Returns the path of all markers of line `number`, at points in SVG user units.
pub fn marks(points: &[(f64, f64)], number: usize) -> String {
    let mut path = SvgPath::default();
    for &point in points {
        let (x, y) = tenths(point);
        for (corner, (right, down)) in style::shape(number).iter().enumerate() {
            let step = if corner == 0 { 'm' } else { 'l' };
            path.to(step, (x + right, y + down));
        }
        path.close();
    }
    format!("<path class=\"mark\" d=\"{}\"/>", path.drawn)
}

fn tenths((x, y): (f64, f64)) -> (i64, i64) {
    ((x * 10.0).round() as i64, (y * 10.0).round() as i64)
}

/// A path in tenths of a user unit. Each step is relative to the last, which takes half the
/// bytes of absolute coordinates.
#[derive(Default)]
pub struct SvgPath {
    /// The SVG path commands so far.
    pub drawn: String,
    at: (i64, i64),
    start: (i64, i64),
}

impl SvgPath {
    /// Moves (`m`) or draws (`l`) to a point. A draw of length 0 is left out.
    pub fn to(&mut self, step: char, (x, y): (i64, i64)) {
        let (right, down) = (x - self.at.0, y - self.at.1);
        let moves = step == 'm';
        if !moves && (right, down) == (0, 0) {
            return;
        }
        self.drawn.push(step);
        self.number(right);
        if down >= 0 {
            self.drawn.push(' ');
        }
        self.number(down);
        self.at = (x, y);
        if moves {
            self.start = self.at;
        }
    }

    /// Draws a separate line.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.to('m', tenths(from));
        self.to('l', tenths(to));
    }

    /// Draws back to the target of the last move.
    pub fn close(&mut self) {
        self.drawn.push('z');
        self.at = self.start;
    }

    fn number(&mut self, tenths: i64) {
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
        // Writing to a `String` cannot fail.
        let _ = match (whole, rest) {
            (_, 0) => write!(self.drawn, "{sign}{whole}"),
            (0, _) => write!(self.drawn, "{sign}.{rest}"),
            _ => write!(self.drawn, "{sign}{whole}.{rest}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_consists_of_relative_steps() {
        let mut path = SvgPath::default();
        path.stroke((1.0, 2.5), (1.1, 2.0));
        path.to('l', (11, 20));
        path.to('l', (1, 30));
        path.close();
        path.to('m', (10, 25));
        assert_eq!(path.drawn, "m1 2.5l.1-.5l-1 1zm0 0");
    }
}
