//! The plan of one crawl: the rules of the core, and how the driver fetches and stores.

use std::time::Duration;

use crawl::Again;
use crawl::scope::ScopeRules;
use fetch::{FetchOptions, HttpMode};
use page::url::traps;

use super::term::Term;

/// All parameters of a crawl except its policies.
#[derive(Debug, Clone)]
pub struct EnginePlan {
    /// The rules of the core. [`EnginePlan::core`] replaces `width` and `proxied` by values that
    /// follow from `fetch`.
    pub rules: crawl::Plan,
    /// Which URLs belong to the crawl.
    pub scope: ScopeRules,
    /// Limits on the shape of URLs.
    pub traps: traps::Rules,
    /// How requests are made.
    pub fetch: FetchOptions,
    /// Stop after this many pages.
    pub pages: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Bytes that stay free on the disk of the store; `None`: no limit.
    pub min_free: Option<u64>,
    /// Whether answers are archived.
    pub archive: bool,
    /// Compression level of the archive.
    pub level: repository::archive::Level,
    /// The slots of this node in a cluster; `None`: the crawl runs on one machine.
    pub term: Option<Term>,
}

impl EnginePlan {
    /// Returns the rules of the core, completed by the settings of requests.
    pub fn core(&self) -> crawl::Plan {
        crawl::Plan {
            width: self.width(),
            proxied: self.fetch.has_proxy(),
            ours: match &self.term {
                Some(term) => term.ownership(),
                None => self.rules.ours.clone(),
            },
            again: match (&self.term, self.budget()) {
                (Some(term), Some(budget)) => Again::Always {
                    budget: term.first_share(budget),
                },
                _ => self.rules.again,
            },
            unpublished: self.term.as_ref().map_or(0, Term::unpublished),
            ..self.rules.clone()
        }
    }

    /// Returns the budget of the whole crawl, in fetches per second; `None`: there is none.
    pub(super) fn budget(&self) -> Option<f64> {
        match self.rules.again {
            Again::Always { budget } => Some(budget),
            Again::Never | Again::OlderThan(_) | Again::AtPrice(_) => None,
        }
    }

    /// Returns the most requests under way on one connection.
    ///
    /// With `HttpMode::Auto` it is one: a server gets several requests at once only if the user
    /// asks for it.
    fn width(&self) -> usize {
        match self.fetch.http {
            HttpMode::Auto | HttpMode::Http10 | HttpMode::Http11 => 1,
            HttpMode::Pipelined(depth) => depth.requests(),
            HttpMode::Http2 => STREAMS,
        }
    }
}

/// The maximum number of HTTP/2 streams that one connection uses at once.
const STREAMS: usize = 16;
