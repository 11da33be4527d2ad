//! The contestants: ways to divide a budget, and ways to rank servers.

use crate::LabError;
use crate::experiment::ExperimentSetup;
use crate::run::joint::{Known, QuotaShares, RankBy, Scarce, Split};

/// Names of the contestants.
pub(super) const ONE_PRICE: &str = "one-price";
pub(super) const QUOTA: &str = "quota";
pub(super) const BEST_QUOTA: &str = "best-quota";
pub(super) const RATIO: &str = "old-new-ratio";
pub(super) const REFRESH_FIRST: &str = "refresh-first";
pub(super) const DISCOVERY_FIRST: &str = "discovery-first";
pub(super) const KNOWN: &str = "known";
pub(super) const KNOWN_COPIES: &str = "known-copies";
pub(super) const KNOWN_SOURCES: &str = "known-sources";
pub(super) const PER_FETCH: &str = "per-fetch";
pub(super) const PER_SECOND: &str = "per-second";

/// All contestants, with what they do.
pub(super) const ALL: [(&str, &str); 10] = [
    (ONE_PRICE, "discovery and refresh at one price: ours"),
    (
        BEST_QUOTA,
        "fixed shares of first copies, polls and refreshes: those that serve most, in hindsight",
    ),
    (RATIO, "WebFountain's optimized ratio of old and new"),
    (
        REFRESH_FIRST,
        "pages that are expected to have changed before any discovery",
    ),
    (
        DISCOVERY_FIRST,
        "new pages, and polls expected to find one, before any refresh",
    ),
    (
        KNOWN,
        "one price with the true rates of clicks, changes and new pages, which no crawler knows",
    ),
    (
        KNOWN_COPIES,
        "one price with the true rates of clicks on copies and of their changes",
    ),
    (
        KNOWN_SOURCES,
        "one price with the true rates of new pages and the true mean clicks on them",
    ),
    (PER_FETCH, "scarce connections: most worth per fetch"),
    (PER_SECOND, "scarce connections: most worth per second"),
];

/// Shares of discovery in the quotas that are tried.
const DISCOVERY: [f64; 7] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];

/// Parts of discovery that go to polls in the quotas that are tried.
const POLLS: [f64; 3] = [0.3, 0.5, 0.7];

/// The names of the contestants that run.
pub(super) struct Contestants(Vec<String>);

/// One crawl.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JointTask {
    pub name: &'static str,
    pub split: Split,
    pub known: Known,
    pub scarce: Scarce,
    /// The budget or the number of connections.
    pub x: f64,
}

impl Contestants {
    /// Returns the contestants that the user named, or all.
    ///
    /// # Errors
    /// If there is no contestant of a name.
    pub fn of(setting: &ExperimentSetup) -> Result<Self, LabError> {
        let known = || ALL.iter().map(|(name, _)| *name);
        let mut names: Vec<String> = setting.policies.clone();
        if names.is_empty() {
            names.extend(known().map(str::to_owned));
        }
        names.extend(setting.against.clone());
        for name in &names {
            if !known().any(|other| other == name) {
                let known: Vec<&str> = known().collect();
                return Err(LabError::Wish(format!(
                    "there is no contestant {name:?}; there are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(Self(names))
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|other| other == name)
    }

    pub fn has_best_quota(&self) -> bool {
        self.has(BEST_QUOTA)
    }

    /// Returns all crawls of one town.
    pub fn tasks(&self, rates: &[f64], connections: &[usize]) -> Vec<JointTask> {
        let mut tasks = Vec::new();
        for &rate in rates {
            let task = |name, split| JointTask {
                name,
                split,
                known: Known::default(),
                scarce: Scarce::Fetches(rate),
                x: rate,
            };
            let plain = [
                (ONE_PRICE, Split::OnePrice),
                (RATIO, Split::OldNewRatio),
                (REFRESH_FIRST, Split::RefreshFirst),
                (DISCOVERY_FIRST, Split::DiscoveryFirst),
            ];
            let plain = plain.into_iter().filter(|(name, _)| self.has(name));
            tasks.extend(plain.map(|(name, split)| task(name, split)));
            let knowing = [
                (KNOWN, [true, true]),
                (KNOWN_COPIES, [true, false]),
                (KNOWN_SOURCES, [false, true]),
            ];
            let knowing = knowing.into_iter().filter(|(name, _)| self.has(name));
            tasks.extend(knowing.map(|(name, [copies, sources])| JointTask {
                known: Known { copies, sources },
                ..task(name, Split::OnePrice)
            }));
            if self.has_best_quota() {
                tasks.extend(quotas().map(|shares| task(QUOTA, Split::Quota(shares))));
            }
        }
        for &count in connections {
            for (name, by) in [(PER_FETCH, RankBy::Fetch), (PER_SECOND, RankBy::Second)] {
                if self.has(name) {
                    tasks.push(JointTask {
                        name,
                        split: Split::OnePrice,
                        known: Known::default(),
                        scarce: Scarce::Connections { count, by },
                        x: count as f64,
                    });
                }
            }
        }
        tasks
    }
}

/// Returns the grid of fixed quotas.
pub(super) fn quotas() -> impl Iterator<Item = QuotaShares> {
    let none = QuotaShares {
        new: 0.0,
        polls: 0.0,
    };
    let some = DISCOVERY.into_iter().flat_map(|discovery| {
        POLLS.map(|part| QuotaShares {
            new: discovery * (1.0 - part),
            polls: discovery * part,
        })
    });
    std::iter::once(none).chain(some)
}
