//! The copies of pages that move between nodes, by the numbers of their archive files.
//!
//! An archive file has one number in the whole cluster: the upper 12 bits are the number of an
//! archive, which the broker gives to one store only, and the lower 20 bits count its files. So the
//! facts of a page name its copy also after the page has moved. Archive 0 is that of a store that
//! was not part of a cluster; other nodes do not find its files.

use std::collections::{BTreeSet, HashSet};

use frontier::{Entry, PageKey, Visited};
use serde::{Deserialize, Serialize};

/// Bits of a file number that count the files of one archive.
const FILE_BITS: u32 = 20;

/// Highest number of an archive.
pub const LAST_ARCHIVE: u32 = (1 << (u32::BITS - FILE_BITS)) - 1;

/// An archive with this many files gets a new number before it begins another file. The rest of
/// its numbers is for the files of one term.
const MANY_FILES: u32 = (1 << FILE_BITS) - (1 << 16);

/// Returns the number of the first file of an archive.
pub fn first_file(archive: u32) -> u32 {
    archive << FILE_BITS | 1
}

/// Returns the number of the archive that a file belongs to.
pub fn archive_of(file: u32) -> u32 {
    file >> FILE_BITS
}

/// Returns whether an archive that has arrived at this file needs a new number.
pub fn is_used_up(file: u32) -> bool {
    file & ((1 << FILE_BITS) - 1) >= MANY_FILES
}

/// Archive files that a new owner of a slot can read, as ranges of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachableFiles(Vec<(u32, u32)>);

impl ReachableFiles {
    /// Returns whether a file is among these.
    pub fn contains(&self, file: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= file);
        let range = after.checked_sub(1).map(|at| self.0[at]);
        range.is_some_and(|(_, last)| file <= last)
    }

    /// Returns whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<u32> for ReachableFiles {
    fn from_iter<I: IntoIterator<Item = u32>>(files: I) -> Self {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for file in files.into_iter().collect::<BTreeSet<u32>>() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == file => *last = file,
                _ => ranges.push((file, file)),
            }
        }
        Self(ranges)
    }
}

/// Returns the archive files that have the copies of these facts.
pub fn files_of<'a>(facts: impl IntoIterator<Item = &'a Visited>) -> BTreeSet<u32> {
    let file = |visited: &Visited| visited.copy.as_ref()?.place.map(|place| place.file);
    facts.into_iter().filter_map(file).collect()
}

/// Returns the facts for a new owner that can read these archive files.
///
/// Removes the visits and links of pages whose copy is in another file: the new owner has no copy
/// to search and to compare with. Such a page is priced like a new one.
pub fn within_reach(facts: Vec<Entry>, reachable: &ReachableFiles) -> Vec<Entry> {
    let away = |visited: &Visited| {
        let copy = visited.copy.as_ref();
        let place = copy.and_then(|copy| copy.place);
        place.is_some_and(|place| !reachable.contains(place.file))
    };
    let lost: HashSet<PageKey> = facts
        .iter()
        .filter_map(|fact| match fact {
            Entry::Visited(key, visited) if away(visited) => Some(*key),
            _ => None,
        })
        .collect();
    let kept = |fact: &Entry| match fact {
        Entry::Visited(key, _) | Entry::Links(key, _) => !lost.contains(key),
        _ => true,
    };
    let mut facts: Vec<Entry> = facts.into_iter().filter(kept).collect();
    for fact in &mut facts {
        if let Entry::Visited(_, visited) = fact {
            // The last answer may be a revisit record that is not in the object store yet.
            visited.place = visited.place.filter(|place| reachable.contains(place.file));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use frontier::{OutLinks, PageCopy};
    use page::{PageUrl, RecordLocation};

    use super::*;

    #[test]
    fn every_archive_has_numbers_of_its_own() {
        for archive in [1, 2, 77, LAST_ARCHIVE] {
            let first = first_file(archive);
            assert_eq!(
                (archive_of(first), archive_of(first - 1)),
                (archive, archive)
            );
            assert_eq!(archive_of(first + MANY_FILES), archive);
            assert!(!is_used_up(first) && is_used_up(first + MANY_FILES));
        }
        assert_eq!(archive_of(5), 0);
        assert_eq!(first_file(LAST_ARCHIVE) | ((1 << FILE_BITS) - 1), u32::MAX);
    }

    #[test]
    fn ranges_contain_their_files_and_no_others() {
        let files = [9, 3, 4, 5, 5, 11, u32::MAX];
        let reachable: ReachableFiles = files.into_iter().collect();
        assert_eq!(
            reachable.0,
            [(3, 5), (9, 9), (11, 11), (u32::MAX, u32::MAX)]
        );
        for file in (0..14).chain([u32::MAX - 1, u32::MAX]) {
            assert_eq!(reachable.contains(file), files.contains(&file), "{file}");
        }
        assert!(ReachableFiles::default().is_empty() && !reachable.is_empty());
    }

    #[test]
    fn a_page_counts_as_visited_if_its_copy_is_within_reach() {
        let key =
            |name: &str| PageKey::of(&PageUrl::parse(&format!("http://x.org/{name}")).unwrap());
        let at = |file| {
            Some(RecordLocation {
                file,
                offset: 0,
                length: 9,
            })
        };
        let visit = |name: &str, place, copy: Option<PageCopy>| {
            let visited = Visited {
                place,
                copy,
                ..Visited::default()
            };
            Entry::Visited(key(name), Box::new(visited))
        };
        let archived = |file| {
            Some(PageCopy {
                place: at(file),
                ..PageCopy::default()
            })
        };
        let links = |name| Entry::Links(key(name), OutLinks::default());
        let kept = [
            visit("gone", None, None),
            visit("unarchived", None, Some(PageCopy::default())),
            links("gone"),
            visit("stored", at(1), archived(1)),
            links("stored"),
        ];
        let unchanged = visit("unchanged", at(2), archived(1));
        let lost = [visit("lost", at(2), archived(2)), links("lost")];
        let facts = [kept.to_vec(), vec![unchanged], lost.to_vec()].concat();
        let visits = facts.iter().filter_map(|fact| match fact {
            Entry::Visited(_, visited) => Some(&**visited),
            _ => None,
        });
        assert_eq!(files_of(visits), BTreeSet::from([1, 2]));
        let expected = [kept.to_vec(), vec![visit("unchanged", None, archived(1))]].concat();
        assert_eq!(within_reach(facts, &[1].into_iter().collect()), expected);
    }
}
