//! The frontier: turns discoveries and visits into facts for the ledger, input for the policy
//! and work for the bench.
//!
//! It is a state machine. Facts change its memory through [`Frontier::hear`], [`Frontier::read`],
//! [`Frontier::visited`] and [`Frontier::learned`]. Its choices ([`Frontier::next`],
//! [`Frontier::more`]) change it too. The ledger commits every fact as an [`Entry`], and
//! [`Frontier::recall`] rebuilds the memory from the entries of earlier runs.

mod deferral;
mod early;
mod histories;
mod recall;
mod recent;
mod revaluation;
mod sample;
mod schedule;

pub use recall::{Placed, Recalled, Said};
pub use schedule::{More, Next};

use std::collections::HashMap;

use page::{HostId, PageId, PageUrl};
use policy::server::Strategy;
use policy::{
    Appeared, Discovered, Fact, History, Moment, Moves, Number, Page, Part, Policy, Price, Read,
    Rows, Text, Worth,
};

use crate::bench::{Bench, Manners};
use crate::calendar::Calendar;
use crate::domains::DomainBudgets;
use crate::novelty::Novelty;
use crate::owner::Partition;
use crate::record::{Discovery, Entry, OutLinks, PageKey};
use crate::seen_set::SeenSet;
use histories::LoadedHistories;
use recent::{RecentPage, RecentPages};
use schedule::{Choosing, PriceRule};

/// Maximum number of different anchor texts that are stored for the links to a page, per run.
const IN_LINKS: u32 = 12;
/// Maximum number of characters of an anchor text that are stored.
const ANCHOR: usize = 120;
/// Maximum number of waiting pages that are moved at a time, because their worth has changed. One
/// fact can change the worth of every page.
const MOVED_AT_ONCE: usize = 256;

/// A link to a page, or a seed.
#[derive(Debug, Clone, Copy)]
pub struct FrontierLink<'a> {
    /// The URL of the page.
    pub url: &'a PageUrl,
    /// Number of links from a seed.
    pub depth: u16,
    /// Number of consecutive redirects that led here.
    pub hops: u8,
    /// The page that links to it; `None`: it is a seed.
    pub source: Option<PageId>,
    /// When `source` was last read without this link; `None`: it was never read before.
    pub absent: Option<Moment>,
}

/// The content of a page that was read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Its text.
    pub text: Text<'a>,
    /// Its links to known pages, with the numbers that [`Frontier::hear`] and
    /// [`Frontier::number`] return.
    pub links: &'a [policy::LinkFact<'a>],
    /// Number of all pages that it links to, including those outside the crawl.
    pub out_links: u32,
    /// Whether the page was read before.
    pub again: bool,
}

/// The memory of a crawl: known pages, waiting pages and the price.
pub struct Frontier<P> {
    /// The waiting pages.
    pub bench: Bench,
    /// The novelty of URL patterns.
    pub novelty: Novelty,
    /// Page budgets of domains; `None`: domains are not limited.
    domains: Option<Box<DomainBudgets>>,
    policy: P,
    price_rule: PriceRule,
    calendar: Calendar,
    histories: LoadedHistories,
    choosing: Choosing,
    /// Changes of worth that the bench does not know yet.
    moves: Moves,
    seen: SeenSet,
    /// A Bloom filter per page, of the anchor texts that were stored for the links to it.
    in_links: Rows<u32>,
    partitions: HashMap<HostId, Partition>,
    recent: RecentPages,
}

impl<P: Policy> Frontier<P> {
    /// Returns an empty frontier. Authors of URLs must not be able to guess `salt`.
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
            price_rule: PriceRule::Fixed(price),
            calendar: Calendar::default(),
            histories: LoadedHistories::default(),
            choosing: Choosing::default(),
            moves: Moves::default(),
            seen: SeenSet::new(salt),
            in_links: Rows::new(0),
            partitions: HashMap::new(),
            recent: RecentPages::default(),
        }
    }

    /// Returns the policy. Changing it does not move pages that wait already.
    pub fn policy(&mut self) -> &mut P {
        &mut self.policy
    }

    /// Adds a page that is not known yet. Returns its number and the fact to commit.
    pub fn hear(&mut self, link: FrontierLink<'_>, now: Moment) -> (Number, Entry) {
        let page = link.url.id();
        let number = self.seen.insert(page);
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
        self.count_discovery(number, &link);
        self.wait(page.host(), number, &history, now);
        let recent = RecentPage {
            url: link.url.clone(),
            discovery: discovery.clone(),
        };
        self.recent.insert(page, recent);
        (number, Entry::Admitted(key, discovery))
    }

    /// Adds a seed. Returns `None` if the page is known already.
    pub fn hear_seed(&mut self, url: &PageUrl, now: Moment) -> Option<Entry> {
        if self.seen.number(url.id()).is_some() {
            return None;
        }
        let seed = FrontierLink {
            url,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        Some(self.hear(seed, now).1)
    }

    /// Takes in the content of a page. Returns the fact to commit: the links of the page, which
    /// replace the stored ones. Returns `None` if the page is not known.
    pub fn read(&mut self, page: PageId, reading: Reading<'_>) -> Option<Entry> {
        let mut links = Vec::with_capacity(reading.links.len());
        self.read_part(page, reading, Part::WHOLE, &mut links);
        self.links_fact(page, reading.out_links, links)
    }

    /// Takes in a part of the links of a page, and appends what is to be stored of them to `kept`.
    /// Does nothing if the page is not known.
    pub fn read_part(
        &mut self,
        page: PageId,
        reading: Reading<'_>,
        part: Part,
        kept: &mut Vec<(u32, String)>,
    ) {
        let Some(number) = self.seen.number(page) else {
            return;
        };
        let fact = Fact::Read(Read {
            page: number,
            text: reading.text,
            links: reading.links,
            out_links: reading.out_links,
            part,
        });
        self.policy.observe(&fact, &mut self.moves);
        self.follow_moves();
        self.count_links(page.host(), reading.links);
        for link in reading.links {
            kept.push((link.to.0, self.kept_words(link, reading.again)));
        }
    }

    /// Returns the links of a page as a fact to commit; `None`: the page is not known.
    pub fn links_fact(
        &self,
        page: PageId,
        out_links: u32,
        links: Vec<(u32, String)>,
    ) -> Option<Entry> {
        self.seen.number(page)?;
        Some(Entry::Links(
            self.key(page)?,
            OutLinks::new(out_links, links),
        ))
    }

    /// Returns the anchor text to store for a link, or "" for none.
    ///
    /// A text is stored if its target has fewer than [`IN_LINKS`] texts and no equal text. If the
    /// page is read `again`, a text that the target already has is stored, too: it may come from
    /// this page's earlier link, which is replaced.
    ///
    /// The texts of a target are in a Bloom filter of 32 bits with one hash and at most 12 bits
    /// set. So a new text is wrongly taken for a known one with a probability of at most 12/32.
    fn kept_words(&mut self, link: &policy::LinkFact<'_>, again: bool) -> String {
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

    /// Returns the page of a host that has this number.
    pub fn page(&self, host: HostId, number: Number) -> PageId {
        self.seen.page(host, number)
    }

    /// Returns the number of a page; `None`: it is not known.
    pub fn number(&self, page: PageId) -> Option<Number> {
        self.seen.number(page)
    }

    /// Returns the ledger key of a known page.
    pub fn key(&self, page: PageId) -> Option<PageKey> {
        let partition = *self.partitions.get(&page.host())?;
        Some(PageKey { partition, page })
    }

    /// Returns the ledger key of a page by its number and the index of its host. Policies know
    /// a host by this index ([`Bench::host`]).
    pub fn located(&self, page: Number, host: u32) -> Option<PageKey> {
        self.key(self.seen.page(self.bench.host_id(host), page))
    }

    /// Returns the discovery of an unvisited page if it is in memory; else it is only in the
    /// ledger.
    pub fn recent(&self, page: PageId) -> Option<&Discovery> {
        self.recent.get(page).map(|recent| &recent.discovery)
    }

    /// Returns the URL of an unvisited page if it is in memory.
    pub fn recent_url(&self, page: PageId) -> Option<&PageUrl> {
        self.recent.get(page).map(|recent| &recent.url)
    }

    /// Drops discoveries from memory that are now in the ledger, while the discoveries in memory
    /// take more than 8 MiB.
    pub fn committed(&mut self, entries: &[Entry]) {
        self.recent.committed(entries);
    }

    /// Returns the number of known pages.
    pub fn known(&self) -> usize {
        self.seen.len()
    }

    /// Returns when a page falls due and its worth then; `None`: never.
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

    /// Returns the page on which a new page appeared; `None`: it appeared on no page that was read
    /// before.
    fn appeared(&self, source: Option<PageId>, absent: Option<Moment>) -> Option<Appeared> {
        Some(Appeared {
            after: absent?,
            on: self.seen.number(source?)?,
        })
    }

    /// Returns whether the worth of waiting pages has changed that are not moved yet.
    pub fn has_moves(&self) -> bool {
        !self.moves.is_empty()
    }

    /// Moves the next waiting pages whose worth has changed, at most 256. [`Frontier::next`] moves
    /// all that are left.
    pub fn follow_moves(&mut self) {
        let least = Worth::new(self.price().value());
        for _ in 0..MOVED_AT_ONCE {
            let Some((page, worth)) = self.moves.pop() else {
                return;
            };
            if let Some(host) = self.bench.change(page, worth, least) {
                let history = self.discovered(host, page);
                self.offer(page, host, worth, history.as_ref());
            }
        }
    }

    /// Returns the history of an unvisited page if its discovery is in memory.
    fn discovered(&self, host: HostId, page: Number) -> Option<History> {
        let found = self.recent(self.seen.page(host, page))?;
        Some(History::discovered(found.at, found.depth))
    }

    fn partition_of(&mut self, url: &PageUrl) -> Partition {
        *self
            .partitions
            .entry(url.host())
            .or_insert_with(|| Partition::of(url))
    }
}

/// Returns the 64-bit FNV-1a hash with its upper half folded into the lower one. It is the same in
/// every run.
fn hash_of(words: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = words.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    hash ^ hash >> 32
}

/// Returns the beginning of an anchor text, cut between two characters.
fn shortened(anchor: &str) -> &str {
    let end = anchor.char_indices().nth(ANCHOR);
    &anchor[..end.map_or(anchor.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests;
