//! Prints the figures of a benchmark, as a table or as JSON.

use std::env;
use std::fmt::Display;

use anyhow::Result;
use serde::Serialize;

use crate::machine::Machine;

/// The figures of a benchmark, with what is needed to repeat it.
#[derive(Serialize)]
struct BenchReport<'a, F> {
    /// The command that repeats the measurement.
    command: String,
    /// The machine of the measurement.
    machine: Machine,
    #[serde(flatten)]
    figures: &'a F,
}

/// Prints the command, the machine and the figures.
pub fn print(figures: &(impl Serialize + Display), json: bool) -> Result<()> {
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = BenchReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        figures,
    };
    if json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        let Machine { cores, cpu } = &report.machine;
        print!("$ {}\n{cores} cores, {cpu}\n{figures}", report.command);
    }
    Ok(())
}

/// Returns the median; `None` if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    Some(values[(values.len() - 1) / 2].midpoint(upper))
}

/// Returns a count per second, rounded to a whole number.
pub fn per_second(count: u64, seconds: f64) -> f64 {
    (count as f64 / seconds.max(1e-9)).round()
}

/// Returns the start of a line about a published claim.
pub fn verdict(holds: bool) -> &'static str {
    if holds {
        "held        "
    } else {
        "DID NOT HOLD"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_values_is_the_mean_of_the_middle_two() {
        assert_eq!(median([]), None);
        assert_eq!(median([5.0]), Some(5.0));
        assert_eq!(median([9.0, 5.0]), Some(7.0));
        assert_eq!(median([99.0, 1.0, 2.0]), Some(2.0));
    }
}
