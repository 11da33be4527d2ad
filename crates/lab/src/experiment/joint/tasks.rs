//! The crawls of one town and their rows, and the best quota over all runs.

use std::time::Duration;

use policy::catalog::{Catalog, Upkeep, Wishes};

use super::JointExperimentOptions;
use super::contestants::{BEST_QUOTA, JointTask, QUOTA, quotas};
use crate::LabError;
use crate::findings::{Measured, Param, Params};
use crate::kinds::Town;
use crate::run::joint::{JointPlan, QuotaShares, Scarce, Served, Split, TownPolicies, crawl};
use crate::workers::{ExperimentProgress, each};

/// The crawls of one town.
pub(super) struct TownRun(Vec<(JointTask, Served)>);

/// The best quota for each budget.
pub(super) type BestQuotas = Vec<(f64, QuotaShares)>;

impl TownRun {
    /// Runs all crawls.
    ///
    /// # Errors
    /// If the catalog does not know a policy.
    pub fn of(
        town: &Town,
        options: &JointExperimentOptions,
        tasks: Vec<JointTask>,
        seed: u64,
        threads: usize,
        progress: &dyn ExperimentProgress,
    ) -> Result<Self, LabError> {
        let warm_up = Duration::from_secs_f64(town.seconds() * options.warm_up);
        let done = each(tasks, threads, progress, |task| {
            let plan = JointPlan {
                scarce: task.scarce,
                split: task.split,
                known: task.known,
                measured: town.from + warm_up,
                listings: options.listings,
                seed,
            };
            Ok((task, crawl(town, policies(options)?, &plan)))
        });
        Ok(Self(done.into_iter().collect::<Result<_, LabError>>()?))
    }

    /// Returns the rows of all crawls. The best quotas have rows of their own.
    pub fn rows(&self, best: &BestQuotas, with_best: bool) -> Vec<Measured> {
        let mut rows = Vec::new();
        for (task, served) in self.0.iter().filter(|(task, _)| task.name != QUOTA) {
            rows.extend(of_crawl(task.name, task, served));
        }
        for (rate, shares) in best.iter().filter(|_| with_best) {
            let quota = Split::Quota(*shares);
            let is_best = |task: &JointTask| task.split == quota && task.x == *rate;
            if let Some((task, served)) = self.0.iter().find(|(task, _)| is_best(task)) {
                rows.extend(of_crawl(BEST_QUOTA, task, served));
                rows.push(number(BEST_QUOTA, task, "quota_firsts", shares.new));
                rows.push(number(BEST_QUOTA, task, "quota_polls", shares.polls));
            }
        }
        for (task, served) in self.0.iter().filter(|(task, _)| task.name == QUOTA) {
            let Split::Quota(shares) = task.split else {
                continue;
            };
            for mut row in of_crawl(QUOTA, task, served) {
                for (name, share) in [("firsts", shares.new), ("polls", shares.polls)] {
                    let share = (share * 100.0).round() / 100.0;
                    row.params.insert(name.into(), Param::Number(share));
                }
                rows.push(row);
            }
        }
        rows
    }

    fn served(&self, rate: f64, split: Split) -> Option<f64> {
        let is_it = |task: &JointTask| task.split == split && task.x == rate && task.name == QUOTA;
        let (_, served) = self.0.iter().find(|(task, _)| is_it(task))?;
        Some(a_second(served, served.old + served.new))
    }
}

/// Returns the quota that serves most clicks over all runs, for each budget.
pub(super) fn best_quotas(runs: &[TownRun], rates: &[f64]) -> BestQuotas {
    let best = |rate: f64| {
        let sum = |shares: QuotaShares| -> Option<f64> {
            let each = runs.iter();
            each.map(|run| run.served(rate, Split::Quota(shares))).sum()
        };
        let tried = quotas().filter_map(|shares| Some((sum(shares)?, shares)));
        let best = tried.max_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, shares)| (rate, shares))
    };
    rates.iter().filter_map(|rate| best(*rate)).collect()
}

/// Builds the policies of a crawl.
///
/// # Errors
/// If the catalog does not know one.
pub(super) fn policies(options: &JointExperimentOptions) -> Result<TownPolicies, LabError> {
    let catalog = Catalog::standard();
    let wish = |why: policy::CatalogError| LabError::Wish(why.to_string());
    let order = catalog.order(&options.order, &Wishes::default());
    let refresh = catalog.refresh(&options.refresh, &Upkeep::default());
    let scheduler = catalog.scheduler(&options.scheduler);
    Ok(TownPolicies {
        order: order.map_err(wish)?,
        refresh: refresh.map_err(wish)?,
        scheduler: scheduler.map_err(wish)?,
    })
}

fn of_crawl(name: &str, task: &JointTask, served: &Served) -> Vec<Measured> {
    let both = served.old + served.new;
    let fetches = served.firsts + served.polls + served.refreshes;
    let metrics = [
        ("served", a_second(served, both)),
        ("of_clicks", both / served.clicks),
        ("served_old", a_second(served, served.old)),
        ("served_new", a_second(served, served.new)),
        ("discovery", (served.firsts + served.polls) / fetches),
        ("firsts", served.firsts / fetches),
        ("polls", served.polls / fetches),
        ("fetches", a_second(served, fetches)),
    ];
    let rows = metrics.into_iter();
    rows.map(|(metric, value)| number(name, task, metric, value))
        .collect()
}

fn a_second(served: &Served, count: f64) -> f64 {
    count / served.seconds
}

fn number(name: &str, task: &JointTask, metric: &str, value: f64) -> Measured {
    let mut params = Params::new();
    if matches!(task.scarce, Scarce::Connections { .. }) {
        params.insert("scarce".into(), "connections".into());
    }
    Measured {
        policy: name.into(),
        params,
        metric: metric.into(),
        x: task.x,
        value,
    }
}
