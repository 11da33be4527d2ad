//! The catalog of refresh policies and of estimators of change rates.

use std::sync::Arc;
use std::time::Duration;

use super::expression::{ESTIMATOR, REFRESH, SCHEDULER, parse_name};
use super::refreshes::ESTIMATORS;
use super::{Catalog, CatalogError, HelpRow, PolicyArgument, Wish, argument, named, needs, table};
use crate::estimate::{Estimator, Rates, Threshold};
use crate::scores::Scores;
use crate::{Moment, Refresh};

/// The user's inputs to a refresh policy, beside its name.
#[derive(Debug, Clone)]
pub struct Upkeep {
    /// The name of the estimator of change rates. `None` stands for `gamma`.
    pub rate: Option<String>,
    /// Change rates by URL, in changes per day, for the estimator `given`.
    pub rates: Option<Arc<Scores>>,
    /// Visits per second that are available for refreshes, for policies that plan ahead.
    pub budget: Option<f64>,
    /// The length of one step of a plan.
    pub step: Duration,
    /// The number of steps of a plan.
    pub slots: u32,
    /// When the first plan begins. `None`: at the first visit.
    pub since: Option<Moment>,
}

impl Default for Upkeep {
    /// Plans have 48 steps of one day each. Pandey & Olston (2005) use 48 steps of one week.
    fn default() -> Self {
        Self {
            rate: None,
            rates: None,
            budget: None,
            step: Duration::from_secs(86_400),
            slots: 48,
            since: None,
        }
    }
}

/// Builds a refresh policy from the estimator of change rates, the user's other inputs, and the
/// argument in parentheses after its name.
pub type BuildRefresh =
    fn(Estimator, &Upkeep, Option<&str>) -> Result<Box<dyn Refresh>, CatalogError>;

/// An entry of the catalog for a refresh policy.
#[derive(Debug, Clone, Copy)]
pub struct RefreshName {
    /// The name that users write.
    pub name: &'static str,
    /// The argument in parentheses after the name. `None` if the policy takes none.
    pub argument: Option<PolicyArgument>,
    /// A description of at most a line.
    pub summary: &'static str,
    /// The formula of its worths.
    pub scale: &'static str,
    /// The input that it requires.
    pub wish: Option<Wish>,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Builds the policy.
    pub build: BuildRefresh,
}

/// An entry of the catalog for an estimator of change rates.
#[derive(Debug, Clone, Copy)]
pub struct RateName {
    /// The name that users write.
    pub name: &'static str,
    /// A description of at most a line.
    pub summary: &'static str,
    /// The input that it requires.
    pub wish: Option<Wish>,
    /// Whether it is a published baseline.
    pub published: bool,
    /// Builds the estimator.
    pub build: fn(&Upkeep) -> Estimator,
}

impl RefreshName {
    /// Returns the expressions by which tests build the policy.
    #[cfg(test)]
    pub(crate) fn examples(&self) -> Vec<String> {
        argument::examples(self.name, self.argument.as_ref())
    }
}

impl Catalog {
    /// Returns the refresh policies.
    pub fn refreshes(&self) -> &[RefreshName] {
        &self.refreshes
    }

    /// Returns the estimators of change rates.
    pub fn estimators(&self) -> &'static [RateName] {
        ESTIMATORS
    }

    /// Builds the refresh policy that an expression names: `holistic`, `currency(0.95, 7)`,
    /// `sbr(0.3)`.
    ///
    /// # Errors
    ///
    /// If the expression is malformed, names an unknown policy, gives an argument that the
    /// policy does not take, or requires an input that `upkeep` lacks. The message says what to
    /// write instead.
    pub fn refresh(
        &self,
        expression: &str,
        upkeep: &Upkeep,
    ) -> Result<Box<dyn Refresh>, CatalogError> {
        let (name, argument) = parse_name(REFRESH, expression)?;
        let names = self.refreshes.iter().map(|refresh| refresh.name);
        let found = self.refreshes.iter().find(|refresh| refresh.name == name);
        let found = found.ok_or_else(|| CatalogError::unknown(REFRESH, name, names))?;
        if found.argument.is_none() && argument.is_some() {
            return Err(CatalogError::Argument {
                kind: REFRESH,
                name: found.name,
                takes: None,
            });
        }
        require(REFRESH, found.name, found.wish, upkeep)?;
        (found.build)(self.estimator(upkeep)?, upkeep, argument)
    }

    /// Returns whether the named refresh policy or the named scheduler plans fetches ahead for a
    /// budget. `false` for unknown names.
    ///
    /// Such a plan is no longer valid when the budget changes.
    pub fn plans_ahead(&self, refresh: &str, scheduler: &str) -> bool {
        let named = |kind, text| parse_name(kind, text).map(|(name, _)| name).ok();
        let (refresh, scheduler) = (named(REFRESH, refresh), named(SCHEDULER, scheduler));
        let refreshes = (self.refreshes.iter())
            .any(|known| refresh == Some(known.name) && known.wish == Some(Wish::Budget));
        let polls =
            (self.schedulers().iter()).any(|known| scheduler == Some(known.name) && known.plans);
        refreshes || polls
    }

    /// Returns change rates as a refresh policy would estimate them, for planning tools.
    ///
    /// # Errors
    ///
    /// If there is no such estimator, or it requires an input that `upkeep` lacks.
    pub fn rates(&self, upkeep: &Upkeep) -> Result<Rates, CatalogError> {
        Ok(Rates::new(self.estimator(upkeep)?, Threshold::ANY))
    }

    fn estimator(&self, upkeep: &Upkeep) -> Result<Estimator, CatalogError> {
        let Some(expression) = &upkeep.rate else {
            return Ok(Estimator::Gamma);
        };
        let (name, argument) = parse_name(ESTIMATOR, expression)?;
        let names = ESTIMATORS.iter().map(|rate| rate.name);
        let found = ESTIMATORS.iter().find(|rate| rate.name == name);
        let found = found.ok_or_else(|| CatalogError::unknown(ESTIMATOR, name, names))?;
        if argument.is_some() {
            return Err(CatalogError::Argument {
                kind: ESTIMATOR,
                name: found.name,
                takes: None,
            });
        }
        require(ESTIMATOR, found.name, found.wish, upkeep)?;
        Ok((found.build)(upkeep))
    }

    /// Returns the tables of refresh policies and estimators for `--help`.
    pub fn refresh_help(&self) -> String {
        let refreshes = self.refreshes.iter().map(|refresh| HelpRow {
            name: named(refresh.name, refresh.argument.map(|argument| argument.form)),
            summary: refresh.summary,
            scale: format!("{}{}", refresh.scale, needs(refresh.wish)),
            published: refresh.published,
        });
        let rates = ESTIMATORS.iter().map(|rate| HelpRow {
            name: rate.name.to_owned(),
            summary: rate.summary,
            scale: needs(rate.wish).trim_start_matches("; ").to_owned(),
            published: rate.published,
        });
        format!(
            "Refresh policies and the worth of a visit (symbols: docs/science/theory.md, section 1):\n{}\n\
             Arguments of refresh policies:\n{}\n\
             Without DAYS, holistic counts all gains of a page alike.\n\
             For sbr and ebr, a visit is worth 0 before its planned step, and the maximum from then on. A change is large if it\n\
             replaces more than a share TAU of the text (0.1 by default). sbr counts only large changes. ebr weights a page by the\n\
             share of its changes that are large, times how often searches showed it (before any search, times its importance).\n\n\
             Estimators of change rates:\n{}",
            table(refreshes.collect()),
            argument::explained(
                self.refreshes
                    .iter()
                    .map(|refresh| (refresh.name, refresh.argument))
            ),
            table(rates.collect()),
        )
    }
}

fn require(
    kind: &'static str,
    name: &'static str,
    wish: Option<Wish>,
    upkeep: &Upkeep,
) -> Result<(), CatalogError> {
    let granted = match wish {
        Some(Wish::Budget) => upkeep.budget.is_some_and(|budget| budget > 0.0),
        Some(Wish::Rates) => upkeep.rates.is_some(),
        None => true,
        // Refresh policies and estimators never use these inputs.
        Some(Wish::Query | Wish::Location | Wish::Scores | Wish::Topic) => false,
    };
    match wish.filter(|_| !granted) {
        Some(wish) => Err(CatalogError::Missing { kind, name, wish }),
        None => Ok(()),
    }
}
