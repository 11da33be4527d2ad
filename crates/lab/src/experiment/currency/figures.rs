//! Figures of the currency experiment.

use figure::{Figure, Series};
use policy::plan::{currency, growth};

use super::formulas::{ALLOCATIONS, GROWTH};
use super::{CurrencyQuestion, GRACES, currency_at};
use crate::findings::{self, Findings};

/// A growing web is shown at these ages, in days: each is one line in the figures of page ages.
const LIFESPANS: [f64; 3] = [365.0, 1_000.0, 3_000.0];

/// Returns all figures, each with the stem of its file name.
pub(super) fn all(question: &CurrencyQuestion, findings: &Findings) -> Vec<(String, Figure)> {
    let mut figures = vec![
        ("lifetime-density", density(question)),
        ("lifetime-distribution", distribution(question)),
        ("age-density", age_density()),
        ("age-distribution", ages()),
        ("currency-interval", intervals(question)),
    ];
    let drawn = [
        ("allocation", allocations(findings)),
        ("world-recency", recency(question, findings)),
        ("world-age", copies(findings)),
    ];
    // Figures without measurements are omitted.
    figures.extend(
        drawn
            .into_iter()
            .filter(|(_, figure)| !figure.series.is_empty()),
    );
    let named = figures.into_iter();
    named
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

fn density(question: &CurrencyQuestion) -> Figure {
    let lifetimes = &question.lifetimes;
    let at = |t| lifetimes.density(t);
    Figure {
        title: "Mean lifetimes of pages: density (Fig. 6.9)".into(),
        x_label: "mean time between changes (days)".into(),
        y_label: "share of pages a day".into(),
        // Starts above 0: for a shape below 1 the density is infinite at 0.
        series: vec![series(
            "Weibull",
            curve(3.0 * lifetimes.scale(), at).skip(1),
        )],
        ..Figure::default()
    }
}

fn distribution(question: &CurrencyQuestion) -> Figure {
    let lifetimes = &question.lifetimes;
    let at = |t| lifetimes.distribution(t);
    Figure {
        title: "Mean lifetimes of pages: distribution (Fig. 6.9)".into(),
        x_label: "mean time between changes (days)".into(),
        y_label: "share of pages with a shorter one".into(),
        series: vec![series("Weibull", curve(3.0 * lifetimes.scale(), at))],
        ..Figure::default()
    }
}

fn age_density() -> Figure {
    let of = |lifespan: f64| {
        let at = move |t| growth::age_density(t, lifespan, GROWTH);
        series(&format!("after {lifespan} days"), curve(2_000.0, at))
    };
    Figure {
        title: "Ages in a web that grows by .00176 a day: density (Fig. 6.8)".into(),
        x_label: "age (days)".into(),
        y_label: "share of pages a day".into(),
        series: LIFESPANS.map(of).to_vec(),
        ..Figure::default()
    }
}

fn ages() -> Figure {
    let of = |lifespan: f64| {
        let at = move |t| growth::age_distribution(t, lifespan, GROWTH);
        series(&format!("after {lifespan} days"), curve(2_000.0, at))
    };
    Figure {
        title: "Ages in a web that grows by .00176 a day: distribution (Fig. 6.8)".into(),
        x_label: "age (days)".into(),
        y_label: "share of pages that are younger".into(),
        series: LIFESPANS.map(of).to_vec(),
        ..Figure::default()
    }
}

fn intervals(question: &CurrencyQuestion) -> Figure {
    let longest = 5.0 * question.needed;
    let of = |grace: f64| {
        let at = move |interval| currency::of_collection(&question.lifetimes, interval, grace);
        let name = match grace {
            0.0 => "fresh".to_owned(),
            days => format!("β = {days} d"),
        };
        series(&name, curve(longest, at))
    };
    let mut lines: Vec<Series> = GRACES.map(of).to_vec();
    let (alpha, needed) = (question.alpha, question.needed);
    let corner = [(0.0, alpha), (needed, alpha), (needed, 0.0)];
    let name = format!("({alpha}, {} d): {needed:.2} d", question.beta);
    lines.push(series(&name, corner.into_iter()));
    Figure {
        title: "Currency over the interval between visits".into(),
        x_label: "interval (days)".into(),
        y_label: "α, share of copies that are β-current".into(),
        series: lines,
        ..Figure::default()
    }
}

fn allocations(findings: &Findings) -> Figure {
    let of = |(name, _)| found(findings, name, "freshness", true, name);
    Figure {
        title: "Five pages that change 1 to 5 times a day".into(),
        x_label: "visits a day to all of them".into(),
        y_label: "freshness".into(),
        series: drawable(ALLOCATIONS.map(of)),
        ..Figure::default()
    }
}

fn recency(question: &CurrencyQuestion, findings: &Findings) -> Figure {
    let metric = currency_at(question.beta);
    let beta = format!("β = {} d", question.beta);
    let of = |(policy, who): (&str, &str)| {
        [
            found(
                findings,
                policy,
                "freshness",
                false,
                &format!("{who}: fresh"),
            ),
            found(findings, policy, &metric, false, &format!("{who}: {beta}")),
        ]
    };
    Figure {
        title: "Recency of copies: the crawler and the model".into(),
        x_label: "interval between visits (days)".into(),
        y_label: "share of living pages, over time".into(),
        series: drawable(
            [("uniform", "crawler"), ("model", "model")]
                .map(of)
                .into_iter()
                .flatten(),
        ),
        ..Figure::default()
    }
}

fn copies(findings: &Findings) -> Figure {
    let of = |(policy, who): (&str, &str)| found(findings, policy, "age", false, who);
    Figure {
        title: "Age of copies: the crawler and the model".into(),
        x_label: "interval between visits (days)".into(),
        y_label: "age (days)".into(),
        series: drawable([("uniform", "crawler"), ("model", "model")].map(of)),
        ..Figure::default()
    }
}

/// Returns the series of a policy and metric: from the rows of the allocation example if `example`
/// is set, from all other rows if not.
fn found(findings: &Findings, policy: &str, metric: &str, example: bool, name: &str) -> Series {
    let rows = findings.rows.iter();
    let own = rows.filter(|row| {
        let same = row.policy == policy && row.metric == metric;
        same && row.params.contains_key("example") == example
    });
    findings::series(name, own)
}

fn drawable(all: impl IntoIterator<Item = Series>) -> Vec<Series> {
    all.into_iter()
        .filter(|one| !one.points.is_empty())
        .collect()
}

/// Samples a curve at 101 evenly spaced points from 0 to `end`.
fn curve(end: f64, at: impl Fn(f64) -> f64) -> impl Iterator<Item = (f64, f64)> {
    (0..=100).map(move |n| {
        let x = end * f64::from(n) / 100.0;
        (x, at(x))
    })
}

fn series(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    Series::line(name, points.collect())
}
