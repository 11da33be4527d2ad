//! Records where each page waits: in which host's queue, and at which position.
//!
//! Places are recorded only if [`Bench::track`](super::Bench::track) was called: under a budget, or
//! for a policy that needs facts, since such a policy may change the worth of waiting pages.

use policy::{Number, Rows};

use super::entry::QueueEntry;
use crate::heap::HeapPlaces;

/// In no queue: fetched, claimed, in the calendar or unknown.
const NOWHERE: u32 = u32::MAX;
const HAND: u32 = u32::MAX - 1;
/// Known, with a worth below the price.
const HELD: u32 = u32::MAX - 2;

/// The place of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagePlace {
    /// In no queue.
    Nowhere,
    /// In no queue, because its worth is below the price.
    Held,
    /// In the hand of its host: the short sorted list of its best pages.
    Hand,
    /// At this index of its host's heap, which has all pages beyond the hand.
    Heap(u32),
}

/// The places and hosts of all pages.
#[derive(Default)]
pub(super) struct PagePlaces(Option<Tables>);

struct Tables {
    places: Rows<u32>,
    hosts: Rows<u32>,
}

impl HeapPlaces<QueueEntry> for PagePlaces {
    fn put(&mut self, entry: QueueEntry, at: usize) {
        self.set(entry.number(), PagePlace::Heap(at as u32));
    }

    fn left(&mut self, entry: QueueEntry) {
        self.set(entry.number(), PagePlace::Nowhere);
    }
}

impl PagePlaces {
    /// Returns a table that records places. Without it every page is `Nowhere` and no memory is
    /// used.
    pub fn tracked() -> Self {
        Self(Some(Tables {
            places: Rows::new(NOWHERE),
            hosts: Rows::new(0),
        }))
    }

    pub fn get(&self, page: Number) -> PagePlace {
        let place = self
            .0
            .as_ref()
            .map(|tables| tables.places.get(page.index()));
        match place.unwrap_or(NOWHERE) {
            NOWHERE => PagePlace::Nowhere,
            HELD => PagePlace::Held,
            HAND => PagePlace::Hand,
            at => PagePlace::Heap(at),
        }
    }

    /// Returns the index of the page's host; 0 if the host was not recorded.
    pub fn host(&self, page: Number) -> u32 {
        self.0
            .as_ref()
            .map_or(0, |tables| tables.hosts.get(page.index()))
    }

    pub fn set(&mut self, page: Number, place: PagePlace) {
        let Some(tables) = &mut self.0 else { return };
        let place = match place {
            PagePlace::Nowhere => NOWHERE,
            PagePlace::Held => HELD,
            PagePlace::Hand => HAND,
            PagePlace::Heap(at) => at,
        };
        tables.places.set(page.index(), place);
    }

    pub fn set_host(&mut self, page: Number, host: u32) {
        if let Some(tables) = &mut self.0 {
            tables.hosts.set(page.index(), host);
        }
    }
}
