//! What does a running crawl say of itself?
//!
//! One value that is asked for in process, written into the store for other processes, and shown on the dashboard: who reads it
//! needs neither lock nor engine. Texts in it (URLs, kinds of errors) are as the web gave them.

use serde::{Deserialize, Serialize};

use super::core_figures::CoreFigures;
use crawl::Summary;

use super::meter::{Counts, Fetch, Gains, Point};
use crate::explain::sources::Row;

/// Everything at one moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// What it is doing, in short.
    #[serde(flatten)]
    pub state: State,
    /// What fetches were worth when their pages were claimed.
    pub gains: Gains,
    /// What the copies are expected to be like, asked of a sample now and then; `null`: no page was visited again yet, and nobody can tell.
    pub outlook: Option<Outlook>,
    /// What the store takes.
    pub storage: Storage,
    /// How the core fares.
    #[serde(default)]
    pub core: CoreFigures,
    /// The busiest hosts.
    pub servers: Vec<Server>,
    /// The pages that are polled for new ones.
    pub sources: Vec<Row>,
    /// The last fetches, newest first.
    pub recent: Vec<Fetch>,
    /// The last hours.
    pub series: Vec<Point>,
}

/// What a crawl is doing, as `state.json` has it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// What was done since policies were last changed.
    #[serde(flatten)]
    pub summary: Summary,
    /// When this was said.
    pub at: String,
    /// When the program began.
    pub since: String,
    /// The process.
    pub process: u32,
    /// Where it can be asked over HTTP; `null`: nowhere.
    pub address: Option<String>,
    /// Whether it runs.
    pub mode: Mode,
    /// Visits under way.
    pub visits: usize,
    /// Requests that are not committed yet.
    pub uncommitted: usize,
    /// Fetches a second that it may make; `null`: any number.
    pub budget: Option<f64>,
    /// By which policies it decides.
    pub policies: Policies,
    /// Requests made since the program began, by what for.
    pub fetches: Counts,
    /// Requests a second, of late.
    pub fetches_per_second: f64,
    /// Bytes a second, of late.
    pub bytes_per_second: f64,
}

/// Whether a crawl runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It fetches.
    #[default]
    Running,
    /// It was told to pause, and requests are under way or not committed yet.
    Pausing,
    /// It is paused: nothing is under way, and all is committed.
    Paused,
    /// It ends.
    Stopping,
}

impl Mode {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
        }
    }
}

/// The policies by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Policies {
    /// The ordering of new pages.
    pub order: String,
    /// The server strategy.
    pub servers: String,
    /// The refresh of known pages; `null`: there is none.
    pub refresh: Option<String>,
    /// The scheduler of sources; `null`: there is none.
    pub sources: Option<String>,
}

/// What copies are expected to be like, by what visits found and what sitemaps and feeds say of them. Pages that were hardly visited again are taken to be like
/// the others of their host that were, so that it is too low for as long as those are mostly its home pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// The share of the copies that are expected to be as their pages now.
    pub freshness: f64,
    /// The same, each copy counting what searchers lose while it is out of date; `null`: nothing was measured yet.
    pub quality: Option<f64>,
    /// Copies that this was asked of.
    pub sampled: usize,
    /// Those of them whose pages were visited again, so that they could be seen to change.
    pub revisited: usize,
}

/// What a store takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Bytes of the ledger.
    pub ledger: u64,
    /// Bytes of the archive.
    pub archive: u64,
    /// Bytes of the index.
    pub index: u64,
    /// Bytes that are free on its disk.
    pub free: u64,
    /// Bytes of memory that the process holds.
    pub memory: u64,
}

/// One host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// `https://example.org`.
    pub origin: String,
    /// Its address, if it was resolved.
    pub address: Option<String>,
    /// `visited`, `ready`, `waiting` for its delay, `idle` or `left alone`.
    pub state: String,
    /// When it may be asked next; `null`: now.
    pub next: Option<String>,
    /// Pages that wait for it now.
    pub waiting: usize,
    /// Pages claimed since policies were last changed.
    pub claimed: u32,
    /// Requests ever answered.
    pub requests: u32,
    /// Milliseconds to open a connection, of late.
    pub connect_ms: Option<f64>,
    /// Milliseconds to an answer, of late.
    pub response_ms: Option<f64>,
    /// `found`, `missing` or `unknown`: its robots.txt.
    pub robots: String,
    /// Seconds between requests that its robots.txt asks for.
    pub crawl_delay: Option<f64>,
    /// Times in a row that nobody answered.
    pub failures: u32,
}
