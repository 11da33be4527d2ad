//! Mean measured gains of the pages of each host.
//!
//! **Invariant:** all sums are over whole histories. A repeated report of a page replaces its
//! earlier contribution.

use super::PageHosts;
use crate::history::Measured;
use crate::{Discovered, Number, VisitFact};

/// Weight of the mean of all hosts in the estimate of one host, as a pseudo-count of changes.
/// It is small, because most hosts have many measured changes.
const STRENGTH: f64 = 0.25;

/// The measured gains of all hosts.
#[derive(Debug, Clone, Default)]
pub struct HostGains {
    hosts: PageHosts,
    pools: Vec<GainPool>,
    all: GainPool,
}

/// Sums over the visits of pages.
#[derive(Debug, Clone, Copy, Default)]
struct GainPool {
    /// Sum of the measured gains (ΔQ).
    gain: f64,
    /// Number of changes whose gain was measured.
    changes: f64,
    /// Time over which gains were measured.
    seconds: f64,
}

impl HostGains {
    /// Records the host of a page.
    pub fn discovered(&mut self, discovered: &Discovered<'_>) {
        self.hosts.add(discovered);
    }

    /// Adds the gains of a visit.
    pub fn visited(&mut self, visited: &VisitFact<'_>) {
        let (before, after) = (&visited.before.measured, &visited.after.measured);
        self.all.replace(before, after);
        if let Some(pool) = self.hosts.of_mut(visited.page, &mut self.pools) {
            pool.replace(before, after);
        }
    }

    /// Returns the mean gain of a change on the page's host, shrunk to the mean of all hosts.
    /// `None` if no change was measured, or if the sum of all measured gains is not above 0.
    pub fn mean(&self, page: Number) -> Option<f64> {
        let all = self.all.mean()?;
        let host = self.pool(page);
        Some(((host.gain + STRENGTH * all) / (host.changes + STRENGTH)).max(0.0))
    }

    /// Returns the mean gain of a page per second on the page's host, or on all hosts if at most
    /// one second was measured there. `None` if no change was measured, if the sum of all measured
    /// gains is not above 0, or if at most one second was measured in total.
    pub fn per_second(&self, page: Number) -> Option<f64> {
        self.all.mean()?;
        let host = self.pool(page);
        let pool = if host.seconds > 1.0 { host } else { self.all };
        (pool.seconds > 1.0).then(|| (pool.gain / pool.seconds).max(0.0))
    }

    fn pool(&self, page: Number) -> GainPool {
        let pool = self.hosts.of(page, &self.pools);
        pool.copied().unwrap_or_default()
    }
}

impl GainPool {
    fn replace(&mut self, before: &Measured, after: &Measured) {
        self.gain += f64::from(after.gain) - f64::from(before.gain);
        self.changes += f64::from(after.changes) - f64::from(before.changes);
        self.seconds += f64::from(after.seconds) - f64::from(before.seconds);
    }

    /// Returns the gain per change. `None` without a change, or if the gain is not above 0.
    fn mean(self) -> Option<f64> {
        let some = self.changes > 0.5 && self.gain > 0.0;
        some.then(|| self.gain / self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Moment};

    #[test]
    fn a_host_is_shrunk_to_the_mean_of_all_and_a_repeated_report_counts_once() {
        let measured = |gain, changes, seconds| History {
            measured: Measured {
                gain,
                roots: 0.0,
                changes,
                seconds,
            },
            ..History::discovered(Moment::START, 0)
        };
        let mut gains = HostGains::default();
        assert_eq!(gains.mean(Number(0)), None);
        let mut visit = |page, host, before: &History, after: &History| {
            let page = Number(page);
            gains.discovered(&Discovered {
                host,
                ..Discovered::bare(page)
            });
            gains.visited(&VisitFact {
                page,
                before,
                after,
            });
        };
        let none = measured(0.0, 0, 0.0);
        visit(0, 0, &none, &measured(12.0, 2, 30.0));
        visit(0, 0, &measured(12.0, 2, 30.0), &measured(12.0, 2, 40.0));
        visit(1, 1, &none, &measured(1.0, 1, 10.0));
        visit(2, 2, &none, &none);
        let all = 13.0 / 3.0;
        for (page, gain, changes) in [(0, 12.0, 2.0), (1, 1.0, 1.0), (2, 0.0, 0.0)] {
            let expected = (gain + 0.25 * all) / (changes + 0.25);
            assert_eq!(gains.mean(Number(page)), Some(expected), "{page}");
        }
        for (page, expected) in [(0, 12.0 / 40.0), (1, 0.1), (2, 13.0 / 50.0)] {
            assert_eq!(gains.per_second(Number(page)), Some(expected), "{page}");
        }
    }
}
