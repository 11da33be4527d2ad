//! By which names does the user know refresh policies and estimators of change rates?

use std::sync::Arc;
use std::time::Duration;

use super::expression::{ESTIMATOR, REFRESH, SCHEDULER, parse_name};
use super::refreshes::ESTIMATORS;
use super::{Catalog, CatalogError, Row, Wish, named, needs, table};
use crate::estimate::{Estimator, Rates, Threshold};
use crate::scores::Scores;
use crate::{Moment, Refresh};

/// What the user says beside the name of a refresh policy.
#[derive(Debug, Clone)]
pub struct Upkeep {
    /// The estimator of change rates; `None`: `gamma`.
    pub rate: Option<String>,
    /// Change rates by URL, in changes a day, for the estimator `given`.
    pub rates: Option<Arc<Scores>>,
    /// Visits a second that there are for refreshes, for policies that plan ahead.
    pub budget: Option<f64>,
    /// How long a step of a plan is.
    pub step: Duration,
    /// How many steps a plan is made for.
    pub slots: u32,
    /// When the first plan begins; `None`: with the first visit.
    pub since: Option<Moment>,
}

impl Default for Upkeep {
    /// Steps of a day. Pandey & Olston (2005) have 48 steps, of a week.
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

/// Makes a refresh policy of how change rates are estimated, of the user's other wishes, and of what is in
/// parentheses behind its name.
pub type BuildRefresh =
    fn(Estimator, &Upkeep, Option<&str>) -> Result<Box<dyn Refresh>, CatalogError>;

/// A refresh policy, by name.
#[derive(Debug, Clone, Copy)]
pub struct RefreshName {
    /// What the user writes.
    pub name: &'static str,
    /// What is in parentheses behind the name, for the help; it can be left out.
    pub argument: Option<&'static str>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What its worths are.
    pub scale: &'static str,
    /// What it cannot do without.
    pub wish: Option<Wish>,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Makes one.
    pub build: BuildRefresh,
}

/// An estimator of change rates, by name.
#[derive(Debug, Clone, Copy)]
pub struct RateName {
    /// What the user writes.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What it cannot do without.
    pub wish: Option<Wish>,
    /// Whether it is a published baseline.
    pub published: bool,
    /// Makes one.
    pub build: fn(&Upkeep) -> Estimator,
}

impl Catalog {
    /// The refresh policies.
    pub fn refreshes(&self) -> &[RefreshName] {
        &self.refreshes
    }

    /// The estimators of change rates.
    pub fn estimators(&self) -> &'static [RateName] {
        ESTIMATORS
    }

    /// The catalog with one refresh policy more; one of the same name is replaced.
    #[must_use]
    pub fn with_refresh(mut self, refresh: RefreshName) -> Self {
        self.refreshes.retain(|other| other.name != refresh.name);
        self.refreshes.push(refresh);
        self
    }

    /// The refresh policy that an expression names: `holistic`, `currency(0.95, 7)`, `sbr(0.3)`.
    ///
    /// # Errors
    ///
    /// If the expression is malformed, names something that is not here, or something is missing in
    /// `upkeep`. The message says what to write instead.
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

    /// Whether the refresh policy that an expression names plans visits ahead for its budget, or the scheduler of this name does polls:
    /// what was planned does not hold for another budget.
    pub fn plans_ahead(&self, refresh: &str, scheduler: &str) -> bool {
        let named = |kind, text| parse_name(kind, text).map(|(name, _)| name).ok();
        let (refresh, scheduler) = (named(REFRESH, refresh), named(SCHEDULER, scheduler));
        let refreshes = (self.refreshes.iter())
            .any(|known| refresh == Some(known.name) && known.wish == Some(Wish::Budget));
        let polls =
            (self.schedulers().iter()).any(|known| scheduler == Some(known.name) && known.plans);
        refreshes || polls
    }

    /// Change rates as a refresh policy would estimate them, for those who plan.
    ///
    /// # Errors
    ///
    /// If there is no such estimator, or it needs what is not in `upkeep`.
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

    /// The table of refresh policies and estimators for `--help`.
    pub fn refresh_help(&self) -> String {
        let refreshes = self.refreshes.iter().map(|refresh| Row {
            name: named(refresh.name, refresh.argument),
            summary: refresh.summary,
            scale: format!("{}{}", refresh.scale, needs(refresh.wish)),
            published: refresh.published,
        });
        let rates = ESTIMATORS.iter().map(|rate| Row {
            name: rate.name.to_owned(),
            summary: rate.summary,
            scale: needs(rate.wish).trim_start_matches("; ").to_owned(),
            published: rate.published,
        });
        format!(
            "Refresh policies, and what a visit is worth to them:\n{}\n\
             Estimators of change rates:\n{}",
            table(refreshes.collect()),
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
        // No refresh policy knows what to do with these.
        Some(Wish::Query | Wish::Location | Wish::Scores | Wish::Topic) => false,
    };
    match wish.filter(|_| !granted) {
        Some(wish) => Err(CatalogError::Missing { kind, name, wish }),
        None => Ok(()),
    }
}
