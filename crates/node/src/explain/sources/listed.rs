//! Lists the sources of the running crawl or, for a store at rest, of the next crawl.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use frontier::PageKey;
use ledger::Ledger;
use serde::{Deserialize, Serialize};

use super::{SourceCover, SourceSummary, rows};
use crate::clock::Clock;
use crate::explain;
use crate::store::{self, Store};

/// The output of `avocet sources`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Listed {
    /// The sources.
    pub sources: Vec<SourceSummary>,
    /// How many sources suffice to find 80 % of the new pages; `null` while a crawl runs.
    pub cover: Option<SourceCover>,
}

/// Reads the sources that the running crawl last wrote.
pub fn running(root: &Path) -> Result<Listed> {
    let text = fs::read_to_string(store::sources(root))
        .context("the crawl has not written its sources yet: try again in 30 seconds")?;
    Ok(Listed {
        sources: serde_json::from_str(&text)?,
        cover: None,
    })
}

/// Returns the sources that the next run would start with.
pub fn at_rest(store: &Store, ledger: &Ledger) -> Result<Listed> {
    let now = Clock::start().now();
    let mut frontier = explain::frontier(store, ledger, now)?;
    let known = |key: PageKey| {
        let found = ledger.discovery(key).ok().flatten()?;
        let visited = ledger.visited(key).ok().flatten();
        let new = policy::History::discovered(found.at, found.depth);
        let history = visited.map_or(new, |visited| visited.history);
        Some((found.url, history))
    };
    Ok(Listed {
        sources: rows(&mut frontier, usize::MAX, known),
        cover: Some(SourceCover::of(ledger)?),
    })
}
