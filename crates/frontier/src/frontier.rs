//! What is heard of becomes facts for the ledger, knowledge for the policy and work for the bench.
//!
//! A partition of the web is a state machine, and its transitions are here: [`Frontier::hear`],
//! [`Frontier::read`], [`Frontier::visited`] and [`Frontier::learned`] change memory in step with the [`Entry`]s that the ledger
//! commits; [`Frontier::recall`] makes the same memory from the entries of an earlier run.

mod early;
mod histories;
mod recall;
mod returning;
mod sample;
mod schedule;
mod sharing;

pub use recall::{Placed, Recalled, Said};
pub use schedule::{More, Next};

use std::collections::HashMap;

use page::{HostId, PageId, PageUrl};
use policy::server::Strategy;
use policy::{
    Appeared, Discovered, Fact, History, Moment, Moves, Number, Page, Policy, Price, Read, Text,
    Worth,
};

use crate::bench::{Bench, Manners};
use crate::calendar::Calendar;
use crate::domains::DomainBudgets;
use crate::novelty::Novelty;
use crate::owner::Partition;
use crate::record::{Discovery, Entry, OutLinks, PageKey};
use crate::roll::Roll;
use crate::rows::Rows;
use histories::Histories;
use schedule::{Choosing, Tariff};

/// URLs kept in memory beside the ledger, in bytes; a claim that finds its URL here reads no disk and parses
/// nothing. The parsed form is not counted; it takes about as much again.
const REMEMBERED: usize = 8 << 20;
/// What a remembered URL costs beside its text.
const OVERHEAD: usize = 120;
/// Links to a page whose words are kept, by each run, if they differ.
const IN_LINKS: u32 = 12;
/// Characters of a link's words that are kept.
const ANCHOR: usize = 120;

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
    /// When that page was last read and did not name it; `None`: it was never read before.
    pub absent: Option<Moment>,
}

/// What a page said when it was read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Its text.
    pub text: Text<'a>,
    /// Its links to known pages, as [`Frontier::hear`] and [`Frontier::number`] number them.
    pub links: &'a [policy::Link<'a>],
    /// All pages that it links to.
    pub out_links: u32,
    /// Whether the page was read before.
    pub again: bool,
}

/// The memory of a crawl: what is known, what waits, what pays.
pub struct Frontier<P> {
    /// The waiting pages.
    pub bench: Bench,
    /// What URL patterns gave.
    pub novelty: Novelty,
    /// How many pages each domain may have; `None`: any number.
    domains: Option<Box<DomainBudgets>>,
    policy: P,
    tariff: Tariff,
    calendar: Calendar,
    histories: Histories,
    choosing: Choosing,
    moves: Moves,
    roll: Roll,
    /// How many links to a page were kept with their words.
    in_links: Rows<u32>,
    partitions: HashMap<HostId, Partition>,
    recent: HashMap<PageId, (PageUrl, Discovery)>,
    recent_bytes: usize,
}

impl<P: Policy> Frontier<P> {
    /// An empty frontier. `salt` should be hard to guess for whoever writes the URLs.
    pub fn new(
        policy: P,
        strategy: Box<dyn Strategy>,
        price: Price,
        manners: Manners,
        salt: u64,
    ) -> Self {
        let mut bench = Bench::new(manners, strategy);
        if policy.needs() != policy::Needs::default() {
            bench.track();
        }
        Self {
            bench,
            novelty: Novelty::default(),
            domains: None,
            policy,
            tariff: Tariff::Fixed(price),
            calendar: Calendar::default(),
            histories: Histories::default(),
            choosing: Choosing::default(),
            moves: Moves::default(),
            roll: Roll::new(salt),
            in_links: Rows::new(0),
            partitions: HashMap::new(),
            recent: HashMap::new(),
            recent_bytes: 0,
        }
    }

    /// The policy. What waits keeps its place when it is changed.
    pub fn policy(&mut self) -> &mut P {
        &mut self.policy
    }

    /// Takes in a page that was never heard of. Returns its number and the fact.
    pub fn hear(&mut self, link: Link<'_>, now: Moment) -> (Number, Entry) {
        let page = link.url.id();
        let number = self.roll.enroll(page);
        let discovery = Discovery {
            url: link.url.as_str().to_owned(),
            order: u64::from(number.0),
            at: now,
            depth: link.depth,
            hops: link.hops,
            source: link.source,
            absent: link.absent,
        };
        let key = PageKey {
            partition: self.partition_of(link.url),
            page,
        };
        self.discover(number, page.host(), &discovery);
        let history = History::discovered(now, link.depth);
        self.sample(number, page.host(), Some(&history));
        self.share(number, &link);
        self.wait(page.host(), number, &history, now);
        self.recent_bytes += discovery.url.len() + OVERHEAD;
        let remembered = (link.url.clone(), discovery.clone());
        self.recent.insert(page, remembered);
        (number, Entry::Admitted(key, discovery))
    }

    /// Takes in a page that a user named, as a seed; nothing happens if it is known.
    pub fn hear_seed(&mut self, url: &PageUrl, now: Moment) -> Option<Entry> {
        if self.roll.number(url.id()).is_some() {
            return None;
        }
        let seed = Link {
            url,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        Some(self.hear(seed, now).1)
    }

    /// Takes in what a page said. Returns the fact, also if it leads nowhere: it may have led somewhere.
    pub fn read(&mut self, page: PageId, reading: Reading<'_>) -> Option<Entry> {
        let number = self.roll.number(page)?;
        let fact = Fact::Read(Read {
            page: number,
            text: reading.text,
            links: reading.links,
            out_links: reading.out_links,
        });
        self.policy.observe(&fact, &mut self.moves);
        self.follow_moves();
        self.share_links(page.host(), reading.links);
        let links = reading.links.iter();
        let links = links
            .map(|link| (link.to.0, self.kept_words(link, reading.again)))
            .collect();
        let links = OutLinks::new(reading.out_links, links);
        Some(Entry::Links(self.key(page)?, links))
    }

    /// The words of a link, if its target has room for them and no others like them. A page that is read again
    /// replaces what it said, so words that its target has are kept: they may be its own.
    ///
    /// What a page has is known by a Bloom filter of 32 bits with one hash. At most one in three of other words is
    /// then taken for one that the page has.
    fn kept_words(&mut self, link: &policy::Link<'_>, again: bool) -> String {
        let words = shortened(link.anchor);
        let bit = 1 << (hash_of(words) % 32);
        let kept = self.in_links.get(link.to.index());
        let known = kept & bit != 0;
        if words.is_empty() || known && !again || !known && kept.count_ones() >= IN_LINKS {
            return String::new();
        }
        self.in_links.set(link.to.index(), kept | bit);
        words.to_owned()
    }

    /// The page of a host that has this number.
    pub fn page(&self, host: HostId, number: Number) -> PageId {
        self.roll.page(host, number)
    }

    /// The number of a page; `None`: it was never heard of.
    pub fn number(&self, page: PageId) -> Option<Number> {
        self.roll.number(page)
    }

    /// Where a page that was heard of is in the ledger.
    pub fn key(&self, page: PageId) -> Option<PageKey> {
        let partition = *self.partitions.get(&page.host())?;
        Some(PageKey { partition, page })
    }

    /// Where a page is in the ledger that a policy knows by its number and the number of its host.
    pub fn located(&self, page: Number, host: u32) -> Option<PageKey> {
        self.key(self.roll.page(self.bench.host_id(host), page))
    }

    /// What is remembered of a page never visited; what is not remembered is in the ledger.
    pub fn recent(&self, page: PageId) -> Option<&Discovery> {
        self.recent.get(&page).map(|(_, discovery)| discovery)
    }

    /// The URL of a page never visited, if it is remembered.
    pub fn recent_url(&self, page: PageId) -> Option<&PageUrl> {
        self.recent.get(&page).map(|(url, _)| url)
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

    /// Pages ever heard of.
    pub fn known(&self) -> usize {
        self.roll.len()
    }

    /// When a page falls due, and what it is worth then; `None`: never.
    pub fn prospects(&self, number: Number, history: &History) -> Option<(Moment, Worth)> {
        let page = Page { number, history };
        let due = self.policy.due(page, self.price())?;
        Some((due, self.policy.worth(page, due)))
    }

    fn discover(&mut self, page: Number, host: HostId, discovery: &Discovery) {
        let fact = Fact::Discovered(Discovered {
            page,
            url: &discovery.url,
            host: self.bench.host(host),
            depth: discovery.depth,
            seed: discovery.source.is_none(),
            at: discovery.at,
            appeared: self.appeared(discovery.source, discovery.absent),
        });
        self.policy.observe(&fact, &mut self.moves);
        self.follow_moves();
    }

    /// Where a page was new, if it was.
    fn appeared(&self, source: Option<PageId>, absent: Option<Moment>) -> Option<Appeared> {
        Some(Appeared {
            after: absent?,
            on: self.roll.number(source?)?,
        })
    }

    fn follow_moves(&mut self) {
        let least = Worth::new(self.price().value());
        let mut moves = std::mem::take(&mut self.moves);
        for (page, worth) in moves.drain() {
            if let Some(host) = self.bench.change(page, worth, least) {
                let history = self.discovered(host, page);
                self.offer(page, host, worth, history.as_ref());
            }
        }
        // Its memory is used again.
        self.moves = moves;
    }

    /// The history of a page that was never visited, if it is remembered.
    fn discovered(&self, host: HostId, page: Number) -> Option<History> {
        let (_, found) = self.recent.get(&self.roll.page(host, page))?;
        Some(History::discovered(found.at, found.depth))
    }

    fn forget(&mut self, page: PageId) {
        if let Some((_, discovery)) = self.recent.remove(&page) {
            self.recent_bytes -= discovery.url.len() + OVERHEAD;
        }
    }

    fn partition_of(&mut self, url: &PageUrl) -> Partition {
        *self
            .partitions
            .entry(url.host())
            .or_insert_with(|| Partition::of(url))
    }
}

/// FNV-1a, which is the same in every run.
fn hash_of(words: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = words.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    hash ^ hash >> 32
}

/// The beginning of a link's words, cut between two characters.
fn shortened(anchor: &str) -> &str {
    let end = anchor.char_indices().nth(ANCHOR);
    &anchor[..end.map_or(anchor.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests;
