//! Iterates over all pages with their last visits: a merge of two sorted keyspaces in one pass.

use fjall::{Iter, Keyspace};

use frontier::{Known, PageKey, Visited};

use crate::LedgerError;
use crate::codec::{decode, page_of};

/// Iterates over the pages of the ledger in the order of their keys.
pub struct Scan {
    urls: Iter,
    visits: std::iter::Peekable<VisitKeys>,
}

struct VisitKeys(Iter);

type Raw = Result<(PageKey, fjall::Slice), LedgerError>;

impl Scan {
    pub(crate) fn new(urls: &Keyspace, visits: &Keyspace) -> Self {
        Self {
            urls: urls.iter(),
            visits: VisitKeys(visits.iter()).peekable(),
        }
    }

    fn visit_to(&mut self, key: PageKey) -> Result<Option<Visited>, LedgerError> {
        while let Some(next) = self.visits.peek() {
            match next {
                Ok((at, _)) if *at > key => return Ok(None),
                _ => {}
            }
            let Some((at, value)) = self.visits.next().transpose()? else {
                break;
            };
            if at == key {
                return decode(&value, || format!("the visit to {:?}", key.page)).map(Some);
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

impl Iterator for VisitKeys {
    type Item = Raw;

    fn next(&mut self) -> Option<Raw> {
        Some(raw(self.0.next()?))
    }
}

fn raw(guard: fjall::Guard) -> Raw {
    let (key, value) = guard.into_inner().map_err(LedgerError::Read)?;
    let damaged = || LedgerError::Damaged {
        what: format!("key {key:02x?}"),
    };
    Ok((page_of(&key).ok_or_else(damaged)?, value))
}
