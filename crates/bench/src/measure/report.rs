//! The table of `bench measure`.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::machine::Machine;

/// The 97.5 % quantiles of Student's t distribution, for 1 to 10 degrees of freedom.
///
/// For more degrees of freedom the last one is used.
const STUDENT: [f64; 10] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
];

/// The figures of a benchmark.
#[derive(Debug, Serialize)]
pub struct MeasureReport {
    pub command: String,
    pub machine: Machine,
    pub world: String,
    pub pages: usize,
    pub refreshes: usize,
    pub text_bytes: usize,
    pub words: usize,
    pub rows: Vec<PairedTimes>,
    pub instructions: Option<Instructions>,
}

/// CPU and wall times, in seconds, in the order of the pairs.
#[derive(Debug, Serialize)]
pub struct PairedTimes {
    what: &'static str,
    plain: Vec<(f64, f64)>,
    measured: Vec<(f64, f64)>,
}

/// Instructions of the refreshes alone.
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
    /// It is the geometric mean of the ratios of the pairs.
    fn ratio(&self) -> [f64; 3] {
        let pairs = self.measured.iter().zip(&self.plain);
        let logs: Vec<f64> = pairs.map(|(on, off)| (on.0 / off.0).ln()).collect();
        let (mean, half) = interval(&logs);
        [mean, mean - half, mean + half].map(f64::exp)
    }
}

/// Returns the mean, and half the width of its 95 % confidence interval.
fn interval(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let freedom = values.len().saturating_sub(1).max(1);
    let deviation = (squares / freedom as f64 / count).sqrt();
    (mean, STUDENT[freedom.min(STUDENT.len()) - 1] * deviation)
}

impl fmt::Display for MeasureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        let Machine { cores, cpu } = &self.machine;
        writeln!(f, "{cores} cores, {cpu}")?;
        writeln!(
            f,
            "{}: {} pages, {} refreshes, {} bytes of text each, {} words searched for",
            self.world, self.pages, self.refreshes, self.text_bytes, self.words
        )?;
        writeln!(
            f,
            "{:14} {:>12} {:>15} {:>9} {:>17}",
            "CPU time", "plain ms", "measured ms", "ratio", "95% interval"
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
                "instructions of {} refreshes: {:.0} and {:.0} thousand each, ratio {:.4}",
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
    fn ratios_have_intervals() {
        let mut times = PairedTimes::new("refreshes");
        for (off, on) in [(100, 105), (200, 212), (100, 107)] {
            let time = |n| (Duration::from_millis(n), Duration::ZERO);
            times.push(false, time(off));
            times.push(true, time(on));
        }
        let [ratio, low, high] = times.ratio();
        assert!((ratio - 1.06).abs() < 1e-4, "{ratio}");
        assert!(low > 1.03 && low < ratio && high > ratio && high < 1.09);
        let (mean, half) = interval(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-12 && (half - 4.303 / 3f64.sqrt()).abs() < 1e-3);
    }
}
