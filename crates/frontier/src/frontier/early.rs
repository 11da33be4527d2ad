//! What is fetched before its time, when a fetch may be made and nothing that pays can be?
//!
//! The pages that will pay soonest, of those that nearly do. A new page may wait on the bench that paid when it was heard
//! of and does not at the price of today; there may be many, all that the first price let in. **Invariant:** such a page is fetched only if
//! no appointment that could be kept early is worth more. Else every pause between two pages that pay would go to the
//! worst of what is known, and the price would never learn that others were nearly due.

use std::time::Duration;

use policy::{History, Moment, Number, Policy, Worth};

use super::Frontier;
use super::returning::Returning;
use super::schedule::Tariff;
use crate::ledger::PageKey;

/// Appointments that are looked at before their time.
const PULLS: usize = 16;
/// The share of the price that a page must be worth to be fetched before its time rather than nothing.
const NEARLY: f64 = 0.5;
/// While so many pages wait for their servers, no more are fetched before their time.
const ENOUGH: usize = 8;

impl<P: Policy> Frontier<P> {
    /// Has something on the bench that is worth fetching now, if there is.
    pub(super) fn bring_forward(
        &mut self,
        now: Moment,
        past: &mut impl FnMut(Number, PageKey) -> Option<History>,
    ) {
        if self.spending().is_none() {
            return;
        }
        let price = self.price();
        let mut ready = self.bench.ready(now);
        while !ready.is_some_and(|worth| worth.pays(price)) && self.pull(now, ready, past) {
            let before = ready;
            ready = self.bench.ready(now);
            if ready > before {
                return;
            }
            // Its server must wait; another's need not.
        }
    }

    /// Keeps the first appointment that is worth more than the page that is `ready`, or nearly worth the price if none is.
    /// Returns whether there was one.
    fn pull(
        &mut self,
        now: Moment,
        ready: Option<Worth>,
        past: &mut impl FnMut(Number, PageKey) -> Option<History>,
    ) -> bool {
        let waiting = match ready {
            // What waits beside it are such pages as well.
            Some(_) => self.returning().map_or(0, Returning::len),
            None => self.bench.waiting(),
        };
        let rests = self.spending().map(|spending| spending.rests);
        if rests.is_none_or(|rests| rests > now) || waiting >= ENOUGH {
            return false;
        }
        let rival = ready.map(|ready| ready.value() / self.price().value());
        for _ in 0..PULLS {
            let Some(first) = self.calendar.pop_due() else {
                break;
            };
            if self.look(first, now, rival.unwrap_or(NEARLY), past) {
                return true;
            }
        }
        let known = self.known();
        if let Tariff::Budget(spending) = &mut self.tariff {
            if ready.is_none() {
                spending.follower.idle(known);
            }
            let rest = Duration::from_secs_f64(1.0 / spending.per_second);
            spending.rests = now + rest;
        }
        false
    }
}
