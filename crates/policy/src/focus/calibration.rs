//! Calibration of classifier scores into probabilities by logistic regression.
//!
//! Platt, "Probabilistic outputs for support vector machines" (1999): fits a logistic curve to
//! scores with known labels. Here the curve has one slope per score. It is found by Newton's
//! method. A small L2 penalty on the slopes keeps them finite if the scores separate the two
//! classes perfectly. Platt's targets, (n₊+1)/(n₊+2) and 1/(n₋+2), serve the same purpose.

use serde::{Deserialize, Serialize};

/// Scores per point: text, title and URL.
pub const SCORES: usize = 3;
/// The intercept and the slopes.
const TERMS: usize = SCORES + 1;
/// Iterations of Newton's method. About five usually suffice.
const STEPS: usize = 30;
/// L2 penalty on a slope.
const PENALTY: f64 = 1e-2;

/// A logistic curve over several scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogisticCurve {
    /// Log odds where all scores are 0.
    pub intercept: f64,
    /// Log odds that one unit of each score adds.
    pub slopes: [f64; SCORES],
}

impl Default for LogisticCurve {
    /// The identity: the sum of the scores is the log odds.
    fn default() -> Self {
        Self {
            intercept: 0.0,
            slopes: [1.0; SCORES],
        }
    }
}

impl LogisticCurve {
    /// Fits the curve to scores and their labels.
    pub fn through(points: &[([f64; SCORES], bool)]) -> Self {
        let positive = points.iter().filter(|(_, on)| *on).count() as f64;
        let negative = points.len() as f64 - positive;
        let targets = [1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0)];
        let mut terms = [0.0; TERMS];
        terms[0] = ((positive + 1.0) / (negative + 1.0)).ln();
        for _ in 0..STEPS {
            let (gradient, curvature) = slope(points, targets, &terms);
            let Some(step) = solve(curvature, gradient) else {
                break;
            };
            for (term, step) in terms.iter_mut().zip(step) {
                // Limits the step: separable scores would make Newton's method overshoot.
                *term -= step.clamp(-4.0, 4.0);
            }
        }
        Self {
            intercept: terms[0],
            slopes: [terms[1], terms[2], terms[3]],
        }
    }

    /// Returns the log odds of these scores.
    pub fn log_odds(&self, scores: [f64; SCORES]) -> f64 {
        let products = self.slopes.iter().zip(scores);
        products.fold(self.intercept, |sum, (slope, score)| sum + slope * score)
    }

    /// Returns the probability of these scores.
    pub fn probability(&self, scores: [f64; SCORES]) -> f64 {
        logistic(self.log_odds(scores))
    }
}

/// Returns 1/(1 + e⁻ˣ).
pub fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Returns the gradient and the Hessian of the penalized loss.
fn slope(
    points: &[([f64; SCORES], bool)],
    targets: [f64; 2],
    terms: &[f64; TERMS],
) -> ([f64; TERMS], [[f64; TERMS]; TERMS]) {
    let mut gradient = [0.0; TERMS];
    let mut curvature = [[0.0; TERMS]; TERMS];
    for (scores, on) in points {
        let inputs = [1.0, scores[0], scores[1], scores[2]];
        let sum: f64 = inputs.iter().zip(terms).map(|(x, term)| x * term).sum();
        let found = logistic(sum);
        let (error, weight) = (found - targets[usize::from(*on)], found * (1.0 - found));
        let rows = gradient.iter_mut().zip(&mut curvature).zip(inputs);
        for ((gradient, row), input) in rows {
            *gradient += error * input;
            for (cell, other) in row.iter_mut().zip(inputs) {
                *cell += weight * input * other;
            }
        }
    }
    let rows = gradient.iter_mut().zip(&mut curvature).zip(terms);
    for (place, ((gradient, row), term)) in rows.enumerate() {
        let penalty = if place == 0 { 1e-9 } else { PENALTY };
        *gradient += penalty * term;
        row[place] += penalty;
    }
    (gradient, curvature)
}

/// Solves a linear system by Gaussian elimination with partial pivoting; `None` if it is
/// singular.
fn solve(mut matrix: [[f64; TERMS]; TERMS], mut right: [f64; TERMS]) -> Option<[f64; TERMS]> {
    for column in 0..TERMS {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..TERMS).max_by(|one, other| size(one).total_cmp(&size(other)))?;
        if matrix[pivot][column].abs() < 1e-14 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in (0..TERMS).filter(|row| *row != column) {
            let factor = matrix[row][column] / matrix[column][column];
            let above = matrix[column];
            for (value, above) in matrix[row].iter_mut().zip(above) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    let mut solved = [0.0; TERMS];
    for (row, value) in solved.iter_mut().enumerate() {
        *value = right[row] / matrix[row][row];
    }
    Some(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_equal_the_shares_of_positive_points() {
        // A quarter of 400 points with score -1 is positive, and three quarters of 400 points with
        // score 1: log odds ±ln 3.
        let points: Vec<_> = (0..800)
            .map(|n| {
                let high = n % 2 == 1;
                let share = if high { 3 } else { 1 };
                ([if high { 1.0 } else { -1.0 }, 0.0, 0.0], n / 2 % 4 < share)
            })
            .collect();
        let curve = LogisticCurve::through(&points);
        for (score, share) in [(-1.0, 0.25), (1.0, 0.75), (0.0, 0.5)] {
            let found = curve.probability([score, 0.0, 0.0]);
            assert!((found - share).abs() < 0.005, "{score}: {found}");
        }
    }

    #[test]
    fn scores_that_separate_the_classes_give_a_finite_curve() {
        let points: Vec<_> = (0..50)
            .map(|n| ([f64::from(n) - 25.0, 0.0, f64::from(n % 3)], n > 25))
            .collect();
        let curve = LogisticCurve::through(&points);
        assert!(curve.slopes.iter().all(|slope| slope.is_finite()));
        assert!(curve.probability([20.0, 0.0, 0.0]) > 0.95);
        assert!(curve.probability([-20.0, 0.0, 0.0]) < 0.05);
        let one_kind = LogisticCurve::through(&[([1.0, 2.0, 3.0], true)]);
        assert!(one_kind.probability([1.0, 2.0, 3.0]) > 0.5);
    }
}
