//! A web that changes: which page showed what, and when.
//!
//! `pages.tsv` (page, url), `versions.tsv` (page, t, body; sorted by t, body `-` where the page is gone
//! from t on) and perhaps `bodies.ndjson`. A page shows the body of its last version at or before a
//! moment; before its first it does not exist.
//! **Invariant:** versions are sorted by time, and bodies are numbered in the order in which versions first
//! name them.

use std::collections::HashMap;
use std::path::Path;
use std::thread;

use page::{Fingerprint, PageUrl};
use policy::Moment;

use super::urls::distinct;
use super::{Bodies, Body, ids};
use crate::LabError;
use crate::table::{Table, TableWriter, locate};
use crate::workers::{Silent, each};

/// Bytes of bodies that are measured together, by all cores.
const BATCH: usize = 16 << 20;

/// What stands for the body of a page that is gone.
const GONE: &str = "-";

/// Pages and their versions.
#[derive(Debug, Clone)]
pub struct Histories {
    urls: Vec<PageUrl>,
    versions: Vec<Version>,
    bodies: Bodies,
}

/// From this moment on, a page shows this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The page.
    pub page: u32,
    /// Since when.
    pub at: Moment,
    /// What it shows; `None`: it is gone.
    pub body: Option<u32>,
}

impl Histories {
    /// Pages with these URLs, which showed these bodies. Versions of one moment stay in the order given;
    /// bodies are renumbered, and those that no version names are dropped.
    ///
    /// # Panics
    /// If a version names a page or a body that there is not.
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

    /// Reads a directory. Without `bodies.ndjson` it is known that bodies differ and not what they say.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let (names, urls) = ids::named(&mut Table::open(directory, "pages", ["page", "url"])?)?;
        let places = ids::places(&names);
        let mut known: HashMap<Box<str>, u32> = HashMap::new();
        let mut versions = Vec::new();
        let mut last = Moment::START;
        let mut table = Table::open(directory, "versions", ["page", "t", "body"])?;
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

    /// The pages, by number.
    pub fn urls(&self) -> &[PageUrl] {
        &self.urls
    }

    /// What they showed, by time.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// The bodies that versions name.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// For each body, the identity of its text: two bodies that differ in markup alone have the same. Where
    /// it is not known what bodies say, each has its own number, so that every change counts.
    ///
    /// Reads all bodies once.
    pub fn texts(&self) -> Result<Vec<Fingerprint>, LabError> {
        if !self.bodies.are_known() {
            let own = (0..u64::from(self.bodies.count())).map(Fingerprint);
            return Ok(own.collect());
        }
        self.measured(|_, body| body.fingerprint())
    }

    /// What was measured of each body, by all cores; nothing where it is not known what they say. Reads all once.
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
        let mut pages = TableWriter::create(directory, "pages", &["page", "url"])?;
        for (page, url) in self.urls.iter().enumerate() {
            pages.row(&[&page, url])?;
        }
        pages.finish()?;
        let mut table = TableWriter::create(directory, "versions", &["page", "t", "body"])?;
        for version in &self.versions {
            let body = version
                .body
                .map_or(GONE.to_owned(), |body| body.to_string());
            table.row(&[&version.page, &TableWriter::time(version.at), &body])?;
        }
        table.finish()?;
        self.bodies.write(directory)
    }
}
