//! Fetches pages before they are due, when the budget allows a fetch and no page that is worth the
//! price can be fetched.
//!
//! The frontier then takes the pages that will be due soonest, if they are worth at least half of
//! the price. The bench may also hold new pages that were worth the price when they were
//! discovered and are not now. There may be many such pages, because the first price is low.
//!
//! Appointments are examined in groups, because each group needs one load of histories. Mostly
//! the first page is fetched, so groups are small.
//!
//! **Invariant:** a page on the bench that is not worth the price is fetched only if none of the
//! examined appointments is worth as much. Otherwise, whenever no page is worth the price for a
//! moment, the fetch would go to one of the worst known pages, and the price would not react to
//! pages that are nearly due.
//!
//! **Invariant:** the size of the groups changes no choice.

use std::time::Duration;

use policy::{Moment, Policy, Worth};

use super::Frontier;
use super::revaluation::RevaluationQueue;
use super::schedule::PriceRule;
use crate::calendar::{Appointment, AppointmentKind};

/// Maximum number of appointments that are examined early without finding a page to fetch.
pub(super) const PULLS: usize = 16;
/// Number of appointments whose histories are loaded at once.
const GROUP: usize = 4;
/// Minimum worth of a page that is fetched early, as a share of the price. It applies if no ready
/// server has a page on the bench.
const NEARLY: f64 = 0.5;
/// No page is fetched early while this number of pages or more wait on the bench. If a ready server
/// has a page below the price, only visited pages count.
const ENOUGH: usize = 8;

/// Result of a search for a page to fetch early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pulled {
    /// A page was put on the bench.
    Page,
    /// No page is worth an early fetch.
    Nothing,
    /// Not known until missing histories are loaded.
    Unknown,
}

impl<P: Policy> Frontier<P> {
    /// Puts pages on the bench that are to be fetched early, until a ready server has one. Does
    /// nothing without a budget, or if a ready server already has a page that is worth the price.
    /// Returns `false` if histories must be loaded first.
    pub(super) fn bring_forward(&mut self, now: Moment) -> bool {
        let known = self.pull_in_groups(GROUP, now);
        if known && let PriceRule::Budget(spending) = &mut self.price_rule {
            spending.looked_at.clear();
        }
        known
    }

    /// Does the work of [`bring_forward`](Self::bring_forward) with groups of this size.
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
            // The server of the page that was put on the bench is not ready. The server of
            // another page may be.
        }
        true
    }

    /// Finds the first page that is worth at least `ready`, and puts it on the bench. `ready` is
    /// the worth of the best page of a ready server. If no server is ready, the page must be worth
    /// at least half of the price.
    fn pull(&mut self, group: usize, now: Moment, ready: Option<Worth>) -> Pulled {
        let waiting = match ready {
            // The other new pages on the bench are not worth the price either, so they do not
            // count.
            Some(_) => self.revisits().map_or(0, RevaluationQueue::len),
            None => self.bench.waiting(),
        };
        let early_from = self.spending().map(|spending| spending.early_from);
        if early_from.is_none_or(|early_from| early_from > now) || waiting >= ENOUGH {
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
        if let PriceRule::Budget(spending) = &mut self.price_rule {
            if ready.is_none() {
                spending.tracker.idle(known);
            }
            let rest = Duration::from_secs_f64(1.0 / spending.per_second);
            spending.early_from = now + rest;
        }
        Pulled::Nothing
    }

    /// Takes up to `group` appointments, the soonest first, of pages that this choice has not
    /// examined yet. Moves appointments of pages that it has examined to `again`.
    fn first_due(&mut self, group: usize, again: &mut Vec<Appointment>) -> Vec<Appointment> {
        let PriceRule::Budget(spending) = &self.price_rule else {
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

    /// Examines pages early, up to the first that is worth this share of the price.
    fn look_at(&mut self, first: Vec<Appointment>, now: Moment, share: f64) -> Pulled {
        if !self.request_missing(&first) {
            self.set_back(first);
            return Pulled::Unknown;
        }
        let mut first = first.into_iter();
        while let Some(appointment) = first.next() {
            let found = self.look(appointment, now, share);
            if let PriceRule::Budget(spending) = &mut self.price_rule {
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
            self.calendar.set(appointment, AppointmentKind::Due);
        }
    }
}
