//! Figures of the partition experiment, one per metric and group of teams.
//!
//! **Invariant:** a figure has at most seven lines, which is the number of distinguishable
//! colours.

use figure::{Figure, Series};

use super::teams::{DivisionKey, TEAMS, TeamKind};
use crate::findings::{self, Row};
use crate::run::Coordination;

/// Metrics that are drawn, with their axis labels.
const DRAWN: [(&str, &str); 5] = [
    ("coverage", "share of the pages in reach"),
    ("overlap", "share of fetches of known pages"),
    ("messages", "URLs sent for each page fetched"),
    ("communication", "share of the bytes of pages"),
    ("quality", "share of the best pages' PageRank"),
];

/// A group of teams that are drawn together: part of the file name, its title, its members.
type TeamGroup = (&'static str, &'static str, fn(&TeamKind) -> bool);

/// The groups of teams.
const GROUPS: [TeamGroup; 3] = [
    ("", "k crawlers", |team| {
        team.name == "independent" || !is_independent(team) && team.key == DivisionKey::Name
    }),
    ("seeds-", "k independent crawlers, by seeds", is_independent),
    ("address-", "k crawlers, by name and by address", |team| {
        matches!(team.coordination, Coordination::Static(_))
    }),
];

fn is_independent(team: &TeamKind) -> bool {
    team.coordination == Coordination::Independent
}

pub(super) fn figures(rows: &[Row]) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    let drawn = GROUPS
        .into_iter()
        .flat_map(|group| DRAWN.map(|(metric, y_label)| (group, metric, y_label)));
    for ((stem, title, is_member), metric, y_label) in drawn {
        let series = TEAMS
            .iter()
            .filter(|team| is_member(team))
            .filter_map(|team| series(rows, team.name, metric));
        let figure = Figure {
            title: format!("{}{} of {title}", metric[..1].to_uppercase(), &metric[1..]),
            x_label: "crawlers".to_owned(),
            y_label: y_label.to_owned(),
            series: series.collect(),
            ..Figure::default()
        };
        if !figure.series.is_empty() {
            figures.push((format!("partition-{stem}{metric}"), figure));
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
                policy: TEAMS[0].name.to_owned(),
                params: Params::new(),
                metric: "coverage".to_owned(),
                x: crawlers,
                value: crawlers / 10.0 + more,
            };
            [4.0, 2.0].map(measured).to_vec()
        };
        let found = figures(&rows(&[run(0.0), run(0.1)], None));
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["partition-coverage", "partition-seeds-coverage"];
        assert_eq!(names, expected, "what was not measured is not drawn");
        for (_, _, is_member) in GROUPS {
            let members = TEAMS.iter().filter(|team| is_member(team));
            assert!((4..=7).contains(&members.count()));
        }
        let line = &found[0].1.series[0];
        assert_eq!((line.points[0].0, line.points[1].0), (2.0, 4.0));
        let (low, high) = line.intervals[1];
        assert!(low < 0.45 && 0.45 < high, "{low} to {high}");
    }
}
