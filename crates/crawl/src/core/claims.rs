//! Collects what is known about the pages of a visit and their host before they are requested.
//!
//! A page that was just discovered, or whose last visit is not committed yet, is known in
//! memory. Other pages are loaded from the ledger. If something new becomes known about a page
//! during the load, all pages of that load are loaded again.

use std::sync::Arc;

use frontier::{HostFacts, Known, PageKey};
use page::{PageUrl, Robots};
use policy::{Moment, Number};

use super::Core;
use super::active::{ActiveVisit, VisitStage};
use crate::action::{Action, Claim};
use crate::event::{Stored, VisitId};
use crate::host::Host;

impl<S> Core<S> {
    /// Creates the claims of a visit's pages. Requests the records of pages, and of the host, that
    /// memory lacks. Returns whether none is missing.
    pub(super) fn recall(
        &mut self,
        id: VisitId,
        active: &mut ActiveVisit,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> bool {
        let host = active.visit.host;
        let known = active.claims.len();
        let mut absent = Vec::new();
        for number in active.visit.left().skip(known).collect::<Vec<_>>() {
            let page = self.frontier.page(host, number);
            let Some(key) = self.frontier.key(page) else {
                continue;
            };
            match self.known_here(key) {
                Some(known) if absent.is_empty() => self.claim(active, number, known, now),
                _ => absent.push(key),
            }
        }
        let first = active
            .visit
            .first()
            .map(|number| self.frontier.page(host, number));
        let key = first.and_then(|page| self.frontier.key(page));
        let unknown = self.hosts.get(host).is_none();
        let host = key.filter(|_| unknown).map(|key| (key.partition, host));
        if absent.is_empty() && host.is_none() {
            return true;
        }
        (self.loading).extend(absent.iter().map(|key| key.page));
        active.stage = VisitStage::Loading(absent.clone());
        actions.push(Action::LoadPages {
            visit: id,
            pages: absent,
            host,
        });
        false
    }

    /// Returns what is known in memory about an unvisited page, or about a page whose last visit
    /// is not committed yet; `None`: the page must be loaded.
    pub(super) fn known_here(&self, key: PageKey) -> Option<Known> {
        if let Some(discovery) = self.frontier.recent(key.page) {
            return Some(Known {
                key,
                discovery: discovery.clone(),
                visited: None,
                pattern: None,
            });
        }
        Some(Known {
            key,
            discovery: self.overlay.discovery(key.page)?.clone(),
            visited: self.overlay.get(key.page).cloned(),
            pattern: None,
        })
    }

    /// Creates the claim of a page. A page whose URL cannot be parsed leaves the visit.
    pub(super) fn claim(
        &mut self,
        active: &mut ActiveVisit,
        number: Number,
        mut known: Known,
        now: Moment,
    ) {
        self.present(now).bring_back(&mut known);
        let url = match self.frontier.recent_url(known.key.page) {
            Some(url) => Ok(url.clone()),
            None => PageUrl::parse(&known.discovery.url),
        };
        match url {
            Ok(url) => active.claims.push_back(Arc::new(Claim {
                number,
                key: known.key,
                url,
                discovery: known.discovery,
                before: known.visited,
                worth: active.visit.worth_of(number),
            })),
            Err(_) => active.visit.settled(number),
        }
    }

    pub(super) fn pages_loaded(
        &mut self,
        id: VisitId,
        pages: Vec<Stored>,
        host: Option<(HostFacts, Option<Arc<Robots>>)>,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let Some(mut active) = self.active.remove(&id) else {
            return;
        };
        let VisitStage::Loading(asked) = std::mem::replace(&mut active.stage, VisitStage::Free)
        else {
            unreachable!("pages were loaded for a visit that did not request them")
        };
        let mut outdated = false;
        for key in &asked {
            self.loading.remove(&key.page);
            outdated |= self.outdated.remove(&key.page);
        }
        let mut pages = pages;
        if outdated {
            // Something new became known about a page during the load: all are loaded again.
            pages.clear();
        }
        for stored in pages {
            let number = self.frontier.number(stored.key.page);
            let Some(number) =
                number.filter(|number| active.visit.left().any(|left| left == *number))
            else {
                continue;
            };
            // An uncommitted record is newer than the record of the ledger.
            let newer = self.overlay.get(stored.key.page).cloned();
            let in_ledger = stored.discovery.map(|discovery| Known {
                key: stored.key,
                discovery,
                visited: newer.or(stored.visited),
                pattern: None,
            });
            match self.known_here(stored.key).or(in_ledger) {
                Some(known) => self.claim(&mut active, number, known, now),
                // The ledger does not have the page.
                None => active.visit.settled(number),
            }
        }
        let id_of_host = active.visit.host;
        if self.hosts.get(id_of_host).is_none()
            && let Some(claim) = active.claims.front()
        {
            let (facts, rules) = host.map_or((None, None), |(facts, rules)| (Some(facts), rules));
            let host = Host::recalled(&claim.url, facts, rules, &self.present(now));
            let forgotten = self.hosts.remember(id_of_host, host);
            self.outbox.push_facts(forgotten, actions);
        }
        self.active.insert(id, active);
        self.proceed(id, now, actions);
    }
}
