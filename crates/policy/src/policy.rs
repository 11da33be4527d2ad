//! The trait that every policy of a crawl implements.

use crate::{Fact, Moment, Moves, Needs, Number, Page, Price, Report, Term, Worth};

/// The first moment at which a page is worth a price, by the price.
pub type Dues<'a> = Box<dyn Fn(Price) -> Option<Moment> + 'a>;

/// Says what a fetch of a page is worth. Every policy obeys the laws in `laws.rs`.
///
/// Orderings, focused methods and the whole [`Crawl`](crate::Crawl) are policies. Other traits are parts
/// of one that are asked another question; each says which.
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
