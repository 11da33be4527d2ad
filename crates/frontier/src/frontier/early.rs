//! Fetches pages before their time, when a fetch may be made and nothing that pays can be.
//!
//! These are the pages that will pay soonest, of those that nearly do. A new page may wait on the bench that paid when it
//! was discovered and does not at the price of today; there may be many, all that the first price let in.
//! **Invariant:** such a page is fetched only if no appointment that could be kept early is worth more. Else every pause
//! between two pages that pay would go to the worst of what is known, and the price would never learn that others were
//! nearly due.
//!
//! Appointments are looked at in groups, since a group costs a load of histories. The first page is the right one most of
//! the time, so groups are small. **Invariant:** the size of groups changes no choice.

use std::time::Duration;

use policy::{Moment, Policy, Worth};

use super::Frontier;
use super::returning::Returning;
use super::schedule::Tariff;
use crate::calendar::{Appointment, Why};

/// Appointments that are looked at before their time.
pub(super) const PULLS: usize = 16;
/// Appointments whose histories are loaded at once.
const GROUP: usize = 4;
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
        let known = self.pull_in_groups(GROUP, now);
        if known && let Tariff::Budget(spending) = &mut self.tariff {
            spending.looked_at.clear();
        }
        known
    }

    pub(super) fn pull_in_groups(&mut self, group: usize, now: Moment) -> bool {
        if self.spending().is_none() {
            return true;
        }
        let price = self.price();
        let mut ready = self.bench.ready(now);
        while !ready.is_some_and(|worth| worth.pays(price)) {
            match self.pull(group, now, ready) {
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
    fn pull(&mut self, group: usize, now: Moment, ready: Option<Worth>) -> Pulled {
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
        let share = rival.unwrap_or(NEARLY);
        let (mut pulled, mut again) = (Pulled::Nothing, Vec::new());
        while pulled == Pulled::Nothing {
            let first = self.first_due(group, &mut again);
            if first.is_empty() {
                break;
            }
            pulled = self.look_at(first, now, share);
        }
        self.set_back(again);
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

    /// Takes the first appointments with pages that are due and that this choice has not looked at. A look may have made
    /// a new appointment that comes sooner than others: it goes to `again`.
    fn first_due(&mut self, group: usize, again: &mut Vec<Appointment>) -> Vec<Appointment> {
        let Tariff::Budget(spending) = &self.tariff else {
            return Vec::new();
        };
        let looked_at = &spending.looked_at;
        let count = group.min(PULLS - looked_at.len());
        let mut first = Vec::with_capacity(count);
        while first.len() < count
            && let Some(appointment) = self.calendar.pop_due()
        {
            if looked_at.contains(&appointment.page) {
                again.push(appointment);
            } else {
                first.push(appointment);
            }
        }
        first
    }

    /// Looks at pages before their time, up to the first that is worth this share of the price.
    fn look_at(&mut self, first: Vec<Appointment>, now: Moment, share: f64) -> Pulled {
        if !self.want_absent(&first) {
            self.set_back(first);
            return Pulled::Unknown;
        }
        let mut first = first.into_iter();
        while let Some(appointment) = first.next() {
            let found = self.look(appointment, now, share);
            if let Tariff::Budget(spending) = &mut self.tariff {
                match found {
                    true => spending.looked_at.clear(),
                    false => spending.looked_at.push(appointment.page),
                }
            }
            if found {
                self.set_back(first);
                return Pulled::Page;
            }
        }
        Pulled::Nothing
    }

    fn set_back(&mut self, appointments: impl IntoIterator<Item = Appointment>) {
        for appointment in appointments {
            self.calendar.set(appointment, Why::Due);
        }
    }
}
