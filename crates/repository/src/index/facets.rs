//! Facets: counts the pages of a search by site, language, kind and year.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, Searcher, SegmentOrdinal, TantivyError};

/// Maximum number of values returned for each facet: the most frequent, and of years the latest.
const VALUES: usize = 12;

/// Maximum number of values of each facet that an index sends to be merged with those of others.
/// The merged facets are exact if no more occur, or if all pages with a value are in one index, as
/// the pages of a host are in a cluster.
const SENT: usize = 1_000;

/// The pages of a search, counted. The most frequent values come first; of years, the latest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// Host names.
    pub sites: Vec<(String, u64)>,
    /// Language codes.
    pub languages: Vec<(String, u64)>,
    /// Kinds of documents.
    pub kinds: Vec<(String, u64)>,
    /// Years of the dates that pages state: of publication, or else of change.
    pub years: Vec<(String, u64)>,
}

/// Counts pages while a search runs.
pub(super) struct FacetCounts {
    segments: Vec<FacetColumns>,
}

/// The columns of a segment, and how many pages have each value.
struct FacetColumns {
    texts: [Option<(StrColumn, Vec<u64>)>; 3],
    dates: Column<i64>,
    years: BTreeMap<i64, u64>,
}

impl FacetCounts {
    pub(super) fn new(searcher: &Searcher) -> Result<Self, TantivyError> {
        let mut segments = Vec::new();
        for segment in searcher.segment_readers() {
            let columns = segment.fast_fields();
            let text = |name| -> Result<_, TantivyError> {
                let column = columns.str(name)?;
                Ok(column.map(|column| {
                    let values = vec![0; column.num_terms()];
                    (column, values)
                }))
            };
            segments.push(FacetColumns {
                texts: [text("host")?, text("language")?, text("kind")?],
                dates: columns.i64("date")?,
                years: BTreeMap::new(),
            });
        }
        Ok(Self { segments })
    }

    pub(super) fn count(&mut self, segment: SegmentOrdinal, doc: DocId) {
        let columns = &mut self.segments[segment as usize];
        for (column, values) in columns.texts.iter_mut().flatten() {
            if let Some(value) = column.ords().first(doc) {
                values[value as usize] += 1;
            }
        }
        if let Some(date) = columns.dates.first(doc) {
            *columns.years.entry(year(date)).or_default() += 1;
        }
    }

    pub(super) fn finish(self) -> Result<FacetSums, TantivyError> {
        let mut sums = FacetSums::default();
        for segment in self.segments {
            for (sums, counted) in sums.texts.iter_mut().zip(segment.texts) {
                let Some((column, values)) = counted else {
                    continue;
                };
                for (value, &pages) in (0..).zip(&values).filter(|(_, pages)| **pages > 0) {
                    let mut text = String::new();
                    column.ord_to_str(value, &mut text)?;
                    *sums.entry(text).or_default() += pages;
                }
            }
            add(&mut sums.years, segment.years);
        }
        Ok(sums)
    }
}

/// How many pages of a search have each value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FacetSums {
    /// Host names, language codes and kinds.
    texts: [BTreeMap<String, u64>; 3],
    years: BTreeMap<i64, u64>,
}

impl FacetSums {
    /// Adds the pages of another index.
    pub(super) fn add(&mut self, other: Self) {
        for (sums, counts) in self.texts.iter_mut().zip(other.texts) {
            add(sums, counts);
        }
        add(&mut self.years, other.years);
    }

    /// Removes all but the [`SENT`] most frequent values of each facet.
    pub(super) fn shorten(&mut self) {
        for counts in &mut self.texts {
            if counts.len() > SENT {
                *counts = most_frequent(std::mem::take(counts), SENT)
                    .into_iter()
                    .collect();
            }
        }
    }

    /// Returns the values that are shown.
    pub(super) fn facets(self) -> Facets {
        let [sites, languages, kinds] = self.texts.map(|sums| most_frequent(sums, VALUES));
        let years = self.years.into_iter().rev().take(VALUES);
        Facets {
            sites,
            languages,
            kinds,
            years: years
                .map(|(year, pages)| (year.to_string(), pages))
                .collect(),
        }
    }
}

fn add<K: Ord>(sums: &mut BTreeMap<K, u64>, counts: BTreeMap<K, u64>) {
    for (value, pages) in counts {
        *sums.entry(value).or_default() += pages;
    }
}

/// Returns the most frequent values, most frequent first. Equally frequent ones are sorted.
fn most_frequent(sums: BTreeMap<String, u64>, most: usize) -> Vec<(String, u64)> {
    let mut values: Vec<(String, u64)> = sums.into_iter().collect();
    values.sort_by_key(|(_, pages)| Reverse(*pages));
    values.truncate(most);
    values
}

/// Returns the UTC year of a time in Unix seconds; 0 for a time out of range.
fn year(seconds: i64) -> i64 {
    let at = Timestamp::from_second(seconds);
    at.map_or(0, |at| at.to_zoned(TimeZone::UTC).year().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_most_frequent_values_of_an_index_are_sent() {
        let mut sums = FacetSums::default();
        let hosts = (0..SENT as u64 + 5).map(|number| (format!("{number}.example"), number + 1));
        sums.texts[0] = hosts.collect();
        let all = sums.clone();
        sums.shorten();
        assert_eq!(sums.texts[0].len(), SENT);
        assert_eq!(sums.facets(), all.facets());
    }
}
