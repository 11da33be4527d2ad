//! Everything that one crawl is told: what the core decides by, and how the driver fetches and stores.

use std::time::Duration;

use crawl::scope::ScopeRules;
use crawl::{Again, Ownership};
use fetch::{Http, Settings};
use frontier::DomainLimits;
use frontier::bench::Manners;
use page::PageUrl;
use policy::retry::Retry;

/// Everything that decides how a crawl goes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where it begins.
    pub seeds: Vec<PageUrl>,
    /// What belongs to it.
    pub scope: ScopeRules,
    /// Limits on the shape of URLs.
    pub traps: page::url::traps::Rules,
    /// How requests are made.
    pub fetch: Settings,
    /// Stop after so many pages.
    pub pages: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Connections open at once.
    pub connections: usize,
    /// Visits to one server at once.
    pub per_server: u8,
    /// Pages fetched from one host, at most.
    pub pages_per_host: u32,
    /// Page budgets of domains that are not a seed's; `None`: any number of pages.
    pub domains: Option<DomainLimits>,
    /// Time between requests to one server; `None`: a second, and none on loopback.
    pub delay: Option<Duration>,
    /// Which pages are fetched again.
    pub again: Again,
    /// How often, and how long after, a page is asked for again that did not answer.
    pub retry: Retry,
    /// Keep only so many pages, the most important ones.
    pub buffer: Option<usize>,
    /// Stop when the fetched pages are known to hold this share of all importance.
    pub stop_coverage: Option<f64>,
    /// Stop when so many pages of the topic are known.
    pub until_found: Option<u64>,
    /// Whether only pages of the topic are made searchable.
    pub only_found: bool,
    /// Whether answers are kept.
    pub archive: bool,
    /// How hard they are compressed.
    pub level: repository::archive::Level,
    /// Whether texts are made searchable.
    pub index: bool,
}

impl Plan {
    /// Whether the crawl goes on when nothing new is left.
    pub fn is_continuous(&self) -> bool {
        matches!(self.again, Again::Always { .. })
    }

    /// What the core is to know of it.
    pub fn core(&self) -> crawl::Plan {
        crawl::Plan {
            seeds: self.seeds.clone(),
            ours: Ownership::all(),
            connections: self.connections,
            per_server: self.per_server,
            pages_per_visit: Manners::default().pages_per_visit,
            pages_per_host: self.pages_per_host,
            width: self.width(),
            proxied: self.fetch.proxy.is_some(),
            domains: self.domains,
            delay: self.delay,
            again: self.again,
            retry: self.retry,
            buffer: self.buffer,
            stop_coverage: self.stop_coverage,
            until_found: self.until_found,
            only_found: self.only_found,
            index: self.index,
            // Every server is asked for its robots.txt.
            without_rules: false,
        }
    }

    /// Requests under way on one connection, at most. Where the user leaves the choice to us it is one: no server is
    /// asked for several pages at once that was not meant to be.
    fn width(&self) -> usize {
        match self.fetch.http {
            Http::Auto | Http::Http10 | Http::Http11 => 1,
            Http::Pipelined(depth) => depth.requests(),
            Http::Http2 => STREAMS,
        }
    }
}

/// Streams of one HTTP/2 connection that are used at once.
const STREAMS: usize = 16;
