//! The trait that every policy of a crawl implements.

use std::time::Duration;

use crate::{Fact, Moment, Moves, Needs, Number, Page, Price, Report, Term, Worth};

/// A function from a price to the first moment at which a page is worth that price.
pub type Dues<'a> = Box<dyn Fn(Price) -> Option<Moment> + 'a>;

/// Says what a fetch of a page is worth. Every policy obeys the laws in `laws.rs`.
///
/// Orderings, focused methods and the whole [`Crawl`](crate::Crawl) are policies. The other
/// traits of this crate are parts of a policy that answer a different question; each trait says
/// which.
pub trait Policy: Send {
    /// Returns the facts that [`observe`](Policy::observe) needs.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Processes a fact that the crawl has just learned.
    ///
    /// Adds to `moves` the pages that were never fetched and whose worth the fact changed.
    fn observe(&mut self, _fact: &Fact<'_>, _moves: &mut Moves) {}

    /// Announces the facts of earlier runs. Until [`end_replay`](Policy::end_replay),
    /// [`observe`](Policy::observe) gets the discoveries of all pages and then the last read of
    /// each page, and no worth is asked. Returns whether the order of these reads makes no
    /// difference to the policy.
    ///
    /// A policy may put off work from here to the end of the replay.
    fn begin_replay(&mut self) -> bool {
        false
    }

    /// Ends what [`begin_replay`](Policy::begin_replay) began.
    fn end_replay(&mut self) {}

    /// Returns the value that users can expect from a fetch of this page now. 0 means not now.
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth;

    /// Returns the first moment at which the page is worth `price`, or `None` if that is not
    /// foreseeable.
    ///
    /// The default is for a worth that does not depend on time.
    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let at = page.history.discovered;
        self.worth(page, at).pays(price).then_some(at)
    }

    /// Returns [`due`](Policy::due) as a function of the price, for callers that try many
    /// prices.
    ///
    /// The default calls `due` for every price. An implementation can evaluate the facts about
    /// the page once, before the first price.
    fn dues<'a>(&'a self, page: Page<'a>) -> Dues<'a> {
        Box::new(move |price| self.due(page, price))
    }

    /// Returns whether a page that was never fetched loses worth while it waits.
    fn fades(&self, _page: Number) -> bool {
        false
    }

    /// Returns the shortest time in which the worth of a page may change by what the crawl learns
    /// about other pages. `None` if its worth and its due time hold until the page itself is
    /// visited, apart from slow changes of estimates that all pages share.
    fn unsettled(&self, _page: Page<'_>) -> Option<Duration> {
        None
    }

    /// Returns the importance of a fetched page. A crawl with bounded storage keeps the most
    /// important pages.
    ///
    /// The default is the worth of the page before its first fetch.
    fn importance(&self, page: Page<'_>) -> Worth {
        self.worth(page, page.history.discovered)
    }

    /// Returns the terms that make up the worth of a page.
    fn terms(&self, _page: Page<'_>) -> Vec<Term> {
        Vec::new()
    }

    /// Returns a summary of the crawl so far.
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

    fn begin_replay(&mut self) -> bool {
        (**self).begin_replay()
    }

    fn end_replay(&mut self) {
        (**self).end_replay();
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

    fn unsettled(&self, page: Page<'_>) -> Option<Duration> {
        (**self).unsettled(page)
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
