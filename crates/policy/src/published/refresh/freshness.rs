//! Maximizes the freshness of important pages.
//!
//! Cho & Garcia-Molina's optimum (TODS 2003) as an index policy: at one price, every page is
//! visited as often as their plan says (docs/science/theory.md, section 1). Change hints from
//! sitemaps and feeds are weighted by their measured reliability.

use crate::estimate::Trust;
use crate::refresh::aging::Aging;
use crate::refresh::by_rate;
use crate::{Curve, Fact, Needs, Number, Page, Rates, Refresh, Term, Worth};

/// Worth is `(w/λ)·g(λτ)`; without a copy it is `w/λ`, the limit for an infinitely old one.
#[derive(Debug, Clone)]
pub struct Freshness {
    rates: Rates,
    trust: Trust,
}

impl Freshness {
    /// Creates the policy with these estimated rates.
    pub fn new(rates: Rates) -> Self {
        Self {
            rates,
            trust: Trust::default(),
        }
    }

    fn aging(&self, page: Page<'_>, importance: f64) -> Aging {
        Aging::of(page, self.rates.rate(page), importance, &self.trust)
    }
}

impl Refresh for Freshness {
    fn needs(&self) -> Needs {
        self.rates.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
        self.trust.observe(fact);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.aging(page, importance))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        Worth::new(importance / self.rates.prior(page))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let mut terms = by_rate::terms(self.rates.rate(page), page, importance);
        terms.extend(self.aging(page, importance).terms());
        terms
    }
}
