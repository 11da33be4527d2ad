//! Refreshes by measured gains alone: the marginal form of user-centric crawling.
//!
//! An outdated copy costs `A` per second, and a visit at age τ is worth `(A/λ)·g(λτ)`
//! (docs/science/theory.md, section 1). A is the mean gain of the page's measured changes, shrunk
//! to the mean of its host.

use super::{Refresh, by_rate};
use crate::estimate::HostGains;
use crate::refresh::aging::Aging;
use crate::{Curve, Fact, Needs, Number, Page, Rates, Term, Worth};

/// Weight of the mean of the host in the estimate of one page, as a pseudo-count of changes.
const STRENGTH: f64 = 1.0;

/// Worth is `(A/λ)·g(λτ)`; without a copy it is `A/λ`. Before any gain was measured, A is the
/// importance.
#[derive(Debug, Clone)]
pub struct UserCentricMarginal {
    rates: Rates,
    gains: HostGains,
}

impl UserCentricMarginal {
    /// Creates the policy with these estimated rates.
    pub fn new(rates: Rates) -> Self {
        Self {
            rates,
            gains: HostGains::default(),
        }
    }

    fn amplitude(&self, page: Page<'_>, importance: f64) -> f64 {
        let Some(mean) = self.gains.mean(page.number) else {
            return importance;
        };
        let measured = &page.history.measured;
        let gain = f64::from(measured.gain).max(0.0);
        (gain + STRENGTH * mean) / (f64::from(measured.changes) + STRENGTH)
    }
}

impl Refresh for UserCentricMarginal {
    fn needs(&self) -> Needs {
        self.rates.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.rates.observe(fact);
        match fact {
            Fact::Discovered(discovered) => self.gains.discovered(discovered),
            Fact::Visited(visited) => self.gains.visited(visited),
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        let amplitude = self.amplitude(page, importance);
        Box::new(Aging::without_hints(self.rates.rate(page), amplitude))
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        Worth::new(self.stake(page, importance) / self.rates.prior(page))
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.gains.mean(page).unwrap_or(importance)
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let mut terms = by_rate::terms(self.rates.rate(page), page, importance);
        let amplitude = self.amplitude(page, importance);
        terms.push(Term::new("gain of a change", amplitude));
        terms
    }
}
