//! What is heard of becomes facts for the ledger and work for the bench.
//!
//! A partition of the web is a state machine, and its transitions are here: [`Frontier::admit`] and
//! [`Frontier::visited`] change memory in step with the [`Entry`]s that the ledger commits;
//! [`Frontier::recall`] makes the same memory from the entries of an earlier run.

use std::collections::HashMap;

use page::{HostId, PageId, PageUrl};
use policy::{History, Moment, Policy, Price, Worth};

use crate::bench::{Bench, Manners};
use crate::ledger::{Discovery, Entry, Known, PageKey};
use crate::novelty::Novelty;
use crate::owner::Partition;
use crate::sieve::Sieve;

/// URLs kept in memory beside the ledger, in bytes; a claim that finds its URL here reads no disk.
const REMEMBERED: usize = 8 << 20;
/// What a remembered URL costs beside its text.
const OVERHEAD: usize = 96;

/// A page that something named.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Links from a seed.
    pub depth: u16,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// The page that named it; `None`: a seed.
    pub source: Option<PageId>,
}

/// The memory of a crawl: what is known, what waits, what pays.
pub struct Frontier<P> {
    /// The waiting pages.
    pub bench: Bench,
    /// What URL patterns gave.
    pub novelty: Novelty,
    policy: P,
    price: Price,
    sieve: Sieve,
    partitions: HashMap<HostId, Partition>,
    recent: HashMap<PageId, Discovery>,
    recent_bytes: usize,
    order: u64,
}

impl<P: Policy> Frontier<P> {
    /// An empty frontier. `salt` should be hard to guess for whoever writes the URLs.
    pub fn new(policy: P, price: Price, manners: Manners, salt: u64) -> Self {
        Self {
            bench: Bench::new(manners),
            novelty: Novelty::default(),
            policy,
            price,
            sieve: Sieve::new(salt),
            partitions: HashMap::new(),
            recent: HashMap::new(),
            recent_bytes: 0,
            order: 0,
        }
    }

    /// Has another policy decide from now on. What waits already keeps its place.
    pub fn decide_by(&mut self, policy: P) {
        self.policy = policy;
    }

    /// Takes in a named page. Returns the fact if it is new; a page heard of before changes nothing.
    pub fn admit(&mut self, link: Link<'_>, now: Moment) -> Option<Entry> {
        let page = link.url.id();
        if !self.sieve.insert(page) {
            return None;
        }
        let discovery = Discovery {
            url: link.url.as_str().to_owned(),
            order: self.order,
            at: now,
            depth: link.depth,
            hops: link.hops,
            source: link.source,
        };
        self.order += 1;
        let key = PageKey {
            partition: self.partition_of(link.url),
            page,
        };
        self.wait(page, &History::discovered(now, link.depth), now);
        self.recent_bytes += discovery.url.len() + OVERHEAD;
        self.recent.insert(page, discovery.clone());
        Some(Entry::Admitted(key, discovery))
    }

    /// Takes in what a visit found, and puts the page back to wait if it is worth another.
    pub fn visited(&mut self, page: PageId, history: &History, now: Moment) {
        self.forget(page);
        self.wait(page, history, now);
    }

    /// Takes in what an earlier run knew, each host's pages in the order they were discovered. Pages
    /// that are not `wanted` are known and do not wait.
    pub fn recall<E>(
        &mut self,
        ledger: impl Iterator<Item = Result<Known, E>>,
        wanted: impl Fn(&Known) -> bool,
        now: Moment,
    ) -> Result<(), E> {
        let mut host: Vec<Waiting> = Vec::new();
        for known in ledger {
            let known = known?;
            let page = known.key.page;
            if host
                .first()
                .is_some_and(|first| first.page.host() != page.host())
            {
                self.recall_host(&mut host, now);
            }
            self.sieve.insert(page);
            self.partitions.insert(page.host(), known.key.partition);
            self.order = self.order.max(known.discovery.order + 1);
            self.recall_text(&known);
            if !wanted(&known) {
                continue;
            }
            let discovery = &known.discovery;
            let new = History::discovered(discovery.at, discovery.depth);
            let history = known
                .visited
                .as_ref()
                .map_or(new, |visited| visited.history);
            if let Some((due, worth)) = self.prospects(&history) {
                let order = discovery.order;
                host.push(Waiting {
                    order,
                    page,
                    due,
                    worth,
                });
            }
        }
        self.recall_host(&mut host, now);
        Ok(())
    }

    fn recall_host(&mut self, pages: &mut Vec<Waiting>, now: Moment) {
        pages.sort_unstable_by_key(|waiting| waiting.order);
        for waiting in pages.drain(..) {
            self.bench
                .offer(waiting.page, waiting.worth, waiting.due, now);
        }
    }

    fn recall_text(&mut self, known: &Known) {
        let copy = known
            .visited
            .as_ref()
            .and_then(|visited| visited.copy.as_ref());
        let text = copy.and_then(|copy| copy.text.as_ref());
        if let (Some(text), Ok(url)) = (text, PageUrl::parse(&known.discovery.url)) {
            self.novelty.observe(url.pattern(), text);
        }
    }

    /// Where a page that was heard of is in the ledger.
    pub fn key(&self, page: PageId) -> Option<PageKey> {
        let partition = *self.partitions.get(&page.host())?;
        Some(PageKey { partition, page })
    }

    /// What is remembered of a page never visited; what is not remembered is in the ledger.
    pub fn recent(&self, page: PageId) -> Option<&Discovery> {
        self.recent.get(&page)
    }

    /// Takes note that these facts are in the ledger, so that memory can let go of them.
    pub fn committed(&mut self, entries: &[Entry]) {
        for entry in entries {
            if self.recent_bytes <= REMEMBERED {
                return;
            }
            if let Entry::Admitted(key, _) = entry {
                self.forget(key.page);
            }
        }
    }

    /// Whether a page was heard of before.
    pub fn knows(&self, page: PageId) -> bool {
        self.sieve.contains(page)
    }

    /// Pages ever heard of.
    pub fn known(&self) -> usize {
        self.sieve.len()
    }

    fn forget(&mut self, page: PageId) {
        if let Some(discovery) = self.recent.remove(&page) {
            self.recent_bytes -= discovery.url.len() + OVERHEAD;
        }
    }

    fn partition_of(&mut self, url: &PageUrl) -> Partition {
        *self
            .partitions
            .entry(url.host())
            .or_insert_with(|| Partition::of(url))
    }

    fn wait(&mut self, page: PageId, history: &History, now: Moment) {
        if let Some((due, worth)) = self.prospects(history) {
            self.bench.offer(page, worth, due, now);
        }
    }

    /// When a page falls due, and what it is worth then; `None`: never.
    fn prospects(&self, history: &History) -> Option<(Moment, Worth)> {
        let due = self.policy.due(history, self.price)?;
        Some((due, self.policy.worth(history, due)))
    }
}

/// A page that an earlier run left waiting.
struct Waiting {
    order: u64,
    page: PageId,
    due: Moment,
    worth: Worth,
}
