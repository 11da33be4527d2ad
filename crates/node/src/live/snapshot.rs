//! The snapshot of a running crawl.
//!
//! A snapshot is a plain value, so its readers need neither a lock nor the engine. The crawl also
//! writes it into the store for other processes. Its texts (URLs, error codes) may come from the
//! web and are not escaped.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::core_figures::CoreFigures;
use crawl::Summary;
use policy::source::NewPageClicks;

use super::meter::{Counts, Fetch, SeriesPoint, WorthSums};
use crate::explain::sources::SourceSummary;

/// A description of a running crawl at one moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The state of the crawl, as in `state.json`.
    #[serde(flatten)]
    pub state: CrawlState,
    /// The worth of all fetches, as estimated when their pages were claimed.
    pub gains: WorthSums,
    /// The expected freshness of the copies, from a sample; `null` without a budget, and while too
    /// few pages were revisited.
    pub outlook: Option<FreshnessOutlook>,
    /// Disk and memory usage.
    pub storage: Storage,
    /// Performance figures of the crawl's state machine and its committer.
    #[serde(default)]
    pub core: CoreFigures,
    /// The busiest hosts, at most 200.
    pub servers: Vec<HostSnapshot>,
    /// The sources with the most expected profit per second, at most 200.
    pub sources: Vec<SourceSummary>,
    /// The last fetches, newest first.
    pub recent: Vec<Fetch>,
    /// Figures over the last hours, oldest first.
    pub series: Vec<SeriesPoint>,
}

/// The state of a crawl, as in `state.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CrawlState {
    /// Counts since the program started, and the pages that are left.
    #[serde(flatten)]
    pub summary: Summary,
    /// The time of the snapshot.
    pub at: String,
    /// When the program started.
    pub since: String,
    /// The process id.
    pub process: u32,
    /// The address at which it serves HTTP; `null` if it does not.
    pub address: Option<String>,
    /// Whether it runs, is paused, or stops.
    pub mode: CrawlMode,
    /// Visits under way.
    pub visits: usize,
    /// Requests that are not committed yet.
    pub uncommitted: usize,
    /// The budget in fetches per second; `null` if it is unlimited.
    pub budget: Option<f64>,
    /// Its policies.
    pub policies: PolicyNames,
    /// Requests since the program started, by purpose.
    pub fetches: Counts,
    /// Answers since the program started, by HTTP status; without pages that got no answer.
    #[serde(default)]
    pub statuses: BTreeMap<String, u64>,
    /// Requests per second, over the last ten seconds.
    pub fetches_per_second: f64,
    /// Bytes per second, over the last ten seconds.
    pub bytes_per_second: f64,
    /// What new pages earned of the clicks that they could have; `null` without clicks or sources.
    #[serde(default)]
    pub new_page_clicks: Option<NewPageShare>,
}

/// What pages that appeared on sources in the last week earned of the clicks that they could have:
/// the dynamic quality of Lefortier et al. (2013) relative to a crawl that fetches every page as it
/// appears.
///
/// Clicks before the fetch of a page are not logged, and are estimated from the clicks on other
/// pages of its source and their decay. Pages that no poll has found are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NewPageShare {
    /// Clicks after the fetch of their page.
    pub earned: f64,
    /// Estimated clicks before the fetch of their page, or on pages that were not fetched.
    pub missed: f64,
    /// `earned` over the sum of both.
    pub share: f64,
}

impl From<NewPageClicks> for NewPageShare {
    fn from(clicks: NewPageClicks) -> Self {
        Self {
            earned: clicks.earned,
            missed: clicks.missed,
            share: clicks.share(),
        }
    }
}

/// Whether a crawl runs, is paused, or stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrawlMode {
    /// It fetches.
    #[default]
    Running,
    /// A pause was requested, and visits are still under way or requests not committed.
    Pausing,
    /// It is paused: no visit is under way, and all requests are committed.
    Paused,
    /// It is about to end.
    Stopping,
}

impl CrawlMode {
    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Stopping => "stopping",
        }
    }
}

/// The names of a crawl's policies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyNames {
    /// The ordering of new pages.
    pub order: String,
    /// The server strategy.
    pub servers: String,
    /// The refresh policy; `null` if there is none.
    pub refresh: Option<String>,
    /// The scheduler of sources; `null` if there is none.
    pub sources: Option<String>,
}

/// The expected freshness of the copies, estimated from visits and from hints of sitemaps and
/// feeds.
///
/// A page that was rarely revisited is assumed to change like the other pages of its host and of
/// the store; seeds are estimated separately. The estimate may be too high, by up to a sixth, where
/// many changes have no hint (`planning/freshness.rs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct FreshnessOutlook {
    /// The expected share of copies that equal their pages now.
    pub freshness: f64,
    /// The same share, with each copy weighted by what searchers lose while it is out of date;
    /// `null` until such a loss was measured.
    pub quality: Option<f64>,
    /// The number of copies in the sample.
    pub sampled: usize,
    /// The number of sampled pages that were revisited, so that a change could be seen.
    pub revisited: usize,
}

/// Disk and memory usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Bytes of the ledger.
    pub ledger: u64,
    /// Bytes of the archive.
    pub archive: u64,
    /// Bytes of the index.
    pub index: u64,
    /// Free bytes on the disk of the store.
    pub free: u64,
    /// Resident memory of the process, in bytes.
    pub memory: u64,
}

/// One host and its server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSnapshot {
    /// The host, such as `https://example.org`.
    pub origin: String,
    /// The IP address of its server; `null` if it was not resolved yet.
    pub address: Option<String>,
    /// `visited` (a visit is under way), `ready`, `delayed` (until `next`), `idle` (no page is
    /// due) or `left alone` (after failures, or at its page limit).
    pub state: String,
    /// When the next request may be made; `null` unless the state is `delayed`.
    pub next: Option<String>,
    /// Pages of the host that are due.
    pub waiting: usize,
    /// Pages claimed since the crawl started or its policies were last changed.
    pub claimed: u32,
    /// Requests for pages that were answered, in all runs.
    pub requests: u32,
    /// Milliseconds to open a connection (moving average).
    pub connect_ms: Option<f64>,
    /// Milliseconds from a request to its answer (moving average).
    pub response_ms: Option<f64>,
    /// The state of its robots.txt: `found`, `missing` or `unknown`.
    pub robots: String,
    /// The `Crawl-delay` of its robots.txt, in seconds.
    pub crawl_delay: Option<f64>,
    /// Failures to reach the host or its robots.txt, and failed requests, since the last answer to
    /// a request for a page.
    pub failures: u32,
}
