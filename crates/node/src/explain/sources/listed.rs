//! The sources of a store: of the crawl that runs, or of the next.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use frontier::PageKey;
use ledger::Ledger;
use serde::{Deserialize, Serialize};

use super::{Cover, Row, rows};
use crate::clock::Clock;
use crate::explain;
use crate::store::{self, Store};

/// What is printed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Listed {
    /// The sources.
    pub sources: Vec<Row>,
    /// How few of them reach how much; `null` while a crawl goes on.
    pub cover: Option<Cover>,
}

/// What the running crawl last said of its sources.
pub fn running(root: &Path) -> Result<Listed> {
    let text = fs::read_to_string(store::sources(root))
        .context("the crawl has not said anything of its sources yet")?;
    Ok(Listed {
        sources: serde_json::from_str(&text)?,
        cover: None,
    })
}

/// What the next run would know of its sources.
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
        cover: Some(Cover::of(ledger)?),
    })
}
