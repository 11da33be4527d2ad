//! A timer queue of pages, by the time at which they are to be examined.
//!
//! **Invariant:** a page has at most one appointment, and it is not on the bench while it has
//! one. A new appointment replaces the earlier appointment of the page. The outdated entry stays
//! in the heap until its time has come, so a replacement needs no search. When outdated entries
//! outnumber the current ones by more than 1,024, all outdated entries are dropped. An entry costs
//! 16 bytes, a page 4 more.
//!
//! There are two kinds of appointments. A *due* page is expected to be worth the price at the time
//! of its appointment. A page up for *review* may or may not be. Code that looks for pages that
//! will soon be worth the price takes only due pages ([`Calendar::pop_due`]).

use std::cmp::Reverse;

use policy::{Moment, Number, Rows};

use crate::bench::HostIndex;
use crate::heap::Heap;

/// Maximum number of outdated entries in the heaps, in addition to one per current appointment.
const SLACK: usize = 1024;

pub(crate) struct Calendar {
    due: AppointmentHeap,
    reviews: AppointmentHeap,
    /// The stamp of the current appointment of each page; 0: it has none.
    stamps: Rows<u32>,
    /// Number of current appointments.
    kept: usize,
}

type AppointmentHeap = Heap<Reverse<Appointment>>;

/// Why a page is examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppointmentKind {
    /// The page is expected to be worth the price.
    Due,
    /// The page may or may not be worth the price.
    Review,
}

/// A page to examine, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Appointment {
    pub at: Moment,
    pub page: Number,
    pub host: HostIndex,
}

impl Default for Calendar {
    fn default() -> Self {
        Self {
            due: Heap::default(),
            reviews: Heap::default(),
            stamps: Rows::new(0),
            kept: 0,
        }
    }
}

impl Calendar {
    /// Makes an appointment that replaces the page's last one.
    pub fn set(&mut self, appointment: Appointment, kind: AppointmentKind) {
        self.cancel(appointment.page);
        self.stamps
            .set(appointment.page.index(), stamp(appointment.at));
        self.kept += 1;
        match kind {
            AppointmentKind::Due => self.due.push(Reverse(appointment), &mut ()),
            AppointmentKind::Review => self.reviews.push(Reverse(appointment), &mut ()),
        }
        if self.due.len() + self.reviews.len() > 2 * self.kept + SLACK {
            let stamps = &self.stamps;
            for heap in [&mut self.due, &mut self.reviews] {
                let kept = heap.entries().filter(|entry| holds(stamps, &entry.0));
                *heap = kept.copied().collect();
            }
        }
    }

    /// Cancels the page's appointment, if it has one.
    pub fn cancel(&mut self, page: Number) {
        if self.has(page) {
            self.stamps.set(page.index(), 0);
            self.kept -= 1;
        }
    }

    /// Returns whether a page has an appointment.
    pub fn has(&self, page: Number) -> bool {
        self.stamps.get(page.index()) != 0
    }

    /// Returns the first appointment without removing it.
    pub fn first(&mut self) -> Option<Appointment> {
        let firsts = [&mut self.due, &mut self.reviews].map(|heap| first_of(heap, &self.stamps));
        firsts.into_iter().flatten().min()
    }

    /// Removes the first appointment and returns it.
    pub fn pop(&mut self) -> Option<(Appointment, AppointmentKind)> {
        let due = first_of(&mut self.due, &self.stamps);
        let review = first_of(&mut self.reviews, &self.stamps);
        let sooner = due.is_some_and(|due| review.is_none_or(|review| due <= review));
        let (heap, first, kind) = if sooner {
            (&mut self.due, due, AppointmentKind::Due)
        } else {
            (&mut self.reviews, review, AppointmentKind::Review)
        };
        heap.pop(&mut ());
        self.cancel(first?.page);
        Some((first?, kind))
    }

    /// Removes the first appointment of kind `Due` and returns it.
    pub fn pop_due(&mut self) -> Option<Appointment> {
        let first = first_of(&mut self.due, &self.stamps)?;
        self.due.pop(&mut ());
        self.cancel(first.page);
        Some(first)
    }

    /// Multiplies the remaining time of all appointments by `share`.
    pub fn hasten(&mut self, now: Moment, share: f64) {
        for heap in [&mut self.due, &mut self.reviews] {
            let stamps = &mut self.stamps;
            let kept = heap.entries().filter(|entry| holds(stamps, &entry.0));
            let mut kept: Vec<_> = kept.copied().collect();
            for Reverse(entry) in &mut kept {
                entry.at = now + entry.at.since(now).mul_f64(share);
                stamps.set(entry.page.index(), stamp(entry.at));
            }
            *heap = kept.into_iter().collect();
        }
    }

    /// Number of appointments.
    pub fn len(&self) -> usize {
        self.kept
    }
}

/// Returns the first current appointment of a heap and drops outdated entries before it.
fn first_of(heap: &mut AppointmentHeap, stamps: &Rows<u32>) -> Option<Appointment> {
    while let Some(Reverse(entry)) = heap.peek() {
        if holds(stamps, entry) {
            return Some(*entry);
        }
        heap.pop(&mut ());
    }
    None
}

/// Returns a nonzero stamp that distinguishes two appointments of one page. Only moments that
/// differ by a multiple of 2³¹ µs (about 36 minutes) have the same stamp.
fn stamp(at: Moment) -> u32 {
    (at.micros() as u32) << 1 | 1
}

fn holds(stamps: &Rows<u32>, entry: &Appointment) -> bool {
    stamps.get(entry.page.index()) == stamp(entry.at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hastened_appointments_come_sooner_in_the_same_order_and_once() {
        let at = Moment::from_micros;
        let mut calendar = Calendar::default();
        for page in 0..6 {
            let kind = if page % 2 == 0 {
                AppointmentKind::Due
            } else {
                AppointmentKind::Review
            };
            let page = Number(page);
            // The first appointment of each page is replaced. Page 5 is overdue.
            for micros in [70, 100 + 40 * u64::from(page.0)] {
                let at = if page.0 == 5 { at(50) } else { at(micros) };
                calendar.set(Appointment { at, page, host: 0 }, kind);
            }
        }
        calendar.cancel(Number(2));
        calendar.hasten(at(100), 0.25);
        assert_eq!(calendar.len(), 5);
        let mut kept = Vec::new();
        while let Some((first, _)) = calendar.pop() {
            kept.push((first.at.micros(), first.page.0));
        }
        let expected = [(100, 0), (100, 5), (110, 1), (130, 3), (140, 4)];
        assert_eq!(kept, expected);
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(steps in prop::collection::vec((0u32..40, 0u64..60, 0u8..7), 0..4000)) {
            let mut calendar = Calendar::default();
            let mut model: BTreeMap<u32, (u64, bool)> = BTreeMap::new();
            for (page, at, step) in steps {
                let first = |due: bool| {
                    let kept = model.iter().filter(|(_, (_, kind))| *kind || !due);
                    kept.map(|(page, (at, _))| (*at, *page)).min()
                };
                let named = |entry: Appointment| (entry.at.micros(), entry.page.0);
                match step {
                    0 | 1 => {
                        let expected = first(step == 1);
                        let popped = if step == 1 { calendar.pop_due() } else { calendar.pop().map(|(first, _)| first) };
                        prop_assert_eq!(popped.map(named), expected);
                        if let Some((_, page)) = expected {
                            model.remove(&page);
                        }
                    }
                    2 => {
                        calendar.cancel(Number(page));
                        model.remove(&page);
                    }
                    _ => {
                        let due = step.is_multiple_of(2);
                        let kind = if due { AppointmentKind::Due } else { AppointmentKind::Review };
                        // A page has no two appointments of different kinds at one moment: time
                        // advances.
                        let at = 2 * at + u64::from(due);
                        calendar.set(Appointment { at: Moment::from_micros(at), page: Number(page), host: 0 }, kind);
                        model.insert(page, (at, due));
                    }
                }
                prop_assert_eq!(calendar.len(), model.len());
                prop_assert_eq!(calendar.has(Number(page)), model.contains_key(&page));
                prop_assert!(calendar.due.len() + calendar.reviews.len() <= 2 * calendar.len() + SLACK + 1);
            }
        }
    }
}
