//! What do searchers gain when a page that changed is fetched again?
//!
//! Pandey & Olston (2005) measure ΔQ_A at each refresh. If a copy that is out of date costs `A` a second, and one that is not
//! costs nothing, the gain of a refresh that found a change is `A`. **Invariant:** all sums are over the windows of
//! histories, each change with its page's importance at its last visit.

mod consistency;

use super::{Column, Hosts};
use crate::{Discovered, History, Number, Visited};
use consistency::Consistency;

/// Changes that the mean of all hosts counts as much as for one of them. Little: a host has many.
const STRENGTH: f64 = 0.25;

/// What was gained on all pages.
#[derive(Debug, Clone, Default)]
pub struct Gains {
    hosts: Hosts,
    pools: Vec<Pool>,
    all: Pool,
    consistency: Consistency,
    /// What pages' changes were weighted with.
    importance: Column<f32>,
}

/// What was gained, over so much importance: that of a page for each change or each first copy.
#[derive(Debug, Clone, Copy, Default)]
struct Exchange {
    gain: f64,
    changes: f64,
    importance: f64,
}

/// Sums over pages.
#[derive(Debug, Clone, Copy, Default)]
struct Pool {
    changes: Exchange,
    firsts: Exchange,
    /// Seconds of the revisits whose gain was measured.
    seconds: f64,
}

/// What the window of one page says.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// ΣΔQ_A, not below zero.
    pub gain: f64,
    /// Changes whose gain was measured.
    changes: f64,
    /// Of all its changes this share was measured; a change of unknown gain must not count as quiet.
    share: f64,
}

impl Gains {
    /// Takes note of a page.
    pub fn discovered(&mut self, discovered: &Discovered<'_>) {
        self.hosts.add(discovered);
    }

    /// Takes in what visits gave to a page of this importance.
    pub fn visited(&mut self, visited: &Visited<'_>, importance: f64) {
        let importance = importance as f32;
        let (page, before) = (visited.page, self.importance.get(visited.page));
        self.importance.add(page, importance);
        if let Some(last) = self.importance.get_mut(page) {
            *last = importance;
        }
        let before = before.map(|weight| Pool::of(visited.before, weight));
        let (before, after) = (
            before.unwrap_or_default(),
            Pool::of(visited.after, importance),
        );
        self.all.replace(&before, &after);
        let [known, known_now] = [visited.before, visited.after].map(Consistency::of);
        self.consistency.replace(&known, &known_now);
        if let Some(pool) = self.hosts.of_mut(page, &mut self.pools) {
            pool.replace(&before, &after);
        }
    }

    /// What a change is worth, on average over the changes of its host; `None` if nothing was ever gained.
    pub fn mean(&self, page: Number) -> Option<f64> {
        let all = self.all.changes.mean()?;
        let host = self.pool(page).changes;
        Some(((host.gain + STRENGTH * all) / (host.changes + STRENGTH)).max(0.0))
    }

    /// Changes that what is foretold of a page counts as much as, beside those that were seen of it.
    pub fn strength(&self) -> f64 {
        self.consistency.strength()
    }

    /// κ, what a change is worth by unit of importance; `None` if nothing was ever gained.
    pub fn exchange(&self, page: Number) -> Option<f64> {
        self.all.changes.rate(self.pool(page).changes)
    }

    /// The same of first copies; of changes, if no first copy was ever measured: a page that is not there is wrong.
    pub fn first_exchange(&self, page: Number) -> Option<f64> {
        let firsts = self.all.firsts.rate(self.pool(page).firsts);
        firsts.or_else(|| self.exchange(page))
    }

    /// What is gained a second, on average over the pages of its host, or of all if none was measured there; `None` if
    /// nothing was ever gained.
    pub fn per_second(&self, page: Number) -> Option<f64> {
        self.all.changes.mean()?;
        let host = self.pool(page);
        let pool = if host.seconds > 1.0 { host } else { self.all };
        (pool.seconds > 1.0).then(|| (pool.changes.gain / pool.seconds).max(0.0))
    }

    fn pool(&self, page: Number) -> Pool {
        let pool = self.hosts.of(page, &self.pools);
        pool.copied().unwrap_or_default()
    }
}

impl Window {
    /// Reads a history.
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

    /// A, what a change is worth: `ΣΔQ_A/Σ(1 − e^{−λ·gap})` over the measured revisits, drawn to `mean` as if so many more
    /// had given that.
    ///
    /// What was lost by a refresh is nothing gained: no page is worth less than one whose changes all gave nothing.
    pub fn amplitude(&self, history: &History, rate: f64, mean: f64, strength: f64) -> f64 {
        let each = history.recent.iter();
        let expected: f64 = each
            .map(|visit| -(-rate * f64::from(visit.gap)).exp_m1())
            .sum();
        (self.gain.max(0.0) + strength * mean) / (self.share * expected + strength)
    }

    /// Seconds of its measured revisits.
    pub fn seconds(&self, history: &History) -> f64 {
        let each = history.recent.iter();
        self.share * each.map(|visit| f64::from(visit.gap)).sum::<f64>()
    }
}

impl Pool {
    fn of(history: &History, importance: f32) -> Self {
        let importance = f64::from(importance);
        let window = Window::of(history);
        let exchange = |gain, changes| Exchange {
            gain,
            changes,
            importance: importance * changes,
        };
        let first = history.first_gain;
        Self {
            changes: exchange(window.gain, window.changes),
            firsts: first.map_or_else(Exchange::default, |gain| exchange(f64::from(gain), 1.0)),
            seconds: window.seconds(history),
        }
    }

    fn replace(&mut self, before: &Self, after: &Self) {
        self.changes.replace(before.changes, after.changes);
        self.firsts.replace(before.firsts, after.firsts);
        self.seconds += after.seconds - before.seconds;
    }
}

impl Exchange {
    fn replace(&mut self, before: Self, after: Self) {
        self.gain += after.gain - before.gain;
        self.changes += after.changes - before.changes;
        self.importance += after.importance - before.importance;
    }

    /// Gain by change; `None` if there is none.
    fn mean(self) -> Option<f64> {
        let some = self.changes > 0.5 && self.gain > 0.0;
        some.then(|| self.gain / self.changes)
    }

    /// Gain by importance on a host, drawn to this of all; `None` if there is none.
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

    /// A page that was visited every day and gave this; `None`: it changed and nobody measured.
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

    fn told(pages: &[(u32, &[Option<f32>], f64)]) -> Gains {
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
            let visited = Visited {
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
        let gains = told(&[
            (0, &[Some(6.0), Some(0.0), Some(6.0)], 3.0),
            (1, &[None, Some(1.0)], 1.0),
            (2, &[None, Some(0.0)], 1.0),
        ]);
        // Changes: 12 for 6 on the first host, 1 for 1 on the second; 13 for 7 in all, three changes.
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
        // 2 by first copy: for 3, 1 and 1.
        let found = gains.first_exchange(Number(9)).unwrap();
        assert!((found - 6.0 / 5.0).abs() < 1e-6, "{found}");
        // 12 in three days; the second page's unmeasured change takes half of its time away.
        let found = gains.per_second(Number(0)).unwrap() * 86_400.0;
        assert!((found - 4.0).abs() < 1e-6, "{found}");
        let found = gains.per_second(Number(1)).unwrap() * 86_400.0;
        assert!((found - 1.0).abs() < 1e-6, "{found}");
        assert_eq!(
            told(&[(0, &[None, Some(0.0)], 1.0)]).exchange(Number(0)),
            None
        );
    }

    #[test]
    fn what_is_told_twice_counts_once() {
        let mut gains = told(&[(0, &[Some(6.0)], 3.0)]);
        let (before, after) = (page(&[Some(6.0)]), page(&[Some(6.0), Some(3.0)]));
        let visited = Visited {
            page: Number(0),
            before: &before,
            after: &after,
        };
        gains.visited(&visited, 5.0);
        let once = told(&[(0, &[Some(6.0), Some(3.0)], 5.0)]);
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
