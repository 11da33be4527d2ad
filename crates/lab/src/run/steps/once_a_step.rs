//! A refresh policy for a crawl in steps: every page may be fetched again once a step.
//!
//! It wraps the policy of the experiment, which alone ranks the pages.
//!
//! **Invariant:** the wrapper keeps the order of all pages that have worth. Pages without worth
//! come after them, the one that has waited longest first. First copies come before all refreshes.

use std::time::Duration;

use policy::{Curve, Fact, Needs, Number, Page, Price, Refresh, Term, VisitFact, Worth};

/// Worth, one step after its last visit, of a page that the policy gives no worth. It is below
/// every worth that occurs in practice, and an `f32` holds it.
const NOTHING: f64 = 1e-30;

/// Maximum worth of a refresh. It is above every worth that occurs in practice, and below the worth
/// of a first copy.
const MOST: f64 = 1e30;

/// A policy by which every page may be fetched once a step.
pub(super) struct OnceAStep {
    policy: Box<dyn Refresh>,
    /// Seconds between two steps.
    step: f64,
}

impl OnceAStep {
    pub fn new(policy: Box<dyn Refresh>, step: Duration) -> Self {
        let step = step.as_secs_f64();
        Self { policy, step }
    }

    /// Returns the price at which every page is due one step after its last visit.
    pub fn price() -> Price {
        Price::new(NOTHING).expect("NOTHING is above 0")
    }
}

/// Worth 0 until one step after the last visit, and from then on the worth by the policy.
struct StepCurve<'a> {
    curve: Box<dyn Curve + 'a>,
    step: f64,
}

impl Curve for StepCurve<'_> {
    fn at(&self, age: f64) -> f64 {
        if age < self.step {
            return 0.0;
        }
        let worth = Worth::new(self.curve.at(age)).value();
        worth.max(NOTHING * (age / self.step)).min(MOST)
    }

    fn age_of(&self, _worth: f64) -> Option<f64> {
        Some(self.step)
    }
}

impl Refresh for OnceAStep {
    /// Adds visits, because the bench moves waiting pages only for a policy that needs some facts.
    fn needs(&self) -> Needs {
        self.policy.needs().or(Needs {
            visits: true,
            ..Needs::default()
        })
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.policy.observe(fact);
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        self.policy.weigh(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(StepCurve {
            curve: self.policy.curve(page, importance),
            step: self.step,
        })
    }

    fn first(&self, _page: Number, _importance: f64) -> Worth {
        Worth::new(f64::MAX)
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.policy.stake(page, importance)
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        self.policy.terms(page, importance)
    }
}
