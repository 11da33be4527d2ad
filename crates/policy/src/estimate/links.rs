//! The outgoing links of all pages that were read.
//!
//! A record holds the links of a page, with four bytes each. Records are in segments of 65,536
//! words, or of one record if that is longer. So no single read copies the links of all pages.
//!
//! **Invariant:** a new read of a page replaces its earlier links. After the last part of a read,
//! at most half of each segment is garbage from replaced records.

use std::ops::Range;

use crate::{Number, Read, Rows};

/// Length of a record's header, in words: the page, the number of stored links, and the number of
/// all links.
const HEAD: usize = 3;
/// Words in a segment.
const SEGMENT: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// The links of all pages that were read.
#[derive(Debug, Clone)]
pub struct Links {
    /// The location of each page's record, as a [`Place`] plus one; 0 if it was never read.
    places: Rows<Place>,
    segments: Vec<LinkSegment>,
    /// The segment that gets the next record.
    open: usize,
    /// Segments without records.
    free: Vec<usize>,
    /// The segment of the record that the present read replaces, and the links there that its
    /// next part replaces.
    replaced: (usize, Range<usize>),
}

/// Records one after another. Each is a header of [`HEAD`] words, then the links.
#[derive(Debug, Clone, Default)]
struct LinkSegment {
    words: Vec<u32>,
    /// Number of words that belong to replaced records.
    left: usize,
}

/// The location of a record: the index of its segment in the upper half, and of its first word in
/// the lower half. No record begins behind the first [`SEGMENT`] words of a segment. There are at
/// most 65,535 segments, which have 17 GB.
type Place = u32;

/// The links of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The linked pages that are known, by number.
    pub links: &'a [u32],
    /// Number of all linked pages, including those outside the crawl; at least the length of
    /// `links`.
    pub all: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self {
            places: Rows::new(0),
            segments: vec![LinkSegment::default()],
            open: 0,
            free: vec![0],
            replaced: (0, 0..0),
        }
    }
}

impl Links {
    /// Returns the links of this page, or `None` if it was never read.
    pub fn of(&self, page: Number) -> Option<Outgoing<'_>> {
        let (segment, start) = self.place(page)?;
        let words = &self.segments[segment].words;
        let end = start + HEAD + words[start + 1] as usize;
        Some(Outgoing {
            links: &words[start + HEAD..end],
            all: words[start + 2],
        })
    }

    /// Returns the links of all pages that were read, in the order in which they were stored.
    pub fn all(&self) -> impl Iterator<Item = (Number, Outgoing<'_>)> {
        let segments = (0..).zip(&self.segments);
        segments.flat_map(move |(segment, LinkSegment { words, .. })| {
            let mut start = 0;
            std::iter::from_fn(move || {
                while start < words.len() {
                    let at = start;
                    let end = at + HEAD + words[at + 1] as usize;
                    start = end;
                    let page = Number(words[at]);
                    if self.place(page) == Some((segment, at)) {
                        let links = &words[at + HEAD..end];
                        return Some((
                            page,
                            Outgoing {
                                links,
                                all: words[at + 2],
                            },
                        ));
                    }
                }
                None
            })
        })
    }

    /// Returns whether the page was read.
    pub fn has(&self, page: Number) -> bool {
        self.places.get(page.index()) > 0
    }

    /// Stores the links of a page in place of its earlier ones. Returns the earlier links that
    /// this part of the read replaces: those to page numbers up to the last one of the part, or
    /// all that are left if it is the last part.
    pub fn replace(&mut self, read: &Read<'_>) -> Vec<u32> {
        if read.part.is_first() {
            self.begin(read);
        }
        let words = &mut self.segments[self.open].words;
        words.extend(read.links.iter().map(|link| link.to.0));
        // Lookups between two parts find the links of the parts so far.
        let start = words.len() - HEAD - read.part.before - read.links.len();
        words[start + 1] += read.links.len() as u32;
        let (segment, ref mut range) = self.replaced;
        let mut replaced = &self.segments[segment].words[range.clone()];
        if let Some(last) = read.links.last().filter(|_| !read.part.is_last()) {
            let end = replaced.partition_point(|&to| to <= last.to.0);
            replaced = &replaced[..end];
        }
        let replaced = replaced.to_vec();
        range.start += replaced.len();
        if read.part.is_last() {
            let LinkSegment { words, left } = &self.segments[segment];
            if *left > words.len() / 2 {
                self.compact(segment);
            }
        }
        replaced
    }

    /// Starts a new record without links.
    fn begin(&mut self, read: &Read<'_>) {
        self.replaced = (self.open, 0..0);
        if let Some((segment, start)) = self.place(read.page) {
            let LinkSegment { words, left } = &mut self.segments[segment];
            let end = start + HEAD + words[start + 1] as usize;
            *left += end - start;
            self.replaced = (segment, start + HEAD..end);
        }
        let known = read.known_links();
        let all = u32::try_from(known).unwrap_or(u32::MAX).max(read.out_links);
        self.push(HEAD + known, &[read.page.0, 0, all]);
    }

    /// Adds a record that will have `length` words, and its first words.
    fn push(&mut self, length: usize, words: &[u32]) {
        let open = &self.segments[self.open].words;
        if open.len() >= SEGMENT || open.capacity() - open.len() < length {
            self.open = self.free.pop().unwrap_or(self.segments.len());
            if self.open == self.segments.len() {
                self.segments.push(LinkSegment::default());
            }
            let fresh = Vec::with_capacity(length.max(SEGMENT));
            self.segments[self.open].words = fresh;
        }
        let open = &mut self.segments[self.open].words;
        let segment = u16::try_from(self.open).expect("memory holds fewer links");
        let place = Place::from(segment) << 16 | open.len() as Place;
        self.places.set(words[0] as usize, place + 1);
        open.extend_from_slice(words);
    }

    /// Moves the records of a segment that were not replaced to other segments.
    fn compact(&mut self, segment: usize) {
        let LinkSegment { words, .. } = std::mem::take(&mut self.segments[segment]);
        let mut start = 0;
        while start < words.len() {
            let end = start + HEAD + words[start + 1] as usize;
            if self.place(Number(words[start])) == Some((segment, start)) {
                self.push(end - start, &words[start..end]);
            }
            start = end;
        }
        self.free.push(segment);
    }

    /// Returns the segment of a page's record, and the index of its first word there.
    fn place(&self, page: Number) -> Option<(usize, usize)> {
        let place: Place = self.places.get(page.index()).checked_sub(1)?;
        Some(((place >> 16) as usize, usize::from(place as u16)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{LinkFact, Part, Text};

    proptest! {
        #[test]
        fn the_links_of_the_last_read_are_kept(
            readings in prop::collection::vec((0u32..20, prop::collection::btree_set(any::<u32>(), 0..9), 0u32..20), 0..200),
            size in 1usize..9,
        ) {
            let mut links = Links::default();
            let mut model = HashMap::new();
            for (page, to, out_links) in readings {
                let to: Vec<u32> = to.into_iter().collect();
                let given: Vec<_> = to.iter().map(|&to| LinkFact::new(Number(to), "")).collect();
                let page = Number(page);
                let read = Read { page, text: Text::Nothing, links: &given, out_links, part: Part::WHOLE };
                let mut replaced = Vec::new();
                for part in read.in_parts(size) {
                    let old = links.replace(&part);
                    if let Some(last) = part.links.last().filter(|_| !part.part.is_last()) {
                        prop_assert!(old.iter().all(|to| *to <= last.to.0));
                    }
                    replaced.extend(old);
                }
                let before = model.insert(page, (to, out_links));
                prop_assert_eq!(replaced, before.map_or(Vec::new(), |(to, _)| to));
                prop_assert!(links.segments.iter().all(|segment| segment.left * 2 <= segment.words.len()));
            }
            let all: HashMap<Number, Outgoing<'_>> = links.all().collect();
            prop_assert_eq!(all.len(), links.all().count(), "each page once");
            for page in (0..25).map(Number) {
                prop_assert_eq!(all.get(&page).copied(), links.of(page));
            }
            for page in (0..25).map(Number) {
                let kept = links.of(page).map(|kept| (kept.links.to_vec(), kept.all));
                let expected = model.get(&page).map(|(to, all)| (to.clone(), (*all).max(to.len() as u32)));
                prop_assert_eq!(kept, expected);
                prop_assert_eq!(links.has(page), model.contains_key(&page));
            }
        }
    }
}
