//! Measures how near a policy comes to the best allocation of its budget, in a world whose true
//! change rates are known.
//!
//! In `invented:pages` the judge knows how often every page changes. So it can compute the
//! allocation of visits that no policy beats on average (Cho & Garcia-Molina's, weighted;
//! [`policy::plan::allocation`]). The importance of page n is 1/(n+1), from n = 0. Policies run
//! twice: with the true rates, which is an upper bound, and with rates that they learn.
//!
//! **Invariant:** the true rates are drawn with the world. A policy receives them only in rows
//! whose parameter `rates` is `known`.

use std::sync::Arc;
use std::time::Duration;

use policy::catalog::{Catalog, Upkeep as Wishes};
use policy::order::{Given, Scores};
use policy::plan::allocation::{Demand, mean_freshness, optimal};
use policy::{Crawl, Refresh};

use super::linear::LinearIndex;
use super::{ExperimentSetup, RefreshExperimentOptions};
use crate::LabError;
use crate::findings::{Findings, Measured, Param, Params};
use crate::run::refresh::Lives;
use crate::run::upkeep::{UpkeepOutcome, UpkeepPlan, upkeep};
use crate::workers::{ExperimentProgress, each};
use crate::world::{World, WorldPart, page_rates};

/// The world whose change rates are known.
pub(super) const WORLD: &str = "invented:pages";

/// Name of the upper bound: the best allocation of visits, computed and not run.
const OPTIMAL: &str = "optimal";
/// Name of the baseline [`LinearIndex`], which exists in the laboratory only.
const LINEAR: &str = "linear";

/// Policies that are compared by default.
const POLICIES: [&str; 7] = [
    OPTIMAL,
    LINEAR,
    "uniform",
    "proportional",
    "freshness",
    "harmonic",
    "holistic",
];

/// Default fetches per step, as shares of the pages.
pub(super) const BUDGETS: [f64; 3] = [0.002, 0.01, 0.05];

/// Default number of pages.
const PAGES: &str = "20000";

/// Duration of the warm-up, in units of the time in which the budget pays for one fetch of every
/// page.
const WARM_UP: f64 = 2.5;
/// Duration of the measured period after the warm-up, in the same unit.
const MEASURED: f64 = 1.0;

const DAY: f64 = 86_400.0;

/// A policy, whether it knows the true rates, and its fetches per step as a share of the pages.
type PagesTask = (String, bool, f64);

/// Returns the policies that the user named, or the default ones; also the one that the others
/// are compared with.
///
/// # Errors
/// If a policy or the change-rate estimator is unknown.
pub(super) fn contestants(
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
) -> Result<Vec<String>, LabError> {
    let mut names = setting.policies.clone();
    if names.is_empty() {
        names = POLICIES.map(str::to_owned).to_vec();
    }
    names.extend(setting.against.clone());
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    let wishes = Wishes {
        rate: options.rate.clone(),
        budget: Some(1.0),
        ..Wishes::default()
    };
    for name in seen.iter().filter(|name| *name != OPTIMAL) {
        refresh(name, &wishes)?;
    }
    Ok(seen)
}

/// Returns every policy except `optimal`, with known and with learned rates, under every budget.
pub(super) fn tasks(names: &[String], budgets: &[f64]) -> Vec<PagesTask> {
    let mut tasks = Vec::new();
    for name in names.iter().filter(|name| *name != OPTIMAL) {
        for known in [true, false] {
            tasks.extend(budgets.iter().map(|&share| (name.clone(), known, share)));
        }
    }
    tasks
}

/// Returns all numbers of a run.
pub(super) fn rows(
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
    names: &[String],
    budgets: &[f64],
    run: u64,
    progress: &dyn ExperimentProgress,
) -> Result<Vec<Measured>, LabError> {
    let step = options.step.map_or(1.0, |step| step.as_secs_f64() / DAY);
    let least = budgets.iter().copied().fold(1.0, f64::min) / step;
    let truth = PagesTruth::of(setting, least, run)?;
    let per_day = |share: f64| share * truth.lives.pages() as f64 / step;
    let mut rows = Vec::new();
    let demands = truth.demands();
    let best = |share: f64| mean_freshness(&demands, &optimal(&demands, per_day(share)));
    if names.iter().any(|name| name == OPTIMAL) {
        for &share in budgets {
            rows.push(row(
                OPTIMAL,
                "weighted_freshness",
                true,
                per_day(share),
                best(share),
            ));
        }
    }
    let done = each(tasks(names, budgets), setting.threads, progress, |task| {
        let outcome = truth.outcome(&task.0, task.1, per_day(task.2), options);
        outcome.map(|outcome| (task, outcome))
    });
    for one in done {
        let ((name, known, share), outcome) = one?;
        let Some(outcome) = outcome else { continue };
        let found = [
            ("weighted_freshness", outcome.freshness),
            ("of_optimum", outcome.freshness / best(share)),
            ("fetches_per_day", outcome.per_day),
        ];
        let of = |(metric, value)| row(&name, metric, known, per_day(share), value);
        rows.extend(found.map(of));
    }
    Ok(rows)
}

struct PagesTruth {
    lives: Lives,
    /// Change rate of each page, per day.
    rates: Vec<f64>,
    /// Importance of each page.
    weights: Vec<f64>,
    /// Importance by URL.
    scores: Arc<Scores>,
    /// Change rate by URL, per day.
    by_url: Arc<Scores>,
}

impl PagesTruth {
    /// Opens a world that lasts long enough for the least budget, which is a share of the pages per
    /// day, but at most 36,500 days.
    fn of(setting: &ExperimentSetup, least: f64, run: u64) -> Result<Self, LabError> {
        let mut setting = setting.clone();
        let span = ((WARM_UP + MEASURED) / least + 1.0).min(36_500.0);
        for (name, value) in [("pages", PAGES.to_owned()), ("span", span.to_string())] {
            if setting.knobs.iter().all(|(set, _)| set != name) {
                setting.knobs.push((name.to_owned(), value));
            }
        }
        let hazard = setting
            .knobs
            .iter()
            .rev()
            .find(|(name, _)| name == "hazard");
        if hazard.is_some_and(|(_, value)| value.parse() != Ok(1.0)) {
            let why = "the best allocation of visits is known for constant change rates only: leave out --set hazard, or \
                       compare policies in `avocet lab currency`";
            return Err(LabError::Wish(why.into()));
        }
        let World::Histories(histories) = setting.open(run, WorldPart::Histories)? else {
            let why = format!("{WORLD} has no histories");
            return Err(LabError::Wish(why));
        };
        let rates = page_rates(&setting.knobs, setting.seed_of(run))?;
        let weights: Vec<f64> = (1..=rates.len()).map(|n| 1.0 / n as f64).collect();
        let (mut scores, mut by_url) = (Scores::default(), Scores::default());
        for (page, url) in histories.urls().iter().enumerate() {
            scores.insert(url.as_str(), weights[page]);
            by_url.insert(url.as_str(), rates[page]);
        }
        Ok(Self {
            lives: Lives::of_histories(&histories)?,
            rates,
            weights,
            scores: Arc::new(scores),
            by_url: Arc::new(by_url),
        })
    }

    fn demands(&self) -> Vec<Demand> {
        let pages = self.rates.iter().zip(&self.weights);
        pages
            .map(|(&rate, &weight)| Demand { rate, weight })
            .collect()
    }

    /// Refreshes the pages by a policy. Returns `None` if the world has no changes, or if the
    /// budget is not positive and finite.
    fn outcome(
        &self,
        name: &str,
        known: bool,
        per_day: f64,
        options: &RefreshExperimentOptions,
    ) -> Result<Option<UpkeepOutcome>, LabError> {
        let Some((from, last)) = self.lives.span() else {
            return Ok(None);
        };
        let round = self.lives.pages() as f64 / per_day;
        let days = |days: f64| Duration::try_from_secs_f64(days * DAY).unwrap_or(Duration::MAX);
        let until = last.min(from + days(round * (WARM_UP + MEASURED)));
        let whole = until.since(from).as_secs_f64() / DAY;
        let wishes = Wishes {
            rate: known
                .then(|| "given".to_owned())
                .or_else(|| options.rate.clone()),
            rates: known.then(|| Arc::clone(&self.by_url)),
            budget: Some(per_day / DAY),
            ..Wishes::default()
        };
        let crawl = Crawl {
            order: Box::new(Given::new(Arc::clone(&self.scores))),
            refresh: Some(refresh(name, &wishes)?),
            ..Crawl::default()
        };
        let plan = UpkeepPlan {
            lives: &self.lives,
            rates: &self.rates,
            weights: &self.weights,
            per_day,
            from,
            measured: from + days(whole * WARM_UP / (WARM_UP + MEASURED)),
            until,
        };
        Ok(upkeep(&plan, crawl))
    }
}

fn refresh(name: &str, wishes: &Wishes) -> Result<Box<dyn Refresh>, LabError> {
    let catalog = Catalog::standard();
    let wrong = |why: policy::CatalogError| LabError::Wish(why.to_string());
    match name {
        LINEAR => Ok(Box::new(LinearIndex(catalog.rates(wishes).map_err(wrong)?))),
        name => catalog.refresh(name, wishes).map_err(wrong),
    }
}

fn row(policy: &str, metric: &str, known: bool, x: f64, value: f64) -> Measured {
    let rates = if known { "known" } else { "learned" };
    Measured {
        policy: policy.into(),
        params: Params::from([("rates".to_owned(), Param::from(rates))]),
        metric: metric.into(),
        x,
        value,
    }
}

/// Returns remarks for the report.
pub(super) fn notes() -> Vec<String> {
    vec![
        format!("The frontier fetches under a budget and finds its own price. All pages are known at the start. The measured period begins after {WARM_UP} times as many fetches as there are pages, and lasts for {MEASURED} times as many."),
        "Freshness is the expected value, given the times of the visits and the true change rates. The importance of page n is 1/(n+1), from n = 0, and every policy knows it. In rows with `rates` = `known` a policy also knows the true change rates, which is an upper bound. With `rates` = `learned` it knows only what its own visits showed. `optimal` is the allocation of visits that no policy beats on average, with evenly spaced refreshes. `linear` has the worth importance × rate × age and exists in the lab only.".into(),
    ]
}

/// Returns the values of a policy, as (fetches per day, value) in the order of the findings.
pub(super) fn found(
    findings: &Findings,
    policy: &str,
    metric: &str,
    rates: &str,
) -> Vec<(f64, f64)> {
    let rows = findings.rows.iter().filter(|row| {
        row.policy == policy
            && row.metric == metric
            && row.params.get("rates") == Some(&rates.into())
    });
    rows.map(|row| (row.x, row.value)).collect()
}
