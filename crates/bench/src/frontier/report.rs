//! The table of `bench frontier`: figures beside their targets.

use std::fmt;

use serde::Serialize;

use crate::machine::Machine;

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct FrontierReport {
    /// The command that repeats the measurement.
    pub command: String,
    /// The machine of the measurement.
    pub machine: Machine,
    /// The figures.
    pub figures: Vec<FrontierFigure>,
}

/// One figure, with its target if it has one.
#[derive(Debug, Serialize)]
pub struct FrontierFigure {
    name: &'static str,
    value: f64,
    target: Option<FigureTarget>,
}

/// The target of a figure.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureTarget {
    /// The value or more.
    AtLeast(f64),
    /// The value or less.
    AtMost(f64),
}

impl FrontierFigure {
    /// Creates a figure without a target.
    pub fn new(name: &'static str, value: f64) -> Self {
        Self {
            name,
            value,
            target: None,
        }
    }

    /// Sets the target.
    pub fn target(self, target: FigureTarget) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }
}

impl FigureTarget {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }
}

impl fmt::Display for FrontierReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "{} cores, {}", self.machine.cores, self.machine.cpu)?;
        writeln!(f, "{:<38}{:>12}{:>14}", "", "measured", "target")?;
        for FrontierFigure {
            name,
            value,
            target,
        } in &self.figures
        {
            let digits = if *value < 1000.0 { 1 } else { 0 };
            write!(f, "{name:<38}{value:>12.digits$}")?;
            match target {
                Some(target) => {
                    let verdict = if target.is_met(*value) {
                        ""
                    } else {
                        "  MISSED"
                    };
                    writeln!(f, "{target:>14}{verdict}")?;
                }
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for FigureTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::AtMost(most) => format!("≤ {most}"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_marked() {
        let check = |value: f64, target: FigureTarget, missed: bool| {
            let report = FrontierReport {
                command: "x".into(),
                machine: Machine {
                    cores: 2,
                    cpu: "y".into(),
                },
                figures: vec![FrontierFigure::new("figure", value).target(target)],
            };
            assert_eq!(report.to_string().contains("MISSED"), missed, "{report}");
        };
        check(32.0, FigureTarget::AtMost(32.0), false);
        check(32.1, FigureTarget::AtMost(32.0), true);
        check(500_000.0, FigureTarget::AtLeast(500_000.0), false);
        check(499_999.0, FigureTarget::AtLeast(500_000.0), true);
    }
}
