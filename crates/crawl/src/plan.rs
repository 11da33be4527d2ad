//! The settings of one crawl: limits, politeness, and which pages are fetched again.

use std::time::Duration;

use frontier::DomainLimits;
use frontier::bench::Manners;
use page::PageUrl;
use policy::Price;
use policy::retry::Retry;

use crate::discovery::Ownership;
use crate::host::LONGEST_WAIT;
use crate::site::SiteRules;

/// Pause of a server after repeated failures, in a crawl that continues until it is stopped.
const REST: Duration = Duration::from_secs(3600);

/// The delay between requests to a server that is not on loopback, unless the user sets another.
const USUAL_DELAY: Duration = Duration::from_secs(1);

/// Maximum number of settled pages that the core collects before it hands them to the committer.
/// Part of the bound on what a kill can lose ([`Plan::at_risk`]).
pub const GROUP: usize = 20;

/// The product token that robots.txt files use for this crawler.
pub const TOKEN: &str = "avocet";

/// The settings of a crawl, apart from scope and policies.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The start URLs.
    pub seeds: Vec<PageUrl>,
    /// The partitions that this core crawls.
    pub ours: Ownership,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of concurrent visits to one server.
    pub per_server: u8,
    /// Maximum number of pages that a visit is ranked for, at a server that needs no delay.
    pub pages_per_visit: usize,
    /// Maximum number of pages that a run claims from one host.
    pub pages_per_host: u32,
    /// Maximum number of requests in flight on one connection.
    pub width: usize,
    /// Whether requests go through a proxy.
    pub proxied: bool,
    /// Page budgets of domains that have no seed; `None`: unlimited.
    pub domains: Option<DomainLimits>,
    /// Minimum time from a request to the next one to the same server; `None`: 1 s, or 0 on
    /// loopback and where robots.txt has `Crawl-delay: 0`. A longer `Crawl-delay` wins.
    pub delay: Option<Duration>,
    /// Rules for single sites, which have priority over `delay`. The first that names a host holds.
    pub sites: Vec<SiteRules>,
    /// Most requests of one visit without the delay between them, at least 1. A visit of n
    /// requests is followed by n delays. A server with a `Crawl-delay` gets one request at a time.
    pub burst: u16,
    /// Which pages are fetched again.
    pub again: Again,
    /// How often and when an unreachable page is requested again.
    pub retry: Retry,
    /// Maximum number of copies that the store keeps, those of the most important pages; `None`: it
    /// keeps all.
    pub buffer: Option<usize>,
    /// Stop when at least this share of a random walk from the seeds, from 0 to 1, falls on fetched
    /// pages.
    pub stop_coverage: Option<f64>,
    /// Stop when this number of pages of the store match the topic.
    pub until_found: Option<u64>,
    /// Whether only pages that match the topic are indexed.
    pub only_found: bool,
    /// Whether the driver indexes pages. If so, their records have the links for the index.
    pub index: bool,
    /// Requests for pages that may wait for the broker in a cluster, beside those that one machine
    /// allows. 0 without a cluster.
    pub unpublished: usize,
    /// Whether no robots.txt and no probe is requested. Only for simulated worlds that have
    /// neither.
    pub without_rules: bool,
}

/// Which visited pages are fetched again. Pages that were unreachable at their last visit are
/// requested again in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Again {
    /// None: the crawl ends when no other page is left.
    Never,
    /// Pages whose last visit is at least this long ago, once in this run.
    OlderThan(Duration),
    /// All pages, continuously, within a budget.
    Always {
        /// Fetches per second.
        budget: f64,
    },
    /// All pages, continuously, each when its worth reaches this price. For experiments in
    /// which the price is given and the number of fetches is measured.
    AtPrice(Price),
}

impl Default for Plan {
    /// Returns a plan with one connection, no refetches and no limits.
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
            sites: Vec::new(),
            burst: 1,
            again: Again::Never,
            retry: Retry::default(),
            buffer: None,
            stop_coverage: None,
            until_found: None,
            only_found: false,
            index: false,
            unpublished: 0,
            without_rules: false,
        }
    }
}

/// How fast a server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerPace {
    /// Minimum time from a request to the next.
    pub delay: Duration,
    /// Most requests of one visit, if there is a delay.
    pub burst: usize,
}

impl Plan {
    /// Returns the pace of a server for a page. `crawl_delay` is that of its robots.txt.
    ///
    /// The delay is that of the site, the setting or the default, or the crawl delay if that is
    /// longer. A crawl delay of zero lifts the default. A server with a crawl delay wants it after
    /// each request, so its visits are no bursts.
    pub fn pace(&self, url: &PageUrl, loopback: bool, crawl_delay: Option<Duration>) -> ServerPace {
        let of_site = SiteRules::of(&self.sites, url).and_then(|site| site.delay);
        let usual = match loopback || crawl_delay == Some(Duration::ZERO) {
            true => Duration::ZERO,
            false => USUAL_DELAY,
        };
        let crawl_delay = crawl_delay.unwrap_or_default();
        ServerPace {
            delay: of_site.or(self.delay).unwrap_or(usual).max(crawl_delay),
            burst: match crawl_delay.is_zero() {
                true => usize::from(self.burst.max(1)),
                false => 1,
            },
        }
    }

    /// Returns whether the crawl continues, and refreshes pages, when no new page is left.
    pub fn is_continuous(&self) -> bool {
        matches!(self.again, Again::Always { .. } | Again::AtPrice(_))
    }

    /// Returns the pause of a server after repeated failures: an hour in a continuous crawl, else
    /// five minutes.
    pub fn rest(&self) -> Duration {
        match self.again {
            Again::Always { .. } | Again::AtPrice(_) => REST,
            Again::Never | Again::OlderThan(_) => LONGEST_WAIT,
        }
    }

    /// Returns the most requests for pages that are uncommitted at any instant, and so can be lost
    /// by a kill.
    pub fn at_risk(&self) -> usize {
        self.connections * self.width + GROUP + self.unpublished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocked::Blocked;

    #[test]
    fn the_pace_of_a_server_follows_settings_and_its_crawl_delay() {
        let seconds = Duration::from_secs;
        let pace = |delay: Option<u64>, loopback, crawl_delay: Option<u64>| {
            let plan = Plan {
                delay: delay.map(seconds),
                burst: 5,
                ..Plan::default()
            };
            let url = PageUrl::parse("http://a.example/").expect("a URL");
            let pace = plan.pace(&url, loopback, crawl_delay.map(seconds));
            (pace.delay.as_secs(), pace.burst)
        };
        assert_eq!(pace(None, false, None), (1, 5));
        assert_eq!(pace(None, true, None), (0, 5));
        assert_eq!(pace(None, false, Some(0)), (0, 5), "the server allows it");
        assert_eq!(pace(None, true, Some(7)), (7, 1));
        assert_eq!(pace(Some(3), false, Some(0)), (3, 5), "the user wants it");
        assert_eq!(pace(Some(3), false, Some(7)), (7, 1));
        assert_eq!(pace(Some(0), false, None), (0, 5));
        assert_eq!(pace(Some(0), false, Some(7)), (7, 1));
        let site = SiteRules {
            hosts: vec![Blocked::parse("a.example").expect("a host")],
            delay: Some(seconds(30)),
            hours: None,
        };
        let plan = Plan {
            sites: vec![site],
            ..Plan::default()
        };
        let pace = |url: &str, crawl_delay| {
            let url = PageUrl::parse(url).expect("a URL");
            plan.pace(&url, true, crawl_delay).delay
        };
        assert_eq!(pace("http://a.example/x", None), seconds(30));
        assert_eq!(pace("http://b.example/x", None), seconds(0));
        assert_eq!(pace("http://a.example/x", Some(seconds(60))), seconds(60));
    }
}
