//! Figures of the ordering experiment, in the form of those of Cho, Garcia-Molina & Page (1998).
//!
//! **Invariant:** a figure has at most seven lines, which is the number of distinguishable
//! colours. Figures without lines are omitted.

use figure::{Figure, Series};

use super::contestants::{IDEAL, RANDOM};
use super::measured::TARGETS;
use crate::findings::{self, Param, Row};

/// Maximum number of lines in a figure.
const MOST: usize = 7;

/// Policies drawn first when not all fit: the ideal and the random crawler and the three orderings
/// of the paper, then two newer orderings.
const FIRST: [&str; MOST] = [
    IDEAL,
    "pagerank",
    "backlink",
    "breadth-first",
    RANDOM,
    "rankmass",
    "opic",
];

/// Policies drawn first in figures about a query.
const ABOUT: [&str; MOST] = [
    IDEAL,
    "hot-page",
    "hot-anchor",
    "similarity",
    "breadth-first",
    RANDOM,
    "pagerank",
];

pub(super) fn figures(rows: &[Row], names: &[String], target: f64) -> Vec<(String, Figure)> {
    let rows = OrderingRows { rows };
    let (all, about) = (ranked(names, &FIRST), ranked(names, &ABOUT));
    let mut figures = vec![
        ("backlink", rows.targets(&["backlink", IDEAL])),
        ("compared", rows.compared("backlink", target, &all)),
        ("duel", rows.targets(&["pagerank", "backlink"])),
        ("pagerank", rows.mass(&all)),
        ("similarity", rows.compared("similarity", 10.0, &about)),
        ("views", rows.compared("views", 100.0, &all)),
    ];
    figures.retain(|(_, figure)| !figure.series.is_empty());
    let figures = figures.into_iter();
    figures
        .map(|(name, figure)| (format!("ordering-{name}"), figure))
        .collect()
}

/// Returns the names that fit into a figure, those in `first` before others.
fn ranked<'a>(names: &'a [String], first: &[&str]) -> Vec<&'a str> {
    let place = |name: &&str| first.iter().position(|first| first == name);
    let mut ranked: Vec<&str> = names.iter().map(String::as_str).collect();
    ranked.sort_by_key(|name| place(name).unwrap_or(MOST));
    ranked.truncate(MOST);
    ranked
}

struct OrderingRows<'a> {
    rows: &'a [Row],
}

impl OrderingRows<'_> {
    /// Compares two policies at each target, as the paper's figures that vary G do.
    fn targets(&self, policies: &[&str; 2]) -> Figure {
        let mut figure = figure(&format!(
            "Hot pages found: {} and {} order",
            policies[0], policies[1]
        ));
        for target in TARGETS.iter().rev() {
            for policy in policies {
                let name = format!("{policy}, G = {target}");
                let metric = format!("p_st@{target}");
                let line = self.line(name, policy, "backlink", &metric);
                figure.series.extend(line);
            }
        }
        // A figure with only one of the two policies would compare nothing.
        let drawn = |policy: &str| figure.series.iter().any(|one| one.name.starts_with(policy));
        if !policies.iter().all(|policy| drawn(policy)) {
            figure.series.clear();
        }
        figure
    }

    fn compared(&self, importance: &str, target: f64, policies: &[&str]) -> Figure {
        let what = match importance {
            "backlink" => format!("{target} backlinks or more"),
            other => format!("{other} of {target} or more"),
        };
        let mut figure = figure(&format!("Hot pages found: those with {what}"));
        for policy in policies {
            let line = self.line(*policy, policy, importance, &format!("p_st@{target}"));
            figure.series.extend(line);
        }
        figure
    }

    fn mass(&self, policies: &[&str]) -> Figure {
        let mut figure = Figure {
            y_label: "share of all PageRank".to_owned(),
            ..figure("PageRank that the pages fetched hold")
        };
        for policy in policies {
            let line = self.line(*policy, policy, "pagerank", "pagerank_mass");
            figure.series.extend(line);
        }
        figure
    }

    /// Returns the line of a policy, or `None` if there are no rows for it.
    fn line(
        &self,
        name: impl Into<String>,
        policy: &str,
        importance: &str,
        metric: &str,
    ) -> Option<Series> {
        let by = Param::from(importance);
        let is_it = |row: &&Row| {
            row.policy == policy
                && row.metric == metric
                && row.params.get("importance") == Some(&by)
        };
        let rows: Vec<&Row> = self.rows.iter().filter(is_it).collect();
        (!rows.is_empty()).then(|| findings::series(name, rows))
    }
}

fn figure(title: &str) -> Figure {
    Figure {
        title: title.to_owned(),
        x_label: "share of the web fetched".to_owned(),
        y_label: "P_ST: share of hot pages".to_owned(),
        series: Vec::new(),
        ..Figure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Measured, Params, rows};

    #[test]
    fn lines_have_the_intervals_of_their_runs() {
        let run = |more: f64| {
            let measured = |(policy, x): (&str, f64)| Measured {
                policy: policy.to_owned(),
                params: Params::from([("importance".to_owned(), "backlink".into())]),
                metric: "p_st@10".to_owned(),
                x,
                value: x / 2.0 + more,
            };
            let points = [("opic", 0.5), ("backlink", 0.5), ("opic", 1.0)];
            points.map(measured).to_vec()
        };
        let names = ["opic", "backlink"].map(str::to_owned);
        let found = figures(&rows(&[run(0.0), run(0.1)], None), &names, 10.0);
        let compared = &found[0].1.series;
        assert_eq!(found[0].0, "ordering-compared");
        assert_eq!((compared[0].name.as_str(), compared.len()), ("backlink", 2));
        let (low, high) = compared[1].intervals[1];
        assert!(low < 0.55 && 0.55 < high, "{low} to {high}");
        assert_eq!(compared[1].points.len(), 2);
    }
}
