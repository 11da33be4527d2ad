//! Tables of the numbers behind the figures.
//!
//! A curve is a table with policies as rows and `x` as columns. Metrics with a single `x` share
//! one table, with policies as columns.
//!
//! **Invariant:** every policy and metric is shown. Of a long curve a few evenly spaced points
//! are shown, including both ends, and the caption says so.

use figure::escaped;

use crate::experiment::Study;
use crate::experiment::text::{columns, heading, number, policies, tables};
use crate::findings::Row;

/// Maximum number of columns of a curve: steps of 5 % and both ends.
const COLUMNS: usize = 21;

/// Renders the numbers of a study as a collapsed section; an empty string if there are none.
pub(super) fn html(study: &Study) -> String {
    let findings = &study.findings;
    if findings.rows.is_empty() {
        return String::new();
    }
    let tables = tables(&findings.rows);
    let (single, curves): (Vec<_>, Vec<_>) = tables
        .into_iter()
        .partition(|table| columns(table, COLUMNS).len() == 1);
    let mut html = String::from("<details>\n<summary>Numbers</summary>\n");
    if findings.rows.iter().any(|row| row.low.is_some()) {
        html += "<p class=\"soft\">± is half of a 95 % interval.</p>\n";
    }
    if !single.is_empty() {
        html += &values(&single);
    }
    for table in &curves {
        html += &curve(table);
    }
    html + "</details>\n"
}

/// Renders metrics with a single `x`: a row per metric and parameters, a column per policy.
fn values(tables: &[Vec<&Row>]) -> String {
    let rows: Vec<&Row> = tables.iter().flatten().copied().collect();
    let names = policies(&rows);
    let head: String = names.iter().map(|name| column(name)).collect();
    let mut lines = String::new();
    for table in tables {
        let what = match table[0].x {
            0.0 => heading(table[0]),
            x => format!("{} at {}", heading(table[0]), number(x)),
        };
        let cells = names
            .iter()
            .map(|name| cell(table.iter().find(|row| row.policy == *name)));
        let cells: String = cells.collect();
        lines += &format!(
            "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
            escaped(&what)
        );
    }
    table("", "", &head, &lines)
}

/// Renders a metric over `x`: a row per policy.
fn curve(rows: &[&Row]) -> String {
    let shown = columns(rows, COLUMNS);
    let all = columns(rows, usize::MAX).len();
    let head: String = shown.iter().map(|x| column(&number(*x))).collect();
    let mut lines = String::new();
    for policy in policies(rows) {
        let own: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.policy == policy)
            .collect();
        let cells = shown
            .iter()
            .map(|x| cell(own.iter().find(|row| row.x == *x)));
        let cells: String = cells.collect();
        lines += &format!(
            "<tr><th scope=\"row\">{}</th>{cells}</tr>\n",
            escaped(policy)
        );
    }
    let mut caption = escaped(&heading(rows[0]));
    if all > shown.len() {
        caption += &format!(" <span class=\"soft\">at {} of {all} x</span>", shown.len());
    }
    table(&format!("<caption>{caption}</caption>"), "x", &head, &lines)
}

fn table(caption: &str, corner: &str, head: &str, lines: &str) -> String {
    // A focusable element can be scrolled with the keyboard.
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table>{caption}\n<thead><tr><td>{corner}</td>{head}</tr></thead>\n\
         <tbody>\n{lines}</tbody>\n</table></div>\n"
    )
}

fn column(text: &str) -> String {
    format!("<th scope=\"col\">{}</th>", escaped(text))
}

fn cell(row: Option<&&Row>) -> String {
    let Some(row) = row else {
        return "<td></td>".into();
    };
    let value = number(row.value);
    match (row.low, row.high) {
        (Some(low), Some(high)) => {
            let half = number((high - low) / 2.0);
            format!("<td>{value} <small>±{half}</small></td>")
        }
        _ => format!("<td>{value}</td>"),
    }
}
