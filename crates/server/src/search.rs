//! A search, as the page, the API and agents make it: found, told what else is known of each result, and logged.
//!
//! **Invariant:** the log has what was asked and what was shown, and nothing of who asked; a search whose log
//! cannot be written is answered all the same.

mod suggestions;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use page::url::with_fragment;
use repository::index::{Facets, Hit, Query, Sort};
use repository::log::Search;

use crate::App;
use crate::app::{Surface, is_web};
use node::handle::PageFreshness;
use node::topics;

pub use suggestions::{SUGGESTIONS, Suggestion, suggest};

/// With fewer results than this, the searcher may have meant something else.
const FEW: usize = 5;

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchRequest {
    /// What was typed.
    pub text: String,
    /// Only this host and those below it.
    pub site: Option<String>,
    /// Only this language.
    pub language: Option<String>,
    /// Only pages of this topic.
    pub topic: Option<String>,
    /// Only copies from then on.
    pub since: Option<Timestamp>,
    /// Only copies from before.
    pub until: Option<Timestamp>,
    /// Only pages that say they were published then or later.
    pub published_since: Option<Timestamp>,
    /// Only pages that say they were published before.
    pub published_until: Option<Timestamp>,
    /// Only documents of this kind: letters and digits.
    pub kind: Option<String>,
    /// What comes first.
    pub sort: Sort,
    /// The languages that the reader prefers, the most preferred first.
    pub readers: Vec<String>,
    /// Whether to count results by site, language, kind and year.
    pub facets: bool,
    /// Whether the last word may be the beginning of one.
    pub prefix: bool,
    /// Results to show.
    pub limit: usize,
    /// Results to pass over.
    pub offset: usize,
    /// Whether to leave it out of the log.
    pub unlogged: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// Pages that match.
    pub total: usize,
    /// None has all the words.
    pub relaxed: bool,
    /// What was searched for in place of the text, where no page had some of its words.
    pub corrected: Option<String>,
    /// What the searcher may have meant.
    pub meant: Option<String>,
    /// What looks like an operator and is none; it was searched for as words.
    pub unknown: Vec<String>,
    /// Results counted, if that was asked for. A search within a topic has no counts.
    pub facets: Option<Facets>,
    /// Some of them, best first.
    pub results: Vec<Finding>,
    /// How long it took.
    pub took: Duration,
}

/// The pages that are about the same as another.
#[derive(Debug)]
pub struct Similar {
    /// The URL of the other, in normal form.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// They, best first.
    pub results: Vec<Finding>,
}

/// A page that was found.
#[derive(Debug)]
pub struct Finding {
    /// Its place among all, from 1.
    pub rank: usize,
    /// What the index has of it.
    pub hit: Hit,
    /// How current its copy is, if the ledger could be asked.
    pub freshness: Option<PageFreshness>,
    /// The address that counts a click and leads on; `None`: it is no page of the web.
    pub click: Option<String>,
}

impl Finding {
    /// The address of its best section, or of the page; `None`: it is no page of the web.
    pub fn link(&self) -> Option<String> {
        let section = self.hit.section.as_ref();
        let id = section.and_then(|section| section.id.as_deref());
        is_web(&self.hit.url).then(|| with_fragment(&self.hit.url, id))
    }
}

/// Searches, away from the threads that serve connections.
pub async fn search(app: &Arc<App>, wish: SearchRequest, surface: Surface) -> Result<Found> {
    let reader = app.clone();
    let asked = Instant::now();
    let found = app.readers.read(move || find(&reader, &wish)).await;
    app.metrics
        .searched(surface, asked.elapsed(), found.is_ok());
    found
}

/// Finds pages that are about the same as the page at a URL. `None`: the index does not have it.
pub async fn similar(app: &Arc<App>, url: page::PageUrl, limit: usize) -> Result<Option<Similar>> {
    let reader = app.clone();
    let work = move || {
        let Some(kept) = reader.index.kept(url.id())? else {
            return Ok(None);
        };
        let mut hits = reader.index.similar(url.id(), limit)?;
        // The words that they were found by are no query of the reader.
        for hit in &mut hits {
            hit.missing.clear();
            hit.section = None;
            hit.snippet.highlights.clear();
        }
        Ok(Some(Similar {
            title: kept.title,
            url: kept.url,
            results: findings(&reader, hits, 0, Timestamp::now()),
        }))
    };
    app.readers.read(work).await
}

fn find(app: &App, wish: &SearchRequest) -> Result<Found> {
    let begun = Instant::now();
    let readers: Vec<&str> = wish.readers.iter().map(String::as_str).collect();
    let clicks = app.clicks.log();
    let chosen = app.choices.factors(&wish.text, &app.searches, clicks);
    let query = Query {
        chosen: &chosen,
        text: &wish.text,
        limit: wish.limit,
        offset: wish.offset,
        site: wish.site.as_deref(),
        language: wish.language.as_deref(),
        kind: wish.kind.as_deref(),
        since: wish.since.map(Timestamp::as_second),
        until: wish.until.map(Timestamp::as_second),
        published_since: wish.published_since.map(Timestamp::as_second),
        published_until: wish.published_until.map(Timestamp::as_second),
        sort: wish.sort,
        prefix: wish.prefix,
        facets: wish.facets,
        readers: &readers,
        weights: None,
    };
    let hits = match &wish.topic {
        Some(name) => topics::search(&app.index, &query, &*app.node.topics().open(name)?)?,
        None => app.index.search(&query)?,
    };
    let corrected = hits.corrected;
    let few = hits.relaxed || hits.total < FEW;
    let doubtful = wish.offset == 0 && few && corrected.is_none() && !wish.prefix;
    let meant = if doubtful {
        app.index.meant(&wish.text)?
    } else {
        None
    };
    let now = Timestamp::now();
    let results = findings(app, hits.hits, wish.offset, now);
    // Someone who clicks while typing means what was typed so far.
    if wish.prefix || !wish.unlogged {
        app.clicks.searched(now, &wish.text);
    }
    if !wish.unlogged {
        log(app, wish, &results, now);
    }
    Ok(Found {
        total: hits.total,
        relaxed: hits.relaxed,
        corrected,
        meant,
        unknown: hits.unknown,
        facets: hits.facets,
        results,
        took: begun.elapsed(),
    })
}

/// Adds what the ledger knows to results, and the addresses that count clicks.
fn findings(app: &App, hits: Vec<Hit>, offset: usize, now: Timestamp) -> Vec<Finding> {
    (offset + 1..)
        .zip(hits)
        .map(|(rank, hit)| Finding {
            rank,
            freshness: app.node.freshness(&hit.url),
            click: app.links.click(&hit, rank, now),
            hit,
        })
        .collect()
}

fn log(app: &App, wish: &SearchRequest, results: &[Finding], now: Timestamp) {
    let mut search = Search::new(now, &wish.text);
    search.offset = u32::try_from(wish.offset).unwrap_or(u32::MAX);
    search.shown = results.iter().map(|found| found.hit.url.clone()).collect();
    if let Err(error) = app.searches.append(&search) {
        tracing::warn!(%error, "a search is not in the log");
    }
}
