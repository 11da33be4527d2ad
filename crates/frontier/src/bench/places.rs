//! Where does each page wait? Known only under a policy that changes its mind about waiting pages.

use policy::Number;

use crate::rows::Rows;

/// Fetched, claimed, or never heard of.
const NOWHERE: u32 = u32::MAX;
/// In its host's hand.
const HAND: u32 = u32::MAX - 1;
/// Known, and not worth the price so far.
const HELD: u32 = u32::MAX - 2;

/// Where a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In no queue.
    Nowhere,
    /// Not worth the price.
    Held,
    /// Among the best of its host.
    Hand,
    /// At this place of its host's heap.
    Heap(u32),
}

/// The places of all pages, and their hosts.
#[derive(Default)]
pub(super) struct Places(Option<Tables>);

struct Tables {
    places: Rows<u32>,
    hosts: Rows<u32>,
}

impl Places {
    /// Keeps track from now on; without, every page is nowhere and nothing costs memory.
    pub fn tracked() -> Self {
        Self(Some(Tables {
            places: Rows::new(NOWHERE),
            hosts: Rows::new(0),
        }))
    }

    pub fn get(&self, page: Number) -> Place {
        let place = self
            .0
            .as_ref()
            .map(|tables| tables.places.get(page.index()));
        match place.unwrap_or(NOWHERE) {
            NOWHERE => Place::Nowhere,
            HELD => Place::Held,
            HAND => Place::Hand,
            at => Place::Heap(at),
        }
    }

    /// The host of a page that was put somewhere.
    pub fn host(&self, page: Number) -> u32 {
        self.0
            .as_ref()
            .map_or(0, |tables| tables.hosts.get(page.index()))
    }

    pub fn set(&mut self, page: Number, place: Place) {
        let Some(tables) = &mut self.0 else { return };
        let place = match place {
            Place::Nowhere => NOWHERE,
            Place::Held => HELD,
            Place::Hand => HAND,
            Place::Heap(at) => at,
        };
        tables.places.set(page.index(), place);
    }

    pub fn set_host(&mut self, page: Number, host: u32) {
        if let Some(tables) = &mut self.0 {
            tables.hosts.set(page.index(), host);
        }
    }
}
