//! Quality as a function of the budget.

/// Quality by rising budget, starting at budget 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QualityCurve(Vec<(f64, f64)>);

impl QualityCurve {
    /// Makes a curve from the quality without refreshes, and further points by rising budget.
    pub fn from(none: f64, points: impl Iterator<Item = (f64, f64)>) -> Self {
        Self([(0.0, none)].into_iter().chain(points).collect())
    }

    /// Returns the least budget that reaches a quality, interpolated between the tried ones.
    /// `None` if no tried budget reaches it.
    pub fn reaches(&self, quality: f64) -> Option<f64> {
        let (_, first) = self.0.first()?;
        if *first >= quality {
            return Some(0.0);
        }
        let pair = self.0.windows(2).find(|pair| pair[1].1 >= quality)?;
        let ((low, below), (high, above)) = (pair[0], pair[1]);
        Some(low + (high - low) * (quality - below) / (above - below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_budgets_are_interpolated_between_tried_budgets() {
        let curve = QualityCurve::from(0.5, [(10.0, 0.7), (20.0, 0.6), (40.0, 0.9)].into_iter());
        for (quality, expected) in [
            (0.4, Some(0.0)),
            (0.6, Some(5.0)),
            (0.7, Some(10.0)),
            (0.75, Some(30.0)),
            (0.95, None),
        ] {
            let found = curve.reaches(quality);
            let close = match (found, expected) {
                (Some(found), Some(expected)) => f64::abs(found - expected) < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(close, "{quality}: {found:?}");
        }
    }
}
