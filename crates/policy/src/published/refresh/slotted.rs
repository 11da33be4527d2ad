//! SBR and EBR: refresh plans that minimize staleness or embarrassment.
//!
//! These are the baselines of Pandey & Olston (2005). SBR (Cho & Garcia-Molina) minimizes the
//! number of outdated pages. Only a change of more than a share τ of the shingles counts. EBR
//! (Wolf et al., WWW 2002) weights each page by how often it is shown and by the share of its
//! changes above τ. Both plan whole visits with a budget per step
//! ([`plan::slots`](crate::plan::slots)).
//!
//! **Invariant:** a page is due at the start of its next step in the plan. After its last step
//! it is due when the plan ends. The first visit from then on makes the next plan, which sets
//! the due times of all other pages.

mod agenda;

use std::time::Duration;

use crate::estimate::Column;
use crate::plan::allocation::Demand;
use crate::refresh::by_rate;
use crate::{
    Curve, Estimator, Fact, Moment, Needs, Number, Page, Rates, Refresh, Term, Threshold, VisitFact,
};
use agenda::Agenda;

/// The objective of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Minimizes the number of outdated pages: SBR.
    Staleness,
    /// Minimizes the number of searchers who are shown outdated content: EBR.
    Embarrassment,
}

/// Length and budget of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Horizon {
    /// Visits per second.
    pub budget: f64,
    /// Length of a step, at least one second.
    pub step: Duration,
    /// Steps of a plan, at least one.
    pub slots: u32,
    /// Start of the first plan; `None` to start with the first visit.
    pub since: Option<Moment>,
}

/// A policy that visits pages as planned. A visit has the maximum worth from its step on, and
/// none before. New pages come after the visits that are due.
#[derive(Debug, Clone)]
pub struct Slotted {
    objective: Objective,
    threshold: Threshold,
    rates: Rates,
    pages: Column<PlannedPage>,
    /// Number of pages that have a copy and were not found gone twice since it was made.
    copies: usize,
    /// Whether any page was ever shown to a searcher.
    shown: bool,
    /// Number of updates of all pages, and number of those above the threshold.
    updates: (f64, f64),
    agenda: Agenda,
}

/// The record of a page.
#[derive(Debug, Clone, Copy, Default)]
struct PlannedPage {
    /// Changes per second.
    rate: f32,
    importance: f32,
    /// Sum of views and clicks.
    shown: f32,
    /// Number of updates seen, and number of those above the threshold.
    updates: (f32, f32),
    /// Whether it has a copy and was not found gone twice since it was made.
    copy: bool,
}

/// The maximum worth from this age in seconds on; `None` for no worth at any age.
struct DueStep(Option<f64>);

impl Curve for DueStep {
    fn at(&self, age: f64) -> f64 {
        match self.0 {
            Some(due) if due <= age => f64::MAX,
            _ => 0.0,
        }
    }

    fn age_of(&self, _worth: f64) -> Option<f64> {
        self.0
    }
}

impl Slotted {
    /// Creates a policy for an objective. SBR counts only changes above the threshold. EBR counts
    /// all changes, and weights a page by the share of them that is above the threshold.
    pub fn new(
        objective: Objective,
        threshold: Threshold,
        estimator: Estimator,
        horizon: Horizon,
    ) -> Self {
        // For embarrassment the size of an update enters the weight, so every change counts in
        // the rate.
        let counted = match objective {
            Objective::Staleness => threshold,
            Objective::Embarrassment => Threshold::ANY,
        };
        Self {
            objective,
            threshold,
            rates: Rates::new(estimator, counted),
            pages: Column::default(),
            copies: 0,
            shown: false,
            updates: (0.0, 0.0),
            agenda: Agenda::new(horizon),
        }
    }

    /// Returns the weight of a page in the plan.
    fn weight(&self, page: &PlannedPage) -> f64 {
        match self.objective {
            Objective::Staleness => 1.0,
            Objective::Embarrassment if self.shown => self.harm(page) * f64::from(page.shown),
            Objective::Embarrassment => self.harm(page) * f64::from(page.importance),
        }
    }

    /// Returns d(p), the share of a page's updates that are above the threshold.
    ///
    /// The share over all pages is a prior with a pseudo-count of one update. That share itself
    /// has a prior of 1, also with a pseudo-count of one.
    fn harm(&self, page: &PlannedPage) -> f64 {
        let all = (self.updates.1 + 1.0) / (self.updates.0 + 1.0);
        (f64::from(page.updates.1) + all) / (f64::from(page.updates.0) + 1.0)
    }

    fn demands(&self) -> Vec<(Number, Demand)> {
        let copies = self.pages.iter().filter(|(_, known)| known.copy);
        let demand = |(page, known): (Number, PlannedPage)| {
            let demand = Demand {
                rate: f64::from(known.rate),
                weight: self.weight(&known),
            };
            (page, demand)
        };
        copies.map(demand).collect()
    }
}

impl Refresh for Slotted {
    fn needs(&self) -> Needs {
        Needs {
            searches: self.objective == Objective::Embarrassment,
            ..self.rates.needs()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
        match fact {
            Fact::Discovered(discovered) => {
                self.pages.add(discovered.page, PlannedPage::default());
            }
            Fact::Shown(shown) => {
                if let Some(known) = self.pages.get_mut(shown.page) {
                    known.shown += (shown.views + shown.clicks) as f32;
                    self.shown |= known.shown > 0.0;
                }
            }
            Fact::Read(_) | Fact::Visited(_) => {}
        }
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        let (number, history) = (visited.page, visited.after);
        let rate = self.rates.rate(Page { number, history });
        let Some(known) = self.pages.get_mut(number) else {
            return;
        };
        let changes = |counted: Threshold| counted.changes(history) as f32;
        let (before, after) = (
            known.updates,
            (changes(Threshold::ANY), changes(self.threshold)),
        );
        self.updates.0 += f64::from(after.0 - before.0);
        self.updates.1 += f64::from(after.1 - before.1);
        // A page that was missing twice is not planned.
        let copy = history.fresh.is_some() && history.gone < 2;
        self.copies = self.copies + usize::from(copy) - usize::from(known.copy);
        *known = PlannedPage {
            rate: rate as f32,
            importance: importance as f32,
            shown: known.shown,
            updates: after,
            copy,
        };
        let Some(now) = history.asked else { return };
        if self.agenda.is_outdated(now, self.copies) {
            let demands = self.demands();
            self.agenda.remake(now, &demands);
        }
    }

    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        let wait = |asked| Some(self.agenda.due(page)?.since(asked).as_secs_f64());
        Box::new(DueStep(page.history.asked.and_then(wait)))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let mut terms = by_rate::terms(self.rates.rate(page), page, importance);
        if let Some(known) = self.pages.get(page.number) {
            terms.push(Term::new("weight", self.weight(&known)));
        }
        let planned = self.agenda.visits(page.number);
        terms.extend(planned.map(|visits| Term::new("visits planned", visits as f64)));
        terms
    }
}

#[cfg(test)]
mod tests;
