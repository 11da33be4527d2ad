//! `avocet report` and `avocet links`: print a report as a table, as CSV or as JSON.

use std::path::Path;

use anyhow::Result;

use node::access::StoreView;
use node::reports::{ReportKind, ReportTable, report};

/// Longest text of a cell that is printed, in characters.
const CELL: usize = 70;

/// Prints a report, also of a store on which a crawl runs.
pub fn run(root: &Path, json: bool, csv: bool, kind: ReportKind) -> Result<()> {
    let table = report(kind, root, StoreView::open(root)?.ledger())?;
    if json {
        outln!("{}", table.json());
    } else if csv {
        outln!("{}", table.csv().trim_end());
    } else {
        print(&table);
    }
    Ok(())
}

fn print(table: &ReportTable) {
    if table.rows.is_empty() {
        outln!("{}: none", table.report.title());
        return;
    }
    let heads = table.columns.iter().map(|name| name.replace('_', " "));
    let mut lines: Vec<Vec<String>> = vec![heads.collect()];
    lines.extend(
        table
            .texts()
            .map(|row| row.iter().map(|text| short(text)).collect()),
    );
    let column = |place: usize| lines.iter().map(move |line| line[place].chars().count());
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|place| column(place).max().unwrap_or(0))
        .collect();
    for line in &lines {
        let cells = line.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(text, &width)| format!("{text:width$}"))
            .collect();
        outln!("{}", cells.join("  ").trim_end());
    }
    if table.total > table.rows.len() {
        outln!("and {} more", table.total - table.rows.len());
    }
}

/// Returns the beginning of a text, without control characters, which a terminal would obey.
fn short(text: &str) -> String {
    let clean = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut clean: String = clean.take(CELL + 1).collect();
    if clean.chars().count() > CELL {
        clean = clean.chars().take(CELL - 1).collect::<String>() + "…";
    }
    clean
}
