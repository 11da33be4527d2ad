//! Evaluation of a demo against the true state of its web.

use std::ops::Range;

use serde::Serialize;
use testweb::site::{Copies, Fetches, ServedWeb};

use super::baseline::Baseline;
use super::publication_delays::{PublicationDelays, published};
use super::search_traffic::SearchTraffic;
use crate::cli::DemoArguments;
use crawl::Summary;

/// Number of moments at which the freshness of all copies is sampled.
pub const SAMPLES: u32 = 100;

/// The results of a demo, as `--json` prints them.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Random seed of the town.
    pub seed: u64,
    /// Speed of the town.
    pub speed: f64,
    /// Duration of the demo, in seconds.
    pub seconds: f64,
    /// Text pages of the town that exist at the end.
    pub pages: usize,
    /// Text pages of the town that exist at the end and were fetched at least once.
    pub known: usize,
    /// Requests by kind, counted by the servers of the town.
    pub fetches: Fetches,
    /// Total number of requests.
    pub requests: u64,
    /// Requests of the baseline; `None` without one.
    pub baseline_requests: Option<u64>,
    /// Refresh policy of the baseline; `None` without one.
    pub baseline: Option<String>,
    /// Freshness of the copies after `--measure-from`, or in the second half of the demo.
    pub freshness: DemoFreshness,
    /// Delay from publication to search result.
    pub publication: Publication,
    /// Searches with a response.
    pub searches: u64,
    pub clicks: u64,
    /// Searches and clicks without a response, or with an error as response.
    pub failed: u64,
    /// Price at the end: the least worth at which a page is fetched.
    pub price: Option<f64>,
    /// Directory of the store.
    pub store: String,
}

/// Shares of copies that are fresh (equal to their page), averaged over a period.
///
/// The fields `baseline_…` are the same shares for the copies of the baseline: of another crawl or,
/// in the demo of a cluster, of a formula in which every later request goes to the oldest copy.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DemoFreshness {
    /// Start of the period, in seconds since the start of the demo.
    pub from: f64,
    /// End of the period, in seconds since the start of the demo.
    pub until: f64,
    /// Fresh share of all copies; `None` if there are none.
    pub copies: Option<f64>,
    /// Fresh share of all copies of the baseline.
    pub baseline_copies: Option<f64>,
    /// Share of the results shown to searchers whose copy was fresh; `None` if none was shown.
    pub shown: Option<f64>,
    /// Share of the same results whose copy of the baseline was fresh.
    pub baseline_shown: Option<f64>,
}

/// Delays from the publication of new pages to their first appearance in the index.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Publication {
    /// New pages that exist at the end.
    pub published: usize,
    /// New pages that exist at the end and appeared in the index.
    pub found: usize,
    /// Mean delay of the pages that appeared, in seconds.
    pub mean_delay: Option<f64>,
    /// Median delay of the pages that appeared, in seconds.
    pub median_delay: Option<f64>,
}

/// Evaluates the demo from its start until now.
pub fn evaluate(
    web: &ServedWeb,
    baseline: Option<&Baseline>,
    traffic: &SearchTraffic,
    delays_seen: &PublicationDelays,
    summary: &Summary,
    arguments: &DemoArguments,
) -> Evaluation {
    let now = web.now();
    let existing =
        (web.web().pages()).filter(|page| page.exists(now) && web.web().is_text(page.number()));
    let copies = web.copies();
    let existing: Vec<_> = existing.map(|page| page.number()).collect();
    let fetches = web.fetches();
    let from = arguments.measure_from.map(|from| from.0.as_secs_f64());
    let of_baseline = baseline.map(Baseline::copies);
    let period = from.unwrap_or(now / 2.0)..now;
    let freshness = freshness(web, of_baseline.as_ref(), traffic, period, SAMPLES);
    let counts = traffic.counts();
    Evaluation {
        seed: arguments.seed,
        speed: arguments.speed,
        seconds: summary.seconds,
        pages: existing.len(),
        known: existing
            .iter()
            .filter(|page| copies.first(**page).is_some())
            .count(),
        fetches,
        requests: fetches.all(),
        baseline_requests: baseline.map(Baseline::requests),
        baseline: baseline.map(|baseline| baseline.policy().to_owned()),
        freshness,
        publication: publication(web, delays_seen, now),
        searches: counts.searches,
        clicks: counts.clicks,
        failed: counts.failed,
        price: summary.price,
        store: summary.store.clone(),
    }
}

/// Returns the freshness of the copies, and of those of a baseline, in a period in seconds.
pub fn freshness(
    web: &ServedWeb,
    baseline: Option<&Copies>,
    traffic: &SearchTraffic,
    period: Range<f64>,
    samples: u32,
) -> DemoFreshness {
    let Range {
        start: from,
        end: until,
    } = period;
    let copies = web.copies();
    let shown = traffic.counts().shown.clone();
    let share = |copies: &Copies| {
        let of_time = shown.iter().filter(|(_, at)| (from..until).contains(at));
        let fresh: Vec<bool> = of_time
            .filter_map(|(page, at)| copies.is_fresh(*page, web.web(), *at))
            .collect();
        let good = fresh.iter().filter(|fresh| **fresh).count();
        (!fresh.is_empty()).then(|| good as f64 / fresh.len() as f64)
    };
    DemoFreshness {
        from,
        until,
        copies: copies.freshness(web.web(), from, until, samples),
        baseline_copies: baseline
            .and_then(|copies| copies.freshness(web.web(), from, until, samples)),
        shown: share(&copies),
        baseline_shown: baseline.and_then(share),
    }
}

/// Returns the publication delays until now.
pub fn publication(web: &ServedWeb, delays_seen: &PublicationDelays, now: f64) -> Publication {
    let published = published(web, now);
    let mut delays = delays_seen.of(published.iter().map(|(page, _)| *page));
    delays.sort_unstable_by(f64::total_cmp);
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    Publication {
        published: published.len(),
        found: delays.len(),
        mean_delay: (!delays.is_empty()).then_some(mean),
        median_delay: delays.get(delays.len() / 2).copied(),
    }
}
