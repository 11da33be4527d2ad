//! The search behind the page, the API and the agents' tools: finds, adds freshness, and logs.
//!
//! **Invariant:** the log of searches holds the query, its time, the offset and the results shown,
//! and nothing about the searcher. A search is answered even if the log cannot be written.

mod suggestions;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use repository::index::{Facets, Hit, SearchQuery, Sort};
use repository::log::Search;

use crate::App;
use crate::app::{Surface, is_web};
use node::handle::PageFreshness;
use node::topics;

pub use suggestions::{SUGGESTIONS, Suggestion, suggest};

/// With fewer matching pages than this, the answer may suggest another spelling.
const FEW: usize = 5;

/// A search, with its filters and options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchRequest {
    /// The query.
    pub text: String,
    /// Only this host and its subdomains.
    pub site: Option<String>,
    /// Only this language.
    pub language: Option<String>,
    /// Only pages of this topic.
    pub topic: Option<String>,
    /// Only copies fetched at this time or later.
    pub since: Option<Timestamp>,
    /// Only copies fetched before this time.
    pub until: Option<Timestamp>,
    /// Only pages that state a publication date at this time or later.
    pub published_since: Option<Timestamp>,
    /// Only pages that state a publication date before this time.
    pub published_until: Option<Timestamp>,
    /// Only documents of this type, in letters and digits: `html`, `text`, ….
    pub kind: Option<String>,
    /// The order of results.
    pub sort: Sort,
    /// The languages that the reader prefers, the most preferred first.
    pub readers: Vec<String>,
    /// Whether to count the pages that match by site, language, type and year.
    pub facets: bool,
    /// Whether the last word of the query is a prefix.
    pub prefix: bool,
    /// The maximum number of results to return.
    pub limit: usize,
    /// The number of results to skip.
    pub offset: usize,
    /// Whether to leave the search out of the log.
    pub unlogged: bool,
}

/// The results of a search.
#[derive(Debug)]
pub struct SearchResults {
    /// The number of pages that match.
    pub total: usize,
    /// Whether no page has all words, so that pages with some of them are returned.
    pub relaxed: bool,
    /// The query used instead, if no page has one of the words.
    pub corrected: Option<String>,
    /// Another spelling that the searcher may have meant.
    pub meant: Option<String>,
    /// Operators that were not understood.
    pub unknown: Vec<String>,
    /// Counts by site, language, type and year, if requested. A search within a topic has none.
    pub facets: Option<Facets>,
    /// The requested part of the results, in order.
    pub results: Vec<SearchResult>,
    /// In a cluster: the number of nodes whose pages are missing, because they did not answer in
    /// time. Pages of a topic are searched on this node only.
    pub silent_nodes: usize,
    /// In a cluster: the number of nodes that have taken pages over and have not indexed all of
    /// them yet.
    pub indexing_nodes: usize,
    /// The duration of the search.
    pub took: Duration,
}

/// A page, and the pages with similar content.
#[derive(Debug)]
pub struct Similar {
    /// The normalized URL of the page.
    pub url: String,
    /// The title of the page; may be empty.
    pub title: String,
    /// The similar pages, the most similar first.
    pub results: Vec<SearchResult>,
}

/// One result of a search.
#[derive(Debug)]
pub struct SearchResult {
    /// The position among all results, from 1.
    pub rank: usize,
    /// The page, as the index returned it.
    pub hit: Hit,
    /// How current the copy is; `None` if unknown, for example while another process uses the
    /// store.
    pub freshness: Option<PageFreshness>,
    /// The link that counts a click and redirects; `None` if the URL is not `http` or `https`.
    pub click: Option<String>,
}

impl SearchResult {
    /// Returns the URL of the best section, or of the page.
    ///
    /// Returns `None` if the URL is not `http` or `https`.
    pub fn link(&self) -> Option<String> {
        is_web(&self.hit.url).then(|| self.hit.address())
    }
}

/// Searches on a blocking thread, and counts the search.
pub async fn search(
    app: &Arc<App>,
    request: SearchRequest,
    surface: Surface,
) -> Result<SearchResults> {
    let began = Instant::now();
    let found = app.read(move |app| find(app, &request)).await;
    app.metrics
        .searched(surface, began.elapsed(), found.is_ok());
    found
}

/// Finds the pages similar to the page at a URL. Returns `None` if the page is not in the index.
pub async fn similar(app: &Arc<App>, url: page::PageUrl, limit: usize) -> Result<Option<Similar>> {
    app.read(move |app| {
        let Some(kept) = app.index.kept(url.id())? else {
            return Ok(None);
        };
        let mut hits = app.index.similar(url.id(), limit)?;
        // The query was made from the words of the page: the reader did not type them.
        for hit in &mut hits {
            hit.missing.clear();
            hit.section = None;
            hit.snippet.highlights.clear();
        }
        Ok(Some(Similar {
            title: kept.title,
            url: kept.url,
            results: completed(app, hits, 0, Timestamp::now(), 0),
        }))
    })
    .await
}

fn find(app: &App, request: &SearchRequest) -> Result<SearchResults> {
    let began = Instant::now();
    let readers: Vec<&str> = request.readers.iter().map(String::as_str).collect();
    let whole = app.node.whole_search();
    // In a cluster every node raises its own pages, by the clicks in its log.
    let here = whole.is_none() || request.topic.is_some();
    let chosen = match app.raises_clicked && here {
        true => app.node.choices(&request.text),
        false => Vec::new(),
    };
    let query = SearchQuery {
        chosen: &chosen,
        text: &request.text,
        limit: request.limit,
        offset: request.offset,
        site: request.site.as_deref(),
        language: request.language.as_deref(),
        kind: request.kind.as_deref(),
        since: request.since.map(Timestamp::as_second),
        until: request.until.map(Timestamp::as_second),
        published_since: request.published_since.map(Timestamp::as_second),
        published_until: request.published_until.map(Timestamp::as_second),
        sort: request.sort,
        prefix: request.prefix,
        facets: request.facets,
        readers: &readers,
        weights: None,
    };
    let (mut silent_nodes, mut indexing_nodes) = (0, 0);
    let hits = match &request.topic {
        Some(name) => topics::search(&app.index, &query, &*app.node.topics().open(name)?)?,
        None => match &whole {
            Some(whole) => {
                let found = whole.search(&query, app.raises_clicked)?;
                silent_nodes = found.silent_nodes;
                indexing_nodes = found.indexing_nodes;
                found.hits
            }
            None => app.index.search(&query)?,
        },
    };
    let corrected = hits.corrected;
    let few = hits.relaxed || hits.total < FEW;
    let doubtful = request.offset == 0 && few && corrected.is_none() && !request.prefix;
    let meant = if doubtful {
        match &whole {
            Some(whole) => whole.meant(&request.text, silent_nodes)?,
            None => app.index.meant(&request.text)?,
        }
    } else {
        None
    };
    let now = Timestamp::now();
    let results = completed(app, hits.hits, request.offset, now, silent_nodes);
    // A click while typing counts for the text typed so far, though that text is not logged as a
    // search.
    if request.prefix || !request.unlogged {
        app.clicks.searched(now, &request.text);
    }
    if !request.unlogged {
        log(app, request, &results, now);
    }
    Ok(SearchResults {
        total: hits.total,
        relaxed: hits.relaxed,
        corrected,
        meant,
        unknown: hits.unknown,
        facets: hits.facets,
        results,
        silent_nodes,
        indexing_nodes,
        took: began.elapsed(),
    })
}

/// Adds freshness, from the ledger, and click-counting links to hits of the index. In a cluster,
/// the ledgers of other nodes are asked too, except those of `silent` nodes, which have just not
/// answered.
fn completed(
    app: &App,
    hits: Vec<Hit>,
    offset: usize,
    now: Timestamp,
    silent: usize,
) -> Vec<SearchResult> {
    let here = hits.iter().map(|hit| app.node.freshness(&hit.url));
    let here: Vec<Option<PageFreshness>> = here.collect();
    let unknown = hits.iter().zip(&here).filter(|(_, known)| known.is_none());
    let unknown: Vec<String> = unknown.map(|(hit, _)| hit.url.clone()).collect();
    let elsewhere = match app.node.whole_search().filter(|_| !unknown.is_empty()) {
        Some(whole) => whole.freshness(unknown, silent).unwrap_or_else(|error| {
            tracing::warn!("other nodes cannot be asked how current pages are: {error:#}");
            HashMap::new()
        }),
        None => HashMap::new(),
    };
    (offset + 1..)
        .zip(hits.into_iter().zip(here))
        .map(|(rank, (hit, here))| SearchResult {
            rank,
            freshness: here.or_else(|| elsewhere.get(&hit.url).copied()),
            click: app.links.click(&hit, rank, now),
            hit,
        })
        .collect()
}

fn log(app: &App, request: &SearchRequest, results: &[SearchResult], now: Timestamp) {
    let mut search = Search::new(now, &request.text);
    search.offset = u32::try_from(request.offset).unwrap_or(u32::MAX);
    search.shown = results.iter().map(|found| found.hit.url.clone()).collect();
    if let Err(error) = app.node.log_search(&search) {
        tracing::warn!("cannot write a search to the log: {error:#}");
    }
}
