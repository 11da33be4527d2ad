//! What the user wants of one crawl.

use std::time::Duration;

use fetch::{Http, Settings};
use frontier::DomainLimits;
use page::PageUrl;
use policy::retry::Retry;

use super::host::LONGEST_WAIT;
use crate::scope::ScopeRules;

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

/// Which pages are fetched again?
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Again {
    /// None: the crawl ends when nothing new is left.
    Never,
    /// Those that were last asked for so long ago, once.
    OlderThan(Duration),
    /// All, for as long as the crawl runs, within a budget of so many fetches a second.
    Always {
        /// Fetches a second.
        budget: f64,
    },
}

impl Plan {
    /// Whether the crawl goes on when nothing new is left.
    pub fn is_continuous(&self) -> bool {
        matches!(self.again, Again::Always { .. })
    }

    /// How long a server rests that failed again and again; a crawl that ends does not wait for it.
    pub fn rest(&self) -> Duration {
        if self.is_continuous() {
            REST
        } else {
            LONGEST_WAIT
        }
    }

    /// Requests under way on one connection, at most. Where the user leaves the choice to us it is one:
    /// nobody is asked for several pages at once who was not meant to be.
    pub fn width(&self) -> usize {
        match self.fetch.http {
            Http::Auto | Http::Http10 | Http::Http11 => 1,
            Http::Pipelined(depth) => depth.requests(),
            Http::Http2 => STREAMS,
        }
    }

    /// Requests that a kill at any instant can cost, at most.
    pub fn at_risk(&self) -> usize {
        self.connections * self.width() + GROUP
    }
}

/// How long a server is left alone by a crawl that does not end.
const REST: Duration = Duration::from_secs(3600);

/// Streams of one HTTP/2 connection that are used at once.
const STREAMS: usize = 16;

/// Pages in one group commit: the bound on what a kill can cost beside the requests under way.
pub const GROUP: usize = 20;

/// The product token that robots.txt files know us by.
pub const TOKEN: &str = "avocet";
