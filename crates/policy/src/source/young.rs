//! The pages that are young enough for clicks to count: which sources link to them, and their
//! clicks by age and since their fetch.
//!
//! Lefortier et al. (2013), §4.2.1, count the clicks "for all new pages linked from a content
//! source". A page may be on several sources. A source that links to it later is credited with
//! the clicks from before, too, so they are kept.
//!
//! **Invariant:** a page is here only if it was clicked or has a second source, and until it is
//! too old. A source is credited with a page once.

use std::collections::HashMap;

use crate::Number;
use crate::estimate::Histogram;

/// Largest number of sources that are credited with a page beside the first. A box of latest
/// news may be on every page of a site.
const MOST: usize = 16;

/// Young pages with clicks or several sources.
#[derive(Debug, Clone, Default)]
pub(super) struct YoungPages {
    pages: HashMap<Number, YoungPage>,
}

/// A young page.
#[derive(Debug, Clone, Default)]
struct YoungPage {
    /// Indices of the records of the sources that link to it, without the first.
    also: Vec<u32>,
    clicks: Histogram,
    /// Clicks since the page was fetched.
    earned: f32,
}

impl YoungPages {
    /// Credits a further source with a page. Returns the clicks of the page so far; `None` if
    /// the source was credited before or the page has too many.
    pub fn credit(&mut self, page: Number, source: u32) -> Option<Histogram> {
        let young = self.pages.entry(page).or_default();
        if young.also.len() == MOST || young.also.contains(&source) {
            return None;
        }
        young.also.push(source);
        Some(young.clicks)
    }

    /// Adds clicks on a page, which has been `fetched` before or not.
    pub fn clicked(&mut self, page: Number, bin: usize, clicks: f64, fetched: bool) {
        let young = self.pages.entry(page).or_default();
        young.clicks[bin] = (young.clicks[bin] + clicks as f32).min(f32::MAX);
        if fetched {
            young.earned = (young.earned + clicks as f32).min(f32::MAX);
        }
    }

    /// Returns the clicks on a page before and after its fetch.
    pub fn clicks(&self, page: Number) -> [f64; 2] {
        let clicks = |young: &YoungPage| {
            let all: f64 = young.clicks.iter().map(|&clicks| f64::from(clicks)).sum();
            let earned = f64::from(young.earned);
            [(all - earned).max(0.0), earned]
        };
        self.pages.get(&page).map_or([0.0; 2], clicks)
    }

    /// Returns the sources that link to a page, without the first.
    pub fn also(&self, page: Number) -> &[u32] {
        self.pages.get(&page).map_or(&[], |young| &young.also)
    }

    /// Forgets pages that are too old.
    pub fn retain(&mut self, is_young: impl Fn(Number) -> bool) {
        self.pages.retain(|&page, _| is_young(page));
    }
}
