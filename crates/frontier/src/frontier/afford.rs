//! What does another budget change, while a crawl goes on?
//!
//! The price: it is found anew on the sample, since the one that was followed is that of another budget. And the round: where it has become
//! shorter, appointments come nearer in proportion. **Invariant:** every page is still looked at once a round, and what waits on the bench stays there.

use policy::{History, Moment, Number, Policy};

use super::Frontier;
use super::schedule::{Tariff, affordable};
use crate::ledger::PageKey;
use crate::price::Follower;

impl<P: Policy> Frontier<P> {
    /// From now on there are so many fetches a second. Nothing happens to a frontier without a budget.
    pub fn afford(
        &mut self,
        per_second: f64,
        now: Moment,
        mut past: impl FnMut(Number, PageKey) -> Option<History>,
    ) {
        let Tariff::Budget(spending) = &mut self.tariff else {
            return;
        };
        let before = spending.per_second;
        spending.per_second = affordable(per_second);
        // A rest was as long as a fetch of the other budget takes to be earned.
        (spending.rests, spending.asks) = (now, now);
        let share = before / spending.per_second;
        if share < 1.0 {
            self.calendar.hasten(now, share);
        }
        let found = self.sampled_price(now, &mut past);
        if let (Tariff::Budget(spending), Some(price)) = (&mut self.tariff, found) {
            spending.follower = Follower::at(price);
        }
    }
}
