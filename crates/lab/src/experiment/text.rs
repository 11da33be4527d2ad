//! Formatting of a study for the terminal.
//!
//! A pair of metric and parameters that has only one number takes a line. Every other pair takes
//! a table, with policies as rows and `x` as columns.
//!
//! **Invariant:** every policy and metric is shown. Of a long curve a few evenly spaced points
//! are shown, including both ends.

use std::fmt::{self, Display, Write};

use super::{PublishedClaim, Study};
use crate::findings::{Param, Params, Row};

/// Greatest number of values of `x` in a table.
const COLUMNS: usize = 8;

impl Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = &self.findings;
        writeln!(
            f,
            "{} in {}, seed {}, {}",
            findings.experiment,
            findings.world,
            findings.seed,
            match findings.runs {
                1 => "one run".to_owned(),
                runs => format!("{runs} runs, ± half of a 95 % interval"),
            }
        )?;
        let (single, curves): (Vec<_>, Vec<_>) = tables(&findings.rows)
            .into_iter()
            .partition(|rows| rows.len() == 1);
        write_singles(f, &single)?;
        for rows in curves {
            write_table(f, &rows)?;
        }
        if !self.claims.is_empty() {
            writeln!(f)?;
        }
        for claim in &self.claims {
            write!(f, "{claim}")?;
            match self.by_construction(claim) {
                Some(why) => writeln!(f, " (by construction: {why})")?,
                None => writeln!(f)?,
            }
        }
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        writeln!(f, "\nto repeat: {}", findings.command)
    }
}

impl Display for PublishedClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds {
            "held        "
        } else {
            "DID NOT HOLD"
        };
        write!(
            f,
            "{verdict} {:4} {}: published {}, found {}",
            self.id, self.says, self.published, self.found
        )
    }
}

/// Groups rows by metric and parameters, in the order of their first appearance.
pub fn tables(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut tables: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let fits =
            |table: &&mut Vec<&Row>| table[0].metric == row.metric && table[0].params == row.params;
        match tables.iter_mut().find(fits) {
            Some(table) => table.push(row),
            None => tables.push(vec![row]),
        }
    }
    tables
}

/// Returns the heading of a table: its metric and parameters.
pub fn heading(row: &Row) -> String {
    let params = params(&row.params);
    if params.is_empty() {
        row.metric.clone()
    } else {
        format!("{} ({params})", row.metric)
    }
}

/// Formats parameters as text: `g 10, importance backlink`.
fn params(params: &Params) -> String {
    let words = params.iter().map(|(name, value)| match value {
        Param::Number(number) => format!("{name} {number}"),
        Param::Text(text) => format!("{name} {text}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns at most `most` values of `x` for the columns, evenly spread and including both ends.
pub fn columns(rows: &[&Row], most: usize) -> Vec<f64> {
    let mut all: Vec<f64> = rows.iter().map(|row| row.x).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    if all.len() <= most {
        return all;
    }
    let last = all.len() - 1;
    (0..most).map(|n| all[n * last / (most - 1)]).collect()
}

/// Returns the policies of a table, without duplicates.
pub fn policies<'r>(rows: &[&'r Row]) -> Vec<&'r str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    names
}

/// Formats a number with at most three decimals; below .001 in scientific notation.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

/// Writes metrics that have only one number, one per line.
fn write_singles(f: &mut fmt::Formatter<'_>, tables: &[Vec<&Row>]) -> fmt::Result {
    let rows = || tables.iter().flatten();
    let name = |row: &Row| match row.policy.as_str() {
        "" => heading(row),
        policy => format!("{}, {policy}", heading(row)),
    };
    let width = rows().map(|row| name(row).chars().count()).max();
    let Some(width) = width else { return Ok(()) };
    writeln!(f)?;
    for row in rows() {
        writeln!(f, "  {:width$} {:>14}", name(row), cell(row))?;
    }
    Ok(())
}

fn write_table(f: &mut fmt::Formatter<'_>, rows: &[&Row]) -> fmt::Result {
    let columns = columns(rows, COLUMNS);
    let policies = policies(rows);
    let width = policies.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max(8);
    writeln!(f, "\n{}", heading(rows[0]))?;
    let mut line = format!("  {:width$}", "x");
    for x in &columns {
        write!(line, " {:>14}", number(*x))?;
    }
    writeln!(f, "{}", line.trim_end())?;
    for policy in policies {
        let mut line = format!("  {policy:width$}");
        for x in &columns {
            let row = rows.iter().find(|row| row.policy == policy && row.x == *x);
            write!(
                line,
                " {:>14}",
                row.map(|row| cell(row)).unwrap_or_default()
            )?;
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Formats the value and half of the width of its confidence interval. The half is omitted if it
/// rounds to 0 at the value's precision, or if the value is in scientific notation.
fn cell(row: &Row) -> String {
    let value = number(row.value);
    let decimals = value.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half = row.low.zip(row.high).map(|(low, high)| (high - low) / 2.0);
    let half = half.map(|half| format!("{half:.decimals$}"));
    let shows = |half: &String| half.contains(|c: char| ('1'..='9').contains(&c));
    match half.filter(shows).filter(|_| !value.contains('e')) {
        Some(half) => format!("{value} ±{half}"),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Findings;

    fn row(policy: &str, metric: &str, x: f64, value: f64, half: Option<f64>) -> Row {
        Row {
            policy: policy.into(),
            params: Params::from([("g".into(), 3.0.into())]),
            metric: metric.into(),
            x,
            value,
            low: half.map(|half| value - half),
            high: half.map(|half| value + half),
        }
    }

    #[test]
    fn a_study_reads_as_tables_claims_and_notes() {
        let study = Study {
            findings: Findings {
                experiment: "ordering".into(),
                world: "invented:graph".into(),
                seed: 7,
                runs: 2,
                command: "avocet lab ordering --seed 7".into(),
                rows: vec![
                    row("random", "p_cs", 0.5, 0.25, Some(0.01)),
                    row("random", "p_cs", 1.0, 1.0, None),
                    row("random", "seconds", 0.0, 12345.6, None),
                    row("ideal", "p_cs", 1.0, 0.000_01, None),
                ],
            },
            claims: vec![PublishedClaim {
                id: "UO1",
                says: "it is exact".into(),
                published: "1".into(),
                found: "0.9".into(),
                holds: false,
            }],
            figures: Vec::new(),
            notes: vec!["one host only".into()],
        };
        let expected = "\
ordering in invented:graph, seed 7, 2 runs, ± half of a 95 % interval

  seconds (g 3), random          12346

p_cs (g 3)
  x                 0.500          1.000
  random     0.250 ±0.010          1.000
  ideal                          1.00e-5

DID NOT HOLD UO1  it is exact: published 1, found 0.9

note: one host only

to repeat: avocet lab ordering --seed 7
";
        assert_eq!(study.to_string(), expected);
    }

    #[test]
    fn long_curves_keep_their_ends() {
        let rows: Vec<Row> = (0..=20)
            .map(|n| row("random", "p_cs", f64::from(n) / 20.0, 0.0, None))
            .collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let shown = columns(&rows, 8);
        assert_eq!((shown.len(), shown[0], shown[7]), (8, 0.0, 1.0));
        assert_eq!(columns(&rows, 99).len(), 21);
    }
}
