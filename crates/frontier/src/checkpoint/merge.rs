//! Merges base and tail: the facts of the tail replace those of the base.

use std::iter::Peekable;

use super::DamagedCheckpoint;
use super::tail::{TailEvent, TailEvents, TailFact};
use crate::record::{Known, OutLinks, PageKey};

type PageItem = Result<Known, DamagedCheckpoint>;
type LinksItem = Result<(PageKey, OutLinks), DamagedCheckpoint>;

/// Removes the facts of the next page from `events`, if its key is at most `last`.
fn take_group<'a>(
    events: &mut &'a [TailEvent],
    last: Option<PageKey>,
) -> Option<(PageKey, &'a [TailEvent])> {
    let key = events.first()?.key;
    if last.is_some_and(|last| last < key) {
        return None;
    }
    let end = events.iter().take_while(|event| event.key == key).count();
    let (group, rest) = events.split_at(end);
    *events = rest;
    Some((key, group))
}

/// The pages of a checkpoint, in the order of their keys.
pub(super) struct MergedPages<'a, I: Iterator> {
    base: Peekable<I>,
    tail: &'a TailEvents,
    events: &'a [TailEvent],
}

impl<'a, I: Iterator<Item = PageItem>> MergedPages<'a, I> {
    pub fn new(base: I, tail: &'a TailEvents) -> Self {
        Self {
            base: base.peekable(),
            tail,
            events: tail.events(),
        }
    }

    /// Applies the facts of the tail to a page. Returns `None` if the page was not discovered.
    fn apply(
        &self,
        key: PageKey,
        group: &[TailEvent],
        known: Option<Known>,
    ) -> Result<Option<Known>, DamagedCheckpoint> {
        let (mut discovery, mut visited, pattern) = match known {
            Some(known) => (Some(known.discovery), known.visited, known.pattern),
            None => (None, None, None),
        };
        for event in group {
            match self.tail.fact(event)? {
                TailFact::Admitted(found) => discovery = Some(found),
                TailFact::Visited(last) => visited = Some(*last),
                TailFact::Signalled(at) => {
                    // As in the ledger, a hint that is not later than the last visit is ignored.
                    if let Some(last) = &mut visited
                        && last.history.asked < Some(at)
                    {
                        last.history = last.history.signalled(at);
                    }
                }
                TailFact::Links(_) => {}
            }
        }
        Ok(discovery.map(|discovery| Known {
            key,
            discovery,
            visited,
            pattern,
        }))
    }
}

impl<I: Iterator<Item = PageItem>> Iterator for MergedPages<'_, I> {
    type Item = PageItem;

    fn next(&mut self) -> Option<PageItem> {
        if self.events.is_empty() {
            return self.base.next();
        }
        loop {
            let of_base = match self.base.peek() {
                Some(Err(damaged)) => return Some(Err(*damaged)),
                Some(Ok(known)) => Some(known.key),
                None => None,
            };
            let Some((key, group)) = take_group(&mut self.events, of_base) else {
                return self.base.next();
            };
            let known = match of_base == Some(key) {
                true => self.base.next().and_then(Result::ok),
                false => None,
            };
            if let Some(page) = self.apply(key, group, known).transpose() {
                return Some(page);
            }
        }
    }
}

/// The links of a checkpoint, in the order of the keys of their pages.
pub(super) struct MergedLinks<'a, I: Iterator> {
    base: Peekable<I>,
    tail: &'a TailEvents,
    events: &'a [TailEvent],
    /// Whether anchor texts are wanted.
    anchors: bool,
}

impl<'a, I: Iterator<Item = LinksItem>> MergedLinks<'a, I> {
    pub fn new(base: I, tail: &'a TailEvents, anchors: bool) -> Self {
        Self {
            base: base.peekable(),
            tail,
            events: tail.events(),
            anchors,
        }
    }

    /// Returns the last links of a page among the facts of the tail.
    fn last_of(&self, group: &[TailEvent]) -> Result<Option<OutLinks>, DamagedCheckpoint> {
        for event in group.iter().rev() {
            if let TailFact::Links(mut links) = self.tail.fact(event)? {
                if !self.anchors {
                    links = links.without_anchors();
                }
                return Ok(Some(links));
            }
        }
        Ok(None)
    }
}

impl<I: Iterator<Item = LinksItem>> Iterator for MergedLinks<'_, I> {
    type Item = LinksItem;

    fn next(&mut self) -> Option<LinksItem> {
        loop {
            let of_base = match self.base.peek() {
                Some(Err(damaged)) => return Some(Err(*damaged)),
                Some(Ok((key, _))) => Some(*key),
                None => None,
            };
            let Some((key, group)) = take_group(&mut self.events, of_base) else {
                return self.base.next();
            };
            let last = match self.last_of(group) {
                Ok(last) => last,
                Err(damaged) => return Some(Err(damaged)),
            };
            let before = match of_base == Some(key) {
                true => self.base.next(),
                false => None,
            };
            match last {
                Some(links) => return Some(Ok((key, links))),
                None if before.is_some() => return before,
                None => {}
            }
        }
    }
}
