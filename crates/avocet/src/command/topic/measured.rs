//! How good is a classifier on pages that it has not learned from?

use std::fmt;

use serde::Serialize;

use node::settings::topic::Judged;

/// Parts of the scale that calibration is shown for.
const BINS: usize = 5;

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// The share that was judged right, by one half.
    pub accuracy: f64,
    /// Of those that it calls of the topic, the share that is.
    pub precision: f64,
    /// Of those that are, the share that it calls so.
    pub recall: f64,
    /// The mean square of probability minus truth: 0 is perfect, .25 is a coin.
    pub brier: f64,
    /// What it said and what was so.
    pub calibration: Vec<Bin>,
}

/// Examples with much the same probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// How many there are.
    pub examples: usize,
    /// The mean of what it said.
    pub said: f64,
    /// The share that is of the topic.
    pub found: f64,
}

impl Quality {
    /// Of these examples.
    pub fn of(examples: &[Judged]) -> Self {
        let count = |wanted: &dyn Fn(&Judged) -> bool| {
            examples.iter().filter(|example| wanted(example)).count() as f64
        };
        let called = |example: &Judged| example.probability >= 0.5;
        let hits = count(&|example| example.on && called(example));
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let error = |example: &Judged| (example.probability - f64::from(example.on)).powi(2);
        let errors: f64 = examples.iter().map(error).sum();
        Self {
            accuracy: share(
                count(&|example| example.on == called(example)),
                examples.len() as f64,
            ),
            precision: share(hits, count(&called)),
            recall: share(hits, count(&|example| example.on)),
            brier: share(errors, examples.len() as f64),
            calibration: (0..BINS).filter_map(|bin| Bin::of(examples, bin)).collect(),
        }
    }
}

impl Bin {
    fn of(examples: &[Judged], bin: usize) -> Option<Self> {
        let place = |example: &&Judged| {
            let place = (example.probability * BINS as f64) as usize;
            place.min(BINS - 1) == bin
        };
        let inside: Vec<&Judged> = examples.iter().filter(place).collect();
        let count = inside.len() as f64;
        (!inside.is_empty()).then(|| Self {
            examples: inside.len(),
            said: inside
                .iter()
                .map(|example| example.probability)
                .sum::<f64>()
                / count,
            found: inside.iter().filter(|example| example.on).count() as f64 / count,
        })
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {:.1} % judged right; precision {:.3}, recall {:.3}; mean square error {:.3}",
            100.0 * self.accuracy,
            self.precision,
            self.recall,
            self.brier
        )?;
        writeln!(f, "  said   found  examples")?;
        for bin in &self.calibration {
            writeln!(
                f,
                "  {:.2}   {:.2}   {:>8}",
                bin.said, bin.found, bin.examples
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_by_hand() {
        let examples: Vec<Judged> = [(0.9, true), (0.7, false), (0.1, false), (0.3, true)]
            .into_iter()
            .map(|(probability, on)| Judged {
                name: String::new(),
                on,
                probability,
            })
            .collect();
        let quality = Quality::of(&examples);
        assert_eq!(
            (quality.accuracy, quality.precision, quality.recall),
            (0.5, 0.5, 0.5)
        );
        let squares = 0.01 + 0.49 + 0.01 + 0.49;
        assert!((quality.brier - squares / 4.0).abs() < 1e-12);
        let last = quality.calibration.last().unwrap();
        assert_eq!((last.examples, last.found), (1, 1.0));
        assert_eq!(Quality::of(&[]).accuracy, 0.0);
    }
}
