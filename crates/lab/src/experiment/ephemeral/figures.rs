//! Figures 3, 4, 7, 8 and 9 of Lefortier et al. (2013), Table 1 as lines, and two figures of ours.

use figure::{Figure, Series};

use super::crawls::BOUND;
use crate::experiment::line_figures;
use crate::findings::{self, Findings, Param, Row};

/// Returns all figures, each with the stem of its file name. A figure without lines is omitted.
pub(super) fn all(findings: &Findings) -> Vec<(String, Figure)> {
    let plain = |metric: &'static str| lines(findings, metric, |row| row.params.is_empty(), name);
    let pushed = |row: &Row| match row.params.get("push") {
        Some(Param::Number(hours)) => format!("{}, L = {hours} h", row.policy),
        _ => row.policy.clone(),
    };
    let share = |row: &Row| {
        let number = row.policy.rsplit(' ').next().and_then(|n| n.parse().ok());
        let share = number.and_then(|number| findings.value("", "cluster", number));
        let share = share.map(|share| format!(", {:.0} %", share * 100.0));
        format!("{}{}", row.policy, share.unwrap_or_default())
    };
    let figures = [
        (
            "table-1-profit",
            "Profit against fetches a second (Table 1)",
            "fetches a second, N",
            "clicks a second",
            plain("profit"),
        ),
        (
            "figure-3-interest",
            "Clicks on pages over two weeks (Fig. 3): centres of clusters",
            "day after the page appeared",
            "clicks, maximum of a page scaled to 1",
            lines(findings, "interest", |_| true, share),
        ),
        (
            "figure-4-cover",
            "New pages that few sources link to (Fig. 4)",
            "sources per host, chosen greedily",
            "share of new pages",
            plain("cover"),
        ),
        (
            "figure-7-new-pages",
            "New pages (Fig. 7)",
            "days",
            "new pages a second",
            plain("new_pages"),
        ),
        (
            "figure-8-push",
            "Dynamic profit, window one week, by the push period of logs (Fig. 8)",
            "days",
            "clicks a second",
            lines(findings, "dynamic@week", |_| true, pushed),
        ),
        (
            "figure-9-hours",
            "Dynamic profit, window five hours (Fig. 9)",
            "days",
            "clicks a second",
            plain("dynamic@5h"),
        ),
        (
            "delay",
            "Time to discovery, median",
            "fetches a second, N",
            "hours",
            plain("delay"),
        ),
        (
            "missed",
            "New pages that were never found",
            "fetches a second, N",
            "share of new pages",
            plain("missed"),
        ),
    ];
    line_figures(figures)
}

/// Returns the label of a row. A row without a scheduler describes the world.
fn name(row: &Row) -> String {
    match row.policy.as_str() {
        "" => "all sources".into(),
        BOUND => "upper bound".into(),
        policy => policy.into(),
    }
}

/// Returns one line for each label.
fn lines(
    findings: &Findings,
    metric: &str,
    wanted: impl Fn(&Row) -> bool,
    name: impl Fn(&Row) -> String,
) -> Vec<Series> {
    let rows = findings.rows.iter();
    let rows = rows.filter(|row| row.metric == metric && wanted(row));
    let mut named: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in rows {
        let name = name(row);
        match named.iter_mut().find(|(other, _)| *other == name) {
            Some((_, rows)) => rows.push(row),
            None => named.push((name, vec![row])),
        }
    }
    let named = named.into_iter();
    named
        .map(|(name, rows)| findings::series(name, rows))
        .collect()
}
