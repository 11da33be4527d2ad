//! The scores of a repository over all steps of a run.
//!
//! **Invariant:** without queries, quality and embarrassment are `None`.

use crate::measure::recency::Recency;

/// The scores of a repository.
#[derive(Debug, Clone)]
pub struct RepositoryScores {
    /// Mean repository quality over the steps; `None` without queries.
    pub quality: Option<f64>,
    /// Maximum quality over the steps; at most 1, and 0 without queries.
    pub best: f64,
    /// Mean probability over the steps that a click is an embarrassment; `None` without queries.
    pub embarrassment: Option<f64>,
    /// Recency of the copies between the steps.
    pub recency: Recency,
    /// Number of refreshes.
    pub visits: u64,
}

/// Sums over the steps.
#[derive(Debug, Default)]
pub(super) struct ScoreSums {
    steps: f64,
    quality: f64,
    best: f64,
    embarrassment: f64,
}

impl ScoreSums {
    /// Adds a step.
    pub fn add(&mut self, quality: f64, embarrassment: f64) {
        self.steps += 1.0;
        self.quality += quality;
        self.best = self.best.max(quality);
        self.embarrassment += embarrassment;
    }

    /// Returns the means over the steps.
    pub fn means(&self, recency: Recency, visits: u64) -> RepositoryScores {
        let mean = |sum: f64| (self.steps > 0.0).then(|| sum / self.steps);
        RepositoryScores {
            quality: mean(self.quality),
            best: self.best,
            embarrassment: mean(self.embarrassment),
            recency,
            visits,
        }
    }
}
