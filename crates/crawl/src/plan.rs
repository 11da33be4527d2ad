//! The rules of one crawl: limits, manners, and which pages are fetched again.

use std::time::Duration;

use frontier::DomainLimits;
use frontier::bench::Manners;
use page::PageUrl;
use policy::Price;
use policy::retry::Retry;

use crate::discovery::Ownership;
use crate::host::LONGEST_WAIT;

/// How long a server rests that failed again and again, in a crawl that does not end.
const REST: Duration = Duration::from_secs(3600);

/// Pages in one group commit: the bound on what a kill can cost beside the requests under way.
pub const GROUP: usize = 20;

/// The product token that robots.txt files know us by.
pub const TOKEN: &str = "avocet";

/// What decides how a crawl goes, beside scope and policies.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where it begins.
    pub seeds: Vec<PageUrl>,
    /// The partitions that are ours.
    pub ours: Ownership,
    /// Connections open at once.
    pub connections: usize,
    /// Visits to one server at once.
    pub per_server: u8,
    /// Pages that a visit to a server without a delay is for, at most.
    pub pages_per_visit: usize,
    /// Pages fetched from one host, at most.
    pub pages_per_host: u32,
    /// Requests under way on one connection, at most.
    pub width: usize,
    /// Whether a proxy stands between us and the servers.
    pub proxied: bool,
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
    /// Whether texts are made searchable.
    pub index: bool,
    /// Whether no server is asked for its rules, or for a URL that cannot exist. Only for worlds that have neither.
    pub without_rules: bool,
}

/// Which pages are fetched again.
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
    /// All, for as long as the crawl runs, each when it is worth this price. For experiments in which the price
    /// is given and the number of fetches is measured.
    AtPrice(Price),
}

impl Default for Plan {
    /// One connection, nothing twice, no limits.
    fn default() -> Self {
        Self {
            seeds: Vec::new(),
            ours: Ownership::all(),
            connections: 1,
            per_server: 1,
            pages_per_visit: Manners::default().pages_per_visit,
            pages_per_host: u32::MAX,
            width: 1,
            proxied: false,
            domains: None,
            delay: None,
            again: Again::Never,
            retry: Retry::default(),
            buffer: None,
            stop_coverage: None,
            until_found: None,
            only_found: false,
            index: false,
            without_rules: false,
        }
    }
}

impl Plan {
    /// Whether the crawl goes on when nothing new is left.
    pub fn is_continuous(&self) -> bool {
        matches!(self.again, Again::Always { .. } | Again::AtPrice(_))
    }

    /// How long a server rests that failed again and again; a crawl that ends does not wait for it.
    pub fn rest(&self) -> Duration {
        match self.again {
            Again::Always { .. } | Again::AtPrice(_) => REST,
            Again::Never | Again::OlderThan(_) => LONGEST_WAIT,
        }
    }

    /// Requests that a kill at any instant can cost, at most.
    pub fn at_risk(&self) -> usize {
        self.connections * self.width + GROUP
    }
}
