//! The tables and figures of `bench http`, and a check of the published claims.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use figure::{Figure, Series};
use serde::Serialize;

use super::VERSIONS;
use crate::report::verdict;

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct HttpReport {
    /// One row per crawl.
    pub rows: Vec<HttpRow>,
}

/// One crawl.
#[derive(Debug, Serialize)]
pub struct HttpRow {
    /// The name of the web.
    pub web: String,
    /// The HTTP version.
    pub http: &'static str,
    /// The maximum number of connections at the same time.
    pub connections: u16,
    /// Pages fetched.
    pub pages: u64,
    /// Pages per second, from the first request to the end of the last answer.
    pub pages_per_second: f64,
    /// Connections opened.
    pub opened: u64,
    /// CPU time of `avocet` per second of wall time; 1 is one core.
    pub cpu_share: f64,
}

/// The webs of the paper: name, and title with its figure.
const WEBS: [(&str, &str); 2] = [
    ("two-level", "500 servers of all kinds (Figure 4)"),
    ("fast", "20 fast servers (Figure 5)"),
];

impl HttpReport {
    /// Draws one figure per web.
    pub fn draw(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (web, title) in WEBS {
            let line = |http: &str| Series {
                name: format!("HTTP {http}"),
                points: self
                    .of(web, http)
                    .map(|row| (f64::from(row.connections), row.pages_per_second))
                    .collect(),
                ..Series::default()
            };
            let figure = Figure {
                title: title.into(),
                x_label: "connections".into(),
                y_label: "pages/s".into(),
                series: VERSIONS.map(line).into(),
                ..Figure::default()
            };
            let path = folder.join(format!("http-{web}.svg"));
            fs::write(&path, figure.svg())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    fn of<'a>(&'a self, web: &'a str, http: &'a str) -> impl Iterator<Item = &'a HttpRow> {
        self.rows
            .iter()
            .filter(move |row| row.web == web && row.http == http)
    }

    /// Returns the speed of one HTTP version relative to another, for each number of connections.
    fn gains<'a>(&'a self, web: &'a str, better: &'a str, worse: &'a str) -> Vec<f64> {
        let pairs = self.of(web, better).zip(self.of(web, worse));
        pairs
            .map(|(better, worse)| better.pages_per_second / worse.pages_per_second)
            .collect()
    }

    /// Returns the claims of section 5.2: the claim, the result, and whether it holds.
    fn claims(&self) -> Vec<(&'static str, String, bool)> {
        let persistent = self.gains("two-level", "1.1", "1.0");
        let pipelined = self.gains("two-level", "pipelined", "1.1");
        let by_connections: Vec<f64> = self
            .of("two-level", "1.1")
            .map(|row| row.pages_per_second)
            .collect();
        let steps: Vec<f64> = by_connections
            .windows(2)
            .map(|two| two[1] / two[0])
            .collect();
        let fast: Vec<&HttpRow> = self.of("fast", "1.1").collect();
        let best = fast
            .iter()
            .max_by(|a, b| a.pages_per_second.total_cmp(&b.pages_per_second));
        vec![
            (
                "HTTP/1.1 is more than twice as fast as 1.0 at equal connections",
                times(&persistent),
                persistent.iter().all(|&gain| gain > 2.0),
            ),
            (
                "pipelining is a little faster still",
                times(&pipelined),
                pipelined.iter().all(|&gain| gain > 1.0),
            ),
            (
                "throughput rises with connections (1.1, each step)",
                times(&steps),
                steps.iter().all(|&step| step > 1.0),
            ),
            (
                "20 fast servers: the most is reached with 14 to 16 connections",
                best.map_or("nothing".into(), |row| {
                    format!(
                        "{:.0} pages/s with {}",
                        row.pages_per_second, row.connections
                    )
                }),
                best.is_some_and(|row| (14..=16).contains(&row.connections)),
            ),
        ]
    }
}

fn times(gains: &[f64]) -> String {
    let gains: Vec<String> = gains.iter().map(|gain| format!("{gain:.2}")).collect();
    format!("{} times", gains.join(", "))
}

impl fmt::Display for HttpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (web, title) in WEBS {
            let first = self.of(web, VERSIONS[0]);
            let columns: Vec<u16> = first.map(|row| row.connections).collect();
            writeln!(f, "\n{title}")?;
            for (name, digits, figure) in COLUMNS {
                write!(f, "{name:<22}")?;
                for column in &columns {
                    write!(f, "{column:>9}")?;
                }
                writeln!(f)?;
                for http in VERSIONS {
                    write!(f, "  HTTP {http:<15}")?;
                    for row in self.of(web, http) {
                        write!(f, "{:>9.digits$}", figure(row))?;
                    }
                    writeln!(f)?;
                }
            }
        }
        writeln!(f)?;
        for (says, found, holds) in self.claims() {
            writeln!(f, "{} {says}: {found}", verdict(holds))?;
        }
        Ok(())
    }
}

type Column = (&'static str, usize, fn(&HttpRow) -> f64);

/// The blocks of a table: title, decimals, figure.
const COLUMNS: [Column; 3] = [
    ("pages/s, connections:", 0, |row| row.pages_per_second),
    ("connections opened", 0, |row| row.opened as f64),
    ("cores used", 2, |row| row.cpu_share),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn report(speeds: [[f64; 2]; 4]) -> HttpReport {
        let mut rows = Vec::new();
        for (web, _) in WEBS {
            for (http, speeds) in VERSIONS.into_iter().zip(speeds) {
                for (connections, pages_per_second) in [8, 14].into_iter().zip(speeds) {
                    rows.push(HttpRow {
                        web: web.into(),
                        http,
                        connections,
                        pages: 100,
                        pages_per_second,
                        opened: 9,
                        cpu_share: 0.5,
                    });
                }
            }
        }
        HttpReport { rows }
    }

    #[test]
    fn claims_hold_for_speeds_as_in_the_paper_and_fail_for_others() {
        let verdicts = |speeds| {
            report(speeds)
                .claims()
                .into_iter()
                .map(|claim| claim.2)
                .collect::<Vec<_>>()
        };
        let paper = [[10.0, 20.0], [21.0, 41.0], [22.0, 42.0], [23.0, 43.0]];
        assert_eq!(verdicts(paper), [true; 4]);
        let other = [[10.0, 20.0], [21.0, 20.5], [22.0, 20.0], [9.0, 9.0]];
        assert_eq!(verdicts(other), [false; 4]);
    }

    #[test]
    fn every_figure_is_drawn_and_every_crawl_shown() {
        let place = tempfile::tempdir().unwrap();
        let report = report([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
        report.draw(place.path()).unwrap();
        for web in ["two-level", "fast"] {
            let svg = fs::read_to_string(place.path().join(format!("http-{web}.svg"))).unwrap();
            assert!(svg.contains("HTTP pipelined"), "{svg}");
        }
        assert_eq!(
            report.to_string().matches("HTTP pipelined").count(),
            2 * COLUMNS.len()
        );
    }
}
