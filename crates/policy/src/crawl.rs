//! The policy of a whole crawl.
//!
//! It combines four parts: an ordering for pages that were never fetched, a retry rule for
//! failed visits, an optional refresh policy for pages that have a copy, and optional polling
//! of sources.

mod revisit;

use std::time::Duration;

use crate::order::BreadthFirst;
use crate::retry::Retry;
use crate::{
    Dues, Fact, History, Moment, Moves, Needs, Number, Outcome, Page, Policy, Price, Refresh,
    Report, Sources, Term, Worth,
};
use revisit::{NextVisit, VisitGain};

/// Orders new pages, retries failed visits and, if configured, refreshes copies and polls
/// sources.
pub struct Crawl {
    /// The ordering of pages that were never fetched. It also gives the importance of pages.
    pub order: Box<dyn Policy>,
    /// When a page that did not answer, or was missing, is requested again.
    pub retry: Retry,
    /// The refresh policy; `None` if pages are never fetched again.
    pub refresh: Option<Box<dyn Refresh>>,
    /// Selects the pages to poll for new links and values the pages found there. `None` if no
    /// page is polled.
    pub sources: Option<Sources>,
    /// The interval at which listings (sitemaps and feeds) are polled, whatever the price.
    /// `None`: listings are treated like other pages.
    pub listings: Option<Duration>,
    /// Minimum worth, by the ordering, of a new page that is fetched. A page below it is worth 0.
    pub least: Worth,
}

impl Crawl {
    /// Returns the worth of the first copy of a page, given its worth by the ordering.
    fn first(&self, page: Number, order: Worth) -> Worth {
        match &self.refresh {
            _ if order < self.least || order == Worth::NONE => Worth::NONE,
            None => order,
            Some(refresh) => refresh.first(page, order.value()),
        }
    }

    fn first_worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let first = self.first(page.number, self.order.worth(page, now));
        let found = self.sources.as_ref().filter(|_| first > Worth::NONE);
        let found = found.and_then(|sources| sources.page(page.number, now));
        found.unwrap_or(first)
    }

    fn first_due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let least = Price::new(self.least.value()).unwrap_or(Price::LEAST);
        match &self.refresh {
            None if least.value() > price.value() => self.order.due(page, least),
            None => self.order.due(page, price),
            Some(_) => {
                let at = self.order.due(page, least)?;
                self.first_worth(page, at).pays(price).then_some(at)
            }
        }
    }

    /// Returns the gain and the poll time of the next visit to a page that was visited before.
    /// `None` without a refresh policy.
    fn revisit<'a>(&'a self, page: Page<'a>) -> Option<NextVisit<'a>> {
        let refresh = self.refresh.as_ref()?;
        let polled = self.polled(page);
        let copy = || refresh.curve(page, self.order.importance(page).value());
        let sources = self.sources.as_ref();
        Some(NextVisit {
            page,
            polled,
            gain: VisitGain {
                copy: polled.is_none().then(copy),
                links: sources.and_then(|sources| sources.curve(page)),
                absence: self.retry.absence(page.history),
            },
        })
    }

    fn observe_sources(&mut self, fact: &Fact<'_>) {
        let Some(sources) = &mut self.sources else {
            return;
        };
        // Only visits change the unit.
        if let (Fact::Visited(_), Some(refresh)) = (fact, &self.refresh) {
            sources.value_in(refresh.unit().unwrap_or(1.0));
        }
        sources.observe(fact);
        match fact {
            // The ordering knows the worth of a page only after it observed the links to it.
            Fact::Read(read) if sources.is_replaying() => sources.postpone(read),
            Fact::Read(read) => {
                for page in sources.unweighed(read) {
                    let stake = self.stake(page, &History::default());
                    if let Some(sources) = &mut self.sources {
                        sources.weigh(page, stake);
                    }
                }
            }
            Fact::Visited(visited) if visited.before.fresh.is_none() => {
                let copy = visited.after.fresh.is_some();
                let stake = self.stake(visited.page, visited.after);
                let unit = self.refresh.as_ref().and_then(|refresh| refresh.unit());
                if let Some(sources) = self.sources.as_mut().filter(|_| copy) {
                    // Relative stakes have a mean of 1 by definition, so each copy counts as 1.
                    // Estimates would be wrong here: a page that is estimated before the mean page
                    // is known may get a larger stake than all others together.
                    sources.serve(unit.map_or(stake, |_| 1.0));
                    if sources.is_unweighed(visited.page) {
                        sources.weigh(visited.page, stake);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the stake of a page: the loss per second while it has no current copy, relative to
    /// the mean page. Without a refresh policy the stake is the importance.
    fn stake(&self, page: Number, history: &History) -> f64 {
        let refresh = self.refresh.as_ref();
        let importance = self.order.importance(Page {
            number: page,
            history,
        });
        let importance = importance.value();
        refresh.map_or(importance, |refresh| {
            refresh.stake(page, importance) / refresh.unit().unwrap_or(1.0)
        })
    }

    /// Returns when a listing is polled next. `None` if the page is no listing or was never
    /// requested, or if listings have no interval.
    fn polled(&self, page: Page<'_>) -> Option<Moment> {
        let asked = page.history.asked.filter(|_| page.history.listing)?;
        Some(asked + self.listings?)
    }

    /// Returns when a page is requested again because its last visit got no answer or found the
    /// page missing. `None` if no such request is planned.
    fn again(&self, page: Page<'_>) -> Option<Moment> {
        match page.history.outcome? {
            Outcome::Unreachable => self.retry.due(page.history),
            Outcome::Gone => self.retry.confirm_due(page.history),
            _ => None,
        }
    }
}

impl Default for Crawl {
    fn default() -> Self {
        Self {
            order: Box::new(BreadthFirst),
            retry: Retry::default(),
            refresh: None,
            sources: None,
            listings: None,
            least: Worth::NONE,
        }
    }
}

impl Policy for Crawl {
    fn needs(&self) -> Needs {
        let refresh = self.refresh.as_ref().map(|refresh| refresh.needs());
        let sources = self.sources.as_ref().map(Sources::needs);
        let needs = self.order.needs().or(refresh.unwrap_or_default());
        needs.or(sources.unwrap_or_default())
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        if let Some(refresh) = &mut self.refresh {
            refresh.observe(fact);
            if let Fact::Visited(visited) = fact {
                let page = Page {
                    number: visited.page,
                    history: visited.after,
                };
                refresh.weigh(visited, self.order.importance(page).value());
            }
        }
        if self.least == Worth::NONE && self.refresh.is_none() {
            return self.order.observe(fact, moves);
        }
        let mut moved = Moves::default();
        self.order.observe(fact, &mut moved);
        for (page, worth) in moved.drain() {
            // The worth of a page that a source named does not depend on other links to it.
            if !self.fades(page) {
                moves.push(page, self.first(page, worth));
            }
        }
        self.observe_sources(fact);
    }

    fn begin_replay(&mut self) -> bool {
        let any_order = self.order.begin_replay();
        match &mut self.sources {
            Some(sources) => {
                sources.begin_replay();
                false
            }
            None => any_order && self.refresh.is_none(),
        }
    }

    fn end_replay(&mut self) {
        self.order.end_replay();
        let postponed = self.sources.as_mut().map(Sources::end_replay);
        for page in postponed.into_iter().flatten() {
            let stake = self.stake(page, &History::default());
            if let Some(sources) = self.sources.as_mut().filter(|of| of.is_unweighed(page)) {
                sources.weigh(page, stake);
            }
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        if page.history.outcome.is_none() {
            return self.first_worth(page, now);
        }
        let again = self.again(page).is_some_and(|due| due <= now);
        let again = again.then(|| self.first_worth(page, now));
        let revisit = self.revisit(page).map(|revisit| revisit.worth(now));
        again.max(revisit).unwrap_or_default()
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        self.dues(page)(price)
    }

    fn dues<'a>(&'a self, page: Page<'a>) -> Dues<'a> {
        if page.history.outcome.is_none() {
            return Box::new(move |price| self.first_due(page, price));
        }
        let again = self.again(page);
        let revisit = self.revisit(page);
        Box::new(move |price| {
            let again = again.filter(|_| self.first_due(page, price).is_some());
            let revisit = revisit.as_ref().and_then(|revisit| revisit.due(price));
            again.into_iter().chain(revisit).min()
        })
    }

    fn fades(&self, page: Number) -> bool {
        let sources = self.sources.as_ref();
        sources.is_some_and(|sources| sources.named(page))
    }

    fn unsettled(&self, page: Page<'_>) -> Option<Duration> {
        self.sources.as_ref()?.unsettled(page)
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        self.order.importance(page)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mut terms = self.order.terms(page);
        if let Some(refresh) = &self.refresh {
            let importance = self.order.importance(page).value();
            terms.extend(refresh.terms(page, importance));
        }
        if let Some(sources) = &self.sources {
            terms.extend(sources.terms(page));
        }
        terms
    }

    fn report(&self) -> Report {
        self.order.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::source::{Priced, SourceRules};
    use crate::{Appeared, Discovered, Shown, Visit, VisitFact};

    /// Stakes that are wrong by this factor for the first page.
    struct Overrated(f64);

    struct Worthless;

    impl Curve for Worthless {
        fn at(&self, _age: f64) -> f64 {
            0.0
        }
    }

    impl Refresh for Overrated {
        fn curve<'a>(&'a self, _page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
            Box::new(Worthless)
        }

        fn stake(&self, page: Number, _importance: f64) -> f64 {
            if page == Number(0) { self.0 } else { 1.0 }
        }

        fn unit(&self) -> Option<f64> {
            Some(1.0)
        }
    }

    /// One stake that is estimated too high must not make every click more valuable.
    #[test]
    fn the_value_of_a_click_does_not_depend_on_the_stake_of_one_page() {
        let profit = |factor: f64| {
            let mut crawl = Crawl {
                refresh: Some(Box::new(Overrated(factor))),
                sources: Some(Sources::new(Box::new(Priced), SourceRules::default())),
                ..Crawl::default()
            };
            let at = |hours: u64| Moment::START + Duration::from_secs(3_600 * (100 + hours));
            let mut moves = Moves::default();
            let mut histories = [History::discovered(at(0), 0); 10];
            for (number, history) in (0..).zip(&mut histories) {
                // Page 5 appears on the source, page 1, and is clicked.
                let appeared = Appeared {
                    on: Number(1),
                    after: at(0),
                };
                let discovered = Discovered {
                    seed: number == 1,
                    at: at(1),
                    appeared: (number == 5).then_some(appeared),
                    ..Discovered::bare(Number(number))
                };
                crawl.observe(&Fact::Discovered(discovered), &mut moves);
                let before = *history;
                *history = before.after(Visit::new(at(1), Outcome::Changed));
                let visited = VisitFact {
                    page: Number(number),
                    before: &before,
                    after: history,
                };
                crawl.observe(&Fact::Visited(visited), &mut moves);
            }
            for hours in [2, 4] {
                let shown = Shown {
                    page: Number(5),
                    at: at(hours),
                    views: 9.0,
                    clicks: 9.0,
                };
                crawl.observe(&Fact::Shown(shown), &mut moves);
            }
            let sources = crawl.sources.as_mut().unwrap();
            sources.wait(at(5));
            let account = sources.accounts().next().unwrap();
            account.outlook.profit
        };
        assert!(profit(1.0) > 0.0);
        assert_eq!(profit(1.0), profit(1e6));
    }
}
