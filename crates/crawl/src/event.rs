//! What happens to a crawl. Drivers tell the core of it; the core answers with [actions](crate::Action).

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Discovery, Entry, HostFacts, PageKey, Probe, Visited};
use page::{PageId, Robots};
use policy::{History, Moment, Number};

use crate::discovery::Offer;
use crate::host::RobotsFile;
use crate::verdict::Verdict;

/// The number of a visit, from its first action to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitId(pub u64);

/// The number of a connection, from [`Action::Connect`](crate::Action::Connect) to
/// [`Action::Close`](crate::Action::Close).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Something that happened. `S` is what a driver makes of an answer for its archive.
#[derive(Debug)]
pub enum Event<S> {
    /// The crawl begins, or the moment of [`Action::WakeAt`](crate::Action::WakeAt) has come.
    Woken,
    /// Answers [`Action::LoadPages`](crate::Action::LoadPages).
    PagesLoaded {
        /// The visit that needs them.
        visit: VisitId,
        /// The pages, as they were asked for.
        pages: Vec<Stored>,
        /// What is known of the host, if that was asked for, and the rules of its robots.txt.
        host: Option<(HostFacts, Option<Arc<Robots>>)>,
    },
    /// Answers [`Action::LoadHistories`](crate::Action::LoadHistories); `None`: it cannot be read now.
    HistoriesLoaded(Vec<(PageKey, Option<History>)>),
    /// Answers [`Action::LoadVisits`](crate::Action::LoadVisits).
    VisitsLoaded(Vec<(PageKey, Option<Visited>)>),
    /// Answers [`Action::Resolve`](crate::Action::Resolve). There is no address behind a proxy.
    Resolved {
        /// The visit.
        visit: VisitId,
        /// The address of the server.
        address: Result<Option<IpAddr>, Failure>,
    },
    /// Answers [`Action::Connect`](crate::Action::Connect).
    Connected {
        /// The visit.
        visit: VisitId,
        /// The connection, or why there is none.
        opened: Result<Opened, Failure>,
    },
    /// Answers [`Action::AskRules`](crate::Action::AskRules).
    RulesArrived {
        /// The visit.
        visit: VisitId,
        /// The file.
        file: RobotsFile,
        /// How long a busy server asks to be left alone.
        retry_after: Option<Duration>,
        /// Bytes over the wire.
        bytes: u64,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// Answers [`Action::Probe`](crate::Action::Probe).
    Probed {
        /// The visit.
        visit: VisitId,
        /// What the host answers to a URL that cannot exist; `None`: it did not answer.
        found: Option<Probe>,
        /// What the answer says of the server.
        reply: Option<Reply>,
        /// Bytes over the wire.
        bytes: u64,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// Answers [`Action::Get`](crate::Action::Get), once for each page.
    Answered {
        /// The visit.
        visit: VisitId,
        /// The page.
        page: Number,
        /// What came.
        answer: Answered<S>,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// A connection that no request uses was closed by its server.
    ConnectionClosed(ConnectionId),
    /// What an [`Action::Commit`](crate::Action::Commit) handed over survives a power cut.
    Committed {
        /// The facts.
        facts: Vec<Entry>,
        /// Requests that are safe now.
        requests: usize,
        /// What refreshes gave to searchers.
        gains: Vec<Gain>,
    },
    /// Other partitions name pages of ours.
    Offered(Vec<Offer>),
    /// Searchers met pages.
    Searched(Vec<Met>),
    /// From now on there are so many fetches a second, where there is a budget.
    BudgetChanged(f64),
    /// Nothing new begins while this is so.
    Paused(bool),
    /// Nothing new begins any more. The crawl ends when all requests under way are settled.
    Stopped,
}

/// What the ledger has of a page.
#[derive(Debug)]
pub struct Stored {
    /// The page.
    pub key: PageKey,
    /// How it was discovered.
    pub discovery: Option<Discovery>,
    /// What the last visit found.
    pub visited: Option<Visited>,
}

/// Why a server gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind of trouble, as the ledger keeps it.
    pub kind: &'static str,
    /// Whether another try may succeed.
    pub transient: bool,
    /// How long it took to fail.
    pub took: Duration,
}

/// A connection that was opened.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    /// Where it leads.
    pub address: IpAddr,
    /// How long it took to open.
    pub connect_time: Duration,
    /// How long it took in all, a first try in another HTTP version included.
    pub took: Duration,
    /// Requests that may be under way at once.
    pub width: usize,
}

/// A connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionState {
    /// Whether it is open.
    pub open: bool,
    /// Requests that it served.
    pub served: u32,
}

/// What came of a request for a page.
#[derive(Debug)]
pub enum Answered<S> {
    /// An answer, judged.
    Page(Box<Judged<S>>),
    /// No answer.
    Failed {
        /// Why.
        failure: Failure,
        /// Bytes over the wire.
        bytes: u64,
    },
    /// Several pages were asked for at once, and this one was not answered.
    Unanswered,
    /// The connection turned out to be closed, or the server wants another HTTP version: the page can be asked for
    /// again.
    Closed {
        /// Whether the request was sent.
        sent: bool,
    },
}

/// A page that was fetched and judged.
#[derive(Debug)]
pub struct Judged<S> {
    /// What the answer means.
    pub verdict: Verdict,
    /// The answer for the archive, if there is one.
    pub sealed: Option<S>,
    /// What the answer says of its server.
    pub reply: Reply,
    /// Time to the first byte.
    pub first_byte: Duration,
    /// Time to the last byte.
    pub took: Duration,
}

/// What an answer says of its server.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// What is known of a page without and with what its last copy gave to searchers.
#[derive(Debug)]
pub struct Gain {
    /// The page.
    pub page: PageId,
    /// Without.
    pub before: History,
    /// With.
    pub after: History,
}

/// A page that searchers met.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// The page.
    pub page: PageId,
    /// When.
    pub at: Moment,
    /// Expected views.
    pub views: f64,
    /// Clicks.
    pub clicks: f64,
}
