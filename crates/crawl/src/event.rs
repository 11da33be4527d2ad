//! Events: what drivers report to the core. The core answers with [actions](crate::Action).

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

/// A report to the core. `S` is the driver's form of an answer for its archive.
#[derive(Debug)]
pub enum Event<S> {
    /// The crawl starts, or the moment of [`Action::WakeAt`](crate::Action::WakeAt) has come.
    Woken,
    /// Answers [`Action::LoadPages`](crate::Action::LoadPages).
    PagesLoaded {
        /// The visit that needs them.
        visit: VisitId,
        /// The pages, in the order of the action.
        pages: Vec<Stored>,
        /// The facts of the host and the rules of its robots.txt, if they were requested and the
        /// ledger has them.
        host: Option<(HostFacts, Option<Arc<Robots>>)>,
    },
    /// Answers [`Action::LoadHistories`](crate::Action::LoadHistories); `None`: it cannot be
    /// read now.
    HistoriesLoaded(Vec<(PageKey, Option<History>)>),
    /// Answers [`Action::LoadVisits`](crate::Action::LoadVisits).
    VisitsLoaded(Vec<(PageKey, Option<Visited>)>),
    /// Answers [`Action::Resolve`](crate::Action::Resolve). Behind a proxy there is no address.
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
        /// How long an overloaded server asks to wait.
        retry_after: Option<Duration>,
        /// Bytes received.
        bytes: u64,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// Answers [`Action::Probe`](crate::Action::Probe).
    Probed {
        /// The visit.
        visit: VisitId,
        /// The answer to the probe; `None`: there was none.
        found: Option<Probe>,
        /// Status and `Retry-After` of the answer.
        reply: Option<Reply>,
        /// Bytes received.
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
        /// The result.
        answer: Answered<S>,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// A server closed a connection that no request used.
    ConnectionClosed(ConnectionId),
    /// The work of an [`Action::Commit`](crate::Action::Commit) is durable.
    Committed {
        /// The facts.
        facts: Vec<Entry>,
        /// Number of requests that are durable now.
        requests: usize,
        /// Measured gains of refreshes for searchers.
        gains: Vec<Gain>,
    },
    /// Pages of other partitions link to these pages of ours.
    Offered(Vec<Offer>),
    /// Searches showed pages in their results.
    Searched(Vec<Met>),
    /// The budget has changed to this number of fetches per second. Ignored without a budget.
    BudgetChanged(f64),
    /// The crawl is paused (`true`) or resumed: no new work starts in a pause.
    Paused(bool),
    /// The crawl is stopped: no new work starts, and it ends when all requests under way are
    /// settled.
    Stopped,
}

/// The ledger's records of a page.
#[derive(Debug)]
pub struct Stored {
    /// The page.
    pub key: PageKey,
    /// How it was discovered.
    pub discovery: Option<Discovery>,
    /// The result of the last visit.
    pub visited: Option<Visited>,
}

/// Why there was no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The error code that the ledger stores.
    pub kind: &'static str,
    /// Whether another attempt may succeed.
    pub transient: bool,
    /// Time until the failure.
    pub took: Duration,
}

/// A connection that was opened.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    /// Its remote address.
    pub address: IpAddr,
    /// Time to open it.
    pub connect_time: Duration,
    /// Total time, including a first attempt with another HTTP version.
    pub took: Duration,
    /// Requests that may be in flight at once.
    pub width: usize,
}

/// State of a connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionState {
    /// Whether it is open.
    pub open: bool,
    /// Requests that it has served.
    pub served: u32,
}

/// The result of a request for a page.
#[derive(Debug)]
pub enum Answered<S> {
    /// An answer and its verdict.
    Page(Box<Judged<S>>),
    /// No answer.
    Failed {
        /// Why.
        failure: Failure,
        /// Bytes received.
        bytes: u64,
    },
    /// Several pages were requested at once, and this one had no answer.
    Unanswered,
    /// The connection was found closed, or the server wants another HTTP version. The page can
    /// be requested again.
    Closed {
        /// Whether the request was sent.
        sent: bool,
    },
}

/// A fetched page with its verdict.
#[derive(Debug)]
pub struct Judged<S> {
    /// What the answer means.
    pub verdict: Verdict,
    /// The answer for the archive, if there is one.
    pub sealed: Option<S>,
    /// Status and `Retry-After` of the answer.
    pub reply: Reply,
    /// Time to the first byte.
    pub first_byte: Duration,
    /// Time to the last byte.
    pub took: Duration,
}

/// Status and `Retry-After` of an answer, by which a server shows that it is overloaded.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`: how long the server asks to wait.
    pub retry_after: Option<Duration>,
}

/// The history of a page without and with the gain of its last copy for searchers.
#[derive(Debug)]
pub struct Gain {
    /// The page.
    pub page: PageId,
    /// Without the gain.
    pub before: History,
    /// With the gain.
    pub after: History,
}

/// A page that was shown in search results.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// The page.
    pub page: PageId,
    /// When it was shown.
    pub at: Moment,
    /// Expected number of views.
    pub views: f64,
    /// Number of clicks.
    pub clicks: f64,
}
