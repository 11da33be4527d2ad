//! Actions: what the core asks a driver to do. Their outcomes come back as
//! [events](crate::Event).

use std::sync::Arc;
use std::time::Duration;

use frontier::{Discovery, Entry, PageKey, Partition, ServerFacts, ServerKey, Visited};
use page::{HostId, PageId, PageUrl, TextDigest};
use policy::{History, Moment, Number, Worth};
use serde::{Deserialize, Serialize};

use crate::discovery::Offer;
use crate::event::{ConnectionId, VisitId};
use crate::scope::Scope;
use crate::verdict::{Asked, Details, IndexText, Lead};

/// An instruction to the driver.
///
/// The driver starts actions in the order in which the core emitted them. Long ones continue
/// while later ones start. `S` is the driver's form of an answer for its archive.
#[derive(Debug)]
pub enum Action<S> {
    /// Read the ledger's records of pages that are about to be fetched.
    LoadPages {
        /// The visit that needs them.
        visit: VisitId,
        /// The pages.
        pages: Vec<PageKey>,
        /// Their host, if its record is needed too.
        host: Option<(Partition, HostId)>,
    },
    /// Read the histories of pages.
    LoadHistories(Vec<PageKey>),
    /// Read the results of the last visits to pages.
    LoadVisits(Vec<PageKey>),
    /// Resolve the name of a host.
    Resolve {
        /// The visit.
        visit: VisitId,
        /// A page of the host.
        url: PageUrl,
    },
    /// Connect to the resolved address.
    Connect {
        /// The visit.
        visit: VisitId,
        /// The number of the new connection.
        connection: ConnectionId,
        /// A page of the host.
        url: PageUrl,
    },
    /// Drop the resolved address: the visit ends without a connection.
    Abandon(VisitId),
    /// Request the robots.txt of a host.
    AskRules {
        /// The visit.
        visit: VisitId,
        /// The connection.
        connection: ConnectionId,
        /// A page of the host.
        url: PageUrl,
        /// Politeness record that must be in the ledger before the request is made; `None`: the
        /// server needs no delay.
        distance: Option<Distance>,
    },
    /// Request a URL that cannot exist.
    Probe {
        /// The visit.
        visit: VisitId,
        /// The connection.
        connection: ConnectionId,
        /// The URL.
        url: PageUrl,
        /// Politeness record that must be in the ledger before the request is made; `None`: the
        /// server needs no delay.
        distance: Option<Distance>,
    },
    /// Request one page, or several at once.
    Get(Get),
    /// Close a connection.
    Close(ConnectionId),
    /// Store a politeness record before anything that is committed from now on.
    Keep(Distance),
    /// Make this work durable, after all work of earlier commits.
    Commit(Work<S>),
    /// Send pages to the nodes that own their partitions. The page that links to them is committed
    /// later: a driver that first makes the offers durable loses no link.
    Offer(Vec<Offer>),
    /// All offers before [`Event::Mark`](crate::Event::Mark) with this number are admitted. Earlier
    /// commits have the facts about them.
    Reached(u64),
    /// Report a request, for monitoring only.
    Note(Note),
    /// Send [`Event::Woken`](crate::Event::Woken) at this moment. Replaces the previous
    /// wake-up.
    WakeAt(Moment),
    /// The crawl has ended: nothing is under way, and all facts were handed over.
    Finish,
}

/// The politeness record of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// The server.
    pub server: ServerKey,
    /// When the last request was made, the minimum time from it to the next, and the number of
    /// consecutive refusals.
    pub facts: ServerFacts,
}

/// A request for one or several pages.
#[derive(Debug)]
pub struct Get {
    /// The visit.
    pub visit: VisitId,
    /// The connection.
    pub connection: ConnectionId,
    /// The pages.
    pub requests: Vec<Request>,
    /// When the pages were first requested. A further attempt over a new connection keeps this
    /// moment.
    pub at: Moment,
    /// Politeness record that must be in the ledger before the request is made; `None`: the
    /// server needs no delay.
    pub distance: Option<Distance>,
    /// The scope of the crawl.
    pub scope: Arc<Scope>,
    /// The text of the host's soft 404 page, if it answers with 200 to a URL that cannot exist.
    pub missing: Option<TextDigest>,
    /// The details of the pages that index and policies use.
    pub details: Details,
    /// Whether this is the last attempt. The driver then reports
    /// [`Answered::Failed`](crate::Answered::Failed) instead of
    /// [`Answered::Closed`](crate::Answered::Closed).
    pub last_try: bool,
}

/// A page to request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The page.
    pub claim: Arc<Claim>,
    /// Whether the request carries the validators of our copy, if there is one, so that the server
    /// may answer with 304.
    pub conditional: bool,
}

/// The right to fetch a page, and what is known about the page.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The page number.
    pub number: Number,
    /// The key of the page in the ledger.
    pub key: PageKey,
    /// The URL of the page.
    pub url: PageUrl,
    /// How the page was discovered.
    pub discovery: Discovery,
    /// The result of the last visit. `None`: the page was never visited.
    pub before: Option<Visited>,
    /// The worth of the page when it was claimed.
    pub worth: Option<Worth>,
}

impl Claim {
    /// Returns the summary of all visits before this one.
    pub fn history(&self) -> History {
        let new = || History::discovered(self.discovery.at, self.discovery.depth);
        (self.before.as_ref()).map_or_else(new, |before| before.history)
    }

    /// Returns what the judgement of an answer needs to know about the page.
    pub fn asked(&self, at: Moment) -> Asked<'_> {
        Asked {
            url: &self.url,
            hops: self.discovery.hops,
            history: self.history(),
            before: self.before.as_ref(),
            at,
            missing: None,
            details: Details::INDEXED,
        }
    }
}

/// A piece of work for the committer.
#[derive(Debug)]
pub enum Work<S> {
    /// Settled pages, in the order in which they were settled.
    Pages(Vec<Record<S>>),
    /// Facts that belong to no settled page: admitted seeds, sitemaps and offers, facts of hosts,
    /// hints.
    Facts(Vec<Entry>),
    /// Pages that were dropped from the buffer.
    Drop(Vec<PageKey>),
}

/// A settled page on its way to archive, ledger and index.
#[derive(Debug)]
pub struct Record<S> {
    /// The page.
    pub key: PageKey,
    /// Its URL.
    pub url: PageUrl,
    /// Summary of the visits before this one.
    pub before: History,
    /// The result of this visit.
    pub visited: Visited,
    /// The answer in the form for the archive. `None`: there was no answer, or answers are not
    /// archived.
    pub sealed: Option<S>,
    /// Whether `visited.copy` comes from this answer.
    pub copied: bool,
    /// The text to index. `None`: the index keeps the text that it has, unless the page is `gone`.
    pub text: Option<IndexText>,
    /// Whether the page leaves the index.
    pub gone: bool,
    /// Facts that its links add to the ledger: pages that were discovered, new seeds, and the links
    /// themselves.
    pub admitted: Vec<Entry>,
    /// Links of the page, which the committer adds to the index entries of their targets.
    pub links: Vec<InLink>,
    /// The leads of the page, which are of no further use. The committer frees them: to free the
    /// 50,000 leads of a sitemap takes longer than a step of the core may take.
    pub leads: Vec<Lead>,
    /// Whether a request was made for it. The commit makes that request durable.
    pub asked: bool,
}

/// A link of a page that was read. The committer adds it to the index entry of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InLink {
    /// The page that it leads to.
    pub to: PageId,
    /// Its anchor text. Empty: there is none, the link is navigation, or other links have already
    /// given this text to the target.
    pub words: String,
}

/// A request that was made, for monitoring.
#[derive(Debug)]
pub enum Note {
    /// For a page.
    Fetched {
        /// The page.
        claim: Arc<Claim>,
        /// Why it was requested.
        purpose: Purpose,
        /// The result.
        found: Box<Found>,
    },
    /// For a robots.txt or a probe.
    Overhead {
        /// Bytes received.
        bytes: u64,
    },
}

/// A short description of a fetch.
#[derive(Debug)]
pub struct Found {
    /// When the request was made.
    pub at: Moment,
    /// The HTTP status; `None`: there was no answer.
    pub status: Option<u16>,
    /// Bytes received.
    pub bytes: u64,
    /// Time from the request to the last byte of the answer, or to the failure.
    pub took: Duration,
    /// The outcome of the visit.
    pub outcome: Option<policy::Outcome>,
    /// The error code that the ledger stores, if there is one.
    pub error: Option<String>,
}

/// Why a page is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// No copy of it was ever fetched.
    New,
    /// It may have changed.
    Refresh,
    /// It may link to new pages.
    Source,
}
