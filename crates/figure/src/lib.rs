//! Line charts and scatter plots as SVG, and escaping of text for markup.
//!
//! **Invariants:**
//! - The same figure gives the same bytes on every machine: no clock and no font is read.
//! - The first 14 lines of a figure can be distinguished without colour, by the shape of their
//!   markers and by dashes.
//! - Text that the caller supplies cannot become markup.

mod downsample;
mod draw;
mod legend;
mod markup;
mod path;
mod style;
mod ticks;

use draw::Target;

pub use markup::escaped;
pub use style::page_style;

/// A line chart or scatter plot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// What `x` measures, with its unit.
    pub x_label: String,
    /// What `y` measures, with its unit.
    pub y_label: String,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// The value at which the `y` axis begins, unless a point lies lower. `None` means 0. Set it
    /// when all values lie close together and far from 0.
    pub y_from: Option<f64>,
}

/// A named line, or a named set of points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// The name in the legend, which shortens it if there is no room.
    pub name: String,
    /// The points, sorted by `x`. Points with a coordinate that is NaN, infinite or beyond ±1e300
    /// are left out.
    pub points: Vec<(f64, f64)>,
    /// The interval around the `y` of each point, in the order of the points; empty if there is
    /// none.
    ///
    /// Intervals are drawn as whiskers at the markers. An interval that exceeds the axes is cut
    /// off there, so that wide intervals do not flatten the lines.
    pub intervals: Vec<(f64, f64)>,
    /// Whether this is a scatter plot: the points are not joined. At most 400 of them are drawn.
    pub apart: bool,
}

impl Figure {
    /// Draws the figure as a file of its own: 800 pixels wide, black on white, with the title
    /// above.
    ///
    /// Both axes start at 0, unless a value is negative or [`Figure::y_from`] is set.
    pub fn svg(&self) -> String {
        draw::svg(self, Target::File)
    }

    /// Draws the figure for an HTML page, as wide as the element around it.
    ///
    /// The page supplies the title and the style sheet ([`page_style`]), with colours for light
    /// and dark mode.
    pub fn svg_in_page(&self) -> String {
        draw::svg(self, Target::Page)
    }
}

impl Series {
    /// Returns a line through points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            ..Self::default()
        }
    }

    /// Returns points that are not joined.
    pub fn apart(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            apart: true,
            ..Self::line(name, points)
        }
    }
}

#[cfg(test)]
mod tests;
