//! Histories of pages: which body each page showed, and when.
//!
//! They are read from `pages.tsv` (page, url), `versions.tsv` (page, t, body) and an optional
//! `bodies.ndjson`. Versions are sorted by t, and the body `-` means that the page is gone from
//! t on. A page shows the body of its latest version at or before a time. Before its first
//! version it does not exist.
//!
//! **Invariant:** versions are sorted by time, and bodies are numbered in the order of their
//! first use.

use std::collections::HashMap;
use std::path::Path;
use std::thread;

use page::{Fingerprint, PageUrl};
use policy::Moment;

use super::urls::distinct;
use super::{Bodies, Body, ids};
use crate::LabError;
use crate::table::schema::{GONE, PAGES, VERSIONS};
use crate::table::{Table, TableWriter, locate, time_text};
use crate::workers::{Silent, each};

/// Bytes of bodies that are collected before they are processed together on all cores.
const BATCH: usize = 16 << 20;

/// Pages and their versions.
#[derive(Debug, Clone)]
pub struct Histories {
    urls: Vec<PageUrl>,
    versions: Vec<Version>,
    bodies: Bodies,
}

/// The body that a page shows from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The page.
    pub page: u32,
    /// Time from which the version holds.
    pub at: Moment,
    /// Number of the body; `None` if the page is gone.
    pub body: Option<u32>,
}

impl Histories {
    /// Creates histories of pages with these URLs.
    ///
    /// Versions of the same time keep their order. Bodies are renumbered, and those without a
    /// version are dropped.
    ///
    /// # Panics
    /// If a version refers to a page or a body out of range.
    pub fn new<'a>(
        urls: impl Iterator<Item = &'a str>,
        versions: Vec<Version>,
        bodies: Bodies,
    ) -> Self {
        Self::made_of(distinct(urls), versions, bodies)
    }

    fn made_of(urls: Vec<PageUrl>, mut versions: Vec<Version>, bodies: Bodies) -> Self {
        versions.sort_by_key(|version| version.at);
        let mut new = vec![u32::MAX; bodies.count() as usize];
        let mut order = Vec::new();
        for version in &mut versions {
            assert!(
                (version.page as usize) < urls.len(),
                "a version is of a page"
            );
            if let Some(body) = &mut version.body {
                let number = &mut new[*body as usize];
                if *number == u32::MAX {
                    *number = order.len() as u32;
                    order.push(*body);
                }
                *body = *number;
            }
        }
        Self {
            urls,
            versions,
            bodies: bodies.reordered(&order),
        }
    }

    /// Reads a directory. Without `bodies.ndjson`, bodies are only known to differ.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let (names, urls) = ids::named(&mut Table::open(directory, PAGES)?)?;
        let places = ids::places(&names);
        let mut known: HashMap<Box<str>, u32> = HashMap::new();
        let mut versions = Vec::new();
        let mut last = Moment::START;
        let mut table = Table::open(directory, VERSIONS)?;
        while let Some(row) = table.next()? {
            let page = ids::found(&places, &row, 0, "page")?;
            last = row.later(1, last)?;
            let next = known.len() as u32;
            let body = match (row.cells[2], known.get(row.cells[2])) {
                (GONE, _) => None,
                (_, Some(&body)) => Some(body),
                (id, None) => {
                    known.insert(id.into(), next);
                    Some(next)
                }
            };
            versions.push(Version {
                page,
                at: last,
                body,
            });
        }
        let bodies = match locate(directory, "bodies.ndjson")? {
            Some(path) => Bodies::file(path, known),
            None => Bodies::unknown(known.len() as u32),
        };
        Ok(Self::made_of(distinct(urls), versions, bodies))
    }

    /// Returns the pages, by number.
    pub fn urls(&self) -> &[PageUrl] {
        &self.urls
    }

    /// Returns all versions, sorted by time.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// Returns the bodies of all versions.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Returns the hash of each body's text. Bodies that differ only in markup have the same hash.
    ///
    /// If the content of bodies is unknown, the number of a body stands for its hash, so that every
    /// change of the body counts as a change of the text. Reads all bodies once.
    pub fn texts(&self) -> Result<Vec<Fingerprint>, LabError> {
        if !self.bodies.are_known() {
            let own = (0..u64::from(self.bodies.count())).map(Fingerprint);
            return Ok(own.collect());
        }
        self.measured(|_, body| body.fingerprint())
    }

    /// Applies `measure` to each body, on all cores. Returns the results by body number; none if
    /// the content is unknown. Reads all bodies once.
    pub(crate) fn measured<R: Send>(
        &self,
        measure: impl Fn(u32, &Body) -> R + Sync,
    ) -> Result<Vec<R>, LabError> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut all = Vec::with_capacity(self.bodies.count() as usize);
        let mut waiting = Vec::new();
        let mut size = 0;
        let mut measure = |bodies: &mut Vec<(u32, Body)>| {
            let bodies = std::mem::take(bodies);
            all.extend(each(bodies, threads, &Silent, |(n, body)| {
                (n, measure(n, &body))
            }));
        };
        self.bodies.each(|number, body| {
            size += body.text.len();
            waiting.push((number, body));
            if size > BATCH {
                measure(&mut waiting);
                size = 0;
            }
        })?;
        measure(&mut waiting);
        all.sort_unstable_by_key(|(number, _)| *number);
        Ok(all.into_iter().map(|(_, measured)| measured).collect())
    }

    /// Writes the tables.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let mut pages = TableWriter::create(directory, PAGES)?;
        for (page, url) in self.urls.iter().enumerate() {
            pages.row([&page, url])?;
        }
        pages.finish()?;
        let mut table = TableWriter::create(directory, VERSIONS)?;
        for version in &self.versions {
            let body = version
                .body
                .map_or(GONE.to_owned(), |body| body.to_string());
            table.row([&version.page, &time_text(version.at), &body])?;
        }
        table.finish()?;
        self.bodies.write(directory)
    }
}
