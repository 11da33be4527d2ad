//! A search request that can be sent to another node.

use page::PageId;
use serde::{Deserialize, Serialize};

use super::evaluate::Sort;
use super::search::SearchQuery;
use super::weights::Weights;

/// A [`SearchQuery`] that owns its values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnedQuery {
    text: String,
    limit: usize,
    offset: usize,
    site: Option<String>,
    language: Option<String>,
    kind: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
    published_since: Option<i64>,
    published_until: Option<i64>,
    sort: Sort,
    prefix: bool,
    facets: bool,
    readers: Vec<String>,
    chosen: Vec<(PageId, f32)>,
    weights: Option<Weights>,
}

impl OwnedQuery {
    /// Returns the text of the query.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Raises pages that were clicked for this query, by these factors.
    pub fn choose(&mut self, chosen: Vec<(PageId, f32)>) {
        self.chosen = chosen;
    }

    /// Calls a function with the search request, and returns its result.
    pub fn with<T>(&self, call: impl FnOnce(&SearchQuery<'_>) -> T) -> T {
        let readers: Vec<&str> = self.readers.iter().map(String::as_str).collect();
        call(&SearchQuery {
            text: &self.text,
            limit: self.limit,
            offset: self.offset,
            site: self.site.as_deref(),
            language: self.language.as_deref(),
            kind: self.kind.as_deref(),
            since: self.since,
            until: self.until,
            published_since: self.published_since,
            published_until: self.published_until,
            sort: self.sort,
            prefix: self.prefix,
            facets: self.facets,
            readers: &readers,
            chosen: &self.chosen,
            weights: self.weights.as_ref(),
        })
    }
}

impl From<&SearchQuery<'_>> for OwnedQuery {
    fn from(query: &SearchQuery<'_>) -> Self {
        // Without `..`, so that the compiler finds a field that is not sent.
        let SearchQuery {
            text,
            limit,
            offset,
            site,
            language,
            kind,
            since,
            until,
            published_since,
            published_until,
            sort,
            prefix,
            facets,
            readers,
            chosen,
            weights,
        } = *query;
        Self {
            text: text.to_owned(),
            limit,
            offset,
            site: site.map(str::to_owned),
            language: language.map(str::to_owned),
            kind: kind.map(str::to_owned),
            since,
            until,
            published_since,
            published_until,
            sort,
            prefix,
            facets,
            readers: readers.iter().map(|&code| code.to_owned()).collect(),
            chosen: chosen.to_vec(),
            weights: weights.cloned(),
        }
    }
}
