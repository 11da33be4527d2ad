//! Which answers of a page does the archive keep, and which of them are other than the one before?

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use page::PageUrl;
use repository::archive::{Kept, captures};

use crate::store;

/// How long the file that is written to is read through.
const PATIENCE: Duration = Duration::from_secs(3);
/// Answers that are shown: the newest.
const MOST: usize = 100;

/// Answers over time, oldest first.
pub struct Timeline {
    pub versions: Vec<Version>,
    /// Answers that are older than those.
    pub older: usize,
    /// Whether the newest file was too long to be read through.
    pub cut: bool,
}

/// One answer.
#[derive(Debug, Clone)]
pub struct Version {
    /// Its place among all, from 1.
    pub number: usize,
    pub at: String,
    pub status: String,
    /// Whether the archive holds a body for it that is other than the one before.
    pub news: bool,
    pub kept: Kept,
}

impl Timeline {
    /// Those of a page.
    pub fn read(root: &Path, url: &PageUrl) -> Result<Self> {
        let begun = Instant::now();
        let found = captures(&store::archive(root), url, || begun.elapsed() > PATIENCE)?;
        let older = found.kept.len().saturating_sub(MOST);
        let mut before = None;
        let version = |(place, kept): (usize, Kept)| {
            let whole = !kept.revisit && kept.status == Some(200);
            let news = whole && (before.is_none() || kept.digest != before);
            if whole {
                before = kept.digest;
            }
            Version {
                number: place + 1,
                at: kept.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                status: kept.status.map_or("–".into(), |status| status.to_string()),
                news,
                kept,
            }
        };
        let versions: Vec<Version> = found.kept.into_iter().enumerate().map(version).collect();
        Ok(Self {
            versions: versions.into_iter().skip(older).collect(),
            older,
            cut: found.cut,
        })
    }

    /// The newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev()
    }

    /// Whether there are versions to compare.
    pub fn differs(&self) -> bool {
        self.compared(None, None).is_some()
    }

    /// The two versions to compare: those that were asked for, or the last two.
    pub fn compared(&self, from: Option<usize>, to: Option<usize>) -> Option<(&Version, &Version)> {
        let whole: Vec<&Version> = self.versions.iter().filter(|one| one.news).collect();
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
