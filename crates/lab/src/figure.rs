//! How is a result drawn?
//!
//! Line charts as SVG. **Invariant:** the same figure is the same bytes on every machine (no clock, no
//! fonts are read), and its lines can be told apart without colour: each has a marker of its own shape.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::LabError;

/// Width and height in pixels, of which the right is for the legend.
const SIZE: (u32, u32) = (800, 500);
const LEGEND: u32 = 190;

/// Font sizes: what is still read when a README shows the figure at half its width.
const TITLE_SIZE: u32 = 22;
const LABEL_SIZE: u32 = 17;
const TICK_SIZE: u32 = 15;

/// Colours that people with any kind of colour blindness tell apart (Okabe & Ito, "Color universal
/// design", 2008), without the yellow, which is hard to see on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Markers on a line: enough to follow it, few enough to see it.
const MARKERS: usize = 9;

/// Larger numbers are as good as infinite: differences of them overflow.
const LARGEST: f64 = 1e300;

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
}

/// A named line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend, which has room for some twenty letters.
    pub name: String,
    /// Its points, by rising `x`. What is not a number, or an infinite one, is left out.
    pub points: Vec<(f64, f64)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = DrawingAreaErrorKind<std::io::Error>;

impl Figure {
    /// Draws it, 800 by 500 pixels. Both axes start at 0 unless a value is below.
    pub fn svg(&self) -> Result<String, LabError> {
        let mut svg = String::new();
        let drawn = self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area());
        drawn.map_err(|source| LabError::Draw {
            title: self.title.clone(),
            source,
        })?;
        Ok(svg)
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), Failure> {
        area.fill(&WHITE)?;
        let below = area
            .margin(8, 0, 0, 0)
            .titled(&self.title, font(TITLE_SIZE))?;
        let (plot, legend) = below.split_horizontally(SIZE.0 - LEGEND);
        self.draw_lines(&plot)?;
        self.draw_legend(&legend)?;
        area.present()
    }

    fn draw_lines(&self, area: &Area<'_>) -> Result<(), Failure> {
        let (x_ticks, y_ticks) = (self.ticks(|point| point.0), self.ticks(|point| point.1));
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(52)
            .y_label_area_size(76)
            .build_cartesian_2d(x_ticks.range(), y_ticks.range())?;
        chart
            .configure_mesh()
            .x_labels(x_ticks.count)
            .y_labels(y_ticks.count)
            .x_label_formatter(&|x| x_ticks.text(*x))
            .y_label_formatter(&|y| y_ticks.text(*y))
            .label_style(font(TICK_SIZE))
            .axis_desc_style(font(LABEL_SIZE))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .bold_line_style(BLACK.mix(0.15))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (number, series) in self.series.iter().enumerate() {
            let points: Vec<(f64, f64)> = series.drawable().collect();
            let style = colour(number).stroke_width(2);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            let marked = marked(&points, number, self.series.len());
            chart.draw_series(marked.map(|at| EmptyElement::at(at) + marker(number)))?;
        }
        Ok(())
    }

    fn draw_legend(&self, area: &Area<'_>) -> Result<(), Failure> {
        for (number, series) in self.series.iter().enumerate() {
            let y = 30 + 28 * number as i32;
            let line = vec![(0, y), (36, y)];
            area.draw(&PathElement::new(line, colour(number).stroke_width(2)))?;
            area.draw(&(EmptyElement::at((18, y)) + marker(number)))?;
            let style = font(LABEL_SIZE).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(series.name.as_str(), (44, y), style))?;
        }
        Ok(())
    }

    fn ticks(&self, value: impl Fn((f64, f64)) -> f64) -> Ticks {
        let values = self.series.iter().flat_map(Series::drawable).map(value);
        let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Ticks::over(low, high)
    }
}

impl Series {
    fn drawable(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.points.iter().copied();
        points.filter(|(x, y)| x.abs() <= LARGEST && y.abs() <= LARGEST)
    }
}

/// Where an axis begins and ends and what is written at it: multiples of 1, 2 or 5 times a power of ten.
#[derive(Debug, PartialEq)]
struct Ticks {
    low: f64,
    high: f64,
    step: f64,
    count: usize,
}

impl Ticks {
    /// Ten steps or fewer, and one more where `low` and `high` are not at a step.
    fn over(low: f64, high: f64) -> Self {
        let span = if high > low { high - low } else { 1.0 };
        let power = 10_f64.powf((span / 10.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let enough = |step: &&f64| span / 10.0 <= **step * (1.0 + 1e-9);
        let step = *steps.iter().find(enough).unwrap_or(&steps[3]);
        let (low, high) = (
            (low / step).floor() * step,
            (high / step - 1e-9).ceil() * step,
        );
        let high = high.max(low + step);
        let count = ((high - low) / step).round() as usize + 1;
        Self {
            low,
            high,
            step,
            count,
        }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }

    /// As many decimals as the step has, and thousands with a comma.
    fn text(&self, value: f64) -> String {
        if self.step >= 1e6 {
            return format!("{value:e}");
        }
        let decimals = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
        let text = format!("{:.decimals$}", value.abs());
        let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        let sign = if value < -self.step / 2.0 { "−" } else { "" };
        let mut grouped = String::from(sign);
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped + rest
    }
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// The points that get a marker: evenly spread, and each line's where the others have none.
fn marked(
    points: &[(f64, f64)],
    number: usize,
    lines: usize,
) -> impl Iterator<Item = (f64, f64)> + use<> {
    let count = points.len();
    // Few points are measurements: each is marked.
    let (markers, shift) = match count > 2 * MARKERS {
        true => (MARKERS, count * number / (lines * MARKERS)),
        false => (count, 0),
    };
    let marked: Vec<_> = (0..markers)
        .filter_map(|n| points.get(n * count / markers + shift).copied())
        .collect();
    marked.into_iter()
}

fn marker(number: usize) -> Polygon<(i32, i32)> {
    Polygon::new(shape(number), colour(number).filled())
}

/// The shape of a line's marker, around the origin.
fn shape(number: usize) -> Vec<(i32, i32)> {
    const R: i32 = 5;
    // Where colours start anew, shapes are one ahead.
    let shape: &[(i32, i32)] = match (number + number / COLOURS.len()) % 7 {
        // Octagon, square, triangle, diamond, plus, triangle upside down, hourglass.
        0 => &[
            (-2, -R),
            (2, -R),
            (R, -2),
            (R, 2),
            (2, R),
            (-2, R),
            (-R, 2),
            (-R, -2),
        ],
        1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2 => &[(0, -6), (6, R), (-6, R)],
        3 => &[(0, -7), (6, 0), (0, 7), (-6, 0)],
        4 => &[
            (-1, -6),
            (1, -6),
            (1, -1),
            (6, -1),
            (6, 1),
            (1, 1),
            (1, 6),
            (-1, 6),
            (-1, 1),
            (-6, 1),
            (-6, -1),
            (-1, -1),
        ],
        5 => &[(0, 6), (6, -R), (-6, -R)],
        _ => &[(-R, -6), (R, -6), (-R, 6), (R, 6)],
    };
    shape.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: &[(f64, f64)]) -> Figure {
        let series = |name: &str| Series {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        Figure {
            title: "a < b & \"c\"".to_owned(),
            x_label: "time (s)".to_owned(),
            y_label: "quality".to_owned(),
            series: vec![series("one"), series("<two>")],
        }
    }

    #[test]
    fn ticks_are_round_numbers() {
        let check = |low: f64, high: f64, expected: [f64; 3]| {
            let ticks = Ticks::over(low, high);
            let found = [ticks.low, ticks.high, ticks.step];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{low} to {high}: {ticks:?}"
                );
            }
            assert!((2..=12).contains(&ticks.count), "{ticks:?}");
        };
        check(0.0, 1.0, [0.0, 1.0, 0.1]);
        check(0.0, 0.95, [0.0, 1.0, 0.1]);
        check(0.0, 1.01, [0.0, 1.2, 0.2]);
        check(0.0, 360.0, [0.0, 400.0, 50.0]);
        check(-3.0, 4.5, [-3.0, 5.0, 1.0]);
        check(0.0, 30_000.0, [0.0, 30_000.0, 5_000.0]);
        check(0.0, 0.0, [0.0, 0.1, 0.1]);
    }

    #[test]
    fn ticks_are_written_as_people_do() {
        let check = |high: f64, value: f64, expected: &str| {
            assert_eq!(Ticks::over(-high, high).text(value), expected);
        };
        check(1.0, 0.4, "0.4");
        check(1.0, -1e-17, "0.0");
        check(0.05, -0.01, "−0.01");
        check(5_000.0, 4_500.0, "4,500");
        check(50.0, 40.0, "40");
        check(2e6, 1_234_000.0, "1,234,000");
        check(1e9, 2e8, "2e8");
    }

    #[test]
    fn what_is_given_is_shown_and_nothing_breaks_the_markup() {
        let svg = figure(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]).svg().unwrap();
        assert!(
            svg.starts_with("<svg width=\"800\" height=\"500\""),
            "{svg}"
        );
        for text in [
            "a &lt; b &amp;",
            "time (s)",
            "quality",
            "one",
            "&lt;two&gt;",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("<two>"));
        // Two lines with three markers each, and one in the legend.
        assert_eq!(svg.matches("<polygon").count(), 8);
        let same = figure(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]).svg().unwrap();
        assert_eq!(svg, same);
    }

    #[test]
    fn any_numbers_can_be_drawn() {
        let huge = f64::MAX;
        for points in [
            &[][..],
            &[(f64::NAN, 1.0), (1.0, f64::INFINITY)],
            &[(3.0, 3.0)],
            &[(0.0, -huge), (huge, huge)],
            &[(1e-300, 1e-300), (2e-300, 0.0)],
        ] {
            let svg = figure(points).svg().unwrap();
            assert!(svg.ends_with("</svg>\n"), "{points:?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}");
        }
        let none = Figure::default().svg().unwrap();
        assert!(none.ends_with("</svg>\n"));
    }

    #[test]
    fn lines_differ_without_colour() {
        for first in 0..COLOURS.len() {
            for second in 0..first {
                assert_ne!(shape(first), shape(second));
                assert_ne!(colour(first), colour(second));
            }
            // The next with the same colour has another shape.
            assert_ne!(shape(first), shape(first + COLOURS.len()));
        }
    }

    #[test]
    fn long_lines_are_marked_apart() {
        let points: Vec<(f64, f64)> = (0..1_000).map(|x| (f64::from(x), 0.0)).collect();
        let first: Vec<_> = marked(&points, 0, 5).collect();
        assert_eq!(first.len(), MARKERS);
        for number in 1..5 {
            assert!(marked(&points, number, 5).all(|at| !first.contains(&at)));
        }
        // Few points are all marked.
        assert_eq!(marked(&points[..15], 3, 5).count(), 15);
        assert_eq!(marked(&[], 0, 1).count(), 0);
    }
}
