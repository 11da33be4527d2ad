//! Which policies are compared?
//!
//! `none` refreshes nothing. `sbr` and `ebr` without an argument are tried with every threshold of the paper, and the best for each
//! budget stands for them: as the paper does, and better than any that a crawler could choose beforehand.

use policy::catalog::{Catalog, Upkeep};

use super::Options;
use crate::LabError;
use crate::experiment::Setting;

/// Nothing is refreshed.
pub(super) const NONE: &str = "none";

/// The thresholds of shingles that are tried.
pub(super) const THRESHOLDS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Policies that have a threshold.
const WITH_THRESHOLD: [&str; 2] = ["sbr", "ebr"];

/// The policies of an experiment.
pub(super) struct Contestants {
    /// As the user knows them, each once.
    pub names: Vec<String>,
}

/// A policy with one budget.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Whose numbers it gives.
    pub name: String,
    /// What the catalog is asked for; `None`: nothing is refreshed.
    pub expression: Option<String>,
    /// The threshold, if it is one of many.
    pub threshold: Option<f64>,
    /// A share of the pages, a step.
    pub budget: f64,
}

impl Contestants {
    /// Those that the user named, or all.
    ///
    /// # Errors
    /// If the catalog does not know one.
    pub fn of(setting: &Setting, options: &Options) -> Result<Self, LabError> {
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
        for piece in contestants.pieces(&[1.0]) {
            if let Some(expression) = piece.expression {
                let known = catalog.refresh(&expression, &upkeep);
                known.map_err(|why| LabError::Wish(why.to_string()))?;
            }
        }
        Ok(contestants)
    }

    /// Every policy with every budget.
    pub fn pieces(&self, budgets: &[f64]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for name in &self.names {
            if name == NONE {
                pieces.push(Piece {
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
                pieces.extend(budgets.iter().map(|&budget| Piece {
                    name: name.clone(),
                    expression: Some(expression.clone()),
                    threshold,
                    budget,
                }));
            }
        }
        pieces
    }
}
