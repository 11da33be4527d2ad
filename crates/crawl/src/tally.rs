//! Counts of what a crawl has done.

use std::collections::BTreeMap;
use std::time::Duration;

use policy::Report;
use serde::{Deserialize, Serialize};

/// Counts of one run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Fetches that brought the first or a changed copy of a page.
    pub pages: u64,
    /// Fetches of a page that had not changed since its copy.
    pub unchanged: u64,
    /// Pages that were dropped from the buffer.
    pub dropped: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Number of links that are out of scope, and of sitemap entries that belong to other sites.
    /// Links into spider traps are counted as errors.
    pub outside: u64,
    /// Errors by code.
    pub errors: BTreeMap<String, u64>,
}

/// The summary at the end of a run, as `--json` prints it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Fetches that brought the first or a changed copy of a page.
    pub pages: u64,
    /// Fetches of a page that had not changed since its copy.
    pub unchanged: u64,
    /// Pages that were dropped from the buffer.
    pub dropped: u64,
    /// A lower bound on the share of a random walk from the seeds that falls on the fetched
    /// pages, if the ordering computes it.
    pub coverage: Option<f64>,
    /// Pages of the store that match the topic, if the crawl has one.
    pub found: Option<u64>,
    /// Words of the query that no text, anchor or URL contains.
    pub unseen_words: Vec<String>,
    /// Further remarks of the policy.
    pub remarks: Vec<String>,
    /// URLs that the store knows: discovered in this run or an earlier one, and in scope then.
    pub urls_seen: usize,
    /// URLs that are still to be fetched, now or later.
    pub queued: usize,
    /// The queued URLs that are due: they are fetched as soon as their servers may be asked.
    #[serde(default)]
    pub due: usize,
    /// The queued URLs that are deferred: beyond the page budget of their domain.
    #[serde(default)]
    pub deferred: usize,
    /// The three domains with the most deferred pages, each with the number of these pages.
    #[serde(default)]
    pub deferred_domains: Vec<(String, usize)>,
    /// The price: the least worth at which a page is fetched. `None`: the crawl has no budget.
    pub price: Option<f64>,
    /// Bytes received.
    pub bytes: u64,
    /// Duration of the run, in seconds.
    pub seconds: f64,
    /// Errors by code.
    pub errors: BTreeMap<String, u64>,
    /// The directory of the store.
    pub store: String,
}

impl Summary {
    /// Returns the summary of this run and an earlier one together: the sums of the counts and of
    /// the durations. All other values are those of this run.
    pub fn after(mut self, earlier: &Self) -> Self {
        self.pages += earlier.pages;
        self.unchanged += earlier.unchanged;
        self.dropped += earlier.dropped;
        self.bytes += earlier.bytes;
        self.seconds += earlier.seconds;
        for (kind, count) in &earlier.errors {
            *self.errors.entry(kind.clone()).or_default() += count;
        }
        self
    }
}

impl Tally {
    /// Counts an error.
    pub fn error(&mut self, kind: &str) {
        match self.errors.get_mut(kind) {
            Some(count) => *count += 1,
            None => {
                self.errors.insert(kind.to_owned(), 1);
            }
        }
    }

    /// Returns the summary of a run that took `took`. `known` and `queued` are numbers of pages;
    /// `report` comes from the policy. The caller fills in what depends on the frontier and the
    /// store.
    pub fn summary(&self, known: usize, queued: usize, report: Report, took: Duration) -> Summary {
        Summary {
            pages: self.pages,
            unchanged: self.unchanged,
            dropped: self.dropped,
            coverage: report.coverage,
            found: report.found,
            unseen_words: report.unseen_words,
            remarks: report.remarks,
            urls_seen: known,
            queued,
            due: 0,
            deferred: 0,
            deferred_domains: Vec::new(),
            price: None,
            bytes: self.bytes,
            seconds: (took.as_secs_f64() * 1000.0).round() / 1000.0,
            errors: self.errors.clone(),
            store: String::new(),
        }
    }
}
