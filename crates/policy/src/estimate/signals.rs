//! How far can the words of others on a host be trusted?
//!
//! Sitemaps and feeds say when pages changed; visits tell how much of that is true. Learned per host, since
//! the pages of a host have one author of such words.

use super::Hosts;
use crate::plan::signal::Signalled;
use crate::{Fact, History, Number, Page};

/// Changes that what is thought before counts as much as. Ours.
const STRENGTH: f64 = 2.0;
/// The share of changes that an unknown host is thought to signal: little.
const RECALL: f64 = 0.2;
/// What is thought before of false signals: as likely as not one in a week. Seconds.
const WEEK: f64 = 604_800.0;

/// What was seen of the signals of all hosts.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    hosts: Hosts,
    pools: Vec<Pool>,
}

/// Sums over the pages of a host.
#[derive(Debug, Clone, Copy, Default)]
struct Pool {
    hits: f64,
    misses: f64,
    alarms: f64,
    /// Quiet revisits, and their gaps in seconds.
    quiet: (f64, f64),
    /// The gaps of the others.
    changed: f64,
}

impl Trust {
    /// Takes in a fact.
    pub fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.hosts.add(discovered),
            Fact::Visited(visited) => {
                if let Some(pool) = self.hosts.of_mut(visited.page, &mut self.pools) {
                    pool.replace(&Pool::of(visited.before), &Pool::of(visited.after));
                }
            }
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    /// A page that changes at this rate and its signals; `None` if nobody ever said anything of it or its host.
    pub fn of(&self, page: Page<'_>, rate: f64) -> Option<Signalled> {
        let pool = self.pool(page.number);
        let heard = pool.hits + pool.alarms > 0.5 || page.history.signals.last.is_some();
        let (recall, wrong) = pool.quality();
        heard.then(|| Signalled::new(rate, recall, wrong))
    }

    fn pool(&self, page: Number) -> Pool {
        let pool = self.hosts.of(page, &self.pools);
        pool.copied().unwrap_or_default()
    }
}

/// Signals that make a copy older: those since it was seen. If the page was asked for since without an answer,
/// only when somebody has spoken after that: else it would be asked again at once.
pub fn unheeded(history: &History) -> u16 {
    let signals = history.signals;
    let answered = history.asked == history.fresh || signals.last > history.asked;
    if answered { signals.since } else { 0 }
}

impl Pool {
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

    /// Recall, and false signals a second.
    ///
    /// A quiet gap `I` has a false signal with probability `1 − e^{−νI}`. A change that is not signalled looks as if it
    /// were if a false signal comes by; so the misses stand for `e^{νI}` times as many. Half a miss more than was
    /// seen: a host whose signals never cease has no misses, and says nothing.
    fn quality(&self) -> (f64, f64) {
        let gap = (self.quiet.1.max(0.0) + WEEK) / (self.quiet.0 + 1.0);
        let alarmed = (self.alarms + 0.5) / (self.quiet.0 + 1.0);
        let wrong = -(-alarmed.min(1.0 - 1e-9)).ln_1p() / gap;
        let changes = self.hits + self.misses;
        let changed_gap = (self.changed.max(0.0) + WEEK) / (changes + 1.0);
        let silent = (self.misses + 0.5) * (wrong * changed_gap).min(40.0).exp();
        let told = (changes - silent).max(0.0);
        ((told + STRENGTH * RECALL) / (changes + STRENGTH), wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(hits: f64, misses: f64, alarms: f64, quiet: f64) -> (f64, f64) {
        let pool = Pool {
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
    fn trust_is_earned_and_lost() {
        let (recall, wrong) = pool(0.0, 0.0, 0.0, 0.0);
        assert!((recall - RECALL).abs() < 1e-12 && (wrong - 0.5_f64.ln().abs()).abs() < 1e-9);
        let (recall, wrong) = pool(80.0, 20.0, 2.0, 200.0);
        assert!(
            (recall - 0.79).abs() < 0.01 && (wrong - 0.0125).abs() < 1e-3,
            "{recall} {wrong}"
        );
        // Wherever one looks there is a signal.
        let (recall, _) = pool(100.0, 0.0, 200.0, 200.0);
        assert!(recall < 0.02, "{recall}");
        // Nobody signals any change.
        let (recall, _) = pool(0.0, 100.0, 0.0, 200.0);
        assert!(recall < 0.01, "{recall}");
    }
}
