//! Facts of a crawl: what was discovered, what each visit found, what hosts and servers said.
//!
//! Nothing here is anyone's opinion: no worth, no due time, no queue. A ledger keeps these records through any
//! stop; memory is made again from them ([`Facts`](crate::Facts)).

use std::time::Duration;

use page::{Digest, HostId, PageId, PageUrl, RecordLocation};
use policy::server::Estimate;
use policy::{History, Moment};
use serde::{Deserialize, Serialize};

use crate::owner::Partition;

/// Where a page is in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// The share of the web it belongs to.
    pub partition: Partition,
    /// The page.
    pub page: PageId,
}

impl PageKey {
    /// The key of a URL.
    pub fn of(url: &PageUrl) -> Self {
        Self {
            partition: Partition::of(url),
            page: url.id(),
        }
    }
}

/// One fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A page was heard of for the first time.
    Admitted(PageKey, Discovery),
    /// A page was visited; the record takes the place of the one before.
    Visited(PageKey, Box<Visited>),
    /// A page was read, and leads here; the record takes the place of the one before.
    Links(PageKey, OutLinks),
    /// A page that was visited is said to have changed since; told to its record, unless it was visited later.
    Signalled(PageKey, Moment),
    /// What is known of a host; the record takes the place of the one before.
    Host(Partition, HostId, HostFacts),
    /// A seed was redirected here, and so this is a seed too.
    Seed(String),
}

/// A page and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The page.
    pub key: PageKey,
    /// How it was discovered.
    pub discovery: Discovery,
    /// What the last visit found; `None`: it is still waiting for the first.
    pub visited: Option<Visited>,
}

impl Known {
    /// Whether a body of it was ever read.
    pub fn has_copy(&self) -> bool {
        self.visited
            .as_ref()
            .is_some_and(|visited| visited.copy.is_some())
    }

    /// All visits to it.
    pub fn history(&self) -> History {
        let new = || History::discovered(self.discovery.at, self.discovery.depth);
        self.visited.as_ref().map_or_else(new, |last| last.history)
    }
}

/// How a page was discovered. Written once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// The URL.
    pub url: String,
    /// How many pages were discovered before it.
    pub order: u64,
    /// When.
    pub at: Moment,
    /// Links from a seed.
    pub depth: u16,
    /// Redirects in a row that led here.
    pub hops: u8,
    /// The page that named it; `None`: a seed.
    pub source: Option<PageId>,
    /// When that page was last read and did not name it; `None`: it was never read before.
    pub absent: Option<Moment>,
}

/// Where a page leads. Written when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutLinks {
    /// All pages that it links to, those outside of the crawl included.
    pub out_links: u32,
    /// The pages of the crawl among them, by [`Discovery::order`]; sorted, each as the step from the one
    /// before.
    steps: Vec<u32>,
    /// The words of some of these links, each with its place among the steps.
    anchors: Vec<(u32, String)>,
}

/// What the last visit found, and what all visits told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// All visits, folded.
    pub history: History,
    /// The batch that committed it.
    pub sequence: u64,
    /// The status of the answer; `None`: there was none.
    pub status: Option<u16>,
    /// Why there is no page to read: a kind of trouble, of truncation, of refusal.
    pub error: Option<String>,
    /// Bytes that came over the wire in the last visit.
    pub bytes: u64,
    /// The share of the text's shingles that the last two copies have in common.
    pub kept_share: Option<f32>,
    /// Where the last answer is in the archive.
    pub place: Option<RecordLocation>,
    /// The last copy that was read; kept through outages and 304s.
    pub copy: Option<PageCopy>,
}

/// A text that was read from an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageCopy {
    /// Where the answer with the body is in the archive; `None`: it was not archived.
    pub place: Option<RecordLocation>,
    /// When it was fetched.
    pub at: Moment,
    /// SHA-1 of the body as it came.
    pub payload: [u8; 20],
    /// Validators for the next visit.
    pub etag: Option<String>,
    /// Validators for the next visit.
    pub last_modified: Option<String>,
    /// The text, measured; `None`: there is none to read, as in a picture.
    pub text: Option<Digest>,
    /// Whether the page may be, and is to be, found by search.
    pub indexed: bool,
    /// The WebSub hub that a feed names, which would say when it changes.
    pub hub: Option<String>,
}

/// What a host told about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// `https://example.org`.
    pub origin: String,
    /// Its robots.txt.
    pub robots: Option<RobotsFact>,
    /// Connections opened.
    pub connections: u32,
    /// Requests answered.
    pub requests: u32,
    /// Microseconds that opening the connections took, in all.
    pub connect_micros: u64,
    /// Microseconds to the first byte of the answers, in all.
    pub response_micros: u64,
    /// The same of late: smoothed, as [`policy::server::Estimate`] does.
    pub speed: Option<Speed>,
    /// What it answers to a URL that cannot exist; `None`: nobody asked.
    pub probe: Option<Probe>,
    /// Whether it said that a page had not changed, and it had.
    pub distrusted: bool,
}

/// When a server was asked, and how long it is left alone. Written before each request to a server that needs a
/// delay, and when a server refuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// When the last request was made.
    pub asked: Moment,
    /// How long after that no other may be made: the delay, or what the server asked for.
    pub wait: Duration,
    /// Requests in a row that it refused because it is busy.
    pub refusals: u16,
}

impl ServerFacts {
    /// Returns the record that takes the place of an earlier one.
    ///
    /// Records of one server come from several places (requests, the committer) and overtake each other, and a server
    /// with several seats has several visits. So the server is left alone for as long as any of them says. A record
    /// that is an hour ahead was written by a wrong clock, and counts no more.
    #[must_use]
    pub fn in_place_of(self, before: Self) -> Self {
        let ahead = before.asked.since(self.asked) >= Duration::from_secs(3600);
        if ahead || before.asked + before.wait <= self.asked + self.wait {
            return self;
        }
        let newer = self.asked >= before.asked;
        let refusals = if newer {
            self.refusals
        } else {
            before.refusals
        };
        Self { refusals, ..before }
    }
}

/// The answer to a request for a page that cannot exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Probe {
    /// That there is none.
    Honest,
    /// A page with this text.
    Soft(Digest),
}

/// How fast a host was of late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Seconds to open a connection.
    pub connect: f64,
    /// Seconds from a request to its answer.
    pub response: f64,
    /// Requests that a connection carried.
    pub per_connection: u32,
}

/// The answer to a request for robots.txt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RobotsFact {
    /// The file.
    Found {
        /// When it was fetched.
        at: Moment,
        /// Its text, as far as it is read.
        text: String,
    },
    /// There is none: everything is allowed.
    Missing {
        /// When it was found missing.
        at: Moment,
    },
}

impl OutLinks {
    /// The links of a page that has so many in all, of which these stay in the crawl. Of two to one page
    /// the first counts; empty words are not kept.
    pub fn new(out_links: u32, mut links: Vec<(u32, String)>) -> Self {
        links.sort_by_key(|(target, _)| *target);
        links.dedup_by_key(|(target, _)| *target);
        let mut made = Self {
            out_links,
            ..Self::default()
        };
        let mut before = 0;
        for (place, (target, words)) in (0..).zip(links) {
            made.steps.push(target - before);
            before = target;
            if !words.is_empty() {
                made.anchors.push((place, words));
            }
        }
        made
    }

    /// The pages of the crawl that it leads to, sorted, with the words of the link where they were kept.
    pub fn links(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut anchors = self.anchors.iter().peekable();
        let mut target = 0u32;
        (0..).zip(&self.steps).map(move |(place, step)| {
            target = target.wrapping_add(*step);
            let words = anchors.next_if(|(at, _)| *at == place);
            (target, words.map_or("", |(_, words)| words.as_str()))
        })
    }

    /// The words of the link to a page; empty if there are none, or no link.
    pub fn anchor(&self, target: u32) -> &str {
        let link = self.links().find(|(to, _)| *to == target);
        link.map_or("", |(_, words)| words)
    }
}

impl From<Estimate> for Speed {
    fn from(estimate: Estimate) -> Self {
        Self {
            connect: estimate.connect,
            response: estimate.response,
            per_connection: estimate.per_connection,
        }
    }
}

impl From<Speed> for Estimate {
    fn from(speed: Speed) -> Self {
        Self::measured(speed.connect, speed.response, speed.per_connection)
    }
}
