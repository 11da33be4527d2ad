//! Follows the price: the worth that a fetch must have so that the budget is just spent.
//!
//! The price ω (docs/science/theory.md, §1) is the worth of the marginal fetch. Sixteen times
//! per round it is [computed](PriceTracker::found) on a sample of pages. In between, each claim
//! moves it by a small step:
//!
//! - ω falls if the claimed page is worth less than ω, or if no other waiting page is worth ω.
//! - ω rises if the claimed page and another waiting page are both worth ω.
//!
//! A step never passes the worth that ω was compared with. Its size is inversely proportional
//! to the number of known pages, so that the set of due pages follows ω smoothly.

use policy::{Price, Worth};

/// The smallest step, in units of ln ω. Crawls of 20,000 pages or more use it.
const LEAST: f64 = 1e-4;
/// The largest step, in units of ln ω. Crawls of at most 20 pages use it.
const LARGEST: f64 = 0.1;
/// Sum of the steps while each known page is claimed once, in units of ln ω, if steps are between
/// the smallest and the largest.
const PER_ROUND: f64 = 2.0;
/// Largest accepted ratio between the tracked price and the price of the sample, in either
/// direction. Up to this ratio the tracked price is kept: it may differ for good reasons, such as
/// slow servers or pages that fall due in bursts.
const FAR: f64 = 4.0;
/// Number of downward steps when a fetch was allowed and no page was worth the price. Our choice:
/// one lost fetch counts as much as 16 waiting pages.
const IDLE: u32 = 16;
/// The first price, as a share of the worth of the first claimed page, if no sample gave a price
/// before.
const BEGINNING: f64 = 0.5;

/// The price of a frontier under a budget; `None` before the first claim or sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct PriceTracker(Option<Price>);

impl PriceTracker {
    /// Returns a tracker that starts at a price.
    pub fn at(price: Price) -> Self {
        Self(Some(price))
    }

    /// Returns the price; before the first claim or sample, the lowest price, at which every page
    /// is fetched.
    pub fn price(&self) -> Price {
        self.0.unwrap_or(Price::LEAST)
    }

    /// Replaces the price by the price of the sample, unless their ratio is at most [`FAR`] in
    /// either direction.
    pub fn found(&mut self, price: Price) {
        let near = |ours: &Price| {
            let ratio = ours.value() / price.value();
            (1.0 / FAR..=FAR).contains(&ratio)
        };
        self.0 = self.0.filter(near).or(Some(price));
    }

    /// Adjusts the price to a claim of a page with this worth. `next` is the worth of the best
    /// other waiting page; `known` is the number of known pages.
    pub fn claimed(&mut self, worth: Worth, next: Option<Worth>, known: usize) {
        let Some(price) = self.0 else {
            self.0 = Price::new(worth.value() * BEGINNING);
            return;
        };
        let next = next.filter(|next| next.pays(price));
        match next {
            _ if !worth.pays(price) => self.fall(worth.value(), known),
            Some(next) => {
                let most = next.value().max(price.value());
                self.0 = Price::new((price.value() * step(known).exp()).min(most));
            }
            None => self.fall(0.0, known),
        }
    }

    /// Lowers the price because a fetch was allowed and no page was worth the price. That fetch is
    /// lost, while a waiting page is only late. So the price falls further than it rises for a
    /// waiting page, and some pages wait.
    pub fn idle(&mut self, known: usize) {
        (0..IDLE).for_each(|_| self.fall(0.0, known));
    }

    /// Lowers the price by one step, but not below `least`.
    fn fall(&mut self, least: f64, known: usize) {
        let lower = |price: Price| (price.value() * (-step(known)).exp()).max(least);
        self.0 = self
            .0
            .and_then(|price| Price::new(lower(price)).or(Some(price)));
    }
}

/// Returns the size of a step for this number of known pages, in units of ln ω.
fn step(known: usize) -> f64 {
    (PER_ROUND / known.max(1) as f64).clamp(LEAST, LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates pages whose worth grows by one per day, with a fetch every `1/budget` days.
    /// The price that just spends the budget is `pages / budget`.
    fn settled(pages: usize, budget: f64, start: f64) -> f64 {
        let mut tracker = PriceTracker(Price::new(start));
        let mut asked: std::collections::VecDeque<f64> =
            (0..pages).map(|page| -(page as f64)).rev().collect();
        let mut sum = 0.0;
        let rounds = 40 * pages;
        for fetch in 0..rounds {
            let now = fetch as f64 / budget;
            let oldest = asked.pop_front().unwrap_or(now);
            asked.push_back(now);
            let next = asked.front().map(|asked| Worth::new(now - asked));
            tracker.claimed(Worth::new(now - oldest), next, pages);
            if fetch >= rounds / 2 {
                sum += tracker.price().value();
            }
        }
        sum / (rounds - rounds / 2) as f64
    }

    #[test]
    fn the_price_converges_to_the_one_that_just_spends_the_budget() {
        for (pages, budget) in [(100, 10.0), (1000, 3.0), (2000, 400.0)] {
            let right = pages as f64 / budget;
            for start in [right, right * 100.0, right / 100.0] {
                let found = settled(pages, budget, start) / right;
                assert!(
                    (0.9..1.1).contains(&found),
                    "{pages} pages, from {start}: {found}"
                );
            }
        }
    }

    #[test]
    fn the_first_claim_sets_the_price_and_a_distant_sample_replaces_it() {
        let mut tracker = PriceTracker::default();
        tracker.idle(10);
        assert_eq!(tracker.price(), Price::LEAST);
        tracker.claimed(Worth::new(8.0), None, 10);
        assert_eq!(tracker.price().value(), 4.0);
        tracker.claimed(Worth::new(1.0), Some(Worth::new(9.0)), 10);
        let fallen = tracker.price().value();
        assert!(fallen < 4.0, "the claimed page did not pay");
        tracker.found(Price::new(fallen * 3.9).unwrap());
        assert_eq!(tracker.price().value(), fallen, "near enough");
        tracker.found(Price::new(fallen * 4.1).unwrap());
        assert_eq!(tracker.price().value(), fallen * 4.1);
    }

    #[test]
    fn a_fetch_that_nothing_paid_for_lowers_the_price_further_than_a_claim() {
        let at = || PriceTracker::at(Price::new(4.0).unwrap());
        let (mut idle, mut claimed) = (at(), at());
        idle.idle(100);
        claimed.claimed(Worth::new(5.0), None, 100);
        assert!(idle.price().value() < claimed.price().value());
        assert!(claimed.price().value() < 4.0, "nothing else waits");
    }
}
