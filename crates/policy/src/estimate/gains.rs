//! Estimates what searches gain when a changed page is fetched again.
//!
//! Pandey & Olston (2005) measure the quality gain ΔQ_A at each refresh. Assume that an
//! outdated copy costs `A` per second and a current one nothing. Then a refresh that found a
//! change gains `A`.
//!
//! **Invariant:** all sums are over the windows of histories. Each change counts with the
//! importance that its page had at its last visit.

mod consistency;

use super::{Column, PageHosts};
use crate::{Discovered, History, Number, VisitFact};
use consistency::Consistency;

/// Weight of the mean of all hosts in the estimate of one host, as a pseudo-count of changes.
/// It is small, because a host has many changes.
const STRENGTH: f64 = 0.25;

/// The gains on all pages.
#[derive(Debug, Clone, Default)]
pub struct Gains {
    hosts: PageHosts,
    pools: Vec<GainPool>,
    all: GainPool,
    consistency: Consistency,
    /// The importance with which the changes of each page are weighted.
    importance: Column<f32>,
}

/// A sum of gains, with the number of changes or first copies and the sum of their pages'
/// importance.
#[derive(Debug, Clone, Copy, Default)]
struct GainSum {
    gain: f64,
    changes: f64,
    importance: f64,
}

/// Sums over pages.
#[derive(Debug, Clone, Copy, Default)]
struct GainPool {
    changes: GainSum,
    firsts: GainSum,
    /// Total gap of the revisits whose gain was measured, in seconds.
    seconds: f64,
}

/// The sums over the window of one page.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// ΣΔQ_A. It may be negative.
    pub gain: f64,
    /// Number of changes whose gain was measured.
    changes: f64,
    /// The share of its changes whose gain was measured. A change of unknown gain must not
    /// count as a visit without a change.
    share: f64,
}

impl Gains {
    /// Records the host of a page.
    pub fn discovered(&mut self, discovered: &Discovered<'_>) {
        self.hosts.add(discovered);
    }

    /// Adds the gains of visits to a page of this importance.
    pub fn visited(&mut self, visited: &VisitFact<'_>, importance: f64) {
        let importance = importance as f32;
        let (page, before) = (visited.page, self.importance.get(visited.page));
        self.importance.add(page, importance);
        if let Some(last) = self.importance.get_mut(page) {
            *last = importance;
        }
        let before = before.map(|weight| GainPool::of(visited.before, weight));
        let (before, after) = (
            before.unwrap_or_default(),
            GainPool::of(visited.after, importance),
        );
        self.all.replace(&before, &after);
        let [known, known_now] = [visited.before, visited.after].map(Consistency::of);
        self.consistency.replace(&known, &known_now);
        if let Some(pool) = self.hosts.of_mut(page, &mut self.pools) {
            pool.replace(&before, &after);
        }
    }

    /// Returns the mean gain of a change on the page's host; `None` if no gain was ever
    /// measured.
    pub fn mean(&self, page: Number) -> Option<f64> {
        let all = self.all.changes.mean()?;
        let host = self.pool(page).changes;
        Some(((host.gain + STRENGTH * all) / (host.changes + STRENGTH)).max(0.0))
    }

    /// Returns the weight of the predicted gain of a page, as a pseudo-count of changes.
    pub fn strength(&self) -> f64 {
        self.consistency.strength()
    }

    /// Returns κ, the gain of a change per unit of importance; `None` if no gain was ever
    /// measured.
    pub fn exchange(&self, page: Number) -> Option<f64> {
        self.all.changes.rate(self.pool(page).changes)
    }

    /// Returns the gain of a first copy per unit of importance. If no first copy was ever
    /// measured, returns that of changes, because a missing copy is as bad as an outdated one.
    pub fn first_exchange(&self, page: Number) -> Option<f64> {
        let firsts = self.all.firsts.rate(self.pool(page).firsts);
        firsts.or_else(|| self.exchange(page))
    }

    /// Returns the mean gain per second on the page's host, or on all pages if none was
    /// measured there. `None` if no gain was ever measured.
    pub fn per_second(&self, page: Number) -> Option<f64> {
        self.all.changes.mean()?;
        let host = self.pool(page);
        let pool = if host.seconds > 1.0 { host } else { self.all };
        (pool.seconds > 1.0).then(|| (pool.changes.gain / pool.seconds).max(0.0))
    }

    fn pool(&self, page: Number) -> GainPool {
        let pool = self.hosts.of(page, &self.pools);
        pool.copied().unwrap_or_default()
    }
}

impl Window {
    /// Reads the window of a history.
    pub fn of(history: &History) -> Self {
        let (mut gain, mut measured, mut changes) = (0.0, 0.0, 0.0);
        for visit in history.recent.iter().filter(|visit| visit.changed) {
            changes += 1.0;
            if let Some(given) = visit.gain {
                (gain, measured) = (gain + f64::from(given), measured + 1.0);
            }
        }
        Self {
            gain,
            changes: measured,
            share: if changes > 0.0 {
                measured / changes
            } else {
                1.0
            },
        }
    }

    /// Returns A, the gain of a change: `ΣΔQ_A/Σ(1 − e^{−λ·gap})` over the measured revisits,
    /// shrunk to `mean` with a pseudo-count of `strength` changes.
    ///
    /// A negative sum of gains counts as 0.
    pub fn amplitude(&self, history: &History, rate: f64, mean: f64, strength: f64) -> f64 {
        let each = history.recent.iter();
        let expected: f64 = each
            .map(|visit| -(-rate * f64::from(visit.gap)).exp_m1())
            .sum();
        (self.gain.max(0.0) + strength * mean) / (self.share * expected + strength)
    }

    /// Returns the total gap of its measured revisits, in seconds.
    pub fn seconds(&self, history: &History) -> f64 {
        let each = history.recent.iter();
        self.share * each.map(|visit| f64::from(visit.gap)).sum::<f64>()
    }
}

impl GainPool {
    fn of(history: &History, importance: f32) -> Self {
        let importance = f64::from(importance);
        let window = Window::of(history);
        let exchange = |gain, changes| GainSum {
            gain,
            changes,
            importance: importance * changes,
        };
        let first = history.first_gain;
        Self {
            changes: exchange(window.gain, window.changes),
            firsts: first.map_or_else(GainSum::default, |gain| exchange(f64::from(gain), 1.0)),
            seconds: window.seconds(history),
        }
    }

    fn replace(&mut self, before: &Self, after: &Self) {
        self.changes.replace(before.changes, after.changes);
        self.firsts.replace(before.firsts, after.firsts);
        self.seconds += after.seconds - before.seconds;
    }
}

impl GainSum {
    fn replace(&mut self, before: Self, after: Self) {
        self.gain += after.gain - before.gain;
        self.changes += after.changes - before.changes;
        self.importance += after.importance - before.importance;
    }

    /// Returns the gain per change; `None` if there is no gain.
    fn mean(self) -> Option<f64> {
        let some = self.changes > 0.5 && self.gain > 0.0;
        some.then(|| self.gain / self.changes)
    }

    /// Returns the gain per unit of importance on a host, shrunk to that of all pages; `None`
    /// if there is no gain.
    fn rate(self, host: Self) -> Option<f64> {
        self.mean()?;
        if self.importance <= 0.0 {
            return None;
        }
        let all = self.gain / self.importance;
        let weight = STRENGTH * self.importance / self.changes;
        Some(((host.gain + all * weight) / (host.importance + weight)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Moment, Outcome, Visit};

    const DAY: Duration = Duration::from_secs(86_400);

    /// Returns a page that was visited every day, with these gains. `None`: it changed and the
    /// gain was not measured.
    fn page(gains: &[Option<f32>]) -> History {
        let mut at = Moment::START + DAY;
        let first = History::discovered(Moment::START, 0);
        let first = first.after(Visit::new(at, Outcome::Changed)).gained(2.0);
        gains.iter().fold(first, |history, gain| {
            at = at + DAY;
            match gain {
                Some(0.0) => history.after(Visit::new(at, Outcome::Unchanged)),
                Some(gain) => history
                    .after(Visit::new(at, Outcome::Changed))
                    .gained(*gain),
                None => history.after(Visit::new(at, Outcome::Changed)),
            }
        })
    }

    fn observed(pages: &[(u32, &[Option<f32>], f64)]) -> Gains {
        let mut gains = Gains::default();
        for (number, &(host, visits, importance)) in (0..).zip(pages) {
            let page_number = Number(number);
            gains.discovered(&Discovered {
                page: page_number,
                url: "",
                host,
                depth: 0,
                seed: false,
                at: crate::Moment::START,
                appeared: None,
            });
            let visited = VisitFact {
                page: page_number,
                before: &History::discovered(Moment::START, 0),
                after: &page(visits),
            };
            gains.visited(&visited, importance);
        }
        gains
    }

    #[test]
    fn importance_is_exchanged_for_gains() {
        let gains = observed(&[
            (0, &[Some(6.0), Some(0.0), Some(6.0)], 3.0),
            (1, &[None, Some(1.0)], 1.0),
            (2, &[None, Some(0.0)], 1.0),
        ]);
        // Gains of changes: 12 for an importance of 6 on the first host, 1 for 1 on the second.
        // In all 13 for 7, with three changes.
        let all = 13.0 / 7.0;
        let weight = 0.25 * 7.0 / 3.0;
        let expected = [(12.0, 6.0), (1.0, 1.0), (0.0, 0.0)];
        for (number, (gain, importance)) in (0..).zip(expected) {
            let found = gains.exchange(Number(number)).unwrap();
            let expected = (gain + all * weight) / (importance + weight);
            assert!(
                (found - expected).abs() < 1e-9,
                "{number}: {found}, not {expected}"
            );
        }
        // Each first copy gained 2, for an importance of 3, 1 and 1.
        let found = gains.first_exchange(Number(9)).unwrap();
        assert!((found - 6.0 / 5.0).abs() < 1e-6, "{found}");
        // 12 in three days. The unmeasured change of the second page halves its observed time.
        let found = gains.per_second(Number(0)).unwrap() * 86_400.0;
        assert!((found - 4.0).abs() < 1e-6, "{found}");
        let found = gains.per_second(Number(1)).unwrap() * 86_400.0;
        assert!((found - 1.0).abs() < 1e-6, "{found}");
        assert_eq!(
            observed(&[(0, &[None, Some(0.0)], 1.0)]).exchange(Number(0)),
            None
        );
    }

    #[test]
    fn a_repeated_report_counts_once() {
        let mut gains = observed(&[(0, &[Some(6.0)], 3.0)]);
        let (before, after) = (page(&[Some(6.0)]), page(&[Some(6.0), Some(3.0)]));
        let visited = VisitFact {
            page: Number(0),
            before: &before,
            after: &after,
        };
        gains.visited(&visited, 5.0);
        let once = observed(&[(0, &[Some(6.0), Some(3.0)], 5.0)]);
        assert_eq!(gains.exchange(Number(0)), once.exchange(Number(0)));
    }

    #[test]
    fn few_gains_are_drawn_to_the_mean() {
        let rate = 1.0 / 86_400.0;
        let seen = -(-1.0_f64).exp_m1();
        for (visits, expected) in [
            (&[][..], 5.0),
            (&[Some(1.0)][..], (1.0 + 0.25 * 5.0) / (seen + 0.25)),
            (&[Some(-1.0)][..], 0.25 * 5.0 / (seen + 0.25)),
            (&[None][..], 5.0),
            (&[None, Some(1.0)][..], (1.0 + 0.25 * 5.0) / (seen + 0.25)),
        ] {
            let history = page(visits);
            let found = Window::of(&history).amplitude(&history, rate, 5.0, 0.25);
            assert!(
                (found - expected).abs() < 1e-9,
                "{visits:?}: {found}, not {expected}"
            );
        }
    }
}
