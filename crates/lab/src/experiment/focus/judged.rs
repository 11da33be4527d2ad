//! Measures of a focused crawl: harvest rate, recall and area under the recall curve.

use std::collections::BTreeMap;
use std::sync::Arc;

use policy::catalog::{Catalog, Wishes};
use policy::focus::Topic;

use super::omniscient::{self, OMNISCIENT};
use super::oracle::{self, LinkOracle};
use super::split::TopicSplit;
use crate::LabError;
use crate::findings::{Measured, Param, Params};
use crate::run::{CrawlableWorld, order_after};

/// Number of points of a curve, and of slices of a crawl.
pub(super) const POINTS: usize = 20;
/// Target name in the rows that hold the mean over all targets.
pub(super) const ALL: &str = "all";

/// Scores the crawls of one run for one target.
pub(super) struct FocusJudge<'a> {
    pub web: CrawlableWorld<'a>,
    pub split: &'a TopicSplit,
    pub topic: &'a Topic,
    pub target: &'a str,
    /// Whether policies first crawl the training pages.
    pub experienced: bool,
}

impl FocusJudge<'_> {
    pub fn judge(&self, name: &str) -> Result<Vec<Measured>, LabError> {
        let split = self.split;
        let visits = match name {
            OMNISCIENT => {
                let graph = self.web.graph();
                omniscient::order(graph, &split.starts, &split.ground, &split.targets)
            }
            name => {
                let wishes = Wishes {
                    topic: Some(Arc::new(self.topic.clone())),
                    ..Wishes::default()
                };
                let has_oracle = [oracle::LINKS, oracle::AHEAD].contains(&name);
                let method = if has_oracle { oracle::METHOD } else { name };
                let order = Catalog::standard().order(method, &wishes);
                let mut order = order.map_err(|error| LabError::Wish(error.to_string()))?;
                if has_oracle {
                    order = Box::new(LinkOracle::new(order, self.web.graph(), split, name));
                }
                let earlier = |page: usize| self.experienced && split.training[page];
                let ground = |page: usize| split.ground[page];
                order_after(self.web, order, earlier, &split.starts, ground)
            }
        };
        let found: Vec<bool> = visits.iter().map(|&page| split.targets[page]).collect();
        Ok(self.measured(name, &curve(&found, split.reached, split.wanted())))
    }

    fn measured(&self, name: &str, curve: &RecallCurve) -> Vec<Measured> {
        let number = |metric: &str, x: f64, value: f64| Measured {
            policy: name.to_owned(),
            params: Params::from([("target".to_owned(), Param::from(self.target))]),
            metric: metric.to_owned(),
            x,
            value,
        };
        let mut measured = vec![number("area", 1.0, curve.area)];
        for (point, values) in (1..).zip(&curve.points) {
            let x = f64::from(point) / POINTS as f64;
            measured.push(number("harvest", x, values.harvest));
            measured.push(number("recall", x, values.recall));
            measured.push(number("relevance", x, values.relevance));
        }
        measured
    }
}

/// The scores of a crawl.
pub(super) struct RecallCurve {
    pub area: f64,
    points: Vec<FocusPoint>,
}

struct FocusPoint {
    harvest: f64,
    recall: f64,
    relevance: f64,
}

/// Scores a crawl in a web of `pages` reachable pages with `wanted` targets; `found` says for each
/// fetch whether it hit a target.
///
/// If a crawl ended before it had fetched all pages, the missing fetches count as misses in
/// recall, relevance and area. The harvest rate counts only the fetches made.
pub(super) fn curve(found: &[bool], pages: usize, wanted: usize) -> RecallCurve {
    let mut so_far = Vec::with_capacity(pages);
    let mut count = 0;
    for fetch in 0..pages {
        count += usize::from(found.get(fetch).copied().unwrap_or(false));
        so_far.push(count);
    }
    let recall = |count: usize| count as f64 / wanted as f64;
    let area = so_far.iter().map(|&count| recall(count)).sum::<f64>() / pages as f64;
    let mut last = (0, 0);
    let points = (1..=POINTS).map(|point| {
        let fetches = (pages * point).div_ceil(POINTS);
        let found_by = so_far[fetches - 1];
        let slice = (fetches - last.0, found_by - last.1);
        let made = fetches.min(found.len().max(1));
        last = (fetches, found_by);
        FocusPoint {
            harvest: found_by as f64 / made as f64,
            recall: recall(found_by),
            relevance: slice.1 as f64 / slice.0 as f64,
        }
    });
    let points = points.collect();
    RecallCurve { area, points }
}

/// Averages the numbers of a run over its targets.
pub(super) fn over_targets(targets: &[Vec<Measured>]) -> Vec<Measured> {
    let mut sums: BTreeMap<(usize, u64), (Measured, f64)> = BTreeMap::new();
    for numbers in targets {
        for (place, number) in numbers.iter().enumerate() {
            let key = (place, number.x.to_bits());
            let sum = sums.entry(key).or_insert_with(|| {
                let params = Params::from([("target".to_owned(), Param::from(ALL))]);
                let value = 0.0;
                let number = number.clone();
                let mean = Measured {
                    params,
                    value,
                    ..number
                };
                (mean, 0.0)
            });
            sum.0.value += number.value;
            sum.1 += 1.0;
        }
    }
    let means = sums.into_values();
    means
        .map(|(number, count)| Measured {
            value: number.value / count,
            ..number
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_crawl_agree_with_hand_calculation() {
        // 40 pages, two targets: the second and the tenth fetch.
        let found: Vec<bool> = (0..40).map(|fetch| fetch == 1 || fetch == 9).collect();
        let judged = curve(&found, 40, 2);
        // Recall is 0 after the first fetch, ½ after the next eight, and 1 after the last 31.
        assert!((judged.area - (8.0 * 0.5 + 31.0) / 40.0).abs() < 1e-12);
        let first = &judged.points[0];
        assert_eq!(
            (first.harvest, first.recall, first.relevance),
            (0.5, 0.5, 0.5)
        );
        let fifth = &judged.points[4];
        assert_eq!(
            (fifth.harvest, fifth.recall, fifth.relevance),
            (0.2, 1.0, 0.5)
        );
        assert_eq!(judged.points[19].harvest, 0.05);
    }

    #[test]
    fn recall_and_harvest_rate_stay_the_same_after_a_crawl_has_ended() {
        let judged = curve(&[true, false], 40, 2);
        assert_eq!(
            (judged.points[19].recall, judged.points[19].harvest),
            (0.5, 0.5)
        );
        assert!((judged.area - 0.5).abs() < 1e-12);
    }
}
