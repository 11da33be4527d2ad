//! What a crawl has done so far, counted.

use std::collections::BTreeMap;
use std::time::Duration;

use policy::Report;
use serde::{Deserialize, Serialize};

/// Counts of one run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Pages fetched with a text or body that we did not have.
    pub pages: u64,
    /// Pages fetched again and found unchanged.
    pub unchanged: u64,
    /// Pages that fell out of the buffer.
    pub dropped: u64,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Links that lead out of scope, or into a trap.
    pub outside: u64,
    /// What went wrong, by kind.
    pub errors: BTreeMap<String, u64>,
}

/// The end of a run, as `--json` prints it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Pages fetched with a text or body that we did not have.
    pub pages: u64,
    /// Pages fetched again and found unchanged.
    pub unchanged: u64,
    /// Pages that fell out of the buffer.
    pub dropped: u64,
    /// A lower bound on the share of a random walk from the seeds that is spent on the fetched pages, if
    /// the ordering knows.
    pub coverage: Option<f64>,
    /// Pages of the store that are what the crawl is about, if it is about something.
    pub found: Option<u64>,
    /// Words of the query that were in no text, anchor or URL.
    pub unseen_words: Vec<String>,
    /// What else the policy has to say.
    pub remarks: Vec<String>,
    /// URLs ever admitted to the store.
    pub urls_seen: usize,
    /// URLs that still wait.
    pub queued: usize,
    /// Those among them that are beyond the budget of their domain.
    #[serde(default)]
    pub deferred: usize,
    /// The domains with most of these.
    #[serde(default)]
    pub deferred_domains: Vec<(String, usize)>,
    /// What a fetch must be worth now, under a budget.
    pub price: Option<f64>,
    /// Bytes over the wire.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// What went wrong, by kind.
    pub errors: BTreeMap<String, u64>,
    /// The directory.
    pub store: String,
}

impl Tally {
    /// Counts one thing that went wrong.
    pub fn error(&mut self, kind: &str) {
        match self.errors.get_mut(kind) {
            Some(count) => *count += 1,
            None => {
                self.errors.insert(kind.to_owned(), 1);
            }
        }
    }

    /// The summary of a run that knows so many pages, of which so many wait, and whose policy says this.
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
