//! Lists the archived answers of a page, and marks those that brought a new body.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use page::PageUrl;
use repository::archive::{self, StoredAnswer, captures};

use crate::answer;
use crate::store;
use crawl::{Answer, TOKEN};

/// How long archive files without an index may be scanned, such as the one being written.
const PATIENCE: Duration = Duration::from_secs(3);
/// Maximum number of answers that are listed: the newest ones.
const MOST: usize = 100;

/// The archived answers of a page, oldest first.
#[derive(Debug)]
pub struct Timeline {
    /// The newest answers.
    pub versions: Vec<PageVersion>,
    /// The number of older answers, which are not listed.
    pub older: usize,
    /// Whether the scan of files without an index was cut off after its time limit.
    pub cut: bool,
}

/// One archived answer.
#[derive(Debug, Clone)]
pub struct PageVersion {
    /// Its position among all answers, from 1.
    pub number: usize,
    /// When it arrived, to the second.
    pub at: String,
    /// The HTTP status, or a dash if it is unknown.
    pub status: String,
    /// Whether it has status 200 and a body that differs from the previous such body.
    pub news: bool,
    /// Whether it has status 200 and the previous body, or is a revisit record, such as for a 304.
    pub unchanged: bool,
    kept: StoredAnswer,
}

impl Timeline {
    /// Reads the answers of a page.
    pub(super) fn read(root: &Path, url: &PageUrl) -> Result<Self> {
        let begun = Instant::now();
        let found = captures(&store::archive(root), url, || begun.elapsed() > PATIENCE)?;
        let older = found.kept.len().saturating_sub(MOST);
        let mut before = None;
        let version = |(place, kept): (usize, StoredAnswer)| {
            let whole = !kept.revisit && kept.status == Some(200);
            let news = whole && (before.is_none() || kept.digest != before);
            if whole {
                before = kept.digest;
            }
            PageVersion {
                number: place + 1,
                at: kept.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                status: kept.status.map_or("–".into(), |status| status.to_string()),
                news,
                unchanged: !news && (kept.revisit || kept.status == Some(200)),
                kept,
            }
        };
        let versions: Vec<PageVersion> = found.kept.into_iter().enumerate().map(version).collect();
        Ok(Self {
            versions: versions.into_iter().skip(older).collect(),
            older,
            cut: found.cut,
        })
    }

    /// Returns the versions, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &PageVersion> {
        self.versions.iter().rev()
    }

    /// Returns whether there are two listed versions with different bodies.
    pub fn differs(&self) -> bool {
        self.compared(None, None).is_some()
    }

    /// Returns the two versions to compare, among those with [news](PageVersion::news). By default,
    /// `to` is the last one and `from` the one before `to`. `None` if there are no two.
    pub fn compared(
        &self,
        from: Option<usize>,
        to: Option<usize>,
    ) -> Option<(&PageVersion, &PageVersion)> {
        let whole: Vec<&PageVersion> = self.versions.iter().filter(|one| one.news).collect();
        let named = |number: Option<usize>| {
            let number = number?;
            whole.iter().copied().find(|one| one.number == number)
        };
        let to = named(to).or(whole.last().copied())?;
        let before = whole
            .iter()
            .copied()
            .rev()
            .find(|one| one.number < to.number);
        let from = named(from).or(before)?;
        (from.number != to.number).then_some((from, to))
    }
}

impl PageVersion {
    /// Reads the answer from the archive.
    pub(super) fn answer(&self, root: &Path, url: &PageUrl) -> Result<Answer> {
        let record = archive::read(&store::archive(root), &self.kept.at)?;
        answer::kept(&record, url, TOKEN)
    }
}
