//! Merges the results of several indexes into the result of one search.
//!
//! **Invariant:** the result is that of one index with all pages, whatever way the pages are
//! divided. Only the order of pages with equal scores may differ: here it is the order of their
//! ids, in one index that of their addresses.
//!
//! So each index sends its best pages before near-duplicates are grouped, and with each page what
//! grouping needs. An index of `n` indexes therefore reads the stored texts of `3 · (offset +
//! limit) + 40` pages, where a search of one index reads those of `limit` pages and of candidates
//! for near-duplicates.

use std::collections::HashSet;
use std::convert::Infallible;

use page::Shingles;
use serde::{Deserialize, Serialize};
use tantivy::TantivyError;

use super::dictionary::Dictionary;
use super::duplicates::{group, representative, sketch};
use super::evaluate::{Completeness, MatchCounts};
use super::facets::FacetSums;
use super::search::{Hit, HitRange, Hits, SearchQuery, preference};
use super::statistics::QueryStatistics;
use super::stored::StoredPage;
use super::{Index, IndexError};

/// The result of a search of one of several indexes, for [`merge`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HitsPart {
    counts: MatchCounts,
    corrected: Option<String>,
    unknown: Vec<String>,
    candidates: Vec<HitCandidate>,
    facets: Option<FacetSums>,
}

/// A page that may be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HitCandidate {
    complete: Completeness,
    /// What results are sorted by.
    key: f64,
    /// Preference of the page among near-duplicates: by its language, and its number of links.
    preference: (usize, u32),
    /// Similarity hash of its body; 0 if the body is too short.
    simhash: u64,
    /// The sketch of its body; empty if it has no hash.
    shingles: Shingles,
    /// The page as it is shown, without near-duplicates.
    hit: Hit,
}

impl Index {
    /// Searches the last commit as one of several indexes, with the statistics of all of them.
    pub fn search_part(
        &self,
        query: &SearchQuery<'_>,
        statistics: &QueryStatistics,
    ) -> Result<HitsPart, IndexError> {
        self.try_search_part(query, statistics)
            .map_err(|error| self.fail("search", error))
    }

    fn try_search_part(
        &self,
        query: &SearchQuery<'_>,
        statistics: &QueryStatistics,
    ) -> Result<HitsPart, TantivyError> {
        let parsed = query.parsed();
        if parsed.is_empty() {
            return Ok(HitsPart {
                unknown: parsed.unknown,
                ..HitsPart::default()
            });
        }
        let searcher = self.reader.searcher();
        let found = self.run(&searcher, query, &parsed, Dictionary::Given(statistics))?;
        let mut finder = found.finder();
        let mut candidates = Vec::with_capacity(found.outcome.best.len());
        for candidate in &found.outcome.best {
            let page = StoredPage::read(&searcher, &self.fields, candidate.address)?;
            candidates.push(HitCandidate {
                complete: candidate.complete,
                key: candidate.key,
                preference: preference(&page, query),
                simhash: page.simhash,
                shingles: match page.simhash {
                    0 => Shingles::default(),
                    _ => sketch(&page.body),
                },
                hit: found.hit(candidate, page, &parsed, &mut finder),
            });
        }
        let mut facets = found.facets;
        if let Some(facets) = &mut facets {
            facets.shorten();
        }
        Ok(HitsPart {
            counts: found.outcome.counts,
            corrected: found.corrected,
            unknown: parsed.unknown,
            candidates,
            facets,
        })
    }
}

/// Returns the result of a search from the results of all indexes, which must have searched with
/// this limit and offset.
///
/// A page that two indexes have, because it moves from one to the other, is shown once; the total
/// and the facets count it twice.
pub fn merge(parts: Vec<HitsPart>, limit: usize, offset: usize) -> Hits {
    let mut sum = HitsPart::default();
    for part in parts {
        sum.counts.complete += part.counts.complete;
        sum.counts.partial += part.counts.partial;
        sum.candidates.extend(part.candidates);
        // The query and the statistics decide these two, so they are the same in all parts.
        sum.corrected = part.corrected;
        sum.unknown = part.unknown;
        if let Some(facets) = part.facets {
            sum.facets.get_or_insert_default().add(facets);
        }
    }
    let range = HitRange::new(limit, offset);
    let (total, relaxed) = sum.counts.total();
    Hits {
        total,
        relaxed,
        corrected: sum.corrected,
        unknown: sum.unknown,
        hits: shown(best(sum.candidates, range), range),
        facets: sum.facets.map(FacetSums::facets),
    }
}

/// Returns the pages that one index would check for near-duplicates, best first.
fn best(mut candidates: Vec<HitCandidate>, range: HitRange) -> Vec<HitCandidate> {
    candidates.sort_by(|one, other| {
        let by_rank = other.complete.cmp(&one.complete);
        let by_key = || other.key.total_cmp(&one.key);
        by_rank
            .then_with(by_key)
            .then(one.hit.id.cmp(&other.hit.id))
    });
    let mut seen = HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.hit.id));
    candidates.truncate(range.candidates());
    candidates
}

/// Returns the hits in a range, where near-duplicates share one.
fn shown(best: Vec<HitCandidate>, range: HitRange) -> Vec<Hit> {
    let hashes: Vec<u64> = best.iter().map(|candidate| candidate.simhash).collect();
    let groups = group::<Infallible>(&hashes, |place| Ok(best[place].shingles.clone()));
    let Ok(groups) = groups;
    let hit = |mut group: Vec<usize>| {
        let complete: Vec<Completeness> = group.iter().map(|&place| best[place].complete).collect();
        let first =
            representative::<Infallible>(&complete, |place| Ok(best[group[place]].preference));
        let Ok(first) = first;
        group[..=first].rotate_right(1);
        let others = group[1..].iter().map(|&place| best[place].hit.url.clone());
        Hit {
            duplicates: others.collect(),
            ..best[group[0]].hit.clone()
        }
    };
    range.of(groups).map(hit).collect()
}
