//! The measures of parallel crawlers by Cho & Garcia-Molina (WWW 2002): overlap, coverage and
//! quality, from a sample of the pages that each node knows. The fourth, communication, comes from
//! the counts in the heartbeats.
//!
//! Each node reports the pages whose URLs have the lowest hashes. So the nodes sample the same
//! pages, and the union of their samples is a sample of the pages that all nodes know together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Pages in the sample of a node. The standard error of a share of one half is .8 percentage
/// points.
const SIZE: usize = 4096;

/// What a node reports about a page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampledPage {
    /// Whether the node has fetched it.
    pub fetched: bool,
    /// Its importance, as the node estimates it; 0: unknown.
    pub importance: f32,
}

/// The pages with the lowest hashes among those that a node knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageSample {
    pages: BTreeMap<u64, SampledPage>,
    /// Whether pages were left out because their hashes are higher.
    partial: bool,
}

impl PageSample {
    /// Returns the hash that decides whether a URL is in the sample.
    pub fn hash(url: &str) -> u64 {
        xxh3_64(url.as_bytes())
    }

    /// Adds a page, unless the sample has enough pages with lower hashes. Returns whether it was
    /// added.
    pub fn add(&mut self, hash: u64, page: SampledPage) -> bool {
        let highest = self.pages.last_key_value().map(|(highest, _)| *highest);
        let is_full = self.pages.len() == SIZE && !self.pages.contains_key(&hash);
        if is_full {
            self.partial = true;
            if highest < Some(hash) {
                return false;
            }
            self.pages.pop_last();
        }
        self.pages.insert(hash, page);
        true
    }

    /// Sets the importance of a page of the sample.
    pub fn weigh(&mut self, hash: u64, importance: f32) {
        if let Some(page) = self.pages.get_mut(&hash) {
            page.importance = importance;
        }
    }

    /// Returns the highest hash up to which the sample has every page that the node knows.
    fn complete_to(&self) -> u64 {
        let last = self.pages.last_key_value().map(|(highest, _)| *highest);
        last.filter(|_| self.partial).unwrap_or(u64::MAX)
    }
}

/// How well the nodes of a cluster crawl together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TeamMeasures {
    /// Of the pages that the nodes have fetched, the share that another node has fetched too:
    /// (N - U)/N for N pages of all nodes, of which U are different.
    pub overlap: f64,
    /// Of the pages that the nodes know, the share that was fetched.
    pub coverage: f64,
    /// The importance of the fetched pages, as a share of that of the best choice of equally many
    /// known pages; `None`: no page has a known importance.
    pub quality: Option<f64>,
}

impl TeamMeasures {
    /// Computes the measures from the samples of all nodes. Returns `None` if nothing was fetched.
    pub fn of(samples: &[PageSample]) -> Option<Self> {
        let limit = samples.iter().map(PageSample::complete_to).min()?;
        let mut union: BTreeMap<u64, SampledPage> = BTreeMap::new();
        let mut copies = 0;
        for sample in samples {
            for (hash, page) in sample.pages.range(..=limit) {
                copies += usize::from(page.fetched);
                let known = union.entry(*hash).or_insert(*page);
                known.fetched |= page.fetched;
                known.importance = known.importance.max(page.importance);
            }
        }
        let fetched = union.values().filter(|page| page.fetched);
        let different = fetched.clone().count();
        if different == 0 {
            return None;
        }
        let weight = |page: &SampledPage| f64::from(page.importance);
        let mut best: Vec<f64> = union.values().map(weight).collect();
        best.sort_unstable_by(|a, b| b.total_cmp(a));
        let most: f64 = best[..different].iter().sum();
        Some(Self {
            overlap: (copies - different) as f64 / copies as f64,
            coverage: different as f64 / union.len() as f64,
            quality: (most > 0.0).then(|| fetched.map(weight).sum::<f64>() / most),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(pages: impl IntoIterator<Item = (u32, bool, f32)>) -> PageSample {
        let mut sample = PageSample::default();
        for (page, fetched, importance) in pages {
            let page_hash = PageSample::hash(&format!("http://example.org/{page}"));
            let page = SampledPage {
                fetched,
                importance,
            };
            sample.add(page_hash, page);
        }
        sample
    }

    #[test]
    fn the_measures_of_small_teams_are_exact() {
        let first = sample([(1, true, 4.0), (2, true, 1.0), (3, false, 2.0)]);
        let second = sample([(2, true, 1.0), (3, false, 2.0), (4, false, 0.0)]);
        let measures = TeamMeasures::of(&[first.clone(), second]).unwrap();
        assert!((measures.overlap - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(measures.coverage, 0.5);
        assert_eq!(measures.quality, Some(5.0 / 6.0));

        let alone = TeamMeasures::of(&[first]).unwrap();
        assert_eq!((alone.overlap, alone.coverage), (0.0, 2.0 / 3.0));
        assert_eq!(TeamMeasures::of(&[sample([(1, false, 1.0)])]), None);
        assert_eq!(TeamMeasures::of(&[]), None);
        let unweighed = TeamMeasures::of(&[sample([(1, true, 0.0)])]).unwrap();
        assert_eq!(unweighed.quality, None);
    }

    #[test]
    fn large_teams_are_estimated_from_the_pages_that_all_samples_have_in_common() {
        // The first node has fetched half of what it knows, and the second a quarter of that again.
        let first = sample((0..40_000).map(|page| (page, page % 2 == 0, 1.0)));
        let second = sample((0..10_000).map(|page| (page, page % 4 == 0, 1.0)));
        let measures = TeamMeasures::of(&[first, second]).unwrap();
        let overlap = 2_500.0 / 22_500.0;
        assert!((measures.overlap - overlap).abs() < 0.03, "{measures:?}");
        assert!((measures.coverage - 0.5).abs() < 0.03, "{measures:?}");
        assert_eq!(measures.quality, Some(1.0));
    }
}
