//! The table of `bench crawl`.
//!
//! **Invariant:** a row holds the median of each figure separately, so that one disturbed run
//! hardly changes it.

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::report::median;

/// The figures of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CrawlCost {
    /// Pages fetched.
    pub pages: f64,
    /// Pages per second of wall time.
    pub pages_per_second: f64,
    /// CPU time of the process per page, in milliseconds.
    pub cpu_ms_per_page: f64,
    /// Peak memory, in millions of bytes.
    pub peak_mb: f64,
    /// Thousands of bytes over the network per page.
    pub kilobytes_per_page: f64,
    /// Connections opened.
    pub connections: f64,
}

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct CrawlReport {
    runs: usize,
    rows: Vec<CrawlRow>,
}

#[derive(Debug, Serialize)]
struct CrawlRow {
    variant: &'static str,
    #[serde(flatten)]
    median: CrawlCost,
    /// CPU time per page, as a multiple of that of the yardstick.
    cpu_ratio: f64,
}

impl CrawlReport {
    /// Summarizes the runs in one row per name, each compared with the row of the yardstick.
    pub fn new(
        names: impl Iterator<Item = &'static str>,
        runs: &[(&'static str, CrawlCost)],
        yardstick: &str,
    ) -> Result<Self> {
        let of = |name: &str| {
            let of_name = runs.iter().filter(|(run, _)| *run == name);
            CrawlCost::median(of_name.map(|(_, measured)| *measured).collect())
                .with_context(|| format!("{name} never ran"))
        };
        let unit = of(yardstick)?.cpu_ms_per_page;
        let row = |variant| {
            let median = of(variant)?;
            Ok(CrawlRow {
                variant,
                median,
                cpu_ratio: median.cpu_ms_per_page / unit,
            })
        };
        let rows: Vec<CrawlRow> = names.map(row).collect::<Result<_>>()?;
        Ok(Self {
            runs: runs.len() / rows.len().max(1),
            rows,
        })
    }
}

impl CrawlCost {
    fn median(runs: Vec<Self>) -> Option<Self> {
        let of = |figure: fn(&Self) -> f64| median(runs.iter().map(figure));
        Some(Self {
            pages: of(|run| run.pages)?,
            pages_per_second: of(|run| run.pages_per_second)?,
            cpu_ms_per_page: of(|run| run.cpu_ms_per_page)?,
            peak_mb: of(|run| run.peak_mb)?,
            kilobytes_per_page: of(|run| run.kilobytes_per_page)?,
            connections: of(|run| run.connections)?,
        })
    }
}

impl fmt::Display for CrawlReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "median of {}", self.runs)?;
        writeln!(
            f,
            "{:<24}{:>8}{:>10}{:>13}{:>10}{:>9}{:>9}{:>12}",
            "variant",
            "pages",
            "pages/s",
            "CPU ms/page",
            "x bare",
            "RSS MB",
            "KB/page",
            "connections"
        )?;
        for CrawlRow {
            variant,
            median,
            cpu_ratio,
        } in &self.rows
        {
            writeln!(
                f,
                "{variant:<24}{:>8.0}{:>10.0}{:>13.3}{cpu_ratio:>10.1}{:>9.0}{:>9.1}{:>12.0}",
                median.pages,
                median.pages_per_second,
                median.cpu_ms_per_page,
                median.peak_mb,
                median.kilobytes_per_page,
                median.connections
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cpu_ms_per_page: f64, peak_mb: f64) -> CrawlCost {
        CrawlCost {
            pages: 10.0,
            pages_per_second: 1.0,
            cpu_ms_per_page,
            peak_mb,
            kilobytes_per_page: 27.0,
            connections: 2.0,
        }
    }

    #[test]
    fn a_row_holds_the_median_of_each_figure() {
        let runs = vec![run(9.0, 1.0), run(1.0, 2.0), run(2.0, 99.0)];
        assert_eq!(CrawlCost::median(runs), Some(run(2.0, 2.0)));
        assert_eq!(CrawlCost::median(Vec::new()), None);
    }

    #[test]
    fn a_variant_is_compared_with_the_yardstick_of_the_same_runs() {
        let runs = [
            ("all", run(0.6, 80.0)),
            ("bare", run(0.02, 3.0)),
            ("all", run(0.8, 80.0)),
            ("bare", run(0.02, 3.0)),
        ];
        let report = CrawlReport::new(["all", "bare"].into_iter(), &runs, "bare").unwrap();
        assert_eq!(report.runs, 2);
        assert!((report.rows[0].cpu_ratio - 35.0).abs() < 1e-9 && report.rows[1].cpu_ratio == 1.0);
        assert!(report.to_string().contains("35.0"), "{report}");
        assert!(CrawlReport::new(["none"].into_iter(), &runs, "bare").is_err());
    }
}
