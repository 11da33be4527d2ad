//! What searchers lose by a copy that is out of date, measured where it was, foretold from importance elsewhere.
//!
//! Ours (theory.md §1 and §4). A copy that is out of date costs `A` a second; a visit at age τ is worth `(A/λ)·g(λτ)`.
//! [`Marginal`](Foretold::Mean) foretells A from other pages of the host; holistic from importance as well, so that new
//! pages, known ones and those that nobody searched for yet compete in one unit, and hears the words of others.

use super::aging::Aging;
use super::{Refresh, by_rate};
use crate::Curve;
use crate::estimate::{Gains, Trust, Window};
use crate::{Fact, Needs, Number, Page, Rates, Term, Visited, Worth};

/// From what A is foretold where little was measured. If no gain was ever measured it is importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foretold {
    /// From the mean of the host's pages: `user-centric-marginal`.
    Mean,
    /// From importance, exchanged for gains as on other pages of the host: `holistic`. Uses signals.
    Importance,
}

/// Worth is `(A/λ)·g(λτ)`; without a copy `A/λ`.
#[derive(Debug, Clone)]
pub struct Holistic {
    foretold: Foretold,
    rates: Rates,
    gains: Gains,
    /// Empty for a policy that hears nobody.
    trust: Trust,
}

impl Holistic {
    /// The policy, with rates as these are estimated.
    pub fn new(rates: Rates, foretold: Foretold) -> Self {
        Self {
            foretold,
            rates,
            gains: Gains::default(),
            trust: Trust::default(),
        }
    }

    /// A of a page, of which nothing was measured.
    fn foretold(&self, page: Number, importance: f64) -> f64 {
        let known = match self.foretold {
            Foretold::Mean => self.gains.mean(page),
            Foretold::Importance => {
                let exchange = self.gains.exchange(page);
                exchange.map(|exchange| exchange * importance)
            }
        };
        known.unwrap_or(importance)
    }

    /// A of a page.
    fn amplitude(&self, page: Page<'_>, rate: f64, importance: f64) -> f64 {
        let foretold = self.foretold(page.number, importance);
        if self.gains.mean(page.number).is_none() {
            return foretold;
        }
        let strength = self.gains.strength();
        Window::of(page.history).amplitude(page.history, rate, foretold, strength)
    }

    fn aging(&self, page: Page<'_>, importance: f64) -> Aging {
        let rate = self.rates.rate(page);
        let amplitude = self.amplitude(page, rate, importance);
        match self.foretold {
            Foretold::Mean => Aging::deaf(rate, amplitude),
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
        if self.foretold == Foretold::Importance {
            self.trust.observe(fact);
        }
        if let Fact::Discovered(discovered) = fact {
            self.gains.discovered(discovered);
        }
    }

    fn weigh(&mut self, visited: &Visited<'_>, importance: f64) {
        self.gains.visited(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.aging(page, importance))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        let amplitude = match self.foretold {
            Foretold::Mean => self.foretold(page, importance),
            Foretold::Importance => importance * self.gains.first_exchange(page).unwrap_or(1.0),
        };
        Worth::new(amplitude / self.rates.prior(page))
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.foretold(page, importance)
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
