//! Facts of a crawl: discoveries, results of visits, answers of hosts and servers.
//!
//! No opinion is stored here: no worth, no due time, no queue. A ledger keeps these records
//! across restarts, and the state in memory is rebuilt from them ([`Facts`](crate::Facts)).

use std::time::Duration;

use page::{HostId, PageId, PageUrl, RecordLocation, Shingles, TextDigest};
use policy::server::Estimate;
use policy::{History, Moment};
use serde::{Deserialize, Serialize};

use crate::owner::Partition;

/// The key of a page in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageKey {
    /// The part of the web it belongs to.
    pub partition: Partition,
    /// The page.
    pub page: PageId,
}

impl PageKey {
    /// Returns the key of a URL.
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
    /// A page was discovered.
    Admitted(PageKey, Discovery),
    /// A page was visited. Replaces the record before.
    Visited(PageKey, Box<Visited>),
    /// A page was read and has these links. Replaces the record before.
    Links(PageKey, OutLinks),
    /// A sitemap or feed said that a visited page has changed. Updates the page's record,
    /// unless the page was visited later.
    Signalled(PageKey, Moment),
    /// The facts about a host. Replaces the record before.
    Host(Partition, HostId, HostFacts),
    /// A seed was redirected to this URL, which is therefore a seed too.
    Seed(String),
}

/// A page and the facts about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The page.
    pub key: PageKey,
    /// How it was discovered.
    pub discovery: Discovery,
    /// The result of the last visit; `None`: it was not visited yet.
    pub visited: Option<Visited>,
    /// The [pattern](PageUrl::pattern) of its URL, if it is at hand.
    pub pattern: Option<u64>,
}

impl Known {
    /// Returns whether a body of it was ever read.
    pub fn has_copy(&self) -> bool {
        self.visited
            .as_ref()
            .is_some_and(|visited| visited.copy.is_some())
    }

    /// Returns the text of its last copy.
    pub fn text(&self) -> Option<&TextDigest> {
        let copy = self.visited.as_ref()?.copy.as_ref()?;
        copy.text.as_ref()
    }

    /// Returns the pattern of its URL; `None`: the URL is malformed.
    pub fn pattern(&self) -> Option<u64> {
        let of_url = || PageUrl::parse(&self.discovery.url).map(|url| url.pattern());
        self.pattern.or_else(|| of_url().ok())
    }

    /// Returns what a start reads of it. The other fields have their default values.
    #[must_use]
    pub fn for_start(self) -> Self {
        let text = |text: TextDigest| TextDigest {
            shingles: Shingles::default(),
            ..text
        };
        let visited = |visited: Visited| Visited {
            history: visited.history,
            error: visited.error,
            copy: visited.copy.map(|copy| PageCopy {
                text: copy.text.map(text),
                ..PageCopy::default()
            }),
            ..Visited::default()
        };
        Self {
            visited: self.visited.map(visited),
            ..self
        }
    }

    /// Returns the summary of all visits to it.
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
    /// How many pages were discovered before it. This is its page number.
    pub order: u64,
    /// When it was discovered.
    pub at: Moment,
    /// Number of links from a seed.
    pub depth: u16,
    /// Number of consecutive redirects that led here.
    pub hops: u8,
    /// The page that links to it; `None`: it is a seed, or only pages of other nodes link to it.
    pub source: Option<PageId>,
    /// When that page was last read without this link; `None`: it was never read before.
    pub absent: Option<Moment>,
}

/// The links of a page. Written when the page is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutLinks {
    /// Number of pages that it links to, including those out of scope.
    pub out_links: u32,
    /// The linked pages in scope, by [`Discovery::order`], sorted and delta-encoded.
    steps: Vec<u32>,
    /// Anchor texts of some of these links, each with the index of its link in `steps`.
    anchors: Vec<(u32, String)>,
}

/// The result of the last visit, and a summary of all visits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// Summary of all visits.
    pub history: History,
    /// The number of the commit that stored it.
    pub sequence: u64,
    /// The HTTP status; `None`: there was no answer.
    pub status: Option<u16>,
    /// Why there is no page to read: a code for the error, truncation or refusal.
    pub error: Option<String>,
    /// Bytes received in the last visit.
    pub bytes: u64,
    /// Share of the text's shingles that the last two copies have in common; `None`: one of them
    /// has no text, or there is only one.
    pub kept_share: Option<f32>,
    /// Location of the last answer in the archive.
    pub place: Option<RecordLocation>,
    /// The last copy that was read. Failures and 304 answers keep it.
    pub copy: Option<PageCopy>,
}

/// The copy of a page that was read from an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageCopy {
    /// Location of the answer with the body in the archive; `None`: it was not archived.
    pub place: Option<RecordLocation>,
    /// When it was fetched.
    pub at: Moment,
    /// SHA-1 of the body as received; without an archive, a [`page::body_hash`].
    pub payload: [u8; 20],
    /// `ETag` for conditional requests.
    pub etag: Option<String>,
    /// `Last-Modified` for conditional requests.
    pub last_modified: Option<String>,
    /// Digest of the text; `None`: there is no text, as in an image.
    pub text: Option<TextDigest>,
    /// Whether the index is to contain the page.
    pub indexed: bool,
    /// The WebSub hub that the feed names and that could announce its changes.
    pub hub: Option<String>,
}

/// The facts about a host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Scheme, name and port, such as `https://example.org`.
    pub origin: String,
    /// The answer to the last request for its robots.txt; `None`: none was stored.
    pub robots: Option<RobotsFact>,
    /// Number of connections opened.
    pub connections: u32,
    /// Number of requests answered.
    pub requests: u32,
    /// Total time to open these connections, in microseconds.
    pub connect_micros: u64,
    /// Total time to the first byte of the answers, in microseconds.
    pub response_micros: u64,
    /// Moving averages of these times; see [`policy::server::Estimate`].
    pub speed: Option<Speed>,
    /// Its answer to a URL that cannot exist; `None`: no probe was made.
    pub probe: Option<Probe>,
    /// Whether it once answered "not modified" for a page that had changed.
    pub distrusted: bool,
}

/// Politeness record of a server. Written before each request to a server that needs a delay,
/// and when a server refuses a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// When the last request was made.
    pub asked: Moment,
    /// Minimum time from that request to the next: the politeness delay, or the wait after a
    /// refusal.
    pub wait: Duration,
    /// Number of consecutive requests that the server refused because it is overloaded.
    pub refusals: u16,
}

impl ServerFacts {
    /// Merges this record with an earlier one and returns the record to store.
    ///
    /// Several tasks write records of one server (visits, the committer), and a server with
    /// several visit slots has several visits at once. So records may arrive out of order, and
    /// the latest end of a wait wins. `now` is when the merged record is written. The clock of one
    /// run never goes back, so if the earlier record is dated after `now`, the clock was ahead in
    /// an earlier run, and the record is ignored.
    #[must_use]
    pub fn in_place_of(self, before: Self, now: Moment) -> Self {
        if before.asked > now || before.asked + before.wait <= self.asked + self.wait {
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

/// The answer to a probe: a request for a URL that cannot exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Probe {
    /// The host says that there is no such page.
    Honest,
    /// A soft 404: a page with this text.
    Soft(TextDigest),
}

/// Recent speed of a host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Time to open a connection, in seconds.
    pub connect: f64,
    /// Time from a request to its answer, in seconds.
    pub response: f64,
    /// Requests per connection.
    pub per_connection: u32,
}

/// The answer to a request for robots.txt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RobotsFact {
    /// The file exists.
    Found {
        /// When it was fetched.
        at: Moment,
        /// Its text, up to the size limit.
        text: String,
    },
    /// There is no file: everything is allowed.
    Missing {
        /// When it was found missing.
        at: Moment,
    },
}

impl OutLinks {
    /// Returns the links of a page. `out_links` counts all of them; `links` has the targets in
    /// scope with their anchor texts. Of several links to one page the first is kept; empty
    /// anchor texts are not stored.
    pub fn new(out_links: u32, mut links: Vec<(u32, String)>) -> Self {
        links.sort_by_key(|(target, _)| *target);
        links.dedup_by_key(|(target, _)| *target);
        let mut made = Self {
            out_links,
            steps: Vec::with_capacity(links.len()),
            anchors: Vec::new(),
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

    /// Returns links from their [steps](Self::steps) and [anchor texts](Self::anchors).
    pub(crate) fn of_steps(out_links: u32, steps: Vec<u32>, anchors: Vec<(u32, String)>) -> Self {
        Self {
            out_links,
            steps,
            anchors,
        }
    }

    /// Returns the stored anchor texts, each with the index of its link.
    pub(crate) fn anchors(&self) -> &[(u32, String)] {
        &self.anchors
    }

    /// Returns the numbers of the linked pages, sorted, each as its difference to the one before.
    pub(crate) fn steps(&self) -> &[u32] {
        &self.steps
    }

    /// Returns the same links without anchor texts.
    #[must_use]
    pub fn without_anchors(self) -> Self {
        Self::of_steps(self.out_links, self.steps, Vec::new())
    }

    /// Returns the linked pages in scope, sorted, with the anchor text or "" if it was not
    /// stored.
    pub fn links(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut anchors = self.anchors.iter().peekable();
        let mut target = 0u32;
        (0..).zip(&self.steps).map(move |(place, step)| {
            target = target.wrapping_add(*step);
            let words = anchors.next_if(|(at, _)| *at == place);
            (target, words.map_or("", |(_, words)| words.as_str()))
        })
    }

    /// Returns the anchor text of the link to a page; empty if there is none, or no link.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_dated_after_now_never_outlasts_a_new_one() {
        let at = |second| Moment::START + Duration::from_secs(second);
        let facts = |asked, wait, refusals| ServerFacts {
            asked: at(asked),
            wait: Duration::from_secs(wait),
            refusals,
        };
        let new = facts(1000, 5, 1);
        for (before, now, expected) in [
            // An ordinary earlier request.
            (facts(900, 5, 0), 1000, new),
            // A longer wait that began before; the newer count of refusals holds.
            (facts(900, 500, 3), 1000, facts(900, 500, 1)),
            // A record of this run that was written out of order.
            (facts(1002, 60, 2), 1003, facts(1002, 60, 2)),
            // The clock was ahead in an earlier run, by little or by much.
            (facts(1002, 60, 2), 1001, new),
            (facts(9_999_999, 60, 2), 1001, new),
        ] {
            assert_eq!(
                new.in_place_of(before, at(now)),
                expected,
                "{before:?} at {now}"
            );
        }
    }
}
