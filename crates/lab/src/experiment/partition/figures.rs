//! Figures of the partition experiment, one per metric.

use figure::{Figure, Series};

use super::TEAMS;
use crate::findings::{self, Row};

/// Metrics that are drawn, with their axis labels.
const DRAWN: [(&str, &str); 4] = [
    ("coverage", "share of the pages in reach"),
    ("overlap", "share of fetches of known pages"),
    ("messages", "URLs sent for each page fetched"),
    ("quality", "share of the best pages' PageRank"),
];

pub(super) fn figures(rows: &[Row]) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    for (metric, y_label) in DRAWN {
        let series = TEAMS
            .iter()
            .filter_map(|(team, _)| series(rows, team, metric));
        let figure = Figure {
            title: format!(
                "{}{} of k crawlers",
                metric[..1].to_uppercase(),
                &metric[1..]
            ),
            x_label: "crawlers".to_owned(),
            y_label: y_label.to_owned(),
            series: series.collect(),
            ..Figure::default()
        };
        if !figure.series.is_empty() {
            figures.push((format!("partition-{metric}"), figure));
        }
    }
    figures
}

fn series(rows: &[Row], team: &str, metric: &str) -> Option<Series> {
    let rows = rows.iter();
    let own = rows.filter(|row| row.policy == team && row.metric == metric);
    let line = findings::series(team, own);
    (!line.points.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Measured, Params, rows};

    #[test]
    fn lines_have_the_intervals_of_their_runs() {
        let run = |more: f64| {
            let measured = |crawlers: f64| Measured {
                policy: TEAMS[0].0.to_owned(),
                params: Params::new(),
                metric: "coverage".to_owned(),
                x: crawlers,
                value: crawlers / 10.0 + more,
            };
            [4.0, 2.0].map(measured).to_vec()
        };
        let found = figures(&rows(&[run(0.0), run(0.1)], None));
        assert_eq!(found.len(), 1, "what was not measured is not drawn");
        let line = &found[0].1.series[0];
        assert_eq!((line.points[0].0, line.points[1].0), (2.0, 4.0));
        let (low, high) = line.intervals[1];
        assert!(low < 0.45 && 0.45 < high, "{low} to {high}");
    }
}
