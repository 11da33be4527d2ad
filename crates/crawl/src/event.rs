//! Events: what drivers report to the core. The core answers with [actions](crate::Action).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use frontier::{Discovery, Entry, HostFacts, PageKey, Probe, Visited};
use page::{PageId, Robots};
use policy::{History, Moment, Number};

use crate::discovery::Offer;
use crate::host::RobotsFile;
use crate::verdict::Verdict;

/// Maximum number of facts that one event reports to the core. The facts of a sitemap with 50,000
/// entries take longer to process than a step of the core may take.
const FACTS: usize = 256;

/// Identifies a visit in events and actions. Visits of a run are numbered from 0 as they start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitId(pub u64);

/// Identifies a connection in events and actions. Connections of a run are numbered from 0, in the
/// order of their [`Action::Connect`](crate::Action::Connect).
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
        /// The facts of the host, and the rules of the robots.txt in them. `None`: the action
        /// names no host, or the ledger has no facts of the host.
        host: Option<(HostFacts, Option<Arc<Robots>>)>,
    },
    /// Answers [`Action::LoadHistories`](crate::Action::LoadHistories), with each page and its
    /// history. `None`: the ledger does not know the page.
    HistoriesLoaded(Vec<(PageKey, Option<History>)>),
    /// Answers [`Action::LoadVisits`](crate::Action::LoadVisits), with each page and the result of
    /// its last visit. `None`: the ledger has no visit.
    VisitsLoaded(Vec<(PageKey, Option<Visited>)>),
    /// Answers [`Action::Resolve`](crate::Action::Resolve).
    Resolved {
        /// The visit.
        visit: VisitId,
        /// The address of the server. `None`: a proxy resolves the host name.
        address: Result<Option<IpAddr>, Failure>,
    },
    /// Answers [`Action::Connect`](crate::Action::Connect).
    Connected {
        /// The visit.
        visit: VisitId,
        /// The connection, or why it could not be opened.
        opened: Result<Opened, Failure>,
    },
    /// Answers [`Action::AskRules`](crate::Action::AskRules).
    RulesArrived {
        /// The visit.
        visit: VisitId,
        /// The answer to the request.
        file: RobotsFile,
        /// The `Retry-After` of an answer with status 429 or 503.
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
        /// How the host answers for a page that does not exist. `None`: no answer came.
        found: Option<Probe>,
        /// Status and `Retry-After` of the answer. `None`: no answer came.
        reply: Option<Reply>,
        /// Bytes received.
        bytes: u64,
        /// The connection afterwards.
        connection: ConnectionState,
    },
    /// Answers [`Action::Get`](crate::Action::Get), once for each page. [`Answered::Closed`] comes
    /// once, for all pages of the request.
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
    /// Work of [`Action::Commit`](crate::Action::Commit) is durable. The facts of a large commit
    /// may come in several events.
    Committed {
        /// Committed facts.
        facts: Vec<Entry>,
        /// Number of requests for pages whose results are durable now.
        requests: usize,
        /// The measured gains of new copies for searchers (ΔQ).
        gains: Vec<Gain>,
    },
    /// Pages of other partitions link to these pages of ours.
    Offered(Vec<Offer>),
    /// Asks for [`Action::Reached`](crate::Action::Reached) with this number once all offers before
    /// it are admitted.
    Mark(u64),
    /// Searchers saw pages in search results or clicked them.
    Searched(Vec<Met>),
    /// The budget has changed to this number of fetches per second. A crawl that was started
    /// without a budget ignores this event.
    BudgetChanged(f64),
    /// Numbers of other nodes of a cluster that request pages from these addresses too, for all
    /// addresses that this node shares. The nodes divide the rate of requests to an address.
    AddressesShared(BTreeMap<IpAddr, u32>),
    /// An operator pauses the crawl (`true`) or resumes it (`false`). A paused crawl starts no
    /// visits and makes no new requests.
    Paused(bool),
    /// The crawl must stop: it makes no new requests. It ends when all visits under way have
    /// ended, and all fetched pages and hints are processed.
    Stopped,
}

impl<S> Event<S> {
    /// Returns the events that report a commit. Each has at most [`FACTS`] facts. The last has the
    /// requests and the gains.
    pub fn committed(facts: Vec<Entry>, requests: usize, gains: Vec<Gain>) -> Vec<Self> {
        let mut facts = facts.into_iter();
        let mut events = Vec::with_capacity(facts.len() / FACTS + 1);
        while facts.len() > FACTS {
            events.push(Self::Committed {
                facts: facts.by_ref().take(FACTS).collect(),
                requests: 0,
                gains: Vec::new(),
            });
        }
        events.push(Self::Committed {
            facts: facts.collect(),
            requests,
            gains,
        });
        events
    }
}

/// The ledger's records of a page.
#[derive(Debug)]
pub struct Stored {
    /// The page.
    pub key: PageKey,
    /// How it was discovered. `None`: the ledger does not know the page.
    pub discovery: Option<Discovery>,
    /// The result of the last visit. `None`: there was no visit.
    pub visited: Option<Visited>,
}

/// Why a name was not resolved, a connection not opened or a request not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The error code that the ledger stores.
    pub kind: &'static str,
    /// Whether another attempt may succeed.
    pub transient: bool,
    /// Time from the start of the attempt to the failure.
    pub took: Duration,
}

/// A connection that was opened.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    /// The address of the other end: the server, or a proxy.
    pub address: IpAddr,
    /// Time to open it, TLS included.
    pub connect_time: Duration,
    /// `connect_time`, plus the time of a first attempt with an HTTP version that the server does
    /// not speak.
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
    /// Several pages were requested at once, and the connection failed before the answer for this
    /// one. The page can be requested again.
    Unanswered,
    /// The server had closed the connection, or wants another HTTP version. All pages of the
    /// request can be requested again over a new connection.
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
    /// The answer in the form for the archive. `None`: answers are not archived.
    pub sealed: Option<S>,
    /// Status and `Retry-After` of the answer.
    pub reply: Reply,
    /// Time from the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Time from the request to the last byte of the answer.
    pub took: Duration,
}

/// Status and `Retry-After` of an answer. With the status 429 or 503, the server refuses requests
/// because it is overloaded.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`: how long the server asks to wait.
    pub retry_after: Option<Duration>,
}

/// The history of a page without and with the measured gain of its new copy for searchers (ΔQ).
#[derive(Debug)]
pub struct Gain {
    /// The page.
    pub page: PageId,
    /// The history without the gain.
    pub before: History,
    /// The history with the gain.
    pub after: History,
}

/// A page that was shown in search results or clicked.
#[derive(Debug, Clone, PartialEq)]
pub struct Met {
    /// The page.
    pub page: PageId,
    /// When it was shown or clicked.
    pub at: Moment,
    /// Expected number of searchers who looked at it, which depends on its rank.
    pub views: f64,
    /// Number of clicks on it.
    pub clicks: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_a_commit_have_all_facts_in_order_and_its_requests_once() {
        for count in [0, 1, FACTS, FACTS + 1, 3 * FACTS + 7] {
            let facts: Vec<Entry> = (0..count).map(|n| Entry::Seed(n.to_string())).collect();
            let (mut reported, mut counts) = (Vec::new(), Vec::new());
            for event in Event::<()>::committed(facts.clone(), 5, Vec::new()) {
                let Event::Committed {
                    facts, requests, ..
                } = event
                else {
                    panic!("another event than a commit")
                };
                assert!(facts.len() <= FACTS);
                reported.extend(facts);
                counts.push(requests);
            }
            assert_eq!(reported, facts);
            assert_eq!(counts.pop(), Some(5), "the last event has the requests");
            assert!(counts.iter().all(|requests| *requests == 0));
        }
    }
}
