//! The plan of one crawl: what the core decides by, and how the driver fetches and stores.

use std::time::Duration;

use crawl::scope::ScopeRules;
use fetch::{Http, Settings};
use page::url::traps;

/// Everything that decides how a crawl goes, beside its policies.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The rules of the core. Two of them follow from `fetch`: see [`Plan::core`].
    pub rules: crawl::Plan,
    /// What belongs to the crawl.
    pub scope: ScopeRules,
    /// Limits on the shape of URLs.
    pub traps: traps::Rules,
    /// How requests are made.
    pub fetch: Settings,
    /// Stop after this many pages.
    pub pages: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Whether answers are archived.
    pub archive: bool,
    /// Compression of the archive.
    pub level: repository::archive::Level,
}

impl Plan {
    /// Returns the rules of the core for the way in which requests are made.
    pub fn core(&self) -> crawl::Plan {
        crawl::Plan {
            width: self.width(),
            proxied: self.fetch.proxy.is_some(),
            ..self.rules.clone()
        }
    }

    /// Returns the most requests under way on one connection. Where the user leaves the version of
    /// HTTP to us it is one, so that no server gets several requests at once unless the user asks
    /// for it.
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
