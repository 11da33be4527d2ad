//! Counts of what a crawl has done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use page::{HostId, PageUrl};
use policy::Report;
use serde::{Deserialize, Serialize};

/// Maximum number of hosts out of scope whose links are counted by host. It bounds the memory, to
/// about 100 KB.
const OUTSIDE_HOSTS: usize = 1000;
/// Number of hosts out of scope that the summary names.
const NAMED_HOSTS: usize = 3;

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
    /// The links of `outside` that lead beyond the reach of the seeds, or that the regular
    /// expressions exclude, by host.
    outside_hosts: HashMap<HostId, (String, u64)>,
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
    /// Number of links that are out of scope, too deep or on blocked hosts, and of sitemap entries
    /// that belong to other sites.
    #[serde(default)]
    pub outside: u64,
    /// The three hosts with the most links out of scope, each with the number of these links.
    #[serde(default)]
    pub outside_hosts: Vec<(String, u64)>,
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
        self.outside += earlier.outside;
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

    /// Counts a link that is out of scope.
    pub fn out_of_scope(&mut self, url: &PageUrl, host: HostId) {
        self.outside += 1;
        if let Some((_, links)) = self.outside_hosts.get_mut(&host) {
            *links += 1;
        } else if self.outside_hosts.len() < OUTSIDE_HOSTS {
            let name = url.host_name().to_owned();
            self.outside_hosts.insert(host, (name, 1));
        }
    }

    /// Returns the three hosts with the most links out of scope, each with the number of these
    /// links.
    fn named_hosts(&self) -> Vec<(String, u64)> {
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, links) in self.outside_hosts.values() {
            *by_name.entry(name).or_default() += links;
        }
        let mut hosts: Vec<_> = by_name.into_iter().collect();
        hosts.sort_by_key(|&(name, links)| (Reverse(links), name));
        hosts.truncate(NAMED_HOSTS);
        let owned = |(name, links): (&str, u64)| (name.to_owned(), links);
        hosts.into_iter().map(owned).collect()
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
            outside: self.outside,
            outside_hosts: self.named_hosts(),
            price: None,
            bytes: self.bytes,
            seconds: (took.as_secs_f64() * 1000.0).round() / 1000.0,
            errors: self.errors.clone(),
            store: String::new(),
        }
    }
}
