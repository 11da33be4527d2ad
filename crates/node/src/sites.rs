//! Summaries of the sites of a store, one per host: pages, errors, freshness and changes.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use frontier::Known;
use ledger::LedgerReader;
use page::{HostId, PageUrl};
use policy::{History, Moment, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::written;
use crate::planning::FreshnessModel;

/// The maximum number of pages per site from which its freshness is estimated.
const SAMPLE: usize = 200;

/// What a store knows of one site: the pages of one host name and port.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteSummary {
    /// The host name, with the port if it is not the usual one.
    pub host: String,
    /// URLs that are known, fetched or not.
    pub urls: u64,
    /// Pages with a copy.
    pub pages: u64,
    /// Pages that search can find.
    pub searchable: u64,
    /// URLs that were never requested.
    pub waiting: u64,
    /// URLs whose last visit had an error or got no answer.
    pub errors: u64,
    /// Pages that are gone from the web.
    pub gone: u64,
    /// The estimated share of the copies that equal their pages, from 0 to 1. Absent until pages
    /// were revisited.
    pub freshness: Option<f64>,
    /// When a page was last requested.
    pub last_request: Option<String>,
    /// When a visit last found a changed text.
    pub last_change: Option<String>,
}

/// A site that is being summarized.
#[derive(Default)]
struct SiteCount {
    summary: SiteSummary,
    last_request: Option<Moment>,
    last_change: Option<Moment>,
    histories: Vec<History>,
}

impl SiteCount {
    fn count(&mut self, known: &Known) {
        let summary = &mut self.summary;
        summary.urls += 1;
        let Some(visited) = &known.visited else {
            summary.waiting += 1;
            return;
        };
        let history = &visited.history;
        self.last_request = self.last_request.max(history.asked);
        self.last_change = self.last_change.max(change_seen(history));
        let is_gone = history.outcome == Some(Outcome::Gone);
        summary.gone += u64::from(is_gone);
        let failed = visited.error.is_some() || history.outcome == Some(Outcome::Unreachable);
        summary.errors += u64::from(failed && !is_gone);
        let Some(copy) = &visited.copy else { return };
        summary.pages += 1;
        summary.searchable += u64::from(copy.indexed);
        if !is_gone && !history.listing && self.histories.len() < SAMPLE {
            self.histories.push(*history);
        }
    }
}

/// Returns when a visit last found a changed text; `None` if none of the last revisits did.
fn change_seen(history: &History) -> Option<Moment> {
    let (mut unchanged, mut found) = (0.0, false);
    for revisit in history.recent.iter().rev() {
        if revisit.changed {
            found = true;
            break;
        }
        unchanged += f64::from(revisit.gap);
    }
    let read = history.fresh.filter(|_| found)?;
    let since = Duration::try_from_secs_f64(unchanged).ok()?;
    Some(Moment::from_micros(
        read.micros().saturating_sub(since.as_micros() as u64),
    ))
}

/// Summarizes all sites of a ledger, those with the most URLs first.
pub fn sites(ledger: &LedgerReader, now: Moment) -> Result<Vec<SiteSummary>> {
    let mut counts: HashMap<HostId, SiteCount> = HashMap::new();
    for known in ledger.scan() {
        let known = known?;
        let site = counts.entry(known.key.page.host()).or_default();
        if site.summary.urls == 0 {
            site.summary.host = site_name(&known.discovery.url);
        }
        site.count(&known);
    }
    let mut counts: Vec<SiteCount> = counts.into_values().collect();
    counts.sort_by(|one, other| {
        let by_urls = other.summary.urls.cmp(&one.summary.urls);
        by_urls.then_with(|| one.summary.host.cmp(&other.summary.host))
    });
    let pages = (0..).zip(&counts);
    let pages = pages.flat_map(|(number, site)| {
        let histories = site.histories.iter();
        histories.map(move |history| (number, history))
    });
    let model = FreshnessModel::learned(pages, now);
    let summaries = (0..).zip(counts).map(|(number, site)| {
        let model = model.as_ref().filter(|_| !site.histories.is_empty());
        let freshness = model.map(|model| {
            let pages = site.histories.iter();
            let fresh: f64 = pages.map(|page| model.of(number, page, now)).sum();
            (fresh / site.histories.len() as f64 * 1e4).round() / 1e4
        });
        SiteSummary {
            freshness,
            last_request: site.last_request.map(written),
            last_change: site.last_change.map(written),
            ..site.summary
        }
    });
    Ok(summaries.collect())
}

/// Returns the host name of a URL, with its port if that is not the usual one.
fn site_name(url: &str) -> String {
    match PageUrl::parse(url) {
        Ok(url) => {
            let port = url.other_port().map(|port| format!(":{port}"));
            url.host_name().to_owned() + &port.unwrap_or_default()
        }
        Err(_) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use frontier::{Discovery, Entry, PageCopy, PageKey, Visited};
    use ledger::{Batch, Ledger};
    use policy::Visit;

    use super::*;

    fn day(number: u64) -> Moment {
        Moment::from_micros(number * 86_400_000_000)
    }

    /// Adds a page that was visited each day with these outcomes.
    fn add(batch: &mut Batch, url: &str, outcomes: &[Outcome]) {
        let url = PageUrl::parse(url).unwrap();
        let discovery = Discovery {
            url: url.as_str().to_owned(),
            order: batch.entries.len() as u64,
            at: day(0),
            depth: 1,
            hops: 0,
            source: None,
            absent: None,
        };
        batch
            .entries
            .push(Entry::Admitted(PageKey::of(&url), discovery));
        let mut history = History::discovered(day(0), 1);
        for (number, outcome) in (1..).zip(outcomes) {
            history = history.after(Visit::new(day(number), *outcome));
        }
        if !outcomes.is_empty() {
            let has_copy = outcomes[0] == Outcome::Changed;
            let visited = Visited {
                history,
                error: (!has_copy).then(|| "connect".to_owned()),
                copy: has_copy.then(|| PageCopy {
                    place: None,
                    at: day(1),
                    payload: [0; 20],
                    etag: None,
                    last_modified: None,
                    text: None,
                    indexed: true,
                    hub: None,
                }),
                ..Visited::default()
            };
            let visited = Entry::Visited(PageKey::of(&url), Box::new(visited));
            batch.entries.push(visited);
        }
    }

    fn summarized(directory: &Path) -> Vec<SiteSummary> {
        let ledger = Ledger::open(directory).unwrap();
        let mut batch = Batch::default();
        let (new, same) = (Outcome::Changed, Outcome::Unchanged);
        add(&mut batch, "http://a.example/1", &[new, same, new, same]);
        add(
            &mut batch,
            "http://a.example/2",
            &[new, same, same, Outcome::Gone],
        );
        add(&mut batch, "http://a.example/3", &[]);
        add(&mut batch, "http://a.example:81/", &[Outcome::Unreachable]);
        ledger.commit(&batch).unwrap();
        sites(&ledger, day(5)).unwrap()
    }

    #[test]
    fn sites_have_their_pages_errors_and_changes() {
        let directory = tempfile::tempdir().unwrap();
        let found = summarized(directory.path());
        let [site, port] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((&*site.host, &*port.host), ("a.example", "a.example:81"));
        let counts =
            |site: &SiteSummary| [site.urls, site.pages, site.waiting, site.errors, site.gone];
        assert_eq!(counts(site), [3, 2, 1, 0, 1]);
        assert_eq!(counts(port), [1, 0, 0, 1, 0]);
        assert_eq!(site.last_request, Some(written(day(4))));
        assert_eq!(site.last_change, Some(written(day(3))));
        assert_eq!((port.last_change.as_ref(), port.freshness), (None, None));
        let fresh = site.freshness.unwrap();
        assert!((0.2..1.0).contains(&fresh), "{fresh}");
    }
}
