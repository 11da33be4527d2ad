//! Measurement of one team of crawlers on the web of one run.

use std::collections::HashSet;

use policy::catalog::{Catalog, Wishes};

use super::PartitionExperimentOptions;
use super::division::DividedWeb;
use super::teams::{DivisionKey, TeamKind};
use crate::LabError;
use crate::experiment::ordering::ranks;
use crate::findings::{Measured, Params};
use crate::measure::Truth;
use crate::run::{CrawlableWorld, TeamPlan, TeamWork, team};

/// Number of fetches after which quality is measured, as a share of the reachable pages. It is late
/// enough to have found good pages, and early enough for the order to matter.
const QUALITY_AT: f64 = 0.25;

/// Runs teams on a web and measures them.
pub(super) struct TeamJudge<'a> {
    web: CrawlableWorld<'a>,
    divided: &'a DividedWeb,
    seeds: &'a [usize],
    options: &'a PartitionExperimentOptions,
    /// Number of pages that can be reached from all seeds together.
    reach: usize,
    /// PageRank of each page of the world; 0 for pages out of reach.
    truth: Truth,
}

impl<'a> TeamJudge<'a> {
    pub fn new(
        web: CrawlableWorld<'a>,
        divided: &'a DividedWeb,
        seeds: &'a [usize],
        options: &'a PartitionExperimentOptions,
    ) -> Self {
        let graph = web.graph();
        let found = graph.reachable(seeds);
        let mut within = vec![false; graph.pages()];
        found.iter().for_each(|&page| within[page] = true);
        let edges: Vec<_> = graph.edges().filter(|&(from, _)| within[from]).collect();
        let mut ranks = ranks(&edges, graph.pages());
        for (rank, within) in ranks.iter_mut().zip(within) {
            *rank *= f64::from(u8::from(within));
        }
        Self {
            web,
            divided,
            seeds,
            options,
            reach: found.len(),
            truth: Truth::new(ranks),
        }
    }

    pub fn describe(&self, run: u64) -> String {
        format!(
            "run {}: {} of {} pages can be reached from {} seeds",
            run + 1,
            self.reach,
            self.web.graph().pages(),
            self.seeds.len()
        )
    }

    pub fn judge(&self, kind: TeamKind, crawlers: u32) -> Result<Vec<Measured>, LabError> {
        let order = || Catalog::standard().order(&self.options.order, &Wishes::default());
        let policies = (0..crawlers).map(|_| order()).collect::<Result<_, _>>();
        let policies = policies.map_err(|error| LabError::Wish(error.to_string()))?;
        let budget = self.options.budget.map(|share| share * self.reach as f64);
        let plan = TeamPlan {
            coordination: kind.coordination,
            batch: self.options.batch,
            budget: budget.map_or(usize::MAX, |fetches| fetches.round() as usize),
        };
        let division = match kind.key {
            DivisionKey::Name => &self.divided.division,
            DivisionKey::Address => &self.divided.by_address,
        };
        let graph = self.web.graph();
        let seeds = kind
            .seeds
            .assign(graph, division, self.seeds, crawlers as usize);
        let work = team(self.web, division, policies, plan, &seeds);
        let measured = |(metric, value): (&str, f64)| Measured {
            policy: kind.name.to_owned(),
            params: Params::from([("order".to_owned(), self.options.order.as_str().into())]),
            metric: metric.to_owned(),
            x: f64::from(crawlers),
            value,
        };
        let values = self.values(&work, crawlers);
        Ok(values.into_iter().map(measured).collect())
    }

    fn values(&self, work: &TeamWork, crawlers: u32) -> [(&'static str, f64); 6] {
        let fetches = work.fetches.len() as f64;
        let distinct: HashSet<usize> = work.fetches.iter().map(|&(_, page)| page).collect();
        let distinct = distinct.len() as f64;
        let mut by_crawler = vec![0_u32; crawlers as usize];
        for &(crawler, _) in &work.fetches {
            by_crawler[crawler as usize] += 1;
        }
        let busiest = by_crawler.iter().max().map_or(0.0, |&most| f64::from(most));
        [
            ("overlap", (fetches - distinct) / fetches),
            ("coverage", distinct / self.reach as f64),
            ("messages", work.messages as f64 / fetches),
            (
                "communication",
                work.message_bytes as f64 / (1e3 * self.options.kilobytes * distinct),
            ),
            ("quality", self.quality(work)),
            ("balance", busiest * f64::from(crawlers) / fetches),
        ]
    }

    /// Returns Cho & Garcia-Molina's quality, |A ∩ P|/|P|, weighted by PageRank.
    ///
    /// A is the set of pages of the first N fetches, and P the set of the N best pages. N is the
    /// share [`QUALITY_AT`] of the reachable pages.
    fn quality(&self, work: &TeamWork) -> f64 {
        let count = ((QUALITY_AT * self.reach as f64).round() as usize).max(1);
        let best = &self.truth.ranking()[..count];
        let first = work.fetches.iter().take(count);
        let first: HashSet<usize> = first.map(|&(_, page)| page).collect();
        let held = best.iter().filter(|page| first.contains(page));
        let held: f64 = held.map(|&page| self.truth.of(page)).sum();
        held / best.iter().map(|&page| self.truth.of(page)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Graph;

    #[test]
    fn quality_counts_fetches_up_to_a_quarter_of_the_reachable_pages() {
        // Six pages link to 0 and three of them also to 1, so 0 has the highest PageRank and 1
        // the next.
        let urls: Vec<String> = (0..8).map(|page| format!("http://e.org/{page}")).collect();
        let edges = (2..8)
            .map(|from| (from, 0))
            .chain((2..5).map(|from| (from, 1)));
        let graph = Graph::new(urls.iter().map(String::as_str), edges);
        let divided = DividedWeb::of(&graph, 1.0, 1);
        let (seeds, options) = (
            (0..8).collect::<Vec<_>>(),
            PartitionExperimentOptions::default(),
        );
        let judge = TeamJudge::new(CrawlableWorld::from(&graph), &divided, &seeds, &options);
        let of = |fetches: &[(u32, usize)]| {
            let work = TeamWork {
                fetches: fetches.to_vec(),
                messages: 6,
                message_bytes: 120,
            };
            judge.values(&work, 2).map(|(_, value)| value)
        };
        let [overlap, coverage, messages, communication, quality, balance] =
            of(&[(0, 0), (1, 1), (0, 2), (0, 1)]);
        assert_eq!((overlap, coverage, messages), (0.25, 0.375, 1.5));
        // 120 bytes for three different pages of 10 kB.
        assert_eq!(communication, 0.004);
        assert_eq!((quality, balance), (1.0, 1.5), "the best two came first");
        let [.., late, _] = of(&[(0, 2), (0, 3), (0, 0), (1, 1)]);
        assert_eq!(late, 0.0, "a quarter of eight pages are two");
        let [.., half, _] = of(&[(0, 0), (1, 2), (0, 1)]);
        assert!(half > 0.5 && half < 1.0, "{half}: the best counts more");
    }
}
