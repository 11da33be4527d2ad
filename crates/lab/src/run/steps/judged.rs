//! How good was a repository, over all steps?
//!
//! **Invariant:** a mean of nothing is none: where nobody asks there is no quality.

use crate::measure::recency::Recency;

/// How good a repository was.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Repository quality, the mean over steps; `None`: nobody asks.
    pub quality: Option<f64>,
    /// The best quality at any step, which is 1 at most.
    pub best: f64,
    /// The probability that a click is an embarrassment, the mean over steps.
    pub embarrassment: Option<f64>,
    /// How recent copies were between the steps.
    pub recency: Recency,
    /// Refreshes.
    pub visits: u64,
}

/// Sums over steps.
#[derive(Debug, Default)]
pub(super) struct Judged {
    steps: f64,
    quality: f64,
    best: f64,
    embarrassment: f64,
}

impl Judged {
    /// One step more.
    pub fn add(&mut self, quality: f64, embarrassment: f64) {
        self.steps += 1.0;
        self.quality += quality;
        self.best = self.best.max(quality);
        self.embarrassment += embarrassment;
    }

    /// All of it.
    pub fn kept(&self, recency: Recency, visits: u64) -> Kept {
        let mean = |sum: f64| (self.steps > 0.0).then(|| sum / self.steps);
        Kept {
            quality: mean(self.quality),
            best: self.best,
            embarrassment: mean(self.embarrassment),
            recency,
            visits,
        }
    }
}
