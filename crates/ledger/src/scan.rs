//! Iterates over all pages with their last visits: a merge of two sorted keyspaces in one pass.

use std::iter::{Map, Peekable};
use std::ops::RangeInclusive;

use frontier::{Known, PageKey, Visited};

use crate::LedgerError;
use crate::codec::{decode, decode_visit, page_of};
use crate::records::{LedgerPart, RawRecords, RecordSource};

/// Iterates over the pages of the ledger, each with its last visit, in the order of their keys.
pub struct Scan {
    urls: RawRecords,
    visits: Peekable<RawIter>,
}

/// A key and a value, not decoded yet.
type RawRecord = Result<(fjall::Slice, fjall::Slice), LedgerError>;
/// A page and its encoded record.
type Raw = Result<(PageKey, fjall::Slice), LedgerError>;
type RawIter = Map<RawRecords, fn(RawRecord) -> Raw>;

impl Scan {
    pub(crate) fn new(source: &RecordSource) -> Self {
        Self::of_partitions(source, 0..=u8::MAX)
    }

    pub(crate) fn of_partitions(source: &RecordSource, partitions: RangeInclusive<u8>) -> Self {
        let (first, mut last) = ([*partitions.start()], [u8::MAX; 18]);
        last[0] = *partitions.end();
        let visits = source.range(LedgerPart::Visits, &first, &last);
        Self {
            urls: source.range(LedgerPart::Urls, &first, &last),
            visits: visits.map(raw as fn(_) -> _).peekable(),
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
                pattern: None,
            })
        }))
    }
}

fn raw(record: RawRecord) -> Raw {
    let (key, value) = record?;
    let damaged = || LedgerError::Damaged {
        what: format!("key {key:02x?}"),
    };
    Ok((page_of(&key).ok_or_else(damaged)?, value))
}
