//! Computes the SVG paths of small charts. Only templates write markup.

use super::figures::span;
use node::live::meter::SeriesPoint;

/// The size of the plot, in SVG units.
pub const WIDTH: f64 = 340.0;
pub const HEIGHT: f64 = 90.0;

/// A chart.
pub struct Chart {
    /// The title.
    pub title: &'static str,
    /// A description in words, for screen readers.
    pub description: String,
    /// The current value.
    pub value: String,
    /// The upper and the lower end of the scale, as labels.
    pub top: String,
    pub bottom: String,
    /// The start of the time axis, as a label.
    pub from: String,
    /// The lines and areas.
    pub lines: Vec<ChartLine>,
}

/// A line or an area of a chart.
pub struct ChartLine {
    /// The CSS class.
    pub class: &'static str,
    /// The name in the legend.
    pub name: &'static str,
    /// The SVG path.
    pub path: String,
    /// Whether the path is filled.
    pub area: bool,
}

/// The vertical scale of a chart.
#[derive(Clone, Copy)]
pub enum Scale {
    /// Linear, from zero to this value.
    Linear(f64),
    /// Logarithmic, between these values.
    Logarithmic(f64, f64),
}

impl Scale {
    /// Returns a linear scale from zero to a round number that is at least the largest value.
    pub fn above(values: impl Iterator<Item = f64>) -> Self {
        let most = values.fold(0.0, f64::max);
        Self::Linear(if most > 0.0 { round_up(most) } else { 1.0 })
    }

    /// Returns a logarithmic scale from the least positive value / 1.5 to the greatest × 1.5.
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match low <= high {
            true => Self::Logarithmic(low / 1.5, high * 1.5),
            false => Self::Logarithmic(0.1, 1.0),
        }
    }

    /// Returns the lower and the upper end.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Self::Linear(top) => (0.0, top),
            Self::Logarithmic(bottom, top) => (bottom, top),
        }
    }

    fn height(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(top) => value / top,
            Self::Logarithmic(bottom, top) => (value / bottom).ln() / (top / bottom).ln(),
        };
        HEIGHT * (1.0 - share.clamp(0.0, 1.0))
    }
}

/// The time axis of a chart, in seconds.
pub struct TimeAxis {
    from: f64,
    until: f64,
}

impl TimeAxis {
    /// Returns the axis that spans a series.
    pub fn of(series: &[SeriesPoint]) -> Self {
        let from = series.first().map_or(0.0, |point| point.at);
        let until = series.last().map_or(1.0, |point| point.at + point.seconds);
        Self {
            from,
            until: until.max(from + 1.0),
        }
    }

    /// Returns the label of the start of the axis, such as `8 s ago`.
    pub fn begin(&self) -> String {
        format!("{} ago", span(self.until - self.from))
    }

    fn x(&self, point: &SeriesPoint) -> f64 {
        let middle = point.at + point.seconds / 2.0;
        WIDTH * (middle - self.from) / (self.until - self.from)
    }
}

/// Returns the path of a line, with a gap where there is no value.
pub fn line(
    series: &[SeriesPoint],
    times: &TimeAxis,
    scale: Scale,
    value: impl Fn(&SeriesPoint) -> Option<f64>,
) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for point in series {
        match value(point).filter(|value| value.is_finite()) {
            Some(value) => {
                path += &format!("{pen}{:.1} {:.1}", times.x(point), scale.height(value));
                pen = 'L';
            }
            None => pen = 'M',
        }
    }
    path
}

/// Returns the path of the area between two values.
pub fn area(
    series: &[SeriesPoint],
    times: &TimeAxis,
    scale: Scale,
    between: impl Fn(&SeriesPoint) -> (f64, f64),
) -> String {
    let corner = |point: &SeriesPoint, value: f64| {
        format!("{:.1} {:.1}", times.x(point), scale.height(value))
    };
    let over = series.iter().map(|point| corner(point, between(point).1));
    let under = series
        .iter()
        .rev()
        .map(|point| corner(point, between(point).0));
    let corners: Vec<String> = over.chain(under).collect();
    match corners.is_empty() {
        true => String::new(),
        false => format!("M{}Z", corners.join("L")),
    }
}

/// Returns the least of the numbers 1, 2 and 5 times a power of ten that is at least this one, with
/// a tolerance of 0.1 %.
fn round_up(number: f64) -> f64 {
    let power = 10f64.powf(number.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter();
    let mut steps = steps.map(|step| step * power);
    steps.find(|step| *step >= number * 0.999).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: f64, worth: f64) -> SeriesPoint {
        SeriesPoint {
            at,
            seconds: 2.0,
            worth,
            ..SeriesPoint::default()
        }
    }

    #[test]
    fn lines_stay_on_the_plot_and_break_where_a_value_is_missing() {
        let series = [
            point(0.0, 0.0),
            point(2.0, 4.0),
            point(4.0, 2.0),
            point(6.0, 9.0),
        ];
        let times = TimeAxis::of(&series);
        let scale = Scale::above([4.0].into_iter());
        assert_eq!(scale.ends(), (0.0, 5.0));
        let known = |point: &SeriesPoint| (point.worth != 2.0).then_some(point.worth);
        let path = line(&series, &times, scale, known);
        assert_eq!(path, "M42.5 90.0L127.5 18.0M297.5 0.0");
        let filled = area(&series[..2], &TimeAxis::of(&series[..2]), scale, |point| {
            (0.0, point.worth)
        });
        assert_eq!(filled, "M85.0 90.0L255.0 18.0L255.0 90.0L85.0 90.0Z");
        let empty: [SeriesPoint; 0] = [];
        assert_eq!(
            area(&empty, &TimeAxis::of(&empty), scale, |_| (0.0, 1.0)),
            ""
        );
        assert_eq!(times.begin(), "8 s ago");
    }

    #[test]
    fn scales_are_round_and_never_empty() {
        let top = |most: f64| Scale::above([most].into_iter()).ends().1;
        assert_eq!(
            [0.0, 0.3, 1.0, 7.0, 20.0].map(top),
            [1.0, 0.5, 1.0, 10.0, 20.0]
        );
        let (low, high) = Scale::around([0.0, 3.0, f64::INFINITY].into_iter()).ends();
        assert!(low < 3.0 && high > 3.0 && high.is_finite());
        let (low, high) = Scale::around(std::iter::empty()).ends();
        assert!(low < high);
    }
}
