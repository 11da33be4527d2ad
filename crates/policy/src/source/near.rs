//! Which pages one link from a main page have become old enough to be sources?
//!
//! Lefortier et al. (2013), §3.2: "all found pages older than few days, as new pages are almost never content sources". A main page that does not change is not read again, but what it links to
//! grows older all the same; so its links are kept until they are old enough.
//!
//! **Invariant:** a page is kept once, whoever links to it, and given out once.

use super::Settings;
use super::record::Known;
use crate::estimate::Column;
use crate::{Moment, Number, Read};

/// Pages that main pages link to, and that are too new.
#[derive(Debug, Clone, Default)]
pub(super) struct Nearby {
    pages: Vec<Number>,
    /// Those that a main page leads to and to nothing else, as a redirect does or a page that welcomes: a main page by another name.
    homes: Vec<Number>,
}

impl Nearby {
    /// Takes in what a main page said.
    pub fn read(&mut self, read: &Read<'_>, pages: &mut Column<Known>) {
        for link in read.links.iter().filter(|link| link.to != read.page) {
            if let Some(known) = pages.get_mut(link.to).filter(|known| !known.linked) {
                known.linked = true;
                self.pages.push(link.to);
            }
        }
        if let ([home], 0..=1) = (read.links, read.out_links) {
            self.homes.push(home.to);
        }
    }

    /// Takes out those that are old enough by now.
    pub fn grown(
        &mut self,
        pages: &Column<Known>,
        now: Moment,
        settings: &Settings,
    ) -> Vec<Number> {
        let mut grown = std::mem::take(&mut self.homes);
        self.pages.retain(|&page| {
            let known = pages.get(page);
            let old = known.is_some_and(|known| now.since(known.discovered) >= settings.older);
            if old {
                grown.push(page);
            }
            !old
        });
        grown
    }
}

/// Whether a URL is the main page of its host.
pub(super) fn is_main(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').is_none_or(|(_, path)| path.is_empty())
}
