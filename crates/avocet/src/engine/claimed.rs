//! What is known of a page that is about to be asked for.

use frontier::{Discovery, Known, PageKey, Visit, Visited};
use page::PageUrl;
use policy::{History, Moment, Number, Worth};

use super::Engine;
use crate::verdict::Asked;

/// What is known of a claimed page.
pub(super) struct Claimed {
    pub number: Number,
    pub key: PageKey,
    pub url: PageUrl,
    pub discovery: Discovery,
    pub before: Option<Visited>,
    /// What it was worth when it was claimed.
    pub worth: Option<Worth>,
}

impl Engine {
    /// What is known of a claimed page; `None`: its discovery is still on its way to the ledger, or
    /// the ledger failed, and then the crawl stops.
    pub(super) fn claimed(&self, visit: &Visit, number: Number) -> Option<Claimed> {
        let (key, recent, unsettled) = {
            let shared = self.shared();
            let page = shared.frontier.page(visit.host, number);
            let recent = shared.frontier.recent(page).cloned();
            let unsettled = shared.unsettled(page).cloned();
            (shared.frontier.key(page)?, recent, unsettled)
        };
        let mut known = match recent {
            Some(discovery) => Known {
                key,
                discovery,
                visited: None,
            },
            None => Known {
                key,
                discovery: self.trust(self.ledger.discovery(key)).flatten()?,
                visited: match unsettled {
                    Some(visited) => Some(visited),
                    None => self.trust(self.ledger.visited(key)).flatten(),
                },
            },
        };
        self.present().bring_back(&mut known);
        let url = PageUrl::parse(&known.discovery.url).ok()?;
        Some(Claimed {
            number,
            key,
            url,
            discovery: known.discovery,
            before: known.visited,
            worth: visit.worth_of(number),
        })
    }
}

impl Claimed {
    pub fn history(&self) -> History {
        let new = History::discovered(self.discovery.at, self.discovery.depth);
        self.before.as_ref().map_or(new, |before| before.history)
    }

    pub fn asked(&self, at: Moment) -> Asked<'_> {
        Asked {
            url: &self.url,
            hops: self.discovery.hops,
            history: self.history(),
            before: self.before.as_ref(),
            at,
            missing: None,
            places: false,
        }
    }
}
