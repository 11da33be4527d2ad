//! Estimates how reliable the change hints (signals) of a host are.
//!
//! Sitemaps and feeds announce changes; visits show which announcements were true. The estimate
//! is per host, because one publisher produces all hints of a host.

use super::PageHosts;
use crate::plan::signal::Signalled;
use crate::{Fact, History, Number, Page};

/// Weight of the prior recall, as a pseudo-count of changes. Our choice.
const STRENGTH: f64 = 2.0;
/// Prior of the recall: the share of changes that an unknown host signals.
const RECALL: f64 = 0.2;
/// Length of the pseudo-gap that is added to the gaps without a change and to those with a
/// change, in seconds. In the prior, a week without a change has a false signal with probability
/// ½.
const WEEK: f64 = 604_800.0;

/// The observed hints of all hosts.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    hosts: PageHosts,
    pools: Vec<SignalPool>,
}

/// Sums over the pages of a host.
#[derive(Debug, Clone, Copy, Default)]
struct SignalPool {
    /// Revisits that detected a change after a hint.
    hits: f64,
    /// Revisits that detected a change without a hint.
    misses: f64,
    /// Revisits that detected no change after a hint.
    alarms: f64,
    /// Number of revisits without a change, and the sum of their gaps in seconds.
    quiet: (f64, f64),
    /// Sum of the gaps of the other revisits, in seconds.
    changed: f64,
}

impl Trust {
    /// Processes a fact.
    pub fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.hosts.add(discovered),
            Fact::Visited(visited) => {
                if let Some(pool) = self.hosts.of_mut(visited.page, &mut self.pools) {
                    pool.replace(
                        &SignalPool::of(visited.before),
                        &SignalPool::of(visited.after),
                    );
                }
            }
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    /// Returns the signal model of a page whose changes, at this rate per second, replace this
    /// share of its text. `None` if there was no hint for the page, and no revisit of its host
    /// followed a hint.
    ///
    /// A change counts as `share` of a complete change. Hints of the remaining part count as
    /// false signals.
    pub fn of(&self, page: Page<'_>, rate: f64, share: f64) -> Option<Signalled> {
        let pool = self.pool(page.number);
        let hinted = pool.hits + pool.alarms > 0.5 || page.history.signals.last.is_some();
        let (recall, wrong) = pool.quality();
        let harmless = recall * rate * (1.0 - share);
        hinted.then(|| Signalled::new(rate * share, recall, wrong + harmless))
    }

    fn pool(&self, page: Number) -> SignalPool {
        let pool = self.hosts.of(page, &self.pools);
        pool.copied().unwrap_or_default()
    }
}

/// Returns the number of hints that age a copy: those since the page was last read.
///
/// If a later request failed, these hints count only if a new hint came after that request.
/// Otherwise the page would be requested again at once.
pub fn pending_hints(history: &History) -> u16 {
    let signals = history.signals;
    let answered = history.asked == history.fresh || signals.last > history.asked;
    if answered { signals.since } else { 0 }
}

impl SignalPool {
    fn of(history: &History) -> Self {
        let signals = history.signals;
        let quiet = history.quiet.as_secs_f64();
        Self {
            hits: f64::from(signals.hits),
            misses: f64::from(signals.misses),
            alarms: f64::from(signals.false_alarms),
            quiet: (f64::from(history.revisits - history.changes), quiet),
            changed: history.watched.as_secs_f64() - quiet,
        }
    }

    fn replace(&mut self, before: &Self, after: &Self) {
        self.hits += after.hits - before.hits;
        self.misses += after.misses - before.misses;
        self.alarms += after.alarms - before.alarms;
        self.quiet.0 += after.quiet.0 - before.quiet.0;
        self.quiet.1 += after.quiet.1 - before.quiet.1;
        self.changed += after.changed - before.changed;
    }

    /// Returns the recall, and the rate of false signals per second.
    ///
    /// A gap `I` without a change has a false signal with probability `1 − e^{−νI}`. An
    /// unsignalled change looks signalled if a false signal falls into its gap, so each miss
    /// stands for `e^{νI}` unsignalled changes. Half a pseudo-miss is added: a host that
    /// signals all the time has no misses, and its signals mean nothing.
    fn quality(&self) -> (f64, f64) {
        let gap = (self.quiet.1.max(0.0) + WEEK) / (self.quiet.0 + 1.0);
        let alarmed = (self.alarms + 0.5) / (self.quiet.0 + 1.0);
        let wrong = -(-alarmed.min(1.0 - 1e-9)).ln_1p() / gap;
        let changes = self.hits + self.misses;
        let changed_gap = (self.changed.max(0.0) + WEEK) / (changes + 1.0);
        let silent = (self.misses + 0.5) * (wrong * changed_gap).min(40.0).exp();
        let signalled = (changes - silent).max(0.0);
        (
            (signalled + STRENGTH * RECALL) / (changes + STRENGTH),
            wrong,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(hits: f64, misses: f64, alarms: f64, quiet: f64) -> (f64, f64) {
        let pool = SignalPool {
            hits,
            misses,
            alarms,
            quiet: (quiet, quiet * WEEK),
            changed: (hits + misses) * WEEK,
        };
        let (recall, wrong) = pool.quality();
        (recall, wrong * WEEK)
    }

    #[test]
    fn recall_and_false_signals_follow_the_observations() {
        let (recall, wrong) = pool(0.0, 0.0, 0.0, 0.0);
        assert!((recall - RECALL).abs() < 1e-12 && (wrong - 0.5_f64.ln().abs()).abs() < 1e-9);
        let (recall, wrong) = pool(80.0, 20.0, 2.0, 200.0);
        assert!(
            (recall - 0.79).abs() < 0.01 && (wrong - 0.0125).abs() < 1e-3,
            "{recall} {wrong}"
        );
        // Every revisit follows a signal.
        let (recall, _) = pool(100.0, 0.0, 200.0, 200.0);
        assert!(recall < 0.02, "{recall}");
        // No change is signalled.
        let (recall, _) = pool(0.0, 100.0, 0.0, 200.0);
        assert!(recall < 0.01, "{recall}");
    }
}
