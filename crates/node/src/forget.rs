//! Removes pages from index, ledger and archive for good, because the operator wants that.
//!
//! The file `forgotten.jsonl` of the store records each request: when it began, when it was done
//! and what it removed. The pages stay forgotten: links, imports and rebuilds do not bring them
//! back, until the operator allows them again. The record names what was written on the command
//! line, and no page or content.
//!
//! The order: the request is recorded, which keeps crawls from fetching the pages; the index is
//! committed without them and its files are written again; the ledger loses them; the files of the
//! archive are written again without their records; the end is recorded. After a kill, the same
//! request goes through all steps again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use crawl::ForgottenPages;
use frontier::{PageKey, Partition};
use ledger::{Ledger, LedgerReader};
use page::{HostId, PageUrl};
use repository::archive::{self, Cuts};
use repository::changes;
use serde::{Deserialize, Serialize};

use crate::fault;
use crate::recovery;
use crate::store::{self, Store};

/// What an entry of the record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgetStep {
    /// The removal has begun: crawls do not fetch the pages from now on.
    Begun,
    /// The pages are removed.
    Done,
    /// Crawls may fetch the pages again.
    Allowed,
}

/// An entry of the record of forgotten pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetEntry {
    /// When it was written.
    pub at: String,
    /// The URL, host or pattern that the operator wrote.
    pub target: String,
    /// What happened.
    pub step: ForgetStep,
    /// What was removed; only in entries of the step `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Removed>,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// URLs of the ledger, fetched or not.
    pub urls: u64,
    /// Pages of the index.
    pub documents: u64,
    /// Records of the archive: all versions, errors and revisits.
    pub records: u64,
    /// Files of the archive that have such records.
    pub files: u64,
    /// Bytes of these records.
    pub bytes: u64,
}

/// The record of forgotten pages of a store.
#[derive(Debug, Default)]
pub struct ForgetLog(Vec<ForgetEntry>);

impl ForgetLog {
    /// Reads the record. A line that a kill left incomplete is skipped.
    pub fn read(root: &Path) -> Result<Self> {
        let path = path(root);
        let text = match fs::read_to_string(&path) {
            Err(error) if is_absent(&error) => return Ok(Self::default()),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let lines = text.lines();
        Ok(Self(
            lines
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        ))
    }

    /// Returns the entries, oldest first.
    pub fn entries(&self) -> &[ForgetEntry] {
        &self.0
    }

    /// Returns what is forgotten now: each target whose last entry does not allow it again.
    pub fn targets(&self) -> Vec<String> {
        let forgotten = self.last().into_iter();
        let forgotten = forgotten.filter(|(_, step)| *step != ForgetStep::Allowed);
        forgotten.map(|(target, _)| target.to_owned()).collect()
    }

    /// Returns the targets whose removal was interrupted.
    pub fn unfinished(&self) -> Vec<String> {
        let begun = self.last().into_iter();
        let begun = begun.filter(|(_, step)| *step == ForgetStep::Begun);
        begun.map(|(target, _)| target.to_owned()).collect()
    }

    /// Returns what is forgotten now, for comparison with URLs.
    pub fn pages(&self) -> Vec<ForgottenPages> {
        let targets = self.targets();
        let parsed = targets
            .iter()
            .filter_map(|target| ForgottenPages::parse(target).ok());
        parsed.collect()
    }

    fn last(&self) -> BTreeMap<&str, ForgetStep> {
        self.0
            .iter()
            .map(|entry| (entry.target.as_str(), entry.step))
            .collect()
    }
}

/// Lets crawls fetch the pages of a target again. Returns whether they were forgotten.
pub fn allow(store: &Store, target: &str) -> Result<bool> {
    let known = ForgetLog::read(store.root())?;
    let forgotten = known.targets().iter().any(|known| known == target);
    if forgotten {
        append(store, target, ForgetStep::Allowed, None)?;
    }
    Ok(forgotten)
}

/// Counts what [`forget`] would remove from a ledger and the archive in a directory.
pub fn preview(ledger: &LedgerReader, archive: &Path, pages: &ForgottenPages) -> Result<Removed> {
    let known = KnownPages::of(ledger, pages)?;
    let cuts = match archive.exists() {
        true => cuts(archive, pages)?,
        false => Vec::new(),
    };
    Ok(removed(&known, &cuts))
}

/// Removes the pages of a target from index, ledger and archive, and records it.
pub fn forget(
    store: &Store,
    ledger: &Ledger,
    target: &str,
    pages: &ForgottenPages,
) -> Result<Removed> {
    append(store, target, ForgetStep::Begun, None)?;
    fault::point("begun");
    if store.archive().exists() {
        recovery::close_archive(store, ledger)?;
    }
    let known = KnownPages::of(ledger, pages)?;
    if store.index().exists() && !known.keys.is_empty() {
        let mut index = recovery::open_index(store, ledger)?;
        for key in &known.keys {
            index.remove(key.page).context("cannot write the index")?;
        }
        index
            .commit(ledger.sequence()?)
            .context("cannot commit the index")?;
        index.purge().context("cannot write the index again")?;
    }
    fault::point("unindexed");
    ledger.forget(&known.keys, &known.hosts, &known.seeds)?;
    store.remove_checkpoint()?;
    fault::point("unlisted");
    let cuts = match store.archive().exists() {
        true => cuts(&store.archive(), pages)?,
        false => Vec::new(),
    };
    for cuts in &cuts {
        store.remove_records(ledger, cuts)?;
    }
    let is_one = |url: &str| PageUrl::parse(url).is_ok_and(|url| pages.has(&url));
    changes::remove(&store::changes(store.root()), is_one)
        .context("cannot write the log of changes")?;
    // The last snapshots of a crawl name pages. The next crawl writes them again.
    for path in [store::snapshot(store.root()), store::sources(store.root())] {
        fs::remove_file(path).ok();
    }
    let removed = removed(&known, &cuts);
    append(store, target, ForgetStep::Done, Some(removed))?;
    Ok(removed)
}

fn removed(known: &KnownPages, cuts: &[Cuts]) -> Removed {
    Removed {
        urls: known.keys.len() as u64,
        documents: known.documents,
        records: cuts.iter().map(|cuts| cuts.records() as u64).sum(),
        files: cuts.len() as u64,
        bytes: cuts.iter().map(Cuts::bytes).sum(),
    }
}

/// What the ledger knows of forgotten pages.
#[derive(Default)]
struct KnownPages {
    keys: Vec<PageKey>,
    documents: u64,
    /// Hosts of which no other page is known.
    hosts: Vec<(Partition, HostId)>,
    /// URLs to which seeds redirected.
    seeds: Vec<String>,
}

impl KnownPages {
    fn of(ledger: &LedgerReader, pages: &ForgottenPages) -> Result<Self> {
        let mut known = Self::default();
        let (mut hosts, mut others) = (BTreeSet::new(), HashSet::new());
        let is_one = |url: &str| PageUrl::parse(url).is_ok_and(|url| pages.has(&url));
        for page in ledger.scan() {
            let page = page?;
            let host = (page.key.partition, page.key.page.host());
            if !is_one(&page.discovery.url) {
                others.insert(host);
                continue;
            }
            hosts.insert(host);
            let copy = page.visited.and_then(|visited| visited.copy);
            known.documents += u64::from(copy.is_some_and(|copy| copy.indexed));
            known.keys.push(page.key);
        }
        known.hosts = hosts
            .into_iter()
            .filter(|host| !others.contains(host))
            .collect();
        known.seeds = ledger.seeds()?;
        known.seeds.retain(|seed| is_one(seed));
        Ok(known)
    }
}

/// Returns the records of these pages, for each file of the archive that has some.
fn cuts(dir: &Path, pages: &ForgottenPages) -> Result<Vec<Cuts>> {
    let mut cuts = Vec::new();
    for (file, _) in archive::sizes(dir)? {
        let answers = archive::answers_in(dir, file)?.into_iter();
        let answers =
            answers.filter(|one| PageUrl::parse(&one.url).is_ok_and(|url| pages.has(&url)));
        let of_file = Cuts::new(file, answers.map(|one| one.answer.at));
        if of_file.records() > 0 {
            cuts.push(of_file);
        }
    }
    Ok(cuts)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn path(root: &Path) -> PathBuf {
    root.join("forgotten.jsonl")
}

/// Appends an entry durably.
fn append(store: &Store, target: &str, step: ForgetStep, removed: Option<Removed>) -> Result<()> {
    let path = path(store.root());
    let entry = ForgetEntry {
        at: jiff::Timestamp::now().to_string(),
        target: target.to_owned(),
        step,
        removed,
    };
    // The line before may be incomplete after a kill. An empty line is skipped.
    let line = format!("\n{}\n", serde_json::to_string(&entry)?);
    let written = || -> io::Result<()> {
        let mut file = File::options().create(true).append(true).open(&path)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    };
    written().with_context(|| format!("cannot write {}", path.display()))?;
    store.sync()
}
