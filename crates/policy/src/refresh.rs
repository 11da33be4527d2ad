//! When is a page that we have worth fetching again? One file, one policy.
//!
//! A [`Refresh`] is the half of a [`Crawl`](crate::Crawl) that looks after known pages. It quotes visits to them
//! and first visits to new ones in one unit, so that both compete at one [`Price`].

pub(crate) mod aging;
pub(crate) mod by_rate;
mod currency;
mod harmonic;
mod holistic;
mod uniform;

pub use by_rate::ByRate;
pub use currency::Currency;
pub use harmonic::Harmonic;
pub use holistic::{Foretold, Holistic};
pub use uniform::Uniform;

use crate::curve::{self, Curve};
use crate::{Fact, Moment, Needs, Number, Page, Price, Term, Visited, Worth};

/// How much more than its importance a new page is worth to a policy that says nothing of new pages: they
/// come first, in the order of their importance.
pub const NEW_FIRST: f64 = 1e9;

/// Says what another copy of a page is worth. `importance` is what the crawl's ordering thinks of the page.
///
/// Not a [`Policy`](crate::Policy): it is told the importance by another, so that any ordering goes with
/// any refresh policy, and it answers with a [`Curve`] instead of a worth, so that gains can be added up.
pub trait Refresh: Send {
    /// What [`observe`](Refresh::observe) wants to be told, beside what the ordering wants.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Takes in a fact that the crawl has just learned.
    fn observe(&mut self, _fact: &Fact<'_>) {}

    /// Takes in what a visit found of a page of this importance, after [`observe`](Refresh::observe) took in the same.
    fn weigh(&mut self, _visited: &Visited<'_>, _importance: f64) {}

    /// What a visit would give to a page that was asked for before, as it waits. All that is known of the page is thought over once, for any moment and any price.
    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a>;

    /// What a visit now would give, if the page was asked for before.
    fn worth(&self, page: Page<'_>, importance: f64, now: Moment) -> Worth {
        curve::worth(&*self.curve(page, importance), page, now)
    }

    /// The first moment at which a page that was asked for before is worth `price`; `None`: never.
    fn due(&self, page: Page<'_>, importance: f64, price: Price) -> Option<Moment> {
        curve::due(&*self.curve(page, importance), page, price)
    }

    /// What the first copy of a page is worth.
    fn first(&self, _page: Number, importance: f64) -> Worth {
        Worth::new(importance * NEW_FIRST)
    }

    /// What a copy that is out of date, or missing, costs a second, as far as can be foretold.
    fn stake(&self, _page: Number, importance: f64) -> f64 {
        importance
    }

    /// What the worth of a page is made of.
    fn terms(&self, _page: Page<'_>, _importance: f64) -> Vec<Term> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
