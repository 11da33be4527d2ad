//! Figures: served clicks by budget, by quota, and by connections.

use figure::{Figure, Series};

use super::contestants::{ONE_PRICE, QUOTA};
use crate::experiment::line_figures;
use crate::findings::{self, Findings, Param, Row};

/// Returns all figures, each with a file name.
pub(super) fn all(findings: &Findings) -> Vec<(String, Figure)> {
    let scarce = |row: &Row| row.params.contains_key("scarce");
    let by_budget =
        |metric: &'static str| lines(findings, metric, |row| row.policy != QUOTA && !scarce(row));
    let figures = [
        (
            "served",
            "Clicks on fresh copies, by budget",
            "fetches a second",
            "share of all clicks",
            by_budget("of_clicks"),
        ),
        (
            "discovery",
            "What the budget is spent on",
            "fetches a second",
            "share of fetches for discovery",
            by_budget("discovery"),
        ),
        (
            "quotas",
            "Fixed quotas against one price (dot: what one price spends on discovery)",
            "share of fetches for discovery",
            "share of all clicks",
            quotas(findings),
        ),
        (
            "connections",
            "Clicks on fresh copies, by connections",
            "connections",
            "share of all clicks",
            lines(findings, "of_clicks", scarce),
        ),
    ];
    line_figures(figures)
}

/// Returns one line for each contestant.
fn lines(findings: &Findings, metric: &str, wanted: impl Fn(&Row) -> bool) -> Vec<Series> {
    let rows = findings.rows.iter();
    let rows: Vec<&Row> = rows
        .filter(|row| row.metric == metric && wanted(row))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    let line = |name: &str| {
        let own = rows.iter().filter(|row| row.policy == name).copied();
        findings::series(name, own)
    };
    names.into_iter().map(line).collect()
}

/// Returns served clicks by the quota of discovery, one line for each budget, and a point for the
/// one price at each.
fn quotas(findings: &Findings) -> Vec<Series> {
    let of = |row: &&Row, metric: &str| -> Option<f64> {
        let same = |other: &&Row| {
            other.metric == metric
                && other.policy == row.policy
                && other.x == row.x
                && other.params == row.params
        };
        findings.rows.iter().find(same).map(|row| row.value)
    };
    let param = |row: &Row, name: &str| match row.params.get(name) {
        Some(Param::Number(share)) => Some(*share),
        _ => None,
    };
    // Of the quotas with the same share of discovery the figure shows the best.
    let best = |rows: &mut dyn Iterator<Item = &&Row>| -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for row in rows {
            let shares = param(row, "firsts").zip(param(row, "polls"));
            let Some(share) = shares.map(|(firsts, polls)| firsts + polls) else {
                continue;
            };
            match points
                .last_mut()
                .filter(|last| (last.0 - share).abs() < 0.05)
            {
                Some(last) => last.1 = last.1.max(row.value),
                None => points.push((share, row.value)),
            }
        }
        points
    };
    let rows = findings.rows.iter().filter(|row| row.metric == "of_clicks");
    let rows: Vec<&Row> = rows.collect();
    let mut budgets: Vec<f64> = Vec::new();
    for row in rows.iter().filter(|row| row.policy == QUOTA) {
        if !budgets.contains(&row.x) {
            budgets.push(row.x);
        }
    }
    let mut series = Vec::new();
    for budget in budgets {
        let mut quota = rows
            .iter()
            .filter(|row| row.policy == QUOTA && row.x == budget);
        let points = best(&mut quota);
        series.push(Series::line(format!("quota at {budget}/s"), points));
        let ours = rows
            .iter()
            .find(|row| row.policy == ONE_PRICE && row.x == budget);
        let point = ours.and_then(|row| Some((of(row, "discovery")?, row.value)));
        if let Some(point) = point {
            let name = format!("one price at {budget}/s");
            series.push(Series::line(name, vec![point]));
        }
    }
    series
}
