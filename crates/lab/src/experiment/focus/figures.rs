//! Figures of the focus experiment, in the form of Figures 6.2 and 6.3 of
//! Baldi, Frasconi & Smyth (2003).
//!
//! **Invariant:** a figure of crawls has at most seven lines, which is the number of
//! distinguishable colours. Figures without lines are omitted.

use figure::{Figure, Series};

use super::judged::ALL;
use super::locality::KINDS;
use super::omniscient::OMNISCIENT;
use crate::findings::{self, Param, Row};

/// Maximum number of lines in a figure of crawls.
const MOST: usize = 7;

/// Policies that are drawn first when not all fit.
const FIRST: [&str; MOST] = [
    OMNISCIENT,
    "learned",
    "bandit",
    "soft",
    "anchor",
    "shark",
    "breadth-first",
];

pub(super) fn figures(rows: &[Row], names: &[String]) -> Vec<(String, Figure)> {
    let place = |name: &&str| FIRST.iter().position(|first| first == name);
    let mut drawn: Vec<&str> = names.iter().map(String::as_str).collect();
    drawn.sort_by_key(|name| place(name).unwrap_or(MOST));
    drawn.truncate(MOST);
    let crawls = |metric: &str, title: &str, label: &str| Figure {
        title: title.to_owned(),
        x_label: "share of the web fetched".to_owned(),
        y_label: label.to_owned(),
        series: drawn
            .iter()
            .filter_map(|policy| line(rows, policy, metric))
            .collect(),
        ..Figure::default()
    };
    let mut figures = vec![
        (
            "recall",
            crawls(
                "recall",
                "Targets found, all topics",
                "share of the targets",
            ),
        ),
        (
            "relevance",
            crawls(
                "relevance",
                "Relevance as a crawl goes on (Figure 6.3)",
                "share of a twentieth of the fetches that is of the topic",
            ),
        ),
        ("locality", locality(rows)),
    ];
    figures.retain(|(_, figure)| !figure.series.is_empty());
    let figures = figures.into_iter();
    figures
        .map(|(name, figure)| (format!("focus-{name}"), figure))
        .collect()
}

fn line(rows: &[Row], policy: &str, metric: &str) -> Option<Series> {
    let all = Param::from(ALL);
    let is_it = |row: &&Row| {
        row.policy == policy && row.metric == metric && row.params.get("target") == Some(&all)
    };
    let rows: Vec<&Row> = rows.iter().filter(is_it).collect();
    (!rows.is_empty()).then(|| findings::series(policy, rows))
}

fn locality(rows: &[Row]) -> Figure {
    let points = KINDS.iter().filter_map(|kind| {
        let row = rows
            .iter()
            .find(|row| row.policy == *kind && row.metric == "similarity")?;
        Some(Series::apart(*kind, vec![(row.x, row.value)]))
    });
    Figure {
        title: "How alike texts are that links join (Figure 6.2)".to_owned(),
        x_label: "kind of pair, in the order of the legend".to_owned(),
        y_label: "cosine of TF-IDF vectors".to_owned(),
        series: points.collect(),
        ..Figure::default()
    }
}
