//! What is a store kept fresh for, and how far is that reached?

use policy::plan::{currency, freshness};

/// What is to be reached, each a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Of the copies, on average over time, that are as their pages.
    Fresh,
    /// Of the copies that were as their pages within the last so many days.
    Current {
        /// Days of grace.
        within: f64,
    },
    /// Of the quality that searches of a perfectly fresh store would have (Pandey & Olston's repository quality).
    Quality {
        /// What a page's stake is a share of, for all pages.
        ideal: f64,
    },
}

impl Goal {
    /// The refresh policy that is made for it.
    pub fn policy(&self) -> String {
        match self {
            Self::Fresh => "freshness".into(),
            Self::Current { within } => format!("currency({within})"),
            Self::Quality { .. } => "user-centric-marginal".into(),
        }
    }

    /// What it is a share of, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Fresh => "of the copies fresh".into(),
            Self::Current { within } => format!("of the copies current within {within} days"),
            Self::Quality { .. } => "of the quality of a fresh store".into(),
        }
    }

    /// The share for a page that changes so often a day and is visited after so many days.
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

    /// The share for pages of which each has one, and counts so much.
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
