//! What is fetched before its time, when a fetch may be made and nothing that pays can be?
//!
//! The pages that will pay soonest, of those that nearly do. A new page may wait on the bench that paid when it was heard
//! of and does not at the price of today; there may be many, all that the first price let in. **Invariant:** such a page is fetched only if
//! no appointment that could be kept early is worth more. Else every pause between two pages that pay would go to the
//! worst of what is known, and the price would never learn that others were nearly due.

use std::time::Duration;

use policy::{Moment, Policy, Worth};

use super::Frontier;
use super::returning::Returning;
use super::schedule::Tariff;
use crate::calendar::Why;

/// Appointments that are looked at before their time.
const PULLS: usize = 16;
/// The share of the price that a page must be worth to be fetched before its time rather than nothing.
const NEARLY: f64 = 0.5;
/// While so many pages wait for their servers, no more are fetched before their time.
const ENOUGH: usize = 8;

/// What came of looking for a page that nearly pays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulled {
    /// It is on the bench.
    Page,
    /// There is none.
    Nothing,
    /// Histories that are wanted will tell.
    Unknown,
}

impl<P: Policy> Frontier<P> {
    /// Has something on the bench that is worth fetching now, if there is. Returns whether it is known by now what
    /// that is: else histories are wanted.
    pub(super) fn bring_forward(&mut self, now: Moment) -> bool {
        if self.spending().is_none() {
            return true;
        }
        let price = self.price();
        let mut ready = self.bench.ready(now);
        while !ready.is_some_and(|worth| worth.pays(price)) {
            match self.pull(now, ready) {
                Pulled::Nothing => return true,
                Pulled::Unknown => return false,
                Pulled::Page => {}
            }
            let before = ready;
            ready = self.bench.ready(now);
            if ready > before {
                break;
            }
            // Its server must wait; another's need not.
        }
        true
    }

    /// Keeps the first appointment that is worth more than the page that is `ready`, or nearly worth the price if none is.
    fn pull(&mut self, now: Moment, ready: Option<Worth>) -> Pulled {
        let waiting = match ready {
            // What waits beside it are such pages as well.
            Some(_) => self.returning().map_or(0, Returning::len),
            None => self.bench.waiting(),
        };
        let rests = self.spending().map(|spending| spending.rests);
        if rests.is_none_or(|rests| rests > now) || waiting >= ENOUGH {
            return Pulled::Nothing;
        }
        let rival = ready.map(|ready| ready.value() / self.price().value());
        let mut first = Vec::with_capacity(PULLS);
        first.extend(std::iter::from_fn(|| self.calendar.pop_due()).take(PULLS));
        let known = self.want_absent(&first);
        let mut first = first.into_iter();
        let mut pulled = if known {
            Pulled::Nothing
        } else {
            Pulled::Unknown
        };
        if known {
            for appointment in first.by_ref() {
                if self.look(appointment, now, rival.unwrap_or(NEARLY)) {
                    pulled = Pulled::Page;
                    break;
                }
            }
        }
        // These are not looked at now.
        first.for_each(|appointment| self.calendar.set(appointment, Why::Due));
        if pulled != Pulled::Nothing {
            return pulled;
        }
        let known = self.known();
        if let Tariff::Budget(spending) = &mut self.tariff {
            if ready.is_none() {
                spending.follower.idle(known);
            }
            let rest = Duration::from_secs_f64(1.0 / spending.per_second);
            spending.rests = now + rest;
        }
        Pulled::Nothing
    }
}
