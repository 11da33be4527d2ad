//! A town as a crawl sees it: what each fetch gives, the initial ledger, and the log of clicks.
//!
//! **Invariant:** a version of a page, a new link and a hint reach the crawl only in the answer to
//! a fetch, and a click only if the crawl has a copy of its page.

use std::collections::HashMap;

use ::crawl::verdict::{Asked, Lead, Signal, Verdict};
use ::crawl::{Claim, Met};
use frontier::{Discovery, Entry, MemoryLedger, OutLinks, PageKey};
use page::listing::ListingKind;
use page::{PageId, PageUrl};
use policy::{History, Moment, Outcome};
use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::ratio::{OldNew, discovery_share};
use super::served::{ClickJudge, FetchKind, Served};
use super::split::{Division, Split};
use crate::kinds::Town;
use crate::run::driver::{Responder, answer_of};

/// Seconds over which clicks are counted for the gain of a refresh: a week.
const WEEK: f64 = 7.0 * 86_400.0;

/// Least time with a copy, in seconds, after which clicks say what a refresh gains.
const SHORTEST: f64 = 3_600.0;

/// A page of the town, by its number.
#[derive(Debug, Clone, Copy)]
enum TownUrl {
    Source(u32),
    Sitemap(u32),
    Page(u32),
}

/// A town, and what a crawl has of it.
pub(super) struct TownWeb<'t> {
    town: &'t Town,
    urls: HashMap<PageId, TownUrl>,
    division: Division,
    judge: ClickJudge<'t>,
    /// When each page was first copied.
    copied: Vec<Option<Moment>>,
    /// Whether each page was found.
    found: Vec<bool>,
    /// Change rate a second of each page, as last estimated.
    rates: Vec<f64>,
    /// Time of the last push of the log.
    pushed: Moment,
    /// New pages found, first copies and polls since the start.
    counts: DiscoveryCounts,
}

#[derive(Debug, Default)]
struct DiscoveryCounts {
    found: f64,
    firsts: f64,
    polls: f64,
}

impl<'t> TownWeb<'t> {
    pub fn new(town: &'t Town, division: Division, measured: Moment) -> Self {
        let sources = (0..).zip(&town.sources);
        let sources = sources.map(|(number, source)| (&source.url, TownUrl::Source(number)));
        let sitemaps = (0..).zip(&town.sitemaps);
        let sitemaps = sitemaps.map(|(number, sitemap)| (&sitemap.url, TownUrl::Sitemap(number)));
        let pages = (0..).zip(&town.pages);
        let pages = pages.map(|(number, page)| (&page.url, TownUrl::Page(number)));
        // A URL that is both counts as a source.
        let urls = pages.chain(sitemaps).chain(sources);
        let old = |number: usize| number < town.old;
        Self {
            town,
            urls: urls.map(|(url, number)| (url.id(), number)).collect(),
            division,
            judge: ClickJudge::new(town, measured),
            copied: (0..town.pages.len())
                .map(|number| old(number).then_some(town.from))
                .collect(),
            found: (0..town.pages.len()).map(old).collect(),
            rates: vec![0.0; town.pages.len()],
            pushed: town.from,
            counts: DiscoveryCounts::default(),
        }
    }

    /// Returns the sources in random order.
    pub fn order_of_sources(&self, seed: u64) -> Vec<usize> {
        let mut sources: Vec<usize> = (0..self.town.sources.len()).collect();
        sources.shuffle(&mut stream(seed, For::FirstVisits, 0, 0));
        sources
    }

    /// Returns the initial ledger: a visit to every source, sitemap and old page, and their links.
    ///
    /// The sources have the first numbers, in this order.
    pub fn ledger(&self, sources: &[usize]) -> MemoryLedger {
        let town = self.town;
        let first_old = sources.len() + town.sitemaps.len();
        let numbers = |links: &[u32]| -> Vec<u32> {
            links.iter().map(|link| first_old as u32 + link).collect()
        };
        let mut rows: Vec<InitialPage<'_>> = Vec::new();
        for &source in sources {
            let source = &town.sources[source];
            rows.push(InitialPage::source(&source.url, numbers(&source.links)));
        }
        let home = rows.first().map(|row| row.url.id());
        for sitemap in &town.sitemaps {
            rows.push(InitialPage {
                listing: true,
                ..InitialPage::linked(&sitemap.url, home, Vec::new())
            });
        }
        for page in &town.pages[..town.old] {
            rows.push(InitialPage::linked(&page.url, home, numbers(&page.links)));
        }
        let mut ledger = MemoryLedger::default();
        for (order, row) in (0..).zip(&rows) {
            ledger.commit(&row.facts(order, town.from));
        }
        ledger
    }

    /// Returns the clicks since the last push on pages that the crawl has a copy of.
    pub fn push_log(&mut self, until: Moment) -> Vec<Met> {
        let from = std::mem::replace(&mut self.pushed, until);
        let pages = self.town.pages.iter().zip(&self.copied);
        let met = pages.filter_map(|(page, copied)| {
            let from = from.max((*copied)?);
            let clicks = page.clicks_between(from, until);
            // All clicks of a push have the time of the last one.
            let last = page.clicks.partition_point(|click| *click < until);
            let at = *page.clicks.get(last.checked_sub(1)?)?;
            (clicks > 0).then(|| Met {
                page: page.url.id(),
                at,
                views: clicks as f64,
                clicks: clicks as f64,
            })
        });
        met.collect()
    }

    /// Computes the share of discovery again, if the crawl uses WebFountain's ratio.
    pub fn divide_again(&self, per_second: f64, now: Moment) {
        if self.division.split() != Split::OldNewRatio {
            return;
        }
        let elapsed = now.since(self.town.from).as_secs_f64();
        let mut buckets: HashMap<i32, (f64, f64)> = HashMap::new();
        let copies = self.rates.iter().zip(&self.copied);
        let copies = copies.filter(|(rate, copied)| copied.is_some() && **rate > 0.0);
        for (rate, _) in copies {
            // Buckets of similar rates: a factor of two.
            let bucket = buckets.entry(rate.log2().floor() as i32).or_default();
            *bucket = (bucket.0 + rate, bucket.1 + 1.0);
        }
        let mut buckets: Vec<(f64, f64)> = buckets
            .into_values()
            .map(|(sum, count)| (sum / count, count))
            .collect();
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        let known = self.found.iter().filter(|found| **found).count() as f64;
        let pages = OldNew {
            buckets,
            births: self.counts.found / elapsed,
            waiting: self.counts.found - self.counts.firsts,
            polls: self.counts.polls / self.counts.firsts.max(1.0),
            budget: per_second,
            horizon: known / per_second,
        };
        self.division.set_share(discovery_share(&pages));
    }

    /// Returns whether the division scales worths, so that they change with every fetch.
    pub fn is_scaled(&self) -> bool {
        matches!(self.division.split(), Split::Quota(_) | Split::OldNewRatio)
    }

    pub fn end(self) -> Served {
        self.judge.end()
    }

    fn count(&mut self, kind: FetchKind, site: u32, at: Moment) {
        match kind {
            FetchKind::First => self.counts.firsts += 1.0,
            FetchKind::Poll => self.counts.polls += 1.0,
            FetchKind::Refresh => {}
        }
        self.judge.fetched(kind, site, at);
        self.division.count(kind);
    }

    fn poll(&mut self, source: u32, claim: &Claim, at: Moment) -> Verdict {
        let town = self.town;
        let source = &town.sources[source as usize];
        self.count(FetchKind::Poll, source.site, at);
        let appeared = source.named.partition_point(|named| named.from <= at);
        let shown = source.named[..appeared]
            .iter()
            .filter(|named| named.until > at);
        let text = appeared as u64;
        let mut verdict = claim.asked(at).judge(&answer_of(Some(text)), 0, &|_| true);
        if verdict.visited.history.outcome == Some(Outcome::Changed) {
            let old = source.links.iter().copied();
            for page in shown.map(|named| named.page).chain(old) {
                let found = &mut self.found[page as usize];
                self.counts.found += f64::from(u8::from(!*found));
                *found = true;
                verdict
                    .leads
                    .push(Lead::seed(&town.pages[page as usize].url));
            }
        }
        verdict
    }

    fn read_sitemap(&mut self, sitemap: u32, claim: &Claim, at: Moment) -> Verdict {
        let town = self.town;
        let sitemap = &town.sitemaps[sitemap as usize];
        self.count(FetchKind::Poll, sitemap.site, at);
        let before = claim.history().asked.unwrap_or(town.from);
        let known = sitemap
            .hints
            .partition_point(|(hinted, _)| *hinted <= before);
        let told = sitemap.hints.partition_point(|(hinted, _)| *hinted <= at);
        let mut verdict = claim
            .asked(at)
            .judge(&answer_of(Some(told as u64)), 0, &|_| true);
        verdict.visited.history = verdict.visited.history.listing(true);
        verdict.listing = Some(ListingKind::Sitemap);
        let hints = sitemap.hints[known..told].iter();
        verdict.signals = hints
            .map(|(modified, page)| Signal {
                page: town.pages[*page as usize].url.id(),
                modified: *modified,
            })
            .collect();
        verdict
    }

    fn read_page(&mut self, number: u32, claim: &Claim, at: Moment) -> Verdict {
        let place = number as usize;
        let town = self.town;
        let page = &town.pages[place];
        let first = claim.history().outcome.is_none();
        let kind = match first {
            true => FetchKind::First,
            false => FetchKind::Refresh,
        };
        self.count(kind, page.site, at);
        self.judge.copied(place, at);
        let copied = *self.copied[place].get_or_insert(at);
        let text = page.version(at) as u64;
        let mut verdict = claim.asked(at).judge(&answer_of(Some(text)), 0, &|_| true);
        let history = verdict.visited.history;
        if history.outcome == Some(Outcome::Changed) {
            let links = page.links.iter();
            verdict.leads = links
                .map(|link| Lead::seed(&town.pages[*link as usize].url))
                .collect();
            let held = at.since(copied).as_secs_f64().min(WEEK);
            if held >= SHORTEST {
                let from = Moment::from_micros(at.micros() - (held * 1e6) as u64);
                let gain = page.clicks_between(from, at) as f64 / held;
                verdict.visited.history = history.gained(gain as f32);
            }
        }
        let rate = policy::change_rate(&verdict.visited.history);
        self.rates[place] = rate.unwrap_or_default();
        verdict
    }
}

impl Responder for TownWeb<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        match self.urls[&claim.key.page] {
            TownUrl::Source(source) => self.poll(source, claim, at),
            TownUrl::Sitemap(sitemap) => self.read_sitemap(sitemap, claim, at),
            TownUrl::Page(page) => self.read_page(page, claim, at),
        }
    }
}

/// A page that the crawl knows from the start.
struct InitialPage<'t> {
    url: &'t PageUrl,
    /// The page that links to it; `None` for a seed.
    source: Option<PageId>,
    /// Numbers of the pages that it links to.
    links: Vec<u32>,
    listing: bool,
}

impl<'t> InitialPage<'t> {
    fn source(url: &'t PageUrl, links: Vec<u32>) -> Self {
        Self::linked(url, None, links)
    }

    fn linked(url: &'t PageUrl, source: Option<PageId>, links: Vec<u32>) -> Self {
        Self {
            url,
            source,
            links,
            listing: false,
        }
    }

    /// Returns its facts: a discovery, a visit and the links.
    fn facts(&self, order: u64, at: Moment) -> Vec<Entry> {
        let key = PageKey::of(self.url);
        let depth = u16::from(self.source.is_some());
        let discovery = Discovery {
            url: self.url.as_str().to_owned(),
            order,
            at,
            depth,
            hops: 0,
            source: self.source,
            absent: None,
        };
        let asked = Asked {
            history: History::discovered(at, depth),
            at,
            ..Asked::again(self.url)
        };
        let mut visited = asked.judge(&answer_of(Some(0)), 0, &|_| true).visited;
        visited.history = visited.history.listing(self.listing);
        let links = self
            .links
            .iter()
            .map(|link| (*link, String::new()))
            .collect();
        vec![
            Entry::Admitted(key, discovery),
            Entry::Visited(key, Box::new(visited)),
            Entry::Links(key, OutLinks::new(self.links.len() as u32, links)),
        ]
    }
}
