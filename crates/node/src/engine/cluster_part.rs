//! The part of the driver that works for a cluster: it announces what the node does, takes offers
//! of other nodes, and decides what becomes of links to pages of other nodes' slots.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use cluster::Slot;
use cluster::log::Mail;
use cluster::measures::{PageSample, SampledPage};
use crawl::{Distance, Event, Mode, Offer};
use page::PageId;
use policy::{History, Moment, Page, Policy};
use repository::archive::Sealed;
use tokio::sync::Semaphore;

use super::committer::CommitWork;
use super::term::Term;
use super::{CoreDriver, DriverMessage, Engine};
use crate::settings::LinkExchange;

/// Time between two computations of this node's share of the cluster's budget and of the rates of
/// addresses. Heartbeats with the demand of other nodes come every second; a page falls due much
/// more rarely.
const SHARE_EVERY: Duration = Duration::from_secs(5);

/// Pages of other nodes' slots that a node without work takes at once, in the mode `crossover`.
const FOREIGN_AT_ONCE: usize = 64;

/// What the driver keeps for a cluster.
pub(super) struct ClusterPart {
    /// Messages of offers that the core has not processed yet, oldest first, with the number of the
    /// first.
    mail: VecDeque<(Option<Slot>, u64)>,
    first_mail: u64,
    /// Permits to read further messages of offers.
    pub(super) permits: Arc<Semaphore>,
    /// When this node next computes its shares.
    next_share: Option<Moment>,
    foreign: ForeignPages,
    /// The addresses that other nodes use too, as the core knows them.
    shared: BTreeMap<IpAddr, u32>,
}

impl ClusterPart {
    pub(super) fn new() -> Self {
        Self {
            mail: VecDeque::new(),
            first_mail: 0,
            permits: Term::permits(),
            next_share: None,
            foreign: ForeignPages::default(),
            shared: BTreeMap::new(),
        }
    }
}

/// Pages of other nodes' slots that pages of this node link to, in modes in which the other nodes
/// do not get the links.
#[derive(Default)]
struct ForeignPages {
    sample: PageSample,
    /// Pages that this node may fetch itself, in the mode `crossover`.
    waiting: VecDeque<Offer>,
    seen: HashSet<PageId>,
}

impl ForeignPages {
    fn add(&mut self, offers: Vec<Offer>, crossover: bool) {
        for offer in offers {
            let unknown = SampledPage {
                fetched: false,
                importance: 0.0,
            };
            self.sample
                .add(PageSample::hash(offer.url.as_str()), unknown);
            if crossover && self.seen.insert(offer.url.id()) {
                self.waiting.push_back(offer);
            }
        }
    }

    fn take(&mut self) -> Vec<Offer> {
        let most = self.waiting.len().min(FOREIGN_AT_ONCE);
        self.waiting.drain(..most).collect()
    }
}

impl CoreDriver {
    /// Returns whether this node of a cluster may make no request, because another node may have
    /// replaced it.
    pub(super) fn is_cut_off(&self) -> bool {
        let term = self.engine.plan.term.as_ref();
        term.is_some_and(|term| !term.independent && !term.agent.may_fetch())
    }

    /// Announces what this node has done. Every few seconds also announces its demand for fetches,
    /// and takes its share of the budget by the demand of all nodes.
    pub(super) fn take_part(&mut self) {
        let Some(term) = self.engine.plan.term.clone() else {
            return;
        };
        let (now, whole_budget) = (self.engine.clock.now(), term.budget(&self.engine.plan));
        term.announce(&mut self.core, &self.engine.live, whole_budget);
        self.take_foreign();
        if self.cluster.next_share.is_some_and(|next| now < next) {
            return;
        }
        self.cluster.next_share = Some(now + SHARE_EVERY);
        self.share_addresses(&term);
        if let Some(budget) = whole_budget {
            let share = term.share(&mut self.core, budget, now);
            self.step(Event::BudgetChanged(share));
        }
    }

    /// Tells the other nodes of a request whose delay is long.
    pub(super) fn note_request(&self, distance: Option<Distance>) {
        if let (Some(term), Some(distance)) = (&self.engine.plan.term, distance) {
            term.agent.note_request(distance.server, distance.facts);
        }
    }

    /// Tells the other nodes that a server has refused requests.
    pub(super) fn note_refusal(&self, distance: Distance) {
        if let Some(term) = &self.engine.plan.term {
            term.agent.note_refusal(distance.server, distance.facts);
        }
    }

    /// Tells the other nodes that this node requests pages from an address. Behind a proxy there
    /// is none.
    pub(super) fn note_address(&self, event: &Event<Sealed>) {
        if let Some(term) = &self.engine.plan.term
            && let Event::Resolved { address, .. } = event
            && let Ok(Some(address)) = address
        {
            term.agent.note_address(*address);
        }
    }

    /// Divides the rates of requests to addresses among the nodes that use them.
    fn share_addresses(&mut self, term: &Term) {
        let shared = term.agent.shared_addresses();
        if shared != self.cluster.shared {
            self.cluster.shared.clone_from(&shared);
            self.step(Event::AddressesShared(shared));
        }
    }

    /// Passes offers of other nodes to the core.
    pub(super) fn take_mail(&mut self, mail: Mail) {
        let part = &mut self.cluster;
        let number = part.first_mail + part.mail.len() as u64;
        part.mail.push_back((mail.slot, mail.sequence));
        self.step(Event::Offered(mail.offers));
        self.step(Event::Mark(number));
    }

    /// The core has admitted the offers up to this number. The commits before this have the facts.
    pub(super) fn reached(&mut self, number: u64) {
        while self.cluster.first_mail <= number
            && let Some((slot, sequence)) = self.cluster.mail.pop_front()
        {
            self.cluster.first_mail += 1;
            self.cluster.permits.add_permits(1);
            self.send(CommitWork::Taken(slot, sequence));
        }
    }

    /// Sends links to pages of other nodes' slots there, or keeps them in the modes `crossover` and
    /// `firewall`.
    pub(super) fn offer(&mut self, offers: Vec<Offer>) {
        let links = self.engine.plan.term.as_ref().map(|term| term.links);
        match links {
            Some(LinkExchange::Firewall) => self.cluster.foreign.add(offers, false),
            Some(LinkExchange::Crossover) => self.cluster.foreign.add(offers, true),
            Some(LinkExchange::Exchange) | None => self.send(CommitWork::Offer(offers)),
        }
    }

    /// In the mode `crossover`, gives the core pages of other nodes' slots if it has no other work.
    fn take_foreign(&mut self) {
        let is_idle = self.core.visits() == 0 && self.core.frontier().bench.waiting() == 0;
        if is_idle && self.core.mode() == Mode::Running {
            let offers = self.cluster.foreign.take();
            if !offers.is_empty() {
                self.step(Event::Offered(offers));
            }
        }
    }

    /// Returns a sample of the pages of other nodes' slots that this node knows.
    pub(super) fn foreign_sample(&self) -> PageSample {
        self.cluster.foreign.sample.clone()
    }
}

impl Engine {
    /// Returns a sample of the pages that this node knows, with their importance. Reads the whole
    /// ledger. Returns `None` if the crawl ends meanwhile.
    ///
    /// Blocks the thread, so it must not be called on an async task.
    pub(super) fn page_sample(&self) -> Option<PageSample> {
        let (reply, answer) = mpsc::channel();
        self.send(DriverMessage::Sample(reply));
        let mut sample = answer.recv().ok()?;
        let mut sampled = Vec::new();
        for known in self.ledger.scan() {
            let known = self.ok_or_stop(known)?;
            let page = SampledPage {
                fetched: known.has_copy(),
                importance: 0.0,
            };
            let hash = PageSample::hash(&known.discovery.url);
            if sample.add(hash, page) {
                let (at, depth) = (known.discovery.at, known.discovery.depth);
                let history = known.visited.map(|visited| visited.history);
                let history = history.unwrap_or_else(|| History::discovered(at, depth));
                sampled.push((hash, known.key.page, history));
            }
        }
        self.ask(move |core| {
            let frontier = core.frontier();
            for (hash, page, history) in &sampled {
                if let Some(number) = frontier.number(*page) {
                    let page = Page { number, history };
                    let importance = frontier.policy().importance(page);
                    sample.weigh(*hash, importance.value() as f32);
                }
            }
            sample
        })
    }
}
