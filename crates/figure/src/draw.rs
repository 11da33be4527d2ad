//! Draws a figure as SVG: title, plot area, axes, lines and legend, from top to bottom.
//!
//! **Invariants:** nothing is drawn outside the figure, whatever the numbers are. Each line adds a
//! bounded number of bytes to the SVG, however many points it has.

use super::downsample::downsample;
use super::legend::Legend;
use super::markup::{escaped, shortened, width};
use super::path::{SvgPath, line_path, marks};
use super::style;
use super::ticks::Ticks;
use super::{Figure, Series};

/// Width of a figure in SVG user units. Text of 13 units stays readable on a phone and when two
/// figures stand side by side.
const WIDTH: f64 = 520.0;
/// Height of the plot area in SVG user units.
const PLOT: f64 = 280.0;
const MARGIN: f64 = 8.0;
/// Height of the title in SVG user units.
const TITLE: f64 = 30.0;
/// Font size in SVG user units.
const TEXT: f64 = 13.0;

/// Width of a stand-alone SVG file, in pixels.
const FILE_WIDTH: f64 = 800.0;

/// Maximum number of points drawn per line. A screen cannot show more on the width of a figure.
const POINTS: usize = 200;

/// Maximum number of points drawn in a scatter plot. Print cannot show more of them separately.
const SCATTER_POINTS: usize = 400;

/// Number of markers on a line of many points: enough to follow the line, few enough to leave it
/// visible.
const MARKERS: usize = 9;

/// Largest absolute value that is drawn. The difference of two larger values may overflow `f64`.
const LARGEST: f64 = 1e300;

/// Where a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// In a file of its own, which contains style and title.
    File,
    /// In an HTML page, which supplies style and title.
    Page,
}

/// The edges of the plot area in SVG user units, and its axes.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Ticks,
    y: Ticks,
}

/// A point in SVG user units, with the lower and upper end of its whisker.
struct PlotPoint {
    at: (f64, f64),
    whisker: Option<(f64, f64)>,
}

pub(super) fn svg(figure: &Figure, place: Target) -> String {
    let top = match place {
        Target::File => TITLE,
        Target::Page => 0.0,
    };
    let plot = Plot::of(figure, top + MARGIN);
    let legend = Legend::new(&figure.series, WIDTH - 2.0 * MARGIN);
    let legend_top = plot.bottom + 48.0;
    let height = legend_top + legend.height() + MARGIN;
    let mut svg = opening(figure, place, height);
    svg += &plot.axes(figure);
    for (number, line) in figure.series.iter().enumerate() {
        svg += &plot.line(line, number, figure.series.len());
    }
    svg += &legend.svg(MARGIN, legend_top);
    svg + "</svg>\n"
}

/// Returns the opening tag; for a file also the style, the background and the title.
fn opening(figure: &Figure, place: Target, height: f64) -> String {
    let names: Vec<&str> = figure
        .series
        .iter()
        .map(|line| line.name.as_str())
        .collect();
    let label = format!(
        "{}: {} over {}; lines: {}",
        figure.title,
        figure.y_label,
        figure.x_label,
        names.join(", ")
    );
    let label = escaped(&label);
    let frame = format!(
        "class=\"figure\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\""
    );
    if place == Target::Page {
        return format!("<svg {frame}>\n");
    }
    let shown = (FILE_WIDTH * height / WIDTH).round();
    let room = WIDTH - 2.0 * MARGIN;
    let size = (16.0 * room / width(&figure.title, 16.0).max(1.0)).clamp(11.0, 16.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{FILE_WIDTH}\" height=\"{shown}\" {frame}>\n\
         <style>\n{}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"m\" x=\"{}\" y=\"22\" style=\"font-size:{size:.1}px\">{}</text>\n",
        style::file_style(),
        WIDTH / 2.0,
        escaped(&shortened(&figure.title, size, room)),
    )
}

impl Plot {
    fn of(figure: &Figure, top: f64) -> Self {
        let series = &figure.series;
        let y = over(series, figure.y_from, |point| point.1, 8);
        let widest = widest(&y);
        let (left, right) = (MARGIN + 20.0 + widest + 8.0, WIDTH - MARGIN - 14.0);
        let fits = |ticks: &Ticks| {
            let room = (right - left) / (ticks.labels().count() - 1) as f64;
            self::widest(ticks) + 8.0 <= room
        };
        let tried = [10, 8, 5, 4, 3, 2].map(|most| over(series, None, |point| point.0, most));
        let x = tried.into_iter().find(fits);
        Self {
            left,
            right,
            top,
            bottom: top + PLOT,
            x: x.unwrap_or_else(|| over(series, None, |point| point.0, 1)),
            y,
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let x = self.left + (self.right - self.left) * self.x.share(x);
        (x, self.down(y))
    }

    fn down(&self, y: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.y.share(y)
    }

    fn axes(&self, figure: &Figure) -> String {
        let (mut grid, mut axis) = (SvgPath::default(), SvgPath::default());
        let mut text = String::new();
        for (value, label) in self.x.labels() {
            let (x, _) = self.at((value, 0.0));
            grid.stroke((x, self.top), (x, self.bottom));
            axis.stroke((x, self.bottom), (x, self.bottom + 4.0));
            text += &text_element("m", (x, self.bottom + 18.0), "", &label);
        }
        for (value, label) in self.y.labels() {
            let y = self.down(value);
            grid.stroke((self.left, y), (self.right, y));
            axis.stroke((self.left - 4.0, y), (self.left, y));
            text += &text_element("e", (self.left - 7.0, y + 4.5), "", &label);
        }
        axis.stroke((self.left, self.top), (self.left, self.bottom));
        axis.stroke((self.left, self.bottom), (self.right, self.bottom));
        let middle = (self.left + self.right) / 2.0;
        let below = shortened(&figure.x_label, TEXT, self.right - self.left);
        text += &text_element("m", (middle, self.bottom + 38.0), "", &below);
        let middle = (self.top + self.bottom) / 2.0;
        let turned = format!(" transform=\"rotate(-90 {} {middle:.1})\"", MARGIN + 11.0);
        let beside = shortened(&figure.y_label, TEXT, PLOT);
        text += &text_element("m", (MARGIN + 11.0, middle), &turned, &beside);
        format!(
            "<path class=\"grid\" d=\"{}\"/>\n<path class=\"axis\" d=\"{}\"/>\n{text}",
            grid.drawn, axis.drawn
        )
    }

    fn line(&self, line: &Series, number: usize, lines: usize) -> String {
        if line.apart {
            return self.scatter(line, number);
        }
        let points = self.points(line);
        let places: Vec<(f64, f64)> = points.iter().map(|point| point.at).collect();
        let taken = downsample(&places, POINTS);
        let places: Vec<(f64, f64)> = taken.iter().map(|&place| places[place]).collect();
        let marked = marker_indexes(taken.len(), number, lines);
        let markers: Vec<(f64, f64)> = marked.iter().map(|&place| places[place]).collect();
        let mut whiskers = SvgPath::default();
        for &place in &marked {
            let PlotPoint {
                at: (x, _),
                whisker,
            } = points[taken[place]];
            let Some((low, high)) = whisker else { continue };
            whiskers.stroke((x, low), (x, high));
            // A whisker that an axis cuts off gets no end mark there.
            for end in [low, high].into_iter().filter(|end| self.within(*end)) {
                whiskers.stroke((x - 3.0, end), (x + 3.0, end));
            }
        }
        let whiskers = match whiskers.drawn.as_str() {
            "" => String::new(),
            drawn => format!("<path class=\"whisker\" d=\"{drawn}\"/>"),
        };
        let line_path = line_path(&places);
        series_group(line, number, &format!("{line_path}{whiskers}"), &markers)
    }

    /// Draws points that are not joined: all of them, or [`SCATTER_POINTS`] evenly spaced ones.
    fn scatter(&self, line: &Series, number: usize) -> String {
        let points = self.points(line);
        let taken = points.len().min(SCATTER_POINTS);
        let places = (0..taken).map(|n| points[n * points.len() / taken].at);
        series_group(line, number, "", &places.collect::<Vec<_>>())
    }

    fn points(&self, line: &Series) -> Vec<PlotPoint> {
        let intervals = line.intervals.iter().copied().map(Some);
        let intervals = intervals.chain(std::iter::repeat(None));
        let points = line.points.iter().copied().zip(intervals);
        points
            .filter(|(point, _)| drawable(point))
            .map(|(point, interval)| PlotPoint {
                at: self.at(point),
                whisker: interval
                    .filter(drawable)
                    .map(|(low, high)| (self.down(low), self.down(high))),
            })
            .collect()
    }

    fn within(&self, down: f64) -> bool {
        down > self.top && down < self.bottom
    }
}

fn over(
    series: &[Series],
    from: Option<f64>,
    value: impl Fn(&(f64, f64)) -> f64,
    most: u32,
) -> Ticks {
    let from = from.unwrap_or(0.0);
    let points = series.iter().flat_map(|line| &line.points);
    let values = points.filter(|point| drawable(point)).map(value);
    let (low, high) = values.fold((from, from), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    Ticks::over(low, high, most)
}

fn drawable((one, other): &(f64, f64)) -> bool {
    one.abs() <= LARGEST && other.abs() <= LARGEST
}

fn widest(ticks: &Ticks) -> f64 {
    let widths = ticks.labels().map(|(_, label)| width(&label, TEXT));
    widths.fold(0.0, f64::max)
}

fn text_element(class: &str, (x, y): (f64, f64), more: &str, text: &str) -> String {
    let text = escaped(text);
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{more}>{text}</text>\n")
}

/// Returns the group of elements that shows a line: its name as tooltip, its paths, its markers.
fn series_group(line: &Series, number: usize, paths: &str, markers: &[(f64, f64)]) -> String {
    let (classes, name) = (style::classes(number), escaped(&line.name));
    let markers = marks(markers, number);
    format!("<g class=\"{classes}\"><title>{name}</title>{paths}{markers}</g>\n")
}

/// Returns the indexes of the points that get a marker.
///
/// A line of at most 18 points shows measurements, so each point has a marker. On a longer line the
/// markers are evenly spaced. They are shifted for each of the `lines`, so that lines of the same
/// length mark different positions if they have enough points.
fn marker_indexes(count: usize, number: usize, lines: usize) -> Vec<usize> {
    let (markers, shift) = match count > 2 * MARKERS {
        true => (MARKERS, count * number / (lines * MARKERS)),
        false => (count, 0),
    };
    let places = (0..markers).map(|n| n * count / markers + shift);
    places.filter(|&place| place < count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_have_markers_at_different_places() {
        let first = marker_indexes(1_000, 0, 5);
        assert_eq!(first.len(), MARKERS);
        for number in 1..5 {
            let other = marker_indexes(1_000, number, 5);
            assert!(other.iter().all(|at| !first.contains(at)));
        }
        // Few points are all marked.
        assert_eq!(marker_indexes(15, 3, 5).len(), 15);
        assert_eq!(marker_indexes(0, 0, 1).len(), 0);
    }

    #[test]
    fn labels_of_ticks_do_not_overlap() {
        for high in [1.0, 95.0, 1234.0, 987_654.0, 3.2e6, 4.7e9, 3e-8] {
            let line = Series::line("a", vec![(0.0, 0.0), (high, high)]);
            let figure = Figure {
                series: vec![line],
                ..Figure::default()
            };
            let plot = Plot::of(&figure, 0.0);
            let count = plot.x.labels().count();
            assert!(count >= 2, "{high}");
            let room = (plot.right - plot.left) / (count - 1) as f64;
            assert!(widest(&plot.x) < room, "{high}: {count}");
        }
    }
}
