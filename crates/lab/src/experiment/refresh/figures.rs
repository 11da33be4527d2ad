//! Figures 3 and 4 of Pandey & Olston (2005), and figures of the other metrics.
//!
//! `cargo xtask bench measure` measures the numbers of their figure 2, the overhead of measuring
//! gains in the index.

use figure::{Figure, Series};

use super::RefreshExperimentOptions;
use super::forecast::Forecast;
use super::pages::found;
use crate::findings::{self, Findings};

/// Policies of figure 4, and ours.
const COMPARED: [&str; 5] = [
    "sbr",
    "ebr",
    "user-centric",
    "user-centric-marginal",
    "holistic",
];

/// Returns all figures, each with the stem of its file name.
pub(super) fn all(
    findings: &Findings,
    options: &RefreshExperimentOptions,
    forecast: Option<&Forecast>,
) -> Vec<(String, Figure)> {
    let scorer = options.scorer.name();
    let named = lines(findings, "quality", |policy| COMPARED.contains(&policy));
    let every = |metric| lines(findings, metric, |policy| policy != "none");
    let quality = format!("Repository quality against refreshes (Fig. 4), {scorer}");
    let mut figures = vec![
        (
            "figure-4-quality",
            curves(&quality, "repository quality Q", named),
        ),
        (
            "quality-all",
            curves(
                "Repository quality, all policies",
                "repository quality Q",
                every("quality"),
            ),
        ),
        (
            "freshness",
            curves(
                "Freshness",
                "share of copies that are fresh",
                every("freshness"),
            ),
        ),
        (
            "embarrassment",
            curves(
                "Embarrassment",
                "probability of an embarrassing click",
                every("embarrassment"),
            ),
        ),
    ];
    if let Some(forecast) = forecast {
        let title = format!("Gains of refreshes in both halves (Fig. 3), {scorer}");
        figures.push(("figure-3-forecast", scatter(&title, forecast)));
    }
    // A metric without data gets no figure.
    let drawn = figures
        .into_iter()
        .filter(|(_, figure)| !figure.series.is_empty());
    drawn
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

/// Returns the figures of a world with known change rates.
pub(super) fn of_pages(findings: &Findings) -> Vec<(String, Figure)> {
    let mut series = Vec::new();
    for rates in ["known", "learned"] {
        let mut names: Vec<&str> = Vec::new();
        let rows = findings.rows.iter().filter(|row| {
            row.metric == "weighted_freshness" && row.params.get("rates") == Some(&rates.into())
        });
        for row in rows {
            if !names.contains(&row.policy.as_str()) {
                names.push(&row.policy);
            }
        }
        series.extend(names.iter().map(|name| {
            let points = found(findings, name, "weighted_freshness", rates);
            Series::line(format!("{name}, {rates}"), points)
        }));
    }
    let figure = Figure {
        title: "Weighted freshness against the budget".into(),
        x_label: "fetches a day".into(),
        y_label: "expected share of copies that are fresh".into(),
        series,
        ..Figure::default()
    };
    vec![("weighted-freshness".to_owned(), figure)]
}

fn lines(findings: &Findings, metric: &str, wanted: impl Fn(&str) -> bool) -> Vec<Series> {
    let rows = findings.rows.iter();
    let rows: Vec<_> = rows
        .filter(|row| row.metric == metric && !row.params.contains_key("tau"))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if wanted(&row.policy) && !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    let line = |name: &&str| {
        let own = rows.iter().copied().filter(|row| row.policy == *name);
        findings::series(*name, own)
    };
    names.iter().map(line).collect()
}

fn curves(title: &str, y_label: &str, series: Vec<Series>) -> Figure {
    let values = series
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point.1);
    let least = values.fold(1.0, f64::min);
    Figure {
        title: title.into(),
        x_label: "refreshes a step".into(),
        y_label: y_label.into(),
        series,
        // Curves that differ by little get a shortened y axis.
        y_from: (least > 0.5).then(|| (least * 20.0).floor() / 20.0),
    }
}

/// Groups of pages by distance from the diagonal: the name of each, and the share of the pages up
/// to its end.
const NEAREST: [(&str, f64); 4] = [
    ("nearest 50 %", 0.5),
    ("to 80 %", 0.8),
    ("to 90 %", 0.9),
    ("the rest", 1.0),
];

/// Draws the gains of the second half over those of the first, on logarithmic axes that start half
/// a decade below the least gain. A page without gain in one half is drawn at the edge, a page
/// without gain in both is left out.
fn scatter(title: &str, forecast: &Forecast) -> Figure {
    let moved = forecast.halves.iter().filter(|pair| **pair != (0.0, 0.0));
    let moved: Vec<(f64, f64)> = moved.copied().collect();
    let values = moved.iter().flat_map(|pair| [pair.0, pair.1]);
    let least = values
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let place = |value: f64| match value > 0.0 {
        true => (value / least).log10() + 0.5,
        false => 0.0,
    };
    let mut points: Vec<(f64, f64)> = moved
        .iter()
        .map(|pair| (place(pair.0), place(pair.1)))
        .collect();
    let from_diagonal = |point: &(f64, f64)| match point.0.min(point.1) > 0.0 {
        true => (point.0 - point.1).abs(),
        false => f64::INFINITY,
    };
    points.sort_by(|one, other| from_diagonal(one).total_cmp(&from_diagonal(other)));
    let mut series = Vec::new();
    let mut begin = 0;
    for (name, share) in NEAREST {
        let end = (points.len() as f64 * share).round() as usize;
        if begin < end {
            series.push(Series::apart(name, points[begin..end].to_vec()));
        }
        begin = end;
    }
    Figure {
        title: title.into(),
        x_label: "first half: log₁₀ δQ_A, from the least; 0 is no gain".into(),
        y_label: "second half: same scale".into(),
        series,
        ..Figure::default()
    }
}
