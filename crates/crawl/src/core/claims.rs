//! What is known of the pages of a visit, and of their host, before they are asked for.
//!
//! A page that was just discovered, or whose last visit is on its way to the ledger, is known here. The others are
//! loaded. What becomes known of a page while it is loaded makes what was read outdated: it is read again.

use std::sync::Arc;

use frontier::{HostFacts, Known, PageKey};
use page::{PageUrl, Robots};
use policy::{Moment, Number};

use super::Core;
use super::visit::{Call, Stage};
use crate::action::{Action, Claim};
use crate::event::{Stored, VisitId};
use crate::host::Host;

impl<S> Core<S> {
    /// Brings what is known of the pages of a visit and of its host to memory. Returns whether it is there by now.
    pub(super) fn recall(
        &mut self,
        id: VisitId,
        call: &mut Call,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) -> bool {
        let host = call.visit.host;
        let known = call.claims.len();
        let mut absent = Vec::new();
        for number in call.visit.left().skip(known).collect::<Vec<_>>() {
            let page = self.frontier.page(host, number);
            let Some(key) = self.frontier.key(page) else {
                continue;
            };
            match self.known_here(key) {
                Some(known) if absent.is_empty() => self.claim(call, number, known, now),
                _ => absent.push(key),
            }
        }
        let first = call
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
        call.stage = Stage::Loading(absent.clone());
        actions.push(Action::LoadPages {
            visit: id,
            pages: absent,
            host,
        });
        false
    }

    /// What is known of a page whose discovery or last visit may be on its way to the ledger.
    pub(super) fn known_here(&self, key: PageKey) -> Option<Known> {
        if let Some(discovery) = self.frontier.recent(key.page) {
            return Some(Known {
                key,
                discovery: discovery.clone(),
                visited: None,
            });
        }
        Some(Known {
            key,
            discovery: self.overlay.discovery(key.page)?.clone(),
            visited: self.overlay.get(key.page).cloned(),
        })
    }

    /// Makes a claim of what is known of a page. A page whose URL cannot be read leaves the visit.
    pub(super) fn claim(&mut self, call: &mut Call, number: Number, mut known: Known, now: Moment) {
        self.present(now).bring_back(&mut known);
        let url = match self.frontier.recent_url(known.key.page) {
            Some(url) => Ok(url.clone()),
            None => PageUrl::parse(&known.discovery.url),
        };
        match url {
            Ok(url) => call.claims.push_back(Arc::new(Claim {
                number,
                key: known.key,
                url,
                discovery: known.discovery,
                before: known.visited,
                worth: call.visit.worth_of(number),
            })),
            Err(_) => call.visit.settled(number),
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
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        let Stage::Loading(asked) = std::mem::replace(&mut call.stage, Stage::Free) else {
            unreachable!("pages are loaded for a visit that asked for them")
        };
        let mut outdated = false;
        for key in &asked {
            self.loading.remove(&key.page);
            outdated |= self.outdated.remove(&key.page);
        }
        let mut pages = pages;
        if outdated {
            // Something became known of a page while it was read: it is read again.
            pages.clear();
        }
        for stored in pages {
            let number = self.frontier.number(stored.key.page);
            let Some(number) =
                number.filter(|number| call.visit.left().any(|left| left == *number))
            else {
                continue;
            };
            // What is not committed yet is newer than what was read.
            let newer = self.overlay.get(stored.key.page).cloned();
            let in_ledger = stored.discovery.map(|discovery| Known {
                key: stored.key,
                discovery,
                visited: newer.or(stored.visited),
            });
            match self.known_here(stored.key).or(in_ledger) {
                Some(known) => self.claim(&mut call, number, known, now),
                // The ledger has lost it.
                None => call.visit.settled(number),
            }
        }
        let id_of_host = call.visit.host;
        if self.hosts.get(id_of_host).is_none()
            && let Some(claim) = call.claims.front()
        {
            let (facts, rules) = host.map_or((None, None), |(facts, rules)| (Some(facts), rules));
            let host = Host::recalled(&claim.url, facts, rules, &self.present(now));
            let forgotten = self.hosts.remember(id_of_host, host);
            self.outbox.push_facts(forgotten, actions);
        }
        self.calls.insert(id, call);
        self.proceed(id, now, actions);
    }
}
