//! What a driver is to do. The core emits actions; their outcomes come back as [events](crate::Event).

use std::sync::Arc;
use std::time::Duration;

use frontier::{Discovery, Entry, PageKey, Partition, ServerFacts, ServerKey, Visited};
use page::{Digest, HostId, PageId, PageUrl};
use policy::{History, Moment, Number, Worth};

use crate::discovery::Offer;
use crate::event::{ConnectionId, VisitId};
use crate::scope::Scope;
use crate::verdict::{Asked, Text};

/// Something to do. Actions are begun in the order in which they were emitted; what takes long goes on while others
/// are begun. `S` is what the driver makes of an answer for its archive.
#[derive(Debug)]
pub enum Action<S> {
    /// Read what the ledger has of pages that are about to be asked for.
    LoadPages {
        /// The visit that needs them.
        visit: VisitId,
        /// The pages.
        pages: Vec<PageKey>,
        /// Their host, if nothing is remembered of it.
        host: Option<(Partition, HostId)>,
    },
    /// Read the histories of pages.
    LoadHistories(Vec<PageKey>),
    /// Read what the last visits to pages found.
    LoadVisits(Vec<PageKey>),
    /// Find the address of a server.
    Resolve {
        /// The visit.
        visit: VisitId,
        /// A page of it.
        url: PageUrl,
    },
    /// Connect to the address that was found.
    Connect {
        /// The visit.
        visit: VisitId,
        /// The number that the connection is known by from now on.
        connection: ConnectionId,
        /// A page of the server.
        url: PageUrl,
    },
    /// Forget the address that was found: the visit ends without a connection.
    Abandon(VisitId),
    /// Ask a server for its robots.txt.
    AskRules {
        /// The visit.
        visit: VisitId,
        /// The connection.
        connection: ConnectionId,
        /// A page of the server.
        url: PageUrl,
        /// What the ledger must have before the request is made.
        distance: Option<Distance>,
    },
    /// Ask a server for a URL that cannot exist.
    Probe {
        /// The visit.
        visit: VisitId,
        /// The connection.
        connection: ConnectionId,
        /// The URL.
        url: PageUrl,
        /// What the ledger must have before the request is made.
        distance: Option<Distance>,
    },
    /// Ask for pages: one, or several at once.
    Get(Get),
    /// Close a connection.
    Close(ConnectionId),
    /// Store how long a server is left alone, before what is committed from now on.
    Keep(Distance),
    /// Make facts durable, in this order.
    Commit(Work<S>),
    /// Hand pages over to the partitions that they belong to.
    Offer(Vec<Offer>),
    /// Count a request. Nothing depends on it.
    Note(Note),
    /// Send [`Event::Woken`](crate::Event::Woken) at this moment. Takes the place of the one before.
    WakeAt(Moment),
    /// The crawl has ended: nothing is under way, and all facts were handed over.
    Finish,
}

/// How long a server is left alone after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// The server.
    pub server: ServerKey,
    /// When it was asked, and for how long it is then left alone.
    pub facts: ServerFacts,
}

/// Pages to ask for.
#[derive(Debug)]
pub struct Get {
    /// The visit.
    pub visit: VisitId,
    /// The connection.
    pub connection: ConnectionId,
    /// The pages.
    pub requests: Vec<Request>,
    /// When they are asked for.
    pub at: Moment,
    /// What the ledger must have before the request is made.
    pub distance: Option<Distance>,
    /// What belongs to the crawl.
    pub scope: Arc<Scope>,
    /// What the host answers, with 200, to a URL that cannot exist.
    pub missing: Option<Digest>,
    /// Whether the places of links are to be read.
    pub places: bool,
    /// Whether [`Answered::Closed`](crate::Answered::Closed) is no answer any more: that was tried.
    pub last_try: bool,
}

/// A page to ask for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The page.
    pub claim: Arc<Claim>,
    /// Whether the request carries the validators of our copy, so that the server may answer with 304.
    pub conditional: bool,
}

/// A page that a visit has the right to ask for, and what is known of it.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its number.
    pub number: Number,
    /// Where it is in the ledger.
    pub key: PageKey,
    /// Its URL.
    pub url: PageUrl,
    /// How it was discovered.
    pub discovery: Discovery,
    /// What the last visit found.
    pub before: Option<Visited>,
    /// What it was worth when it was claimed.
    pub worth: Option<Worth>,
}

impl Claim {
    /// All visits before this one.
    pub fn history(&self) -> History {
        let new = || History::discovered(self.discovery.at, self.discovery.depth);
        (self.before.as_ref()).map_or_else(new, |before| before.history)
    }

    /// The page as the judge of an answer needs to know it.
    pub fn asked(&self, at: Moment) -> Asked<'_> {
        Asked {
            url: &self.url,
            hops: self.discovery.hops,
            history: self.history(),
            before: self.before.as_ref(),
            at,
            missing: None,
            places: false,
        }
    }
}

/// What is to be committed.
#[derive(Debug)]
pub enum Work<S> {
    /// Settled pages, in the order in which they were settled.
    Pages(Vec<Record<S>>),
    /// Facts without a page: seeds, robots files, hints.
    Facts(Vec<Entry>),
    /// Pages that are no longer kept.
    Drop(Vec<PageKey>),
}

/// A settled page on its way to archive, ledger and index.
#[derive(Debug)]
pub struct Record<S> {
    /// The page.
    pub key: PageKey,
    /// Its URL.
    pub url: PageUrl,
    /// Its visits before this one.
    pub before: History,
    /// What is kept of this one.
    pub visited: Visited,
    /// The answer for the archive.
    pub sealed: Option<S>,
    /// Whether `visited.copy` is of this answer.
    pub copied: bool,
    /// What to index.
    pub text: Option<Text>,
    /// Whether the page leaves the index.
    pub gone: bool,
    /// Pages that were discovered on it.
    pub admitted: Vec<Entry>,
    /// The links of it that the index was not told of.
    pub links: Vec<InLink>,
    /// Whether a request was made for it, which is now to be made safe.
    pub asked: bool,
}

/// A link of a page that was read. The committer adds it to the index entry of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InLink {
    /// Where it leads.
    pub to: PageId,
    /// Its words, if they are new to that page; may be empty.
    pub words: String,
}

/// A request that was made, for those who watch.
#[derive(Debug)]
pub enum Note {
    /// For a page.
    Fetched {
        /// The page.
        claim: Arc<Claim>,
        /// Why it was asked for.
        purpose: Purpose,
        /// What was found.
        found: Box<Found>,
    },
    /// For a robots.txt or a probe.
    Overhead {
        /// Bytes over the wire.
        bytes: u64,
    },
}

/// What a fetch found, in short.
#[derive(Debug)]
pub struct Found {
    /// When it was asked for.
    pub at: Moment,
    /// The status; `None`: there was no answer.
    pub status: Option<u16>,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Time to the last byte.
    pub took: Duration,
    /// What it meant.
    pub outcome: Option<policy::Outcome>,
    /// Why there is no page to read.
    pub error: Option<String>,
}

/// Why a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It was never fetched.
    New,
    /// It may have changed.
    Refresh,
    /// It may name new pages.
    Source,
}
