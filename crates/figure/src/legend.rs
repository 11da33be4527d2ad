//! The legend below the plot, in as many columns as the names leave room for, at most four.
//!
//! **Invariant:** two names never overlap. A name that is too long is shortened; its tooltip
//! shows it in full.

use super::Series;
use super::markup::{escaped, shortened, width};
use super::path::{line_path, marks};
use super::style;

const SIZE: f64 = 13.0;
const ROW: f64 = 20.0;

/// Width of the piece of line before a name, with its space, in SVG user units.
const KEY: f64 = 36.0;
/// Space between columns, in SVG user units.
const GAP: f64 = 14.0;

/// A legend with more lines than this has at least two columns, so that it stays lower than the
/// plot.
const ONE_COLUMN: usize = 5;

/// A legend with its layout.
pub(super) struct Legend<'s> {
    series: &'s [Series],
    columns: usize,
    column: f64,
}

impl<'s> Legend<'s> {
    /// Lays out the legend of these lines in a width of `room` SVG user units.
    pub fn new(series: &'s [Series], room: f64) -> Self {
        let widest = series.iter().map(|line| width(&line.name, SIZE));
        let widest = widest.fold(1.0, f64::max) + KEY + GAP;
        let fewest = if series.len() > ONE_COLUMN { 2 } else { 1 };
        let columns = ((room + GAP) / widest) as usize;
        let columns = columns.clamp(fewest, 4).min(series.len().max(1));
        Self {
            series,
            columns,
            column: (room + GAP) / columns as f64,
        }
    }

    /// Returns the height in SVG user units.
    pub fn height(&self) -> f64 {
        self.series.len().div_ceil(self.columns) as f64 * ROW
    }

    /// Draws the legend with its upper left corner at (`left`, `top`).
    pub fn svg(&self, left: f64, top: f64) -> String {
        let mut svg = String::new();
        for (number, line) in self.series.iter().enumerate() {
            let (row, column) = (number / self.columns, number % self.columns);
            let x = left + column as f64 * self.column;
            let y = top + (row as f64 + 0.5) * ROW;
            let name = shortened(&line.name, SIZE, self.column - KEY - GAP);
            svg += &format!(
                "<g><title>{}</title><g class=\"{}\">{}{}</g>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>\n",
                escaped(&line.name),
                style::classes(number),
                line_path(&[(x, y), (x + KEY - 8.0, y)]),
                marks(&[(x + (KEY - 8.0) / 2.0, y)], number),
                x + KEY,
                y + 4.5,
                escaped(&name),
            );
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_has_as_many_columns_as_fit_and_at_least_two_for_more_than_five_lines() {
        let check = |name: &str, lines: usize, columns: usize, height: f64| {
            let series = vec![Series::line(name, Vec::new()); lines];
            let legend = Legend::new(&series, 500.0);
            assert_eq!((legend.columns, legend.height()), (columns, height));
        };
        check("opic", 14, 4, 80.0);
        check("breadth-first", 6, 3, 40.0);
        check("pagerank + breadth-first", 3, 2, 40.0);
        check(&"long ".repeat(20), 3, 1, 60.0);
        check(&"long ".repeat(20), 14, 2, 140.0);
        check("opic", 3, 3, 20.0);
        check("", 0, 1, 0.0);
    }

    #[test]
    fn a_long_name_is_shortened_and_whole_in_its_tooltip() {
        let name = "<1>".repeat(40);
        let series = [Series::line(name.as_str(), Vec::new())];
        let svg = Legend::new(&series, 500.0).svg(0.0, 0.0);
        assert!(svg.contains(&format!("<title>{}</title>", escaped(&name))));
        assert!(svg.contains("…"), "{svg}");
        assert_eq!(svg.matches(&escaped(&name)).count(), 1);
    }
}
