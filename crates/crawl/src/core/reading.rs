//! Processes fetched pages: admits their links, lets the policy observe their texts, and
//! creates their records.
//!
//! A sitemap may list 50,000 pages, and to admit them takes longer than one step may take. So
//! fetched pages wait in a queue, and each step admits at most [`SLICE`] of their links. When all
//! links of a page are admitted, the policy observes them in parts of [`SLICE`] links, and the
//! hints of a sitemap are taken over in such parts. Then the page is settled.
//!
//! **Invariant:** pages are processed one after another. So the page numbers that one page adds to
//! the ledger are there before a later page stores links to them.

use std::sync::Arc;
use std::time::Duration;

use frontier::Reading;
use page::listing::ListingKind;
use policy::{Moment, Outcome, Part, Policy};

use super::Core;
use crate::action::{Action, Claim, Found, InLink, Note, Purpose, Record};
use crate::discovery::{Admission, Admitter, KnownLink, Offer, Source, link_facts};
use crate::event::{Judged, VisitId};
use crate::verdict::{Details, IndexText, Lead};

/// Maximum number of links of fetched pages, and of offers, that one step admits. Also the size of
/// the parts in which the policy observes the links of a page; a step begins no further part after
/// 256 links. Seeds and the sitemaps of a robots.txt are admitted in one step.
pub(super) const SLICE: usize = 256;
/// Depth from which on the entries of a sitemap index are not followed (hostile-web.md, row 52).
const NESTED: u16 = 3;

/// Something that names pages, and waits for the admission of these pages.
pub(super) enum Arrival<S> {
    /// A page that was fetched.
    Page(Box<Unread<S>>),
    /// Seeds, and sitemaps that a robots.txt names. No page links to them.
    Leads(Vec<Lead>),
    /// Pages that other partitions link to.
    Offered(Vec<Offer>),
    /// Everything before it is admitted when it is reached.
    Mark(u64),
}

/// A fetched page, and how much of it is processed.
pub(super) struct Unread<S> {
    pub visit: VisitId,
    pub claim: Arc<Claim>,
    pub judged: Judged<S>,
    admission: Admission,
    /// Number of leads that are admitted.
    admitted: usize,
    /// The links that the policy observes; `None` before it observes the first.
    known: Option<Vec<KnownLink>>,
    /// Number of these links that the policy has observed.
    observed: usize,
    /// The links that were observed, with the anchor texts that the ledger keeps.
    kept: Vec<(u32, String)>,
    /// The links that were observed, for the index.
    links: Vec<InLink>,
}

impl<S> Unread<S> {
    /// Returns whether the policy has observed all links. Links of a page that has not changed are
    /// not observed.
    fn is_observed(&self) -> bool {
        let known = self.known.as_ref();
        known.map_or(!self.judged.verdict.is_news(), |known| {
            known.len() == self.observed
        })
    }
}

impl<S> Core<S> {
    /// Processes arrivals in order, until this step has processed its share of links. Before,
    /// moves waiting pages whose worth earlier arrivals have changed.
    pub(super) fn take_in(&mut self, now: Moment, actions: &mut Vec<Action<S>>) {
        self.frontier.follow_moves();
        let mut room = SLICE;
        while room > 0
            && let Some(arrival) = self.arrivals.pop_front()
        {
            match arrival {
                Arrival::Leads(leads) => {
                    let admission = self.admitter().admit_all(&leads, None, now);
                    room = room.saturating_sub(leads.len());
                    self.offer(admission.offers, actions);
                    self.outbox.push_facts(admission.facts, actions);
                }
                Arrival::Mark(number) => actions.push(Action::Reached(number)),
                Arrival::Offered(mut offers) => {
                    let rest = offers.split_off(offers.len().min(room));
                    room -= offers.len();
                    let mut admitter = self.admitter();
                    let accepted = |offer: &Offer| admitter.accept(offer, now);
                    let facts = offers.iter().filter_map(accepted).collect();
                    self.outbox.push_facts(facts, actions);
                    if !rest.is_empty() {
                        self.arrivals.push_front(Arrival::Offered(rest));
                    }
                }
                Arrival::Page(mut page) => {
                    room -= self.admit_some(&mut page, room, now);
                    let admitted = page.admitted == page.judged.verdict.leads.len();
                    if admitted {
                        room = room.saturating_sub(self.observe_some(&mut page).max(1));
                    }
                    if admitted && page.is_observed() && page.judged.verdict.signals.is_empty() {
                        self.read(*page, now, actions);
                    } else {
                        self.arrivals.push_front(Arrival::Page(page));
                    }
                }
            }
        }
    }

    pub(super) fn admitter(&mut self) -> Admitter<'_> {
        Admitter {
            frontier: &mut self.frontier,
            scope: Some(&mut self.scope),
            ours: &self.plan.ours,
            tally: &mut self.tally,
        }
    }

    fn offer(&self, offers: Vec<Offer>, actions: &mut Vec<Action<S>>) {
        if !offers.is_empty() {
            actions.push(Action::Offer(offers));
        }
    }

    /// Queues a fetched page. Drops leads that this crawl does not follow: sitemaps and feeds
    /// unless it is continuous, and the entries of sitemap indexes that are nested too deeply.
    pub(super) fn arrived(&mut self, visit: VisitId, claim: Arc<Claim>, mut judged: Judged<S>) {
        let verdict = &mut judged.verdict;
        if !self.plan.is_continuous() {
            verdict.leads.retain(|lead| !lead.listing);
        }
        if verdict.listing == Some(ListingKind::Index) && claim.discovery.depth >= NESTED {
            verdict.leads.clear();
        }
        self.arrivals.push_back(Arrival::Page(Box::new(Unread {
            visit,
            claim,
            judged,
            admission: Admission::default(),
            admitted: 0,
            known: None,
            observed: 0,
            kept: Vec::new(),
            links: Vec::new(),
        })));
    }

    /// Admits up to `room` links of a page. Returns how many.
    fn admit_some(&mut self, page: &mut Unread<S>, room: usize, now: Moment) -> usize {
        if page.admitted == 0 {
            self.learn_text(page);
        }
        let claim = &page.claim;
        let source = Source {
            url: &claim.url,
            depth: claim.discovery.depth,
            hops: claim.discovery.hops,
            read: claim.history().fresh,
        };
        let leads = &page.judged.verdict.leads;
        let count = room.min(leads.len() - page.admitted);
        let some = (page.admitted, count);
        let admission = &mut page.admission;
        if page.admitted == 0 && leads.len() > SLICE {
            // A vector that doubles would copy all facts in one step. The links are one more
            // fact.
            admission.facts.reserve(leads.len() + 1);
        }
        self.admitter()
            .admit(leads, some, Some(&source), now, admission);
        page.admitted += count;
        count
    }

    /// Lets the policy observe the next part of the links of a page, and takes over the next part
    /// of its hints. Returns the number of these links or hints, whichever is larger.
    fn observe_some(&mut self, page: &mut Unread<S>) -> usize {
        let is_observed = page.is_observed();
        // The index already has the links of a page that was read before.
        let again = has_copy(&page.claim);
        let indexes = self.plan.index && !again;
        let verdict = &mut page.judged.verdict;
        let hints = verdict.signals.len().min(SLICE);
        for signal in verdict.signals.drain(verdict.signals.len() - hints..) {
            let known = self.frontier.number(signal.page).is_some();
            let key = self.frontier.key(signal.page).filter(|_| known);
            if let Some(key) = key {
                self.hints.push(key, signal.modified);
            }
        }
        if is_observed {
            return hints;
        }
        let known = page.known.get_or_insert_with(|| page.admission.known());
        let before = page.observed;
        if before == 0 {
            page.kept.reserve_exact(known.len());
            page.links
                .reserve_exact(if indexes { known.len() } else { 0 });
        }
        let end = known.len().min(before + SLICE);
        page.observed = end;
        let part = Part {
            before,
            after: known.len() - end,
        };
        let known = &known[before..end];
        let text = verdict.text.as_ref();
        let reading = Reading {
            text: text.map_or(policy::Text::Nothing, IndexText::told),
            links: &link_facts(known, &verdict.leads),
            out_links: page.admission.out_links,
            again,
        };
        let source = page.claim.key.page;
        (self.frontier).read_part(source, reading, part, &mut page.kept);
        if indexes {
            let kept = page.kept.iter().skip(before);
            for (link, (_, words)) in known.iter().zip(kept) {
                let lead = &verdict.leads[link.place as usize];
                page.links.push(InLink {
                    to: self.frontier.page(lead.url.host(), link.to),
                    // "Next", "Up" and menu entries add nothing to the title of the target.
                    words: if lead.aside {
                        String::new()
                    } else {
                        words.clone()
                    },
                });
            }
        }
        hints.max(known.len())
    }

    /// Counts the first text of a page as evidence about its URL pattern and its domain. Later
    /// copies are not counted: a page that is refreshed often without a change would look like
    /// a trap.
    fn learn_text(&mut self, page: &Unread<S>) {
        let (claim, verdict) = (&page.claim, &page.judged.verdict);
        let copy = verdict.visited.copy.as_ref();
        let text = copy.and_then(|copy| copy.text.as_ref());
        let first = verdict.copied && verdict.listing.is_none() && !has_copy(claim);
        if let Some(text) = text.filter(|_| first) {
            self.frontier.novelty.observe(claim.url.pattern(), text);
            self.frontier.share_text(claim.key.page.host(), text);
        }
    }

    /// Settles a page whose links are admitted and observed, and continues its visit.
    fn read(&mut self, page: Unread<S>, now: Moment, actions: &mut Vec<Action<S>>) {
        let Unread {
            visit,
            claim,
            judged,
            mut admission,
            kept,
            links,
            ..
        } = page;
        let Judged {
            mut verdict,
            sealed,
            reply,
            first_byte,
            took,
        } = judged;
        if !matches!(reply.status, 200..=299 | 304) {
            self.allowance.give_back_page();
        }
        if verdict.lied
            && let Some(host) = self.hosts.get_mut(claim.url.host())
        {
            host.distrust();
        }
        self.offer(std::mem::take(&mut admission.offers), actions);
        if verdict.is_news() {
            let source = claim.key.page;
            let fact = (self.frontier).links_fact(source, admission.out_links, kept);
            admission.facts.extend(fact);
        }
        verdict.named(admission.new_pages);
        let leads = std::mem::take(&mut verdict.leads);
        let history = verdict.visited.history;
        if self.plan.only_found
            && verdict.text.is_some()
            && !self.is_on_topic(claim.key.page, &history)
        {
            verdict.leave_out(claim.before.as_ref());
        }
        self.note(&claim, &verdict.visited, took, actions);
        self.tally.outside += u64::from(verdict.strangers);
        let record = Record {
            key: claim.key,
            url: claim.url.clone(),
            before: claim.history(),
            sealed,
            copied: verdict.copied,
            gone: verdict.gone,
            admitted: admission.facts,
            links,
            leads,
            asked: true,
            visited: verdict.visited,
            text: verdict.text,
        };
        self.settle(&claim, record, now, actions);
        if self.has_enough() {
            self.mode = super::Mode::Stopping;
        }
        self.page_read(visit, &claim, first_byte, took, now, actions);
    }

    /// Settles a page that may not be requested. `reason` is the error code.
    pub(super) fn refuse(
        &mut self,
        claim: &Claim,
        reason: &str,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let verdict = claim.asked(now).refused(reason);
        let record = record(claim, verdict.visited, verdict.gone, false);
        self.settle(claim, record, now, actions);
    }

    /// Settles a page whose server cannot be reached.
    pub(super) fn give_up(
        &mut self,
        claim: &Claim,
        kind: &str,
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let visited = claim.asked(now).unanswered(Outcome::Unreachable, kind, 0);
        self.settle(claim, record(claim, visited, false, false), now, actions);
    }

    /// Settles a page whose request had no answer.
    pub(super) fn unanswered(
        &mut self,
        claim: &Arc<Claim>,
        (at, took): (Moment, Duration),
        (kind, bytes): (&str, u64),
        now: Moment,
        actions: &mut Vec<Action<S>>,
    ) {
        let asked = claim.asked(at);
        let visited = asked.unanswered(Outcome::Unreachable, kind, bytes);
        self.note(claim, &visited, took, actions);
        self.settle(claim, record(claim, visited, false, true), now, actions);
    }

    /// Reports a fetch for monitoring.
    fn note(
        &mut self,
        claim: &Arc<Claim>,
        visited: &frontier::Visited,
        took: Duration,
        actions: &mut Vec<Action<S>>,
    ) {
        actions.push(Action::Note(Note::Fetched {
            claim: Arc::clone(claim),
            purpose: self.purpose(claim),
            found: Box::new(Found {
                at: visited.history.asked.unwrap_or_default(),
                status: visited.status,
                bytes: visited.bytes,
                took,
                outcome: visited.history.outcome,
                error: visited.error.clone(),
            }),
        }));
    }

    /// Returns why a page was requested, by its history at the claim.
    fn purpose(&mut self, claim: &Claim) -> Purpose {
        let history = claim.history();
        if history.fresh.is_none() {
            return Purpose::New;
        }
        let page = policy::Page {
            number: claim.number,
            history: &history,
        };
        let sources = self.frontier.policy().sources.as_ref();
        let polled = sources.is_some_and(|sources| sources.polls(page));
        if history.listing || polled {
            Purpose::Source
        } else {
            Purpose::Refresh
        }
    }

    /// Returns the details of pages that the index or the policy uses.
    pub(super) fn details(&mut self) -> Details {
        let needs = self.frontier.policy().needs();
        let texts = self.plan.index || needs.text;
        Details {
            places: needs.places,
            body: texts,
            language: texts,
            stated: texts,
            outline: self.plan.index,
        }
    }
}

/// Returns whether the page of a claim has a copy from an earlier visit.
fn has_copy(claim: &Claim) -> bool {
    let before = claim.before.as_ref();
    before.is_some_and(|before| before.copy.is_some())
}

/// Returns the record of a visit without an answer. `asked` is whether a request was made.
fn record<S>(claim: &Claim, visited: frontier::Visited, gone: bool, asked: bool) -> Record<S> {
    Record {
        key: claim.key,
        url: claim.url.clone(),
        before: claim.history(),
        visited,
        sealed: None,
        copied: false,
        text: None,
        gone,
        admitted: Vec::new(),
        links: Vec::new(),
        leads: Vec::new(),
        asked,
    }
}
