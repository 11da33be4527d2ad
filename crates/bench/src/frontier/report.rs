//! What was measured, beside what was wanted?

use std::fmt;

use serde::Serialize;

use crate::machine::Machine;

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct Report {
    /// How to measure again.
    pub command: String,
    /// Where it was measured.
    pub machine: Machine,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One figure.
#[derive(Debug, Serialize)]
pub struct Figure {
    name: &'static str,
    value: f64,
    target: Option<Target>,
}

/// What the issue asks for.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The value or more.
    AtLeast(f64),
    /// The value or less.
    AtMost(f64),
}

impl Figure {
    /// A figure that has no target.
    pub fn new(name: &'static str, value: f64) -> Self {
        Self {
            name,
            value,
            target: None,
        }
    }

    /// The figure with its target.
    pub fn target(self, target: Target) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "{} cores, {}", self.machine.cores, self.machine.cpu)?;
        writeln!(f, "{:<38}{:>12}{:>14}", "", "measured", "target")?;
        for Figure {
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

impl fmt::Display for Target {
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
    fn a_missed_target_is_said_to_be_missed() {
        let check = |value: f64, target: Target, missed: bool| {
            let report = Report {
                command: "x".into(),
                machine: Machine {
                    cores: 2,
                    cpu: "y".into(),
                },
                figures: vec![Figure::new("figure", value).target(target)],
            };
            assert_eq!(report.to_string().contains("MISSED"), missed, "{report}");
        };
        check(32.0, Target::AtMost(32.0), false);
        check(32.1, Target::AtMost(32.0), true);
        check(500_000.0, Target::AtLeast(500_000.0), false);
        check(499_999.0, Target::AtLeast(500_000.0), true);
    }
}
