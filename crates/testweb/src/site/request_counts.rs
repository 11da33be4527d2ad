//! Counts the requests to a web by kind.
//!
//! **Invariant:** whether a page had changed is decided by the versions of the web, not by what
//! the crawler found.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::serving::ServedWeb;
use super::web::InventedPage;

/// Numbers of requests, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Fetches {
    /// Pages that were not fetched before.
    pub new: u64,
    /// Pages that had changed since the last fetch.
    pub changed: u64,
    /// Pages that had not changed since the last fetch.
    pub unchanged: u64,
    /// Answers other than 200 and 304: pages that are gone, never existed, redirect or fail.
    pub gone: u64,
    /// Sitemaps and feeds.
    pub lists: u64,
    /// robots.txt files.
    pub robots: u64,
}

impl Fetches {
    /// Returns the sum of all kinds.
    pub fn all(&self) -> u64 {
        self.new + self.changed + self.unchanged + self.gone + self.lists + self.robots
    }
}

impl ServedWeb {
    /// Returns the number of text pages that were answered in full since a moment, although the
    /// same version had been answered before: a crawler that had kept its copies would have learned
    /// from a conditional request that they are unchanged. The moment is in seconds of the web,
    /// whose clock must be as for [`ServedWeb::fetches`].
    pub fn fetched_again(&self, since: f64) -> usize {
        let web = self.web();
        let mut again = HashSet::new();
        for (server, _) in web.servers() {
            let mut last = HashMap::new();
            for visit in self.log().visits(server) {
                let at = visit.arrived.as_secs_f64();
                let page = web.at(server, &visit.path).map(InventedPage::number);
                let text = page.filter(|page| visit.status == 200 && web.is_text(*page));
                let Some(page) = text else { continue };
                let version = web.version(web.page(page), at).id;
                if last.insert(page, version) == Some(version) && at >= since {
                    again.insert(page);
                }
            }
        }
        again.len()
    }

    /// Counts the requests so far. The clock of the web must be
    /// [`WebClock::Running`](super::WebClock) at speed 1.
    pub fn fetches(&self) -> Fetches {
        let web = self.web();
        let mut fetches = Fetches::default();
        for (server, _) in web.servers() {
            let mut last = HashMap::new();
            for visit in self.log().visits(server) {
                let at = visit.arrived.as_secs_f64();
                let count = match web.at(server, &visit.path).map(InventedPage::number) {
                    _ if &*visit.path == "/robots.txt" => &mut fetches.robots,
                    Some(page) if !web.is_text(page) => &mut fetches.lists,
                    Some(page) if matches!(visit.status, 200 | 304) => {
                        let version = web.version(web.page(page), at).id;
                        match last.insert(page, version) {
                            None => &mut fetches.new,
                            Some(before) if before == version => &mut fetches.unchanged,
                            Some(_) => &mut fetches.changed,
                        }
                    }
                    _ => &mut fetches.gone,
                };
                *count += 1;
            }
        }
        fetches
    }
}
