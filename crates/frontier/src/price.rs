//! What must a fetch be worth, so that the budget is just spent?
//!
//! The price ω of theory's §1 is the worth of the marginal fetch. It is [found](Follower::found) on a sample of the
//! pages now and then, and followed in between: each claim moves it a little. If the page that was claimed
//! is worth less than ω, or nothing else that pays waits, ω falls; if others that pay wait, it rises; never beyond the
//! worth that it was held against. Steps are small against the number of pages, so that what falls due at
//! ω is what should.

use policy::{Price, Worth};

/// The least step, as a share.
const LEAST: f64 = 1e-4;
/// The largest step: a tenth moves the price of the smallest crawls fast enough.
const LARGEST: f64 = 0.1;
/// Over a round of all pages the price can change by so many powers of e.
const PER_ROUND: f64 = 2.0;
/// A price that is off by more than this factor from what the sample says is not followed further. It may be off for good
/// reasons: servers that cannot be asked more often, pages that fall due in bursts.
const FAR: f64 = 4.0;
/// Steps down for a fetch that could not be made: so many waiting pages are as bad as one lost fetch.
const IDLE: u32 = 16;
/// The first price, as a share of the first page's worth.
const BEGINNING: f64 = 0.5;

/// A price that follows a budget.
#[derive(Debug, Clone, Default)]
pub(crate) struct Follower(Option<Price>);

impl Follower {
    /// One that begins at a price.
    pub fn at(price: Price) -> Self {
        Self(Some(price))
    }

    /// The price now; before the first claim everything pays.
    pub fn price(&self) -> Price {
        self.0.unwrap_or(Price::LEAST)
    }

    /// A sample of the pages says that this would spend the budget.
    pub fn found(&mut self, price: Price) {
        let near = |ours: &Price| {
            let ratio = ours.value() / price.value();
            (1.0 / FAR..=FAR).contains(&ratio)
        };
        self.0 = self.0.filter(near).or(Some(price));
    }

    /// A page of this worth was claimed, one of `known`; `next` is the best that waits beside it.
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

    /// A fetch could have been made, and nothing paid. It is lost, while a page that waits is only late: the price
    /// falls further than it rises for one that waits, so that some do.
    pub fn idle(&mut self, known: usize) {
        (0..IDLE).for_each(|_| self.fall(0.0, known));
    }

    /// Lowers the price, though not below this.
    fn fall(&mut self, least: f64, known: usize) {
        let lower = |price: Price| (price.value() * (-step(known)).exp()).max(least);
        self.0 = self
            .0
            .and_then(|price| Price::new(lower(price)).or(Some(price)));
    }
}

/// How far to go.
fn step(known: usize) -> f64 {
    (PER_ROUND / known.max(1) as f64).clamp(LEAST, LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages whose worth grows by one a day, a fetch every `1/budget` days: the price that just spends the
    /// budget is `pages / budget`.
    fn settled(pages: usize, budget: f64, start: f64) -> f64 {
        let mut follower = Follower(Price::new(start));
        let mut asked: std::collections::VecDeque<f64> =
            (0..pages).map(|page| -(page as f64)).rev().collect();
        let mut sum = 0.0;
        let rounds = 40 * pages;
        for fetch in 0..rounds {
            let now = fetch as f64 / budget;
            let oldest = asked.pop_front().unwrap_or(now);
            asked.push_back(now);
            let next = asked.front().map(|asked| Worth::new(now - asked));
            follower.claimed(Worth::new(now - oldest), next, pages);
            if fetch >= rounds / 2 {
                sum += follower.price().value();
            }
        }
        sum / (rounds - rounds / 2) as f64
    }

    #[test]
    fn the_price_finds_what_the_budget_can_pay() {
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
    fn the_first_claim_says_where_to_begin_and_a_sample_where_to_be() {
        let mut follower = Follower::default();
        follower.idle(10);
        assert_eq!(follower.price(), Price::LEAST);
        follower.claimed(Worth::new(8.0), None, 10);
        assert_eq!(follower.price().value(), 4.0);
        follower.claimed(Worth::new(1.0), Some(Worth::new(9.0)), 10);
        let fallen = follower.price().value();
        assert!(fallen < 4.0, "the claimed one did not pay");
        follower.found(Price::new(fallen * 3.9).unwrap());
        assert_eq!(follower.price().value(), fallen, "near enough");
        follower.found(Price::new(fallen * 4.1).unwrap());
        assert_eq!(follower.price().value(), fallen * 4.1);
    }

    #[test]
    fn a_fetch_that_nothing_paid_for_lowers_the_price_further_than_a_claim() {
        let at = || Follower::at(Price::new(4.0).unwrap());
        let (mut idle, mut claimed) = (at(), at());
        idle.idle(100);
        claimed.claimed(Worth::new(5.0), None, 100);
        assert!(idle.price().value() < claimed.price().value());
        assert!(claimed.price().value() < 4.0, "nothing else waits");
    }
}
