//! The policies that the experiment compares.
//!
//! `none` refreshes nothing. `sbr` and `ebr` without an argument run with every threshold of
//! Pandey & Olston (2005), and the best result for each budget counts, as in that paper. This
//! favours `sbr` and `ebr`, because a crawler cannot choose the threshold afterwards.

use policy::catalog::{Catalog, Upkeep};

use super::RefreshExperimentOptions;
use crate::LabError;
use crate::experiment::ExperimentSetup;

/// The policy that refreshes nothing.
pub(super) const NONE: &str = "none";

/// Thresholds on the share of changed shingles that are tried.
pub(super) const THRESHOLDS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

const WITH_THRESHOLD: [&str; 2] = ["sbr", "ebr"];

/// The policies of an experiment.
pub(super) struct RefreshContestants {
    /// Names as the user gives them, without duplicates.
    pub names: Vec<String>,
}

/// One run: a policy with one budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RefreshTask {
    /// Policy name in the findings.
    pub name: String,
    /// Catalog expression of the policy; `None` to refresh nothing.
    pub expression: Option<String>,
    /// The threshold, if several are tried.
    pub threshold: Option<f64>,
    /// Refreshes per step, as a share of the pages.
    pub budget: f64,
}

impl RefreshContestants {
    /// Returns the policies that the user named, or all; also the one that the others are compared
    /// with.
    ///
    /// # Errors
    /// If the catalog does not know a policy or the change-rate estimator.
    pub fn of(
        setting: &ExperimentSetup,
        options: &RefreshExperimentOptions,
    ) -> Result<Self, LabError> {
        let catalog = Catalog::standard();
        let mut names: Vec<String> = Vec::new();
        let mut wanted: Vec<String> = setting.policies.clone();
        if wanted.is_empty() {
            wanted.push(NONE.into());
            wanted.extend(
                catalog
                    .refreshes()
                    .iter()
                    .map(|refresh| refresh.name.to_owned()),
            );
        }
        wanted.extend(setting.against.clone());
        for name in wanted {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let contestants = Self { names };
        let upkeep = Upkeep {
            rate: options.rate.clone(),
            budget: Some(1.0),
            ..Upkeep::default()
        };
        for task in contestants.tasks(&[1.0]) {
            if let Some(expression) = task.expression {
                let known = catalog.refresh(&expression, &upkeep);
                known.map_err(|why| LabError::Wish(why.to_string()))?;
            }
        }
        Ok(contestants)
    }

    /// Returns every policy with every budget, and with every threshold if it has thresholds.
    pub fn tasks(&self, budgets: &[f64]) -> Vec<RefreshTask> {
        let mut tasks = Vec::new();
        for name in &self.names {
            if name == NONE {
                tasks.push(RefreshTask {
                    name: name.clone(),
                    expression: None,
                    threshold: None,
                    budget: 0.0,
                });
                continue;
            }
            let many = WITH_THRESHOLD.contains(&name.as_str());
            let thresholds: Vec<Option<f64>> = match many {
                true => THRESHOLDS.map(Some).to_vec(),
                false => vec![None],
            };
            for threshold in thresholds {
                let expression = threshold.map_or(name.clone(), |at| format!("{name}({at})"));
                tasks.extend(budgets.iter().map(|&budget| RefreshTask {
                    name: name.clone(),
                    expression: Some(expression.clone()),
                    threshold,
                    budget,
                }));
            }
        }
        tasks
    }
}
