//! The table of `bench measure`.
//!
//! *Plain* runs put texts into the index without measuring gains; *measured* runs measure the gain
//! (ΔQ) of each.

use std::fmt;
use std::time::Duration;

use lab::statistics::Mean;
use serde::Serialize;

/// The figures of a benchmark.
#[derive(Debug, Serialize)]
pub struct MeasureReport {
    pub world: String,
    pub pages: usize,
    pub refreshes: usize,
    /// Mean length of a text, in bytes.
    pub text_bytes: usize,
    /// Distinct words in the queries.
    pub words: usize,
    pub rows: Vec<PairedTimes>,
    pub instructions: Option<Instructions>,
}

/// CPU and wall time of each run, in seconds, in the order of the pairs.
#[derive(Debug, Serialize)]
pub struct PairedTimes {
    what: &'static str,
    plain: Vec<(f64, f64)>,
    measured: Vec<(f64, f64)>,
}

/// Instructions of all counted refreshes together, without those of the first copies.
#[derive(Debug, Serialize)]
pub struct Instructions {
    pub refreshes: usize,
    pub plain: u64,
    pub measured: u64,
}

impl PairedTimes {
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            plain: Vec::new(),
            measured: Vec::new(),
        }
    }

    pub fn push(&mut self, measured: bool, (cpu, wall): (Duration, Duration)) {
        let list = if measured {
            &mut self.measured
        } else {
            &mut self.plain
        };
        list.push((cpu.as_secs_f64(), wall.as_secs_f64()));
    }

    /// Returns the ratio of measured to plain CPU time, and its 95 % confidence interval.
    ///
    /// The ratio is the geometric mean of the ratios of the pairs.
    fn ratio(&self) -> [f64; 3] {
        let pairs = self.measured.iter().zip(&self.plain);
        let logs: Vec<f64> = pairs.map(|(on, off)| (on.0 / off.0).ln()).collect();
        let mean = Mean::of(&logs);
        let (low, high) = mean.interval.unwrap_or((f64::NAN, f64::NAN));
        [mean.value, low, high].map(f64::exp)
    }
}

impl fmt::Display for MeasureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} pages, {} refreshes, texts of {} bytes on average, {} distinct words in the queries",
            self.world, self.pages, self.refreshes, self.text_bytes, self.words
        )?;
        writeln!(
            f,
            "{:14} {:>12} {:>15} {:>9} {:>17}",
            "CPU ms a text", "plain", "measured", "ratio", "95% interval"
        )?;
        for row in &self.rows {
            let puts = if row.what == "refreshes" {
                self.refreshes
            } else {
                self.pages
            };
            let each = |times: &[(f64, f64)]| {
                times.iter().map(|time| time.0).sum::<f64>() / times.len() as f64 / puts as f64
                    * 1e3
            };
            let [ratio, low, high] = row.ratio();
            writeln!(
                f,
                "{:14} {:>12.4} {:>15.4} {ratio:>9.4} {:>17}",
                row.what,
                each(&row.plain),
                each(&row.measured),
                format!("{low:.4} to {high:.4}")
            )?;
        }
        if let Some(counted) = &self.instructions {
            let each = |count: u64| count as f64 / counted.refreshes as f64 / 1e3;
            writeln!(
                f,
                "thousand instructions a refresh ({} counted): plain {:.0}, measured {:.0}, ratio {:.4}",
                counted.refreshes,
                each(counted.plain),
                each(counted.measured),
                counted.measured as f64 / counted.plain as f64
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_a_geometric_mean_with_a_confidence_interval() {
        let mut times = PairedTimes::new("refreshes");
        for (off, on) in [(100, 105), (200, 212), (100, 107)] {
            let time = |n| (Duration::from_millis(n), Duration::ZERO);
            times.push(false, time(off));
            times.push(true, time(on));
        }
        let [ratio, low, high] = times.ratio();
        assert!((ratio - 1.06).abs() < 1e-4, "{ratio}");
        assert!(low > 1.03 && low < ratio && high > ratio && high < 1.09);
    }
}
