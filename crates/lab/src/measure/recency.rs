//! Recency of the copies of living pages, averaged over time.
//!
//! [`Recency`] measures three quantities of Baldi, Frasconi & Smyth, "Modeling the Internet and
//! the Web" (2003), §6.4, averaged over time and over the pages that exist. *Freshness* is the
//! share of pages that have not changed since the visit that made the copy. *β-currency* is the
//! share of pages that did not change between that visit and β ago. *Age* is the time since the
//! first change that the copy does not show, and 0 if it is fresh.
//!
//! A birth counts as a change: until its first visit, a page is stale since its birth. A return
//! to an earlier text counts, too: the definitions ask whether the page has changed, not whether
//! the copy happens to be right again. Pages do not count while they are gone.
//!
//! **Invariant:** results are exact, not sampled. Sums are of whole microseconds, so the order
//! of the pages does not matter.

use std::time::Duration;

use policy::Moment;

use crate::kinds::Change;

/// Sums over pages and time, in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recency {
    from: u64,
    until: u64,
    /// Each β, with the total time for which copies were β-current.
    graces: Vec<(u64, u128)>,
    alive: u128,
    fresh: u128,
    /// Twice the integral of age, in microseconds squared.
    age: u128,
}

impl Recency {
    /// Creates empty sums for the time between `from` and `until`, with these grace periods.
    pub fn new(from: Moment, until: Moment, graces: &[Duration]) -> Self {
        let graces = graces.iter().map(|grace| (micros(*grace), 0));
        Self {
            from: from.micros(),
            until: until.micros(),
            graces: graces.collect(),
            alive: 0,
            fresh: 0,
            age: 0,
        }
    }

    /// Adds the time of a page from `visit` to `next`, which is the next visit or the end of the
    /// observation.
    ///
    /// `visit` is `None` for the time before the first visit.
    pub fn account(&mut self, changes: &[Change], visit: Option<Moment>, next: Moment) {
        let past = visit.map_or(0, |visit| {
            changes.partition_point(|change| change.at <= visit)
        });
        let mut began = visit.map_or(0, Moment::micros);
        let mut lives = past > 0 && changes[past - 1].text.is_some();
        let stale = changes
            .get(past)
            .map_or(u64::MAX, |first| first.at.micros());
        for change in &changes[past..] {
            if change.at >= next {
                break;
            }
            if lives {
                self.add(began, change.at.micros(), stale);
            }
            (began, lives) = (change.at.micros(), change.text.is_some());
        }
        if lives {
            self.add(began, next.micros(), stale);
        }
    }

    /// Adds a period in which a page existed and its copy was stale from `stale` on.
    fn add(&mut self, began: u64, ended: u64, stale: u64) {
        let (began, ended) = (began.max(self.from), ended.min(self.until));
        if began >= ended {
            return;
        }
        let before = |moment: u64| u128::from(ended.min(moment).saturating_sub(began));
        self.alive += u128::from(ended - began);
        self.fresh += before(stale);
        for (grace, current) in &mut self.graces {
            *current += before(stale.saturating_add(*grace));
        }
        let square = |moment: u64| u128::from(moment.saturating_sub(stale)).pow(2);
        self.age += square(ended) - square(began);
    }

    /// Returns the share of existing pages whose copy was fresh; NaN if no page existed.
    pub fn freshness(&self) -> f64 {
        self.fresh as f64 / self.alive as f64
    }

    /// Returns the share of existing pages whose copy was β-current, for each β in the order given.
    pub fn currency(&self) -> impl Iterator<Item = f64> {
        let shares = self.graces.iter();
        shares.map(|(_, current)| *current as f64 / self.alive as f64)
    }

    /// Returns the mean age of copies, in days.
    pub fn age_days(&self) -> f64 {
        const MICROS_A_DAY: f64 = 86_400e6;
        self.age as f64 / 2.0 / self.alive as f64 / MICROS_A_DAY
    }

    /// Returns the number of existing pages, averaged over the time.
    pub fn pages(&self) -> f64 {
        self.alive as f64 / self.until.saturating_sub(self.from) as f64
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 86_400_000_000;

    fn day(number: u64) -> Moment {
        Moment::from_micros(number * DAY)
    }

    fn changes(all: &[(u64, Option<u64>)]) -> Vec<Change> {
        let change = |&(at, text)| Change { at: day(at), text };
        all.iter().map(change).collect()
    }

    fn recency(until: u64, grace: u64) -> Recency {
        Recency::new(day(0), day(until), &[Duration::from_micros(grace * DAY)])
    }

    fn found(recency: &Recency) -> [f64; 4] {
        let current = recency.currency().next().unwrap();
        [
            recency.pages(),
            recency.freshness(),
            current,
            recency.age_days(),
        ]
    }

    #[test]
    fn freshness_currency_and_age_agree_with_hand_calculation() {
        // Born on day 0, changed on 2 and 3, gone from 6 to 8, back; visited on 0 and 9, watched
        // to 10.
        let page = changes(&[
            (0, Some(1)),
            (2, Some(2)),
            (3, Some(3)),
            (6, None),
            (8, Some(3)),
        ]);
        let mut sums = recency(10, 3);
        sums.account(&page, Some(day(0)), day(9));
        sums.account(&page, Some(day(9)), day(10));
        // Exists for 8 days; fresh on 0-2 and 9-10; current on 0-5 and 9-10; age 0..4 on 2-6 and
        // 6..7 on 8-9.
        assert_eq!(found(&sums), [0.8, 3.0 / 8.0, 6.0 / 8.0, (8.0 + 6.5) / 8.0]);
    }

    #[test]
    fn an_unvisited_page_is_stale_since_its_birth() {
        let page = changes(&[(4, Some(1))]);
        let mut sums = recency(10, 1);
        sums.account(&page, None, day(10));
        assert_eq!(found(&sums), [0.6, 0.0, 1.0 / 6.0, 3.0]);
        let mut nothing = recency(10, 1);
        nothing.account(&[], None, day(10));
        assert!(nothing.freshness().is_nan() && nothing.pages() == 0.0);
    }

    #[test]
    fn a_visit_in_the_moment_of_a_change_sees_it() {
        let page = changes(&[(0, Some(1)), (5, Some(2))]);
        let mut sums = recency(10, 1);
        sums.account(&page, Some(day(0)), day(5));
        sums.account(&page, Some(day(5)), day(10));
        assert_eq!(found(&sums), [1.0, 1.0, 1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn sums_agree_with_an_observation_every_day(
            times in prop::collection::btree_set(0u64..60, 1..9),
            deaths in prop::collection::vec(any::<bool>(), 9),
            visits in prop::collection::btree_set(0u64..60, 0..6),
            grace in 0u64..20,
            (from, until) in (0u64..30, 31u64..60),
        ) {
            let gone = |n: usize| n > 0 && deaths[n] && !deaths[n - 1];
            let all: Vec<_> = times.iter().enumerate().map(|(n, &at)| (at, (!gone(n)).then_some(n as u64))).collect();
            let page = changes(&all);
            let mut sums = Recency::new(day(from), day(until), &[Duration::from_micros(grace * DAY)]);
            let mut last = None;
            for next in visits.iter().map(|&visit| Some(visit)).chain([None]) {
                sums.account(&page, last.map(day), next.map_or(day(60), day));
                last = next;
            }
            // All events are at midnight, so that each noon represents its day.
            let (mut alive, mut fresh, mut current, mut age) = (0.0, 0.0, 0.0, 0.0);
            for noon in from..until {
                let shows = times.iter().rposition(|&at| at <= noon);
                if shows.is_none_or(gone) {
                    continue;
                }
                let visit = visits.iter().rfind(|&&visit| visit <= noon);
                let stale = times.iter().find(|&&at| visit.is_none_or(|&visit| at > visit) && at <= noon);
                alive += 1.0;
                fresh += f64::from(u8::from(stale.is_none()));
                current += f64::from(u8::from(stale.is_none_or(|&stale| stale + grace > noon)));
                age += stale.map_or(0.0, |&stale| (noon - stale) as f64 + 0.5);
            }
            let expected = [alive / (until - from) as f64, fresh / alive, current / alive, age / alive];
            for (found, expected) in found(&sums).into_iter().zip(expected) {
                prop_assert!((found - expected).abs() < 1e-9 || (found.is_nan() && expected.is_nan()), "{:?}", expected);
            }
        }
    }
}
