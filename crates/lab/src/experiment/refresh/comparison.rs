//! Quality, freshness and age of the repository, for each policy and budget.

use std::collections::BTreeMap;

use policy::Crawl;
use policy::catalog::{Catalog, Upkeep};

use super::RefreshExperimentOptions;
use super::contestants::{NONE, RefreshContestants, RefreshTask};
use super::ground_truth::GroundTruth;
use super::quality_curve::QualityCurve;
use crate::LabError;
use crate::findings::{Measured, Param, Params};
use crate::run::steps::{InitialKnowledge, RepositoryScores, SteppedWorld};
use crate::workers::{ExperimentProgress, each};

/// Qualities for which the needed budgets are compared.
pub(super) const QUALITIES: [f64; 2] = [0.95, 0.99];
/// Shares of the quality that is lost without refreshes. The budgets that regain these shares are
/// compared.
pub(super) const REGAINED: [f64; 3] = [0.5, 0.75, 0.9];

/// The policies and budgets of a comparison.
pub(super) struct PolicyComparison<'a> {
    pub contestants: &'a RefreshContestants,
    pub options: &'a RefreshExperimentOptions,
    /// Refreshes per step, as shares of the pages.
    pub budgets: &'a [f64],
    pub threads: usize,
}

impl PolicyComparison<'_> {
    /// Returns all numbers, and the best quality at any step of any policy and budget.
    pub fn rows(
        &self,
        truth: &GroundTruth,
        progress: &dyn ExperimentProgress,
    ) -> Result<(Vec<Measured>, f64), LabError> {
        let world = truth.world();
        let run = ComparisonRun {
            truth,
            world: &world,
            knowledge: &InitialKnowledge::of_world(&world, self.options.knowledge),
            options: self.options,
        };
        let tasks = self.contestants.tasks(self.budgets);
        let done = each(tasks, self.threads, progress, |task| run.result(task));
        let done: Vec<BudgetResult> = done.into_iter().collect::<Result<_, LabError>>()?;
        let best = done.iter().map(|done| done.scores.best).fold(0.0, f64::max);
        let unrefreshed = done.iter().find(|done| done.task.name == NONE);
        let unrefreshed = unrefreshed.and_then(|done| done.scores.quality);
        let mut rows = Vec::new();
        for name in &self.contestants.names {
            let own = done.iter().filter(|done| done.task.name == *name);
            let own: Vec<&BudgetResult> = own.collect();
            for done in own.iter().filter(|done| done.task.threshold.is_some()) {
                rows.extend(done.rows(done.task.threshold));
            }
            let shown = best_of_each_budget(&own);
            shown.iter().for_each(|done| rows.extend(done.rows(None)));
            rows.extend(budgets_needed(name, &shown, unrefreshed));
        }
        Ok((rows, best))
    }
}

struct ComparisonRun<'a> {
    truth: &'a GroundTruth,
    world: &'a SteppedWorld<'a>,
    knowledge: &'a InitialKnowledge,
    options: &'a RefreshExperimentOptions,
}

impl ComparisonRun<'_> {
    fn result(&self, task: RefreshTask) -> Result<BudgetResult, LabError> {
        let fetches = self.fetches(task.budget);
        let moments = self.truth.snapshots.moments();
        let upkeep = Upkeep {
            rate: self.options.rate.clone(),
            budget: Some(fetches as f64 / self.truth.step.as_secs_f64()),
            step: self.truth.step,
            slots: (moments.len() - 1 - self.knowledge.from) as u32,
            since: Some(moments[self.knowledge.from]),
            ..Upkeep::default()
        };
        let refresh = task.expression.as_ref();
        let refresh = refresh.map(|name| Catalog::standard().refresh(name, &upkeep));
        let refresh = refresh
            .transpose()
            .map_err(|why| LabError::Wish(why.to_string()))?;
        let crawl = Crawl {
            refresh,
            ..Crawl::default()
        };
        let scores = self.world.refresh(crawl, self.knowledge, fetches);
        Ok(BudgetResult {
            refreshes: scores.visits as f64 / f64::from(upkeep.slots),
            scores,
            fetches,
            task,
        })
    }

    /// Returns the refreshes per step for a share of the pages that were born before judging
    /// begins: at least 1, unless the share is 0.
    fn fetches(&self, share: f64) -> usize {
        let born = self.truth.snapshots.born();
        let known = born.partition_point(|(step, _)| *step <= self.knowledge.from);
        match share {
            0.0 => 0,
            share => ((share * known as f64).round() as usize).max(1),
        }
    }
}

/// The result of a policy with one budget.
struct BudgetResult {
    task: RefreshTask,
    fetches: usize,
    /// Refreshes made per step.
    refreshes: f64,
    scores: RepositoryScores,
}

impl BudgetResult {
    fn rows(&self, threshold: Option<f64>) -> Vec<Measured> {
        let scores = &self.scores;
        let metrics = [
            ("quality", scores.quality),
            ("freshness", Some(scores.recency.freshness())),
            ("age", Some(scores.recency.age_days())),
            ("embarrassment", scores.embarrassment),
            ("refreshes", Some(self.refreshes)),
        ];
        let found = metrics.into_iter();
        found
            .filter_map(|(metric, value)| {
                let mut row = number(&self.task.name, metric, self.fetches as f64, value?);
                if let Some(threshold) = threshold {
                    row.params.insert("tau".into(), Param::Number(threshold));
                }
                Some(row)
            })
            .collect()
    }

    /// Returns the score by which thresholds are compared: quality, or freshness if the world has
    /// no queries.
    fn merit(&self) -> f64 {
        let scores = &self.scores;
        scores.quality.unwrap_or_else(|| scores.recency.freshness())
    }
}

/// Returns the best result for each budget, by rising budget.
fn best_of_each_budget<'d>(done: &[&'d BudgetResult]) -> Vec<&'d BudgetResult> {
    let mut best: BTreeMap<usize, &BudgetResult> = BTreeMap::new();
    for &one in done {
        let place = best.entry(one.fetches).or_insert(one);
        if one.merit() > place.merit() {
            *place = one;
        }
    }
    best.into_values().collect()
}

/// Returns the refreshes per step that a policy needs for the levels [`QUALITIES`] and
/// [`REGAINED`]. `unrefreshed` is the quality without refreshes; if it is `None`,
/// there are no rows.
fn budgets_needed(name: &str, shown: &[&BudgetResult], unrefreshed: Option<f64>) -> Vec<Measured> {
    let Some(none) = unrefreshed.filter(|_| name != NONE) else {
        return Vec::new();
    };
    let points = shown.iter().map(|done| (done.fetches as f64, done.merit()));
    let curve = QualityCurve::from(none, points);
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
