//! How a page stands in the index: what search knows of it besides its words.

use std::path::Path;

use anyhow::Result;
use page::PageUrl;
use repository::log::{Choices, Click, Log, Search};
use serde::{Deserialize, Serialize};

use crate::store;

/// Queries that are named.
const QUERIES: usize = 5;

/// What search knows of a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Findable {
    /// Pages that link to it.
    pub in_links: u32,
    /// Its sections.
    pub sections: usize,
    /// Pages of the index with nearly the same text; one of them is shown.
    pub duplicates: Vec<String>,
    /// The queries for which people chose it over results above it, the most frequent first.
    pub chosen: Vec<Choice>,
}

/// A query for which a page was chosen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Choice {
    /// What was searched for.
    pub query: String,
    /// How often it was chosen.
    pub times: f64,
}

impl Findable {
    /// What the index and the log of a store say. Returns `None` if the page is not in the index, or there is none.
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
        choices.read(&Log::<Search>::open(&log), &Log::<Click>::open(&log))?;
        let chosen = choices.of(url.id()).into_iter().take(QUERIES);
        Ok(Some(Self {
            in_links: kept.in_links,
            sections: kept.sections.len(),
            duplicates: index.duplicates(url.id())?,
            chosen: chosen
                .map(|(query, times)| Choice {
                    query: query.to_owned(),
                    times,
                })
                .collect(),
        }))
    }
}
