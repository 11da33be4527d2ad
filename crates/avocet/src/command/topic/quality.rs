//! Quality of a topic classifier on pages that it was not trained on, by cross-validation.

use std::fmt;

use serde::Serialize;

use node::settings::topic::JudgedExample;

/// Number of intervals of equal width into which the calibration divides the probabilities.
const BINS: usize = 5;

/// Results of cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassifierQuality {
    /// Share of examples classified correctly, with the threshold one half.
    pub accuracy: f64,
    /// Share of the examples classified as on topic that are on topic; 0 if there are none.
    pub precision: f64,
    /// Share of the examples on topic that are classified as on topic; 0 if there are none.
    pub recall: f64,
    /// Brier score: the mean of (probability − truth)², where the truth is 1 on topic and 0 off
    /// topic. 0 is perfect; a constant probability of one half gives 0.25.
    pub brier: f64,
    /// Predicted and observed shares, by interval of probability; empty intervals are left out.
    pub calibration: Vec<CalibrationBin>,
}

/// The examples in one interval of probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Number of examples.
    pub examples: usize,
    /// Mean predicted probability.
    pub said: f64,
    /// Share that is on topic.
    pub found: f64,
}

impl ClassifierQuality {
    /// Computes the quality from examples and their cross-validated probabilities.
    pub fn of(examples: &[JudgedExample]) -> Self {
        let count = |wanted: &dyn Fn(&JudgedExample) -> bool| {
            examples.iter().filter(|example| wanted(example)).count() as f64
        };
        let called = |example: &JudgedExample| example.probability >= 0.5;
        let hits = count(&|example| example.on && called(example));
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let error = |example: &JudgedExample| (example.probability - f64::from(example.on)).powi(2);
        let errors: f64 = examples.iter().map(error).sum();
        Self {
            accuracy: share(
                count(&|example| example.on == called(example)),
                examples.len() as f64,
            ),
            precision: share(hits, count(&called)),
            recall: share(hits, count(&|example| example.on)),
            brier: share(errors, examples.len() as f64),
            calibration: (0..BINS)
                .filter_map(|bin| CalibrationBin::of(examples, bin))
                .collect(),
        }
    }
}

impl CalibrationBin {
    fn of(examples: &[JudgedExample], bin: usize) -> Option<Self> {
        let place = |example: &&JudgedExample| {
            let place = (example.probability * BINS as f64) as usize;
            place.min(BINS - 1) == bin
        };
        let inside: Vec<&JudgedExample> = examples.iter().filter(place).collect();
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

impl fmt::Display for ClassifierQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  accuracy {:.1} %, precision {:.3}, recall {:.3}, Brier score {:.3}",
            100.0 * self.accuracy,
            self.precision,
            self.recall,
            self.brier
        )?;
        writeln!(f, "  predicted  observed  examples")?;
        for bin in &self.calibration {
            writeln!(
                f,
                "  {:>9.2}  {:>8.2}  {:>8}",
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
    fn quality_equals_a_computation_by_hand() {
        let examples: Vec<JudgedExample> = [(0.9, true), (0.7, false), (0.1, false), (0.3, true)]
            .into_iter()
            .map(|(probability, on)| JudgedExample {
                name: String::new(),
                on,
                probability,
            })
            .collect();
        let quality = ClassifierQuality::of(&examples);
        assert_eq!(
            (quality.accuracy, quality.precision, quality.recall),
            (0.5, 0.5, 0.5)
        );
        let squares = 0.01 + 0.49 + 0.01 + 0.49;
        assert!((quality.brier - squares / 4.0).abs() < 1e-12);
        let last = quality.calibration.last().unwrap();
        assert_eq!((last.examples, last.found), (1, 1.0));
        assert_eq!(ClassifierQuality::of(&[]).accuracy, 0.0);
    }
}
