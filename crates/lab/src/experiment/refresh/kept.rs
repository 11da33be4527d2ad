//! How good did each policy keep the repository?

use std::collections::BTreeMap;

use policy::Crawl;
use policy::catalog::{Catalog, Upkeep};

use super::Options;
use super::contestants::{Contestants, NONE, Piece};
use super::curve::Curve;
use super::ground::Ground;
use crate::LabError;
use crate::findings::{Measured, Param, Params};
use crate::run::steps::{Course, Kept, Knowledge};
use crate::workers::{Progress, each};

/// Qualities to ask the budget of.
pub(super) const QUALITIES: [f64; 2] = [0.95, 0.99];
/// Shares of what is lost without any refresh, to ask the budget of.
pub(super) const REGAINED: [f64; 3] = [0.5, 0.75, 0.9];

/// Who is compared, and with what.
pub(super) struct Work<'a> {
    pub contestants: &'a Contestants,
    pub options: &'a Options,
    /// Shares of the pages.
    pub budgets: &'a [f64],
    pub threads: usize,
}

impl Work<'_> {
    /// All numbers, and the best quality of any step of any run.
    pub fn rows(
        &self,
        ground: &Ground,
        progress: &dyn Progress,
    ) -> Result<(Vec<Measured>, f64), LabError> {
        let course = ground.course();
        let run = Run {
            ground,
            course: &course,
            knowledge: &Knowledge::of_course(&course, self.options.knowledge),
            options: self.options,
        };
        let pieces = self.contestants.pieces(self.budgets);
        let done = each(pieces, self.threads, progress, |piece| run.done(piece));
        let done: Vec<Done> = done.into_iter().collect::<Result<_, LabError>>()?;
        let best = done.iter().map(|done| done.kept.best).fold(0.0, f64::max);
        let lost = done.iter().find(|done| done.piece.name == NONE);
        let lost = lost.and_then(|done| done.kept.quality);
        let mut rows = Vec::new();
        for name in &self.contestants.names {
            let own = done.iter().filter(|done| done.piece.name == *name);
            let own: Vec<&Done> = own.collect();
            for done in own.iter().filter(|done| done.piece.threshold.is_some()) {
                rows.extend(done.rows(done.piece.threshold));
            }
            let shown = best_of_each_budget(&own);
            shown.iter().for_each(|done| rows.extend(done.rows(None)));
            rows.extend(budgets_needed(name, &shown, lost));
        }
        Ok((rows, best))
    }
}

struct Run<'a> {
    ground: &'a Ground,
    course: &'a Course<'a>,
    knowledge: &'a Knowledge,
    options: &'a Options,
}

impl Run<'_> {
    fn done(&self, piece: Piece) -> Result<Done, LabError> {
        let fetches = self.fetches(piece.budget);
        let moments = self.ground.snapshots.moments();
        let upkeep = Upkeep {
            rate: self.options.rate.clone(),
            budget: Some(fetches as f64 / self.ground.step.as_secs_f64()),
            step: self.ground.step,
            slots: (moments.len() - 1 - self.knowledge.from) as u32,
            since: Some(moments[self.knowledge.from]),
            ..Upkeep::default()
        };
        let refresh = piece.expression.as_ref();
        let refresh = refresh.map(|name| Catalog::standard().refresh(name, &upkeep));
        let refresh = refresh
            .transpose()
            .map_err(|why| LabError::Wish(why.to_string()))?;
        let crawl = Crawl {
            refresh,
            ..Crawl::default()
        };
        let kept = self.course.refresh(crawl, self.knowledge, fetches);
        Ok(Done {
            refreshes: kept.visits as f64 / f64::from(upkeep.slots),
            kept,
            fetches,
            piece,
        })
    }

    /// Refreshes a step; at least one, unless there are none.
    fn fetches(&self, share: f64) -> usize {
        let born = self.ground.snapshots.born();
        let known = born.partition_point(|(step, _)| *step <= self.knowledge.from);
        match share {
            0.0 => 0,
            share => ((share * known as f64).round() as usize).max(1),
        }
    }
}

/// A policy with one budget, and what became of it.
struct Done {
    piece: Piece,
    fetches: usize,
    /// What was made of them, a step.
    refreshes: f64,
    kept: Kept,
}

impl Done {
    fn rows(&self, threshold: Option<f64>) -> Vec<Measured> {
        let kept = &self.kept;
        let metrics = [
            ("quality", kept.quality),
            ("freshness", Some(kept.recency.freshness())),
            ("age", Some(kept.recency.age_days())),
            ("embarrassment", kept.embarrassment),
            ("refreshes", Some(self.refreshes)),
        ];
        let found = metrics.into_iter();
        found
            .filter_map(|(metric, value)| {
                let mut row = number(&self.piece.name, metric, self.fetches as f64, value?);
                if let Some(threshold) = threshold {
                    row.params.insert("tau".into(), Param::Number(threshold));
                }
                Some(row)
            })
            .collect()
    }

    /// What thresholds are compared by: quality, and freshness where there is none.
    fn merit(&self) -> f64 {
        let kept = &self.kept;
        kept.quality.unwrap_or_else(|| kept.recency.freshness())
    }
}

/// Of those with the same budget the best, by rising budget.
fn best_of_each_budget<'d>(done: &[&'d Done]) -> Vec<&'d Done> {
    let mut best: BTreeMap<usize, &Done> = BTreeMap::new();
    for &one in done {
        let place = best.entry(one.fetches).or_insert(one);
        if one.merit() > place.merit() {
            *place = one;
        }
    }
    best.into_values().collect()
}

/// Budgets for equal quality.
fn budgets_needed(name: &str, shown: &[&Done], lost: Option<f64>) -> Vec<Measured> {
    let Some(none) = lost.filter(|_| name != NONE) else {
        return Vec::new();
    };
    let points = shown.iter().map(|done| (done.fetches as f64, done.merit()));
    let curve = Curve::from(none, points);
    let mut rows = Vec::new();
    let fixed = QUALITIES.map(|quality| (format!("budget_at_quality@{quality}"), quality));
    let relative = REGAINED.map(|share| {
        let quality = none + share * (1.0 - none);
        (format!("budget_at_regained@{share}"), quality)
    });
    for (metric, quality) in fixed.into_iter().chain(relative) {
        let budget = curve.reaches(quality);
        rows.extend(budget.map(|budget| number(name, &metric, 0.0, budget)));
    }
    rows
}

fn number(policy: &str, metric: &str, x: f64, value: f64) -> Measured {
    Measured {
        policy: policy.into(),
        params: Params::new(),
        metric: metric.into(),
        x,
        value,
    }
}
