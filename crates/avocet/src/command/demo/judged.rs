//! How did it go, by the web's own truth?

use serde::Serialize;
use testweb::site::{Copies, Fetches, Serving};

use super::noticed::{Noticed, published};
use super::searching::Searching;
use crate::cli::Demo;
use crawl::Summary;

/// Moments at which all copies are looked at.
const LOOKS: u32 = 100;

/// What `--json` prints at the end.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// The seed of the town.
    pub seed: u64,
    /// How fast it lived.
    pub speed: f64,
    /// How long it ran.
    pub seconds: f64,
    /// Pages of the town that existed in the end, those for people.
    pub pages: usize,
    /// How many of them were fetched at least once.
    pub known: usize,
    /// Requests by kind, as the town's servers counted them.
    pub fetches: Fetches,
    /// Requests in all.
    pub requests: u64,
    /// How fresh the copies were.
    pub freshness: Freshness,
    /// From publication to search result.
    pub publication: Publication,
    /// Searches that were answered.
    pub searches: u64,
    /// Clicks that were counted.
    pub clicks: u64,
    /// Searches and clicks that were not answered.
    pub failed: u64,
    /// What a fetch had to be worth in the end.
    pub price: Option<f64>,
    /// The store.
    pub store: String,
}

/// The share of copies that were as their pages, over the second half of the time.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Freshness {
    /// From when, in seconds since the beginning.
    pub from: f64,
    /// Until when.
    pub until: f64,
    /// Of all copies.
    pub copies: Option<f64>,
    /// The same if all pages had been visited alike, with as many requests at the same moments.
    pub copies_if_alike: Option<f64>,
    /// Of the results that searchers were shown.
    pub shown: Option<f64>,
    /// The same if all pages had been visited alike.
    pub shown_if_alike: Option<f64>,
}

/// How long new pages took to be found.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Publication {
    /// Pages that appeared and still exist.
    pub published: usize,
    /// How many of them could be found by search in the end.
    pub found: usize,
    /// The mean time from publication to search result, of those that were found.
    pub mean_delay: Option<f64>,
    /// Half of them took no longer.
    pub median_delay: Option<f64>,
}

/// Judges what happened from the beginning until now.
pub fn judge(
    web: &Serving,
    searching: &Searching,
    noticed: &Noticed,
    summary: &Summary,
    wishes: &Demo,
) -> Judged {
    let now = web.now();
    let there =
        (web.web().pages()).filter(|page| page.exists(now) && web.web().is_text(page.number()));
    let copies = web.copies();
    let there: Vec<_> = there.map(|page| page.number()).collect();
    let fetches = web.fetches();
    Judged {
        seed: wishes.seed,
        speed: wishes.speed,
        seconds: summary.seconds,
        pages: there.len(),
        known: there
            .iter()
            .filter(|page| copies.first(**page).is_some())
            .count(),
        fetches,
        requests: fetches.all(),
        freshness: freshness(web, searching, now / 2.0, now, LOOKS),
        publication: publication(web, noticed, now),
        searches: searching.searches(),
        clicks: searching.clicks(),
        failed: searching.failed(),
        price: summary.price,
        store: summary.store.clone(),
    }
}

/// How fresh the copies were in a time of the web.
pub fn freshness(
    web: &Serving,
    searching: &Searching,
    from: f64,
    until: f64,
    looks: u32,
) -> Freshness {
    let (copies, alike) = (web.copies(), web.copies_alike());
    let shown = searching.shown();
    let share = |copies: &Copies| {
        let of_time = shown.iter().filter(|(_, at)| (from..until).contains(at));
        let fresh: Vec<bool> = of_time
            .filter_map(|(page, at)| copies.is_fresh(*page, web.web(), *at))
            .collect();
        let good = fresh.iter().filter(|fresh| **fresh).count();
        (!fresh.is_empty()).then(|| good as f64 / fresh.len() as f64)
    };
    Freshness {
        from,
        until,
        copies: copies.freshness(web.web(), from, until, looks),
        copies_if_alike: alike.freshness(web.web(), from, until, looks),
        shown: share(&copies),
        shown_if_alike: share(&alike),
    }
}

/// How long new pages took to be found, until now.
pub fn publication(web: &Serving, noticed: &Noticed, now: f64) -> Publication {
    let mut delays = noticed.delays();
    delays.sort_unstable_by(f64::total_cmp);
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    Publication {
        published: published(web, now).len(),
        found: delays.len(),
        mean_delay: (!delays.is_empty()).then_some(mean),
        median_delay: delays.get(delays.len() / 2).copied(),
    }
}
