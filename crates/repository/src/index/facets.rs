//! Facets: counts the pages of a search by site, language, kind and year.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, Searcher, SegmentOrdinal, TantivyError};

/// Maximum number of values returned for each facet: the most frequent, and of years the latest.
const VALUES: usize = 12;

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

    pub(super) fn finish(self) -> Result<Facets, TantivyError> {
        let mut texts: [BTreeMap<String, u64>; 3] = Default::default();
        let mut years: BTreeMap<i64, u64> = BTreeMap::new();
        for segment in self.segments {
            for (sums, counted) in texts.iter_mut().zip(segment.texts) {
                let Some((column, values)) = counted else {
                    continue;
                };
                for (value, &pages) in (0..).zip(&values).filter(|(_, pages)| **pages > 0) {
                    let mut text = String::new();
                    column.ord_to_str(value, &mut text)?;
                    *sums.entry(text).or_default() += pages;
                }
            }
            for (year, pages) in segment.years {
                *years.entry(year).or_default() += pages;
            }
        }
        let [sites, languages, kinds] = texts.map(|sums| {
            let mut values: Vec<(String, u64)> = sums.into_iter().collect();
            values.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
            values.truncate(VALUES);
            values
        });
        let years = years.into_iter().rev().take(VALUES);
        Ok(Facets {
            sites,
            languages,
            kinds,
            years: years
                .map(|(year, pages)| (year.to_string(), pages))
                .collect(),
        })
    }
}

/// Returns the UTC year of a time in Unix seconds; 0 for a time out of range.
fn year(seconds: i64) -> i64 {
    let at = Timestamp::from_second(seconds);
    at.map_or(0, |at| at.to_zoned(TimeZone::UTC).year().into())
}
