//! Staleness and embarrassment, planned ahead: SBR and EBR.
//!
//! The policies that Pandey & Olston (2005) compare with. SBR (Cho & Garcia-Molina): as few pages as possible out of date,
//! where a change of more than a share τ of the shingles counts. EBR (Wolf et al., WWW 2002): the same, each page by how
//! often it is shown and how likely an update makes it wrong. Both make whole visits for a budget of each step ([`plan::slots`](crate::plan::slots)).
//!
//! **Invariant:** a page is due at the beginning of its next step in the plan. After its last one it is due when
//! the plan ends: the first visit from then on makes the next plan, and by that all others are due when it says.

mod agenda;

use std::time::Duration;

use crate::estimate::Column;
use crate::plan::allocation::Demand;
use crate::refresh::by_rate;
use crate::{
    Curve, Estimator, Fact, Moment, Needs, Number, Page, Rates, Refresh, Term, Threshold, Visited,
};
use agenda::Agenda;

/// What is planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Few pages out of date: SBR.
    Staleness,
    /// Few searchers who find something else than they were promised: EBR.
    Embarrassment,
}

/// How far ahead and for how much is planned.
#[derive(Debug, Clone, Copy)]
pub struct Horizon {
    /// Visits a second.
    pub budget: f64,
    /// How long a step is; below one second it is one second.
    pub step: Duration,
    /// Steps of a plan; 0 is 1.
    pub slots: u32,
    /// When the first plan begins; `None`: with the first visit.
    pub since: Option<Moment>,
}

/// Visits as planned: worth everything when their step has come, nothing before. New pages come first.
#[derive(Debug, Clone)]
pub struct Slotted {
    objective: Objective,
    threshold: Threshold,
    rates: Rates,
    pages: Column<Known>,
    /// Pages with a copy.
    copies: usize,
    /// Whether any page was ever shown to a searcher.
    shown: bool,
    /// Updates of all pages, and those of more than the threshold.
    updates: (f64, f64),
    agenda: Agenda,
}

/// What is known of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Changes a second.
    rate: f32,
    importance: f32,
    /// Views and clicks.
    shown: f32,
    /// Updates seen, and those of more than the threshold.
    updates: (f32, f32),
    copy: bool,
}

/// Everything from this age on; `None`: nothing, ever.
struct Step(Option<f64>);

impl Curve for Step {
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
    /// Plans for an objective, with changes of more than a threshold.
    pub fn new(
        objective: Objective,
        threshold: Threshold,
        estimator: Estimator,
        horizon: Horizon,
    ) -> Self {
        // What embarrasses is how an update is, not how often there is one: every change is an update.
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

    /// What a fresh copy of a page is worth to the plan.
    fn weight(&self, page: &Known) -> f64 {
        match self.objective {
            Objective::Staleness => 1.0,
            Objective::Embarrassment if self.shown => self.harm(page) * f64::from(page.shown),
            Objective::Embarrassment => self.harm(page) * f64::from(page.importance),
        }
    }

    /// d(p): the share of its updates that touch more than the threshold. That of all pages counts as one update
    /// more, and so does 1 for all pages.
    fn harm(&self, page: &Known) -> f64 {
        let all = (self.updates.1 + 1.0) / (self.updates.0 + 1.0);
        (f64::from(page.updates.1) + all) / (f64::from(page.updates.0) + 1.0)
    }

    fn demands(&self) -> Vec<(Number, Demand)> {
        let copies = self.pages.iter().filter(|(_, known)| known.copy);
        let demand = |(page, known): (Number, Known)| {
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
                self.pages.add(discovered.page, Known::default());
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

    fn weigh(&mut self, visited: &Visited<'_>, importance: f64) {
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
        // A page that was found missing twice is not planned for.
        let copy = history.fresh.is_some() && history.gone < 2;
        self.copies = self.copies + usize::from(copy) - usize::from(known.copy);
        *known = Known {
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
        Box::new(Step(page.history.asked.and_then(wait)))
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
