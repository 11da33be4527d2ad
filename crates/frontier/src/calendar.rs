//! Which pages are to be looked at later, and when?
//!
//! **Invariant:** a page has at most one appointment, and it is not on the bench while it has one. A new
//! appointment takes the place of the one before, whose entry stays in the heap until its time and is
//! passed over then: nothing is searched for. Sixteen bytes an entry and four a page.
//!
//! There are two kinds: a page that is *due* will be worth its price then, at one that is only *seen* it may turn
//! out to be. Whoever looks for pages that will pay soon takes the former.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use policy::{Moment, Number};

use crate::bench::HostIndex;
use crate::rows::Rows;

/// Entries without a meaning that are tolerated, beside as many as there are appointments.
const SLACK: usize = 1024;

/// The appointments.
pub(crate) struct Calendar {
    due: Heap,
    seen: Heap,
    /// The stamp of each page's one appointment; 0: it has none.
    stamps: Rows<u32>,
    kept: usize,
}

type Heap = BinaryHeap<Reverse<Appointment>>;

/// Why a page is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It will be worth its price.
    Due,
    /// To see whether it is.
    Seen,
}

/// A page to look at, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Appointment {
    pub at: Moment,
    pub page: Number,
    pub host: HostIndex,
}

impl Default for Calendar {
    fn default() -> Self {
        Self {
            due: Heap::new(),
            seen: Heap::new(),
            stamps: Rows::new(0),
            kept: 0,
        }
    }
}

impl Calendar {
    /// Makes an appointment in place of the page's last one.
    pub fn set(&mut self, appointment: Appointment, why: Why) {
        self.cancel(appointment.page);
        self.stamps
            .set(appointment.page.index(), stamp(appointment.at));
        self.kept += 1;
        match why {
            Why::Due => self.due.push(Reverse(appointment)),
            Why::Seen => self.seen.push(Reverse(appointment)),
        }
        if self.due.len() + self.seen.len() > 2 * self.kept + SLACK {
            let stamps = &self.stamps;
            for heap in [&mut self.due, &mut self.seen] {
                heap.retain(|Reverse(entry)| holds(stamps, entry));
            }
        }
    }

    /// Takes the page's appointment back, if it has one.
    pub fn cancel(&mut self, page: Number) {
        if self.has(page) {
            self.stamps.set(page.index(), 0);
            self.kept -= 1;
        }
    }

    /// Whether a page has an appointment.
    pub fn has(&self, page: Number) -> bool {
        self.stamps.get(page.index()) != 0
    }

    /// The first appointment; it stays.
    pub fn first(&mut self) -> Option<Appointment> {
        let firsts = [&mut self.due, &mut self.seen].map(|heap| first_of(heap, &self.stamps));
        firsts.into_iter().flatten().min()
    }

    /// Takes the first appointment.
    pub fn pop(&mut self) -> Option<(Appointment, Why)> {
        let due = first_of(&mut self.due, &self.stamps);
        let seen = first_of(&mut self.seen, &self.stamps);
        let sooner = due.is_some_and(|due| seen.is_none_or(|seen| due <= seen));
        let (heap, first, why) = if sooner {
            (&mut self.due, due, Why::Due)
        } else {
            (&mut self.seen, seen, Why::Seen)
        };
        heap.pop();
        self.cancel(first?.page);
        Some((first?, why))
    }

    /// Takes the first appointment with a page that is due.
    pub fn pop_due(&mut self) -> Option<Appointment> {
        let first = first_of(&mut self.due, &self.stamps)?;
        self.due.pop();
        self.cancel(first.page);
        Some(first)
    }

    /// Brings all appointments nearer: what was to come after some time comes after this share of it.
    pub fn hasten(&mut self, now: Moment, share: f64) {
        for heap in [&mut self.due, &mut self.seen] {
            let stamps = &mut self.stamps;
            let entries = std::mem::take(heap).into_iter();
            let kept = entries.filter(|Reverse(entry)| holds(stamps, entry));
            let mut kept: Vec<_> = kept.collect();
            for Reverse(entry) in &mut kept {
                entry.at = now + entry.at.since(now).mul_f64(share);
                stamps.set(entry.page.index(), stamp(entry.at));
            }
            *heap = kept.into();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept
    }
}

/// The first appointment of a heap that holds; those before it are dropped.
fn first_of(heap: &mut Heap, stamps: &Rows<u32>) -> Option<Appointment> {
    while let Some(Reverse(entry)) = heap.peek() {
        if holds(stamps, entry) {
            return Some(*entry);
        }
        heap.pop();
    }
    None
}

/// Tells two appointments of one page apart, unless they are a multiple of 36 minutes apart to the microsecond.
/// Never 0.
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
    fn what_is_hastened_comes_sooner_in_the_same_order_and_once() {
        let at = Moment::from_micros;
        let mut calendar = Calendar::default();
        for page in 0..6 {
            let why = if page % 2 == 0 { Why::Due } else { Why::Seen };
            let page = Number(page);
            // The first ones are put off, and one is overdue.
            for micros in [70, 100 + 40 * u64::from(page.0)] {
                let at = if page.0 == 5 { at(50) } else { at(micros) };
                calendar.set(Appointment { at, page, host: 0 }, why);
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
                        let why = if due { Why::Due } else { Why::Seen };
                        // A page has no two appointments of one moment but of two kinds: time goes on.
                        let at = 2 * at + u64::from(due);
                        calendar.set(Appointment { at: Moment::from_micros(at), page: Number(page), host: 0 }, why);
                        model.insert(page, (at, due));
                    }
                }
                prop_assert_eq!(calendar.len(), model.len());
                prop_assert_eq!(calendar.has(Number(page)), model.contains_key(&page));
                prop_assert!(calendar.due.len() + calendar.seen.len() <= 2 * calendar.len() + SLACK + 1);
            }
        }
    }
}
