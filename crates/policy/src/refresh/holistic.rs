//! Refreshes by what searchers lose through outdated text. Our own policy, and the default.
//!
//! A change replaces a share d of a page's text, so the text of a copy ages at the rate λd, with
//! λ the change rate of the page ([`Turnover`]). A copy whose text is completely outdated costs
//! `A∞ = A/d` per second, where A is the gain of one change: predicted from the demand for the
//! page and d, and corrected by measured gains ([`Gains`]). A visit at age τ is worth
//! `(A∞/λd)·g(λdτ)`, averaged over the posterior of λ ([`Aging`]).
//!
//! New pages, known pages and pages without any search compete in one unit. Change hints age a
//! copy.

use super::aging::Aging;
use super::{Refresh, by_rate};
use crate::Curve;
use crate::estimate::{Demand, Gains, Trust, Turnover};
use crate::{Fact, Needs, Number, Page, Rates, Term, VisitFact, Worth};

/// Worth is `(A∞/λd)·g(λdτ)`; without a copy it is `A∞/λd`.
#[derive(Debug, Clone)]
pub struct Holistic {
    rates: Rates,
    demand: Demand,
    turnover: Turnover,
    gains: Gains,
    /// Reliability of change hints.
    trust: Trust,
}

/// The estimates behind the worth of a page.
struct Parts {
    /// λ, changes per second.
    rate: f64,
    /// Weight of the evidence on the rate, as a number of observed changes.
    certainty: f64,
    /// d, the share of the text that a change replaces.
    share: f64,
    /// The demand for the page, relative to the mean page.
    demand: f64,
    /// A, the gain of one change.
    amplitude: f64,
}

impl Holistic {
    /// Creates the policy with these estimated rates and this half-life of measured gains, in
    /// seconds. The half-life may be infinite.
    pub fn new(rates: Rates, half_life: f64) -> Self {
        Self {
            rates,
            demand: Demand::default(),
            turnover: Turnover::default(),
            gains: Gains::new(half_life),
            trust: Trust::default(),
        }
    }

    fn parts(&self, page: Page<'_>, importance: f64) -> Parts {
        let (rate, certainty) = self.rates.rate_and_certainty(page);
        let share = self.turnover.of(page.history);
        let predicted = self.gains.predicted_demand(importance);
        let demand = self.demand.of(page.number, predicted);
        Parts {
            rate,
            certainty,
            share,
            demand,
            amplitude: self.gains.amplitude(page.history, demand, share),
        }
    }

    fn aging(&self, page: Page<'_>, parts: &Parts) -> Aging {
        let complete = parts.amplitude / parts.share;
        Aging::of_text(page, parts.rate, parts.share, complete, &self.trust)
            .averaged(parts.certainty)
    }
}

impl Refresh for Holistic {
    fn needs(&self) -> Needs {
        Needs {
            searches: true,
            ..self.rates.needs()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
        self.trust.observe(fact);
        match fact {
            Fact::Discovered(discovered) => self.demand.discovered(discovered),
            Fact::Shown(shown) => self.demand.shown(shown),
            Fact::Visited(visited) => {
                self.turnover.visited(visited);
                if visited.before.fresh.is_none() && visited.after.fresh.is_some() {
                    self.demand.copied();
                }
            }
            Fact::Read(_) => {}
        }
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        let share = self.turnover.of(visited.after);
        self.gains.visited(visited, importance, share, &self.demand);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.aging(page, &self.parts(page, importance)))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        let rate = self.rates.prior(page) * self.turnover.mean();
        Worth::new(self.gains.missing(importance) / rate)
    }

    fn stake(&self, _page: Number, importance: f64) -> f64 {
        self.gains.missing(importance)
    }

    fn unit(&self) -> Option<f64> {
        Some(self.gains.model().missing(1.0))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let parts = self.parts(page, importance);
        let mut terms = by_rate::terms(parts.rate, page, importance);
        terms.push(Term::new("demand", parts.demand));
        terms.push(Term::new(
            "share of the text that a change replaces",
            parts.share,
        ));
        terms.push(Term::new("gain of a change", parts.amplitude));
        let strength = self.gains.model().strength;
        if strength.is_finite() {
            terms.push(Term::new("pseudo-count of the predicted gain", strength));
        }
        terms.extend(self.aging(page, &parts).terms());
        terms
    }
}
