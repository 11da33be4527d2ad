//! Refreshes by what searchers lose through an outdated copy: measured, or predicted from
//! importance.
//!
//! Our own policy (theory.md §1 and §4). An outdated copy costs `A` per second. A visit at age τ
//! is worth `(A/λ)·g(λτ)`. [`Foretold::Mean`] predicts A from other pages of the host.
//! [`Foretold::Importance`] also uses the importance of the page. New pages, known pages and
//! pages without any search then compete in one unit. It also uses change hints.

use super::aging::Aging;
use super::{Refresh, by_rate};
use crate::Curve;
use crate::estimate::{Gains, Trust, Window};
use crate::{Fact, Needs, Number, Page, Rates, Term, VisitFact, Worth};

/// How A is predicted if little was measured. Without any measured gain, A is the importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foretold {
    /// By the mean of the host's pages: `user-centric-marginal`.
    Mean,
    /// By importance, at the exchange rate of other pages of the host: `holistic`. Uses change
    /// hints.
    Importance,
}

/// Worth is `(A/λ)·g(λτ)`; without a copy it is `A/λ`.
#[derive(Debug, Clone)]
pub struct Holistic {
    prediction: Foretold,
    rates: Rates,
    gains: Gains,
    /// Reliability of change hints; empty for a policy that ignores them.
    trust: Trust,
}

impl Holistic {
    /// Creates the policy with these estimated rates.
    pub fn new(rates: Rates, prediction: Foretold) -> Self {
        Self {
            prediction,
            rates,
            gains: Gains::default(),
            trust: Trust::default(),
        }
    }

    /// Returns A of a page without measured gains.
    fn predicted(&self, page: Number, importance: f64) -> f64 {
        let known = match self.prediction {
            Foretold::Mean => self.gains.mean(page),
            Foretold::Importance => {
                let exchange = self.gains.exchange(page);
                exchange.map(|exchange| exchange * importance)
            }
        };
        known.unwrap_or(importance)
    }

    /// Returns A of a page: its measured gains, shrunk towards the prediction.
    fn amplitude(&self, page: Page<'_>, rate: f64, importance: f64) -> f64 {
        let prediction = self.predicted(page.number, importance);
        if self.gains.mean(page.number).is_none() {
            return prediction;
        }
        let strength = self.gains.strength();
        Window::of(page.history).amplitude(page.history, rate, prediction, strength)
    }

    fn aging(&self, page: Page<'_>, importance: f64) -> Aging {
        let rate = self.rates.rate(page);
        let amplitude = self.amplitude(page, rate, importance);
        match self.prediction {
            Foretold::Mean => Aging::without_hints(rate, amplitude),
            Foretold::Importance => Aging::of(page, rate, amplitude, &self.trust),
        }
    }
}

impl Refresh for Holistic {
    fn needs(&self) -> Needs {
        self.rates.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
        if self.prediction == Foretold::Importance {
            self.trust.observe(fact);
        }
        if let Fact::Discovered(discovered) = fact {
            self.gains.discovered(discovered);
        }
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        self.gains.visited(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.aging(page, importance))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        let amplitude = match self.prediction {
            Foretold::Mean => self.predicted(page, importance),
            Foretold::Importance => importance * self.gains.first_exchange(page).unwrap_or(1.0),
        };
        Worth::new(amplitude / self.rates.prior(page))
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.predicted(page, importance)
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let rate = self.rates.rate(page);
        let mut terms = by_rate::terms(rate, page, importance);
        let amplitude = self.amplitude(page, rate, importance);
        terms.push(Term::new("gain of a change", amplitude));
        terms.extend(self.aging(page, importance).terms());
        terms
    }
}
