//! The charts of the dashboard: which series each shows, and on which scale.

use super::chart::{Chart, ChartLine, Scale, TimeAxis, area, line};
use super::figures::{bytes, percent, short};
use node::live::meter::{Counts, SeriesPoint};

/// Returns a count per second. A point counts as at least half a second long.
fn rate(point: &SeriesPoint, count: u64) -> f64 {
    count as f64 / point.seconds.max(0.5)
}

/// Returns the charts of a series.
pub fn charts(series: &[SeriesPoint], budget: Option<f64>) -> Vec<Chart> {
    // A point of less than a second gives no reliable rate.
    let series = match series.split_last() {
        Some((last, rest)) if last.seconds < 1.0 && !rest.is_empty() => rest,
        _ => series,
    };
    let times = TimeAxis::of(series);
    let last = series.last().copied().unwrap_or_default();
    let each = |value: fn(&SeriesPoint) -> f64| series.iter().map(value);
    let all = |point: &SeriesPoint| rate(point, point.fetches.all());
    let chart =
        |title, scale: Scale, value: String, write: fn(f64) -> String, lines: Vec<ChartLine>| {
            let (bottom, top) = scale.ends();
            Chart {
                title,
                description: format!(
                    "{title}, now {value}; the scale goes from {} to {}",
                    write(bottom),
                    write(top)
                ),
                value,
                top: write(top),
                bottom: write(bottom),
                from: times.begin(),
                lines,
            }
        };
    let drawn = |class, name, path| ChartLine {
        class,
        name,
        path,
        area: false,
    };
    let mut charts = Vec::new();

    let scale = Scale::above(series.iter().map(all).chain(budget));
    let mut lines = stack(series, &times, scale);
    if let Some(budget) = budget {
        lines.push(drawn(
            "limit",
            "budget",
            line(series, &times, scale, |_| Some(budget)),
        ));
    }
    let now = format!("{} a second", short(all(&last)));
    charts.push(chart("How the budget is spent", scale, now, short, lines));

    if series.iter().any(|point| point.price.is_some()) {
        let scale = Scale::around(series.iter().filter_map(|point| point.price));
        let path = line(series, &times, scale, |point| point.price);
        let now = last.price.map_or("–".into(), short);
        charts.push(chart(
            "Price ω",
            scale,
            now,
            short,
            vec![drawn("price", "price", path)],
        ));
    }

    let worth = |point: &SeriesPoint| {
        let fetches = point.fetches.all() - point.fetches.overhead;
        (fetches > 0).then(|| point.worth / fetches as f64)
    };
    let scale = Scale::around(series.iter().filter_map(worth));
    let path = line(series, &times, scale, worth);
    let now = series
        .iter()
        .rev()
        .find_map(worth)
        .map_or("–".into(), short);
    charts.push(chart(
        "Worth of a fetch",
        scale,
        now,
        short,
        vec![drawn("worth", "worth", path)],
    ));

    if series.iter().any(|point| point.freshness.is_some()) {
        let scale = Scale::Linear(1.0);
        let fresh = line(series, &times, scale, |point| point.freshness);
        let quality = line(series, &times, scale, |point| point.quality);
        let mut lines = vec![drawn("fresh", "freshness", fresh)];
        if !quality.is_empty() {
            lines.push(drawn("quality", "quality", quality));
        }
        let now = last.freshness.map_or("–".into(), percent);
        charts.push(chart(
            "Expected freshness and quality",
            scale,
            now,
            percent,
            lines,
        ));
    }

    let scale = Scale::above(each(|point| rate(point, point.bytes)));
    let path = area(series, &times, scale, |point| {
        (0.0, rate(point, point.bytes))
    });
    let now = bytes(rate(&last, last.bytes));
    let filled = ChartLine {
        class: "bytes",
        name: "bytes a second",
        path,
        area: true,
    };
    charts.push(chart("Bytes a second", scale, now, bytes, vec![filled]));

    let scale = Scale::above(each(|point| point.memory as f64));
    let path = line(series, &times, scale, |point| Some(point.memory as f64));
    let now = bytes(last.memory as f64);
    charts.push(chart(
        "Memory",
        scale,
        now,
        bytes,
        vec![drawn("memory", "memory", path)],
    ));
    charts
}

/// Selects the count of one kind of fetch.
type Count = fn(&Counts) -> u64;

/// Returns the areas of requests per second by kind, stacked.
fn stack(series: &[SeriesPoint], times: &TimeAxis, scale: Scale) -> Vec<ChartLine> {
    let kinds: [(&'static str, &'static str, Count); 4] = [
        ("new", "new pages", |counts| counts.new),
        ("refresh", "refreshes", |counts| counts.refresh),
        ("source", "sources", |counts| counts.source),
        ("overhead", "overhead", |counts| counts.overhead),
    ];
    let below = |upto: usize, counts: &Counts| {
        kinds[..upto]
            .iter()
            .map(|(.., count)| count(counts))
            .sum::<u64>()
    };
    let path = |place: usize| {
        area(series, times, scale, |point| {
            let low = rate(point, below(place, &point.fetches));
            (low, rate(point, below(place + 1, &point.fetches)))
        })
    };
    let line = |(place, (class, name, _)): (usize, _)| ChartLine {
        class,
        name,
        path: path(place),
        area: true,
    };
    kinds.into_iter().enumerate().map(line).collect()
}
