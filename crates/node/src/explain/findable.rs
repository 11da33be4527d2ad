//! What search knows of a page: links to it, near-duplicates, and queries for which users chose it.
//!
//! The data come from the index and the logs of a store.

use std::path::Path;

use anyhow::Result;
use page::PageUrl;
use repository::log::{Choices, Click, EventLog, Search};
use serde::{Deserialize, Serialize};

use crate::recovery::searches::AttentionReport;
use crate::store;

/// The maximum number of queries that are listed.
const QUERIES: usize = 5;

/// What search knows of a page besides its words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Findable {
    /// Number of pages that link to it.
    pub in_links: u32,
    /// The number of its sections.
    pub sections: usize,
    /// URLs of near-duplicates in the index; search shows only one page of such a group.
    pub duplicates: Vec<String>,
    /// The attention of searchers by rank, which the views of its demand are counted with.
    pub attention: AttentionReport,
    /// The queries for which users clicked it rather than results above it, most frequent first.
    pub chosen: Vec<ChosenQuery>,
}

/// A query for which users clicked the page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChosenQuery {
    /// The text of the query.
    pub query: String,
    /// How often users clicked the page for this query rather than results above it.
    pub times: f64,
}

impl Findable {
    /// Reads the index and the logs of a store. Returns `None` if the page is not in the index, or
    /// there is no index.
    pub fn of(root: &Path, url: &PageUrl) -> Result<Option<Self>> {
        if !store::index(root).join("meta.json").exists() {
            return Ok(None);
        }
        let index = store::search_index(root)?;
        let Some(kept) = index.kept(url.id())? else {
            return Ok(None);
        };
        let log = store::log(root);
        let mut choices = Choices::default();
        choices.read(
            &EventLog::<Search>::open(&log),
            &EventLog::<Click>::open(&log),
        )?;
        let chosen = choices.of(url.id()).into_iter().take(QUERIES);
        Ok(Some(Self {
            in_links: kept.in_links,
            sections: kept.sections.len(),
            duplicates: index.duplicates(url.id())?,
            attention: AttentionReport::of(root)?,
            chosen: chosen
                .map(|(query, times)| ChosenQuery {
                    query: query.to_owned(),
                    times,
                })
                .collect(),
        }))
    }
}
