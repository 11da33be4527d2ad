//! Iterates over all pages with their last visits: a merge of two sorted keyspaces in one pass.

use std::iter::{Map, Peekable};
use std::ops::RangeInclusive;

use fjall::{Iter, Keyspace};

use frontier::{Known, PageKey, Visited};

use crate::LedgerError;
use crate::codec::{decode, decode_visit, page_of};

/// Iterates over the pages of the ledger, each with its last visit, in the order of their keys.
pub struct Scan {
    urls: Iter,
    visits: Peekable<RawIter>,
}

/// A page and its encoded record.
type Raw = Result<(PageKey, fjall::Slice), LedgerError>;
type RawIter = Map<Iter, fn(fjall::Guard) -> Raw>;

impl Scan {
    pub(crate) fn new(urls: &Keyspace, visits: &Keyspace) -> Self {
        Self::of_partitions(urls, visits, 0..=u8::MAX)
    }

    pub(crate) fn of_partitions(
        urls: &Keyspace,
        visits: &Keyspace,
        partitions: RangeInclusive<u8>,
    ) -> Self {
        let mut last = [u8::MAX; 18];
        last[0] = *partitions.end();
        let range = || vec![*partitions.start()]..=last.to_vec();
        Self {
            urls: urls.range(range()),
            visits: visits.range(range()).map(raw as fn(_) -> _).peekable(),
        }
    }

    fn visit_to(&mut self, key: PageKey) -> Result<Option<Visited>, LedgerError> {
        let is_due = |visit: &Raw| visit.as_ref().map_or(true, |(at, _)| *at <= key);
        while let Some(visit) = self.visits.next_if(is_due) {
            let (at, value) = visit?;
            if at == key {
                return decode_visit(&value, || format!("the visit to {:?}", key.page)).map(Some);
            }
        }
        Ok(None)
    }
}

impl Iterator for Scan {
    type Item = Result<Known, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = raw(self.urls.next()?);
        Some(next.and_then(|(key, value)| {
            let discovery = decode(&value, || format!("{:?}", key.page))?;
            Ok(Known {
                key,
                discovery,
                visited: self.visit_to(key)?,
            })
        }))
    }
}

fn raw(guard: fjall::Guard) -> Raw {
    let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
    let damaged = || LedgerError::Damaged {
        what: format!("key {key:02x?}"),
    };
    Ok((page_of(&key).ok_or_else(damaged)?, value))
}
