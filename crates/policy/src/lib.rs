//! What is a fetch worth?
//!
//! Pure: a policy knows facts, histories and moments; no URL type, no store, no clock, no chance. What
//! it knows it was told by [`observe`](Policy::observe); what it says is [`worth`](Policy::worth) and
//! [`due`](Policy::due), and nothing else in the program has an opinion on what to fetch.

pub mod catalog;
pub mod crawl;
mod estimate;
pub mod fact;
pub mod focus;
pub mod history;
#[cfg(test)]
mod laws;
pub mod moment;
pub mod order;
pub mod plan;
pub mod quality;
pub mod query;
pub mod refresh;
pub mod report;
pub mod retry;
pub mod server;
pub mod source;
pub mod worth;

pub use catalog::{Catalog, CatalogError, Upkeep, Wishes};
pub use crawl::Crawl;
pub use estimate::{Estimator, Rates, Threshold};
pub use fact::{
    About, Appeared, Discovered, Fact, Link, Moves, Needs, Number, Page, Read, Shown, Text, Visited,
};
pub use history::{History, Outcome, Visit};
pub use moment::Moment;
pub use refresh::{Curve, Refresh};
pub use report::{Report, Term};
pub use source::Sources;
pub use worth::{Cost, Price, Rank, Worth};

/// The first moment at which a page is worth a price, by the price.
pub type Dues<'a> = Box<dyn Fn(Price) -> Option<Moment> + 'a>;

/// Says what a fetch is worth. Every policy obeys the laws in `laws.rs`.
pub trait Policy: Send {
    /// What [`observe`](Policy::observe) wants to be told.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Takes in a fact that the crawl has just learned. Pages never fetched whose worth it changed go
    /// to `moves`.
    fn observe(&mut self, _fact: &Fact<'_>, _moves: &mut Moves) {}

    /// The user value expected from fetching this page now; zero: not now.
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth;

    /// The first moment at which the page is worth `price`; `None`: never, as far as is known. As it
    /// stands, for a worth that does not depend on the time.
    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let at = page.history.discovered;
        self.worth(page, at).pays(price).then_some(at)
    }

    /// [`due`](Policy::due) for one who asks at many prices. What is known of the page need be thought over only once.
    fn dues<'a>(&'a self, page: Page<'a>) -> Dues<'a> {
        Box::new(move |price| self.due(page, price))
    }

    /// Whether a page never fetched loses worth while it waits.
    fn fades(&self, _page: Number) -> bool {
        false
    }

    /// How important a page is that was fetched: what a crawl with little room keeps. As it stands, what
    /// it was worth before.
    fn importance(&self, page: Page<'_>) -> Worth {
        self.worth(page, page.history.discovered)
    }

    /// What the worth of a page is made of.
    fn terms(&self, _page: Page<'_>) -> Vec<Term> {
        Vec::new()
    }

    /// What there is to say of the crawl so far.
    fn report(&self) -> Report {
        Report::default()
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        (**self).observe(fact, moves);
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        (**self).worth(page, now)
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        (**self).due(page, price)
    }

    fn dues<'a>(&'a self, page: Page<'a>) -> Dues<'a> {
        (**self).dues(page)
    }

    fn fades(&self, page: Number) -> bool {
        (**self).fades(page)
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        (**self).importance(page)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        (**self).terms(page)
    }

    fn report(&self) -> Report {
        (**self).report()
    }
}
