//! Refresh policies, which say when a page with a copy is worth another fetch.
//!
//! A [`Refresh`] is the part of a [`Crawl`](crate::Crawl) that values copies. It values revisits
//! and first visits in one unit, so that both compete at one [`Price`].
//!
//! Formulas use w for the importance of a page, λ for its change rate, τ for its age (the time
//! since its last request), and `g(x) = 1 − (1 + x)e^{−x}`.

pub(crate) mod aging;
pub(crate) mod by_rate;
mod currency;
mod harmonic;
mod holistic;
mod uniform;
mod user_centric_marginal;

pub use by_rate::ByRate;
pub use currency::Currency;
pub use harmonic::Harmonic;
pub use holistic::Holistic;
pub use uniform::Uniform;
pub use user_centric_marginal::UserCentricMarginal;

use crate::curve::{self, Curve};
use crate::{Fact, Moment, Needs, Number, Page, Price, Term, VisitFact, Worth};

/// Worth of a new page per unit of importance, for policies that have no formula for new pages.
///
/// It is so large that new pages come first, in the order of their importance.
pub const NEW_FIRST: f64 = 1e9;

/// Values another copy of a page, given the importance that the crawl's ordering assigns.
///
/// Unlike a [`Policy`](crate::Policy), it receives the importance as an argument. Any ordering
/// therefore works with any refresh policy. It returns a [`Curve`] instead of a worth, so that
/// gains can be added up.
pub trait Refresh: Send {
    /// Returns the facts that [`observe`](Refresh::observe) needs, in addition to those of the
    /// ordering.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Processes a fact that the crawl has just learned.
    fn observe(&mut self, _fact: &Fact<'_>) {}

    /// Processes a visit to a page of this importance, after [`observe`](Refresh::observe) got
    /// the same visit.
    fn weigh(&mut self, _visited: &VisitFact<'_>, _importance: f64) {}

    /// Returns the worth of a visit as a function of the time since the last request.
    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a>;

    /// Returns the worth of a visit now; 0 if the page was not requested before `now`.
    fn worth(&self, page: Page<'_>, importance: f64, now: Moment) -> Worth {
        curve::worth(&*self.curve(page, importance), page, now)
    }

    /// Returns the first moment at which a page that was requested before is worth `price`;
    /// `None` if never.
    fn due(&self, page: Page<'_>, importance: f64, price: Price) -> Option<Moment> {
        curve::due(&*self.curve(page, importance), page, price)
    }

    /// Returns the worth of the first copy of a page.
    fn first(&self, _page: Number, importance: f64) -> Worth {
        Worth::new(importance * NEW_FIRST)
    }

    /// Returns the expected loss per second while the copy of a page is outdated or missing.
    fn stake(&self, _page: Number, importance: f64) -> f64 {
        importance
    }

    /// Returns the unit of [`stake`](Refresh::stake): the stake of the mean page. It changes when
    /// gains are measured for the first time, and with every new estimate of them. `None` if a
    /// stake is an importance at all times.
    fn unit(&self) -> Option<f64> {
        None
    }

    /// Returns the terms of a page's worth, for explanations.
    fn terms(&self, _page: Page<'_>, _importance: f64) -> Vec<Term> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
