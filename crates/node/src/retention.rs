//! Removes old versions from the archive, as `[archive] keep` says.
//!
//! **Invariant:** the newest copy of each page and the record of its last answer stay, whatever the
//! setting is.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use ledger::Ledger;
use page::{PageId, PageUrl, RecordLocation};
use policy::Moment;
use repository::archive::{self, Cuts, FiledAnswer};

use crate::clock::timestamp;
use crate::recovery;
use crate::settings::Retention;
use crate::store::Store;

/// A file is written again only if this share of its bytes goes, so that little is copied for much
/// that is removed.
const WORTH_IT: f64 = 0.05;
/// With a limit on the size, the archive is reduced to this share of the limit, so that the next
/// removal comes later.
const REDUCED_TO: f64 = 0.95;

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thinned {
    /// Records of old versions.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the archive that remain.
    pub left: u64,
}

/// Removes from the archive what a retention does not keep. No crawl may run on the store.
pub fn thin(store: &Store, ledger: &Ledger, keep: Retention, now: Moment) -> Result<Thinned> {
    let mut thinned = Thinned::default();
    if !store.archive().exists() {
        return Ok(thinned);
    }
    recovery::close_archive(store, ledger)?;
    let newest = newest(ledger)?;
    let sizes = archive::sizes(&store.archive())?;
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    let mut choice = Choice::new(store, keep, total, now)?;
    for (file, size) in sizes {
        let answers = archive::answers_in(&store.archive(), file)?.into_iter();
        let old = answers.filter(|one| {
            let stays = newest.contains(&(one.answer.at.file, one.answer.at.offset));
            choice.removes(one, stays)
        });
        let cuts = Cuts::new(file, old.map(|one| one.answer.at));
        if cuts.bytes() as f64 > WORTH_IT * size as f64 {
            store.remove_records(ledger, &cuts)?;
            thinned.records += cuts.records() as u64;
            thinned.bytes += cuts.bytes();
        }
    }
    thinned.left = total - thinned.bytes;
    Ok(thinned)
}

/// Returns file and offset of the newest copy and the last answer of each page.
fn newest(ledger: &Ledger) -> Result<HashSet<(u32, u64)>> {
    let mut newest = HashSet::new();
    for known in ledger.scan() {
        let Some(visited) = known?.visited else {
            continue;
        };
        let copy = visited.copy.and_then(|copy| copy.place);
        let places = [visited.place, copy].into_iter().flatten();
        newest.extend(places.map(|at: RecordLocation| (at.file, at.offset)));
    }
    Ok(newest)
}

/// Decides for each record, oldest first, whether it goes.
enum Choice {
    /// The number of versions of each page that are still to come, and how many are kept.
    Versions(HashMap<Option<PageId>, u32>, u32),
    /// What was fetched before this goes.
    Before(jiff::Timestamp),
    /// Bytes that are still to be removed.
    Bytes(u64),
}

impl Choice {
    fn new(store: &Store, keep: Retention, total: u64, now: Moment) -> Result<Self> {
        Ok(match keep {
            Retention::Versions(most) => {
                let mut versions: HashMap<Option<PageId>, u32> = HashMap::new();
                for (file, _) in archive::sizes(&store.archive())? {
                    for one in archive::answers_in(&store.archive(), file)? {
                        if is_version(&one) {
                            *versions.entry(page(&one)).or_default() += 1;
                        }
                    }
                }
                Self::Versions(versions, most)
            }
            Retention::Age(age) => {
                let now = timestamp(now);
                Self::Before(now.checked_sub(age.0).unwrap_or(jiff::Timestamp::MIN))
            }
            Retention::Size(limit) if total > limit.0 => {
                Self::Bytes(total - (limit.0 as f64 * REDUCED_TO) as u64)
            }
            Retention::Size(_) => Self::Bytes(0),
        })
    }

    /// Returns whether a record goes. `stays`: it must not.
    fn removes(&mut self, one: &FiledAnswer, stays: bool) -> bool {
        match self {
            Self::Versions(left, most) => {
                let left = left.entry(page(one)).or_default();
                let old = *left > *most;
                if is_version(one) {
                    *left = left.saturating_sub(1);
                }
                old && !stays
            }
            Self::Before(first) => one.answer.time < *first && !stays,
            Self::Bytes(left) => {
                let goes = *left > 0 && !stays;
                if goes {
                    *left = left.saturating_sub(one.answer.at.length.into());
                }
                goes
            }
        }
    }
}

/// Returns whether a record has a body of the page, not an error or a statement that the page had
/// not changed.
fn is_version(one: &FiledAnswer) -> bool {
    let status = one.answer.status.unwrap_or(0);
    !one.answer.revisit && (200..300).contains(&status)
}

fn page(one: &FiledAnswer) -> Option<PageId> {
    PageUrl::parse(&one.url).ok().map(|url| url.id())
}
