//! Policies that know how often a page changes and how important it is, and nothing else.

use super::curve::{self, Curve};
use super::{DAY, NEW_FIRST, Refresh};
use crate::{Fact, Needs, Number, Page, Rates, Term, Worth};

/// What a visit is worth by rate and importance.
pub trait Rule: Send {
    /// As the copy ages.
    fn curve(&self, rate: f64, importance: f64) -> impl Curve + 'static;

    /// If there is no copy; such a page comes first, as long as a policy has no unit for it.
    fn first(&self, _rate: f64, importance: f64) -> f64 {
        importance * NEW_FIRST
    }
}

/// A policy by change rate and importance.
#[derive(Debug, Clone)]
pub struct ByRate<R> {
    rates: Rates,
    rule: R,
}

impl<R> ByRate<R> {
    /// The policy of this rule, with rates as these are estimated.
    pub fn new(rates: Rates, rule: R) -> Self {
        Self { rates, rule }
    }
}

impl<R: Rule> Refresh for ByRate<R> {
    fn needs(&self) -> Needs {
        self.rates.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.rule.curve(self.rates.rate(page), importance))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        Worth::new(self.rule.first(self.rates.prior(page), importance))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        terms(self.rates.rate(page), page, importance)
    }
}

/// What is said of every page whose rate is known.
pub fn terms(rate: f64, page: Page<'_>, importance: f64) -> Vec<Term> {
    let gap = curve::days_between_visits(page);
    let mut terms = vec![
        Term::new("importance", importance),
        Term::new("changes a day", rate * DAY),
    ];
    terms.extend(gap.map(|days| Term::new("days between visits", days)));
    terms
}
