//! The goals of keeping a store fresh, and how far a visit interval reaches them.

use policy::plan::{currency, freshness};

use crate::number::counted;

/// A goal for the copies of a store. It is reached to a share from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The share of copies that equal their pages, averaged over time.
    Fresh,
    /// The share of copies that equalled their pages at some time within the last `within` days.
    Current {
        /// The grace period in days.
        within: f64,
    },
    /// The share of the search quality that a perfectly fresh store would have (the repository
    /// quality of Pandey & Olston).
    Quality {
        /// The quality of a perfectly fresh store, in the unit of the stakes.
        ideal: f64,
    },
}

impl Goal {
    /// Returns the refresh policy that optimizes this goal.
    pub fn policy(&self) -> String {
        match self {
            Self::Fresh => "freshness".into(),
            Self::Current { within } => format!("currency({within})"),
            Self::Quality { .. } => "user-centric-marginal".into(),
        }
    }

    /// Returns the words that follow the percentage, such as `of the copies fresh`.
    pub fn words(&self) -> String {
        match self {
            Self::Fresh => "of the copies fresh".into(),
            Self::Current { within } => {
                format!("of the copies current within {}", counted(within, "day"))
            }
            Self::Quality { .. } => "of the quality of a fresh store".into(),
        }
    }

    /// Returns the share for one page, from its changes per day and its visit interval in days.
    pub(super) fn of_page(&self, rate: f64, interval: f64) -> f64 {
        match self {
            Self::Current { within } => currency::of_page(rate, interval, *within),
            Self::Fresh | Self::Quality { .. } => freshness::of_page(rate, interval),
        }
    }

    pub(super) fn weight(&self, stake: f64) -> f64 {
        match self {
            Self::Quality { .. } => stake,
            Self::Fresh | Self::Current { .. } => 1.0,
        }
    }

    /// Returns the share over all pages, from the share and the weight of each.
    pub(super) fn mean(&self, pages: impl Iterator<Item = (f64, f64)>) -> f64 {
        let (mut missed, mut all) = (0.0, 0.0);
        for (share, weight) in pages {
            missed += (1.0 - share) * weight;
            all += weight;
        }
        match self {
            Self::Quality { ideal } => 1.0 - missed / ideal,
            Self::Fresh | Self::Current { .. } => 1.0 - missed / all.max(f64::MIN_POSITIVE),
        }
    }
}
