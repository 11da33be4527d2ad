//! A search, as the page, the API and agents make it: found, told what else is known of each result, and logged.
//!
//! **Invariant:** the log has what was asked and what was shown, and nothing of who asked; a search whose log
//! cannot be written is answered all the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use jiff::Timestamp;
use repository::index::{Hit, Query};
use repository::log;

use super::App;
use super::facts::Facts;
use super::metrics::Surface;
use crate::topical;

/// Fewer results than so many, and the searcher may have meant something else.
const FEW: usize = 5;

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wish {
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
    /// What the searcher may have meant.
    pub meant: Option<String>,
    /// Some of them, best first.
    pub results: Vec<Finding>,
    /// How long it took.
    pub took: Duration,
}

/// A page that was found.
#[derive(Debug)]
pub struct Finding {
    /// Its place among all, from 1.
    pub rank: usize,
    /// What the index has of it.
    pub hit: Hit,
    /// What the ledger has of it, if it could be asked.
    pub facts: Option<Facts>,
    /// The address that counts a click and leads on; `None`: it is no page of the web.
    pub click: Option<String>,
}

impl App {
    /// Searches, away from the threads that serve connections.
    pub async fn search(self: &Arc<Self>, wish: Wish, surface: Surface) -> Result<Found> {
        let app = self.clone();
        let asked = Instant::now();
        let found = self.readers.read(move || app.find(&wish)).await;
        self.metrics
            .searched(surface, asked.elapsed(), found.is_ok());
        found
    }

    fn find(&self, wish: &Wish) -> Result<Found> {
        let begun = Instant::now();
        let chosen = self
            .chosen
            .factors(&wish.text, &self.searches, self.clicks.log());
        let query = Query {
            chosen: &chosen,
            text: &wish.text,
            limit: wish.limit,
            offset: wish.offset,
            site: wish.site.as_deref(),
            language: wish.language.as_deref(),
            since: wish.since.map(Timestamp::as_second),
            until: wish.until.map(Timestamp::as_second),
            ..Query::default()
        };
        let hits = match &wish.topic {
            Some(name) => topical::search(&self.index, &query, &*self.topics.open(name)?)?,
            None => self.index.search(&query)?,
        };
        let doubtful = wish.offset == 0 && (hits.relaxed || hits.total < FEW);
        let meant = if doubtful {
            self.index.meant(&wish.text)?
        } else {
            None
        };
        let now = Timestamp::now();
        let results: Vec<Finding> = (wish.offset + 1..)
            .zip(hits.hits)
            .map(|(rank, hit)| Finding {
                rank,
                facts: self.facts(&hit.url),
                click: self.seal.click(&hit, rank, now),
                hit,
            })
            .collect();
        if !wish.unlogged {
            self.clicks.searched(now, &wish.text);
            self.log(wish, &results, now);
        }
        Ok(Found {
            total: hits.total,
            relaxed: hits.relaxed,
            meant,
            results,
            took: begun.elapsed(),
        })
    }

    fn log(&self, wish: &Wish, results: &[Finding], now: Timestamp) {
        let mut search = log::Search::new(now, &wish.text);
        search.offset = u32::try_from(wish.offset).unwrap_or(u32::MAX);
        search.shown = results.iter().map(|found| found.hit.url.clone()).collect();
        if let Err(error) = self.searches.append(&search) {
            tracing::warn!(%error, "a search is not in the log");
        }
    }
}
