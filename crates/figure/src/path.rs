//! Paths of lines and markers.
//!
//! **Invariant:** places are whole tenths of a unit, so that the same figure is the same bytes everywhere.

use std::fmt::Write;

use super::look;

/// A line through points, on the paper.
pub fn line_path(points: &[(f64, f64)]) -> String {
    let mut way = Way::default();
    for (number, &point) in points.iter().enumerate() {
        way.to(if number == 0 { 'm' } else { 'l' }, tenths(point));
    }
    format!("<path class=\"line\" d=\"{}\"/>", way.drawn)
}

/// The markers of a line at points.
pub fn marks(points: &[(f64, f64)], number: usize) -> String {
    let mut way = Way::default();
    for &point in points {
        let (x, y) = tenths(point);
        for (corner, (right, down)) in look::shape(number).iter().enumerate() {
            let step = if corner == 0 { 'm' } else { 'l' };
            way.to(step, (x + right, y + down));
        }
        way.close();
    }
    format!("<path class=\"mark\" d=\"{}\"/>", way.drawn)
}

fn tenths((x, y): (f64, f64)) -> (i64, i64) {
    ((x * 10.0).round() as i64, (y * 10.0).round() as i64)
}

/// A path in tenths of a unit, each step from the last: half the bytes of places.
#[derive(Default)]
pub struct Way {
    /// The commands so far.
    pub drawn: String,
    at: (i64, i64),
    start: (i64, i64),
}

impl Way {
    /// Moves (`m`) or draws (`l`) to a place. A draw of no length is left out.
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

    /// Draws a line of its own.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.to('m', tenths(from));
        self.to('l', tenths(to));
    }

    /// Draws back to where the last move led.
    pub fn close(&mut self) {
        self.drawn.push('z');
        self.at = self.start;
    }

    fn number(&mut self, tenths: i64) {
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
        // Writing to a string cannot fail.
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
    fn a_way_is_steps() {
        let mut way = Way::default();
        way.stroke((1.0, 2.5), (1.1, 2.0));
        way.to('l', (11, 20));
        way.to('l', (1, 30));
        way.close();
        way.to('m', (10, 25));
        assert_eq!(way.drawn, "m1 2.5l.1-.5l-1 1zm0 0");
    }
}
