//! The table of `bench frontier`: figures beside their targets.

use std::fmt;

use serde::Serialize;

/// All figures, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct FrontierReport {
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
enum FigureTarget {
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

    /// Sets the target: this value or more.
    pub fn at_least(mut self, value: f64) -> Self {
        self.target = Some(FigureTarget::AtLeast(value));
        self
    }

    /// Sets the target: this value or less.
    pub fn at_most(mut self, value: f64) -> Self {
        self.target = Some(FigureTarget::AtMost(value));
        self
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
        let figure = |value| FrontierFigure::new("figure", value);
        for (figure, missed) in [
            (figure(32.0).at_most(32.0), false),
            (figure(32.1).at_most(32.0), true),
            (figure(500_000.0).at_least(500_000.0), false),
            (figure(499_999.0).at_least(500_000.0), true),
        ] {
            let report = FrontierReport {
                figures: vec![figure],
            };
            assert_eq!(report.to_string().contains("MISSED"), missed, "{report}");
        }
    }
}
