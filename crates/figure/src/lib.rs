//! Line charts as SVG, and text that is safe in markup.
//!
//! **Invariant:** the same figure is the same bytes on every machine (no clock, no
//! fonts are read), its lines can be told apart without colour (markers of their own shape, then dashes),
//! and no text that is given can become markup.

mod draw;
mod legend;
mod look;
mod markup;
mod path;
mod thin;
mod ticks;

use draw::Place;

pub use look::page_style;
pub use markup::escaped;

/// A line chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What `x` is, with its unit.
    pub x_label: String,
    /// What `y` is, with its unit.
    pub y_label: String,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// Where `y` begins, if not at 0: for values that are all near another number.
    pub y_from: Option<f64>,
}

/// A named line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend, which shortens what it has no room for.
    pub name: String,
    /// Its points, by rising `x`. What is not a number, or an infinite one, is left out.
    pub points: Vec<(f64, f64)>,
    /// The interval around each point's `y`, in the order of the points, drawn as whiskers at the markers;
    /// empty if there is none. An interval that leaves the axes is cut there: wide ones do not flatten the lines.
    pub intervals: Vec<(f64, f64)>,
    /// Whether the points are not joined: a scatter, of which all are drawn, up to a few hundred.
    pub apart: bool,
}

impl Figure {
    /// Draws it as a file of its own: 800 pixels wide, black on white, the title above.
    ///
    /// Both axes start at 0 unless a value is below, or the figure says otherwise for `y`.
    pub fn svg(&self) -> String {
        draw::svg(self, Place::File)
    }

    /// Draws it to stand in a page, whose style sheet has the colours, for light and for dark, and which
    /// writes the title itself. It is as wide as its surroundings.
    pub fn svg_in_page(&self) -> String {
        draw::svg(self, Place::Page)
    }
}

impl Series {
    /// A line through points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            ..Self::default()
        }
    }

    /// Points that are not joined.
    pub fn apart(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            apart: true,
            ..Self::line(name, points)
        }
    }
}

#[cfg(test)]
mod tests;
