//! Pages one link from a main page, which become sources when they are old enough.
//!
//! Lefortier et al. (2013), §3.2: "all found pages older than few days, as new pages are almost
//! never content sources". A main page that does not change is not read again, but the pages
//! that it links to grow older. Therefore these pages are stored until they are old enough.
//!
//! **Invariant:** a page waits at most once, no matter how many main pages link to it. Only a page
//! in `homes` may be returned more than once. Pages wait in the order of their numbers, which is
//! the order of their discoveries. So only the first ones are examined, even if a million wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SourceRules;
use super::record::PageRecord;
use crate::estimate::Column;
use crate::{Moment, Number, Read};

/// Pages that main pages link to and that are too new to be sources.
#[derive(Debug, Clone, Default)]
pub(super) struct Nearby {
    pages: BinaryHeap<Reverse<Number>>,
    /// Targets of main pages with a single link, such as a redirect or a welcome page. They
    /// count as main pages under another URL, so their age does not matter.
    homes: Vec<Number>,
}

impl Nearby {
    /// Adds the links of a main page.
    pub fn read(&mut self, read: &Read<'_>, pages: &mut Column<PageRecord>) {
        for link in read.links.iter().filter(|link| link.to != read.page) {
            if let Some(known) = pages.get_mut(link.to).filter(|known| !known.linked) {
                known.linked = true;
                self.pages.push(Reverse(link.to));
            }
        }
        if let ([home], 1, 0..=1) = (read.links, read.known_links(), read.out_links) {
            self.homes.push(home.to);
        }
    }

    /// Removes and returns the pages that are old enough now.
    pub fn grown(
        &mut self,
        pages: &Column<PageRecord>,
        now: Moment,
        settings: &SourceRules,
    ) -> Vec<Number> {
        let mut grown = std::mem::take(&mut self.homes);
        let is_old = |page: Number| {
            let known = pages.get(page);
            known.is_some_and(|known| now.since(known.discovered) >= settings.older)
        };
        while let Some(Reverse(page)) = self.pages.peek().filter(|first| is_old(first.0)) {
            grown.push(*page);
            self.pages.pop();
        }
        grown
    }
}

/// Returns whether a URL is the main page of its host.
pub(super) fn is_main(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').is_none_or(|(_, path)| path.is_empty())
}
