//! Tests that the choice of early pages does not depend on how many histories are loaded at
//! once.

use std::time::Duration;

use policy::{Outcome, Visit};
use proptest::prelude::*;

use super::*;
use crate::calendar::{Appointment, AppointmentKind};
use crate::frontier::early::PULLS;
use crate::frontier::schedule::PriceRule;
use crate::price::PriceTracker;
use crate::record::Visited;

/// A page: its host, its gain of worth per second, and how many seconds ago it was visited;
/// `None`: never.
type Drawn = (u32, u32, Option<u64>);

/// Worth grows with the seconds since the last visit. A new page has the worth of one second.
struct Drawing(Vec<Drawn>);

impl Drawing {
    fn slope(&self, page: Number) -> f64 {
        f64::from(self.0[page.index()].1)
    }
}

impl Policy for Drawing {
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let asked = page.history.asked;
        let age = asked.map_or(1.0, |asked| now.since(asked).as_secs_f64());
        Worth::new(self.slope(page.number) * age)
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let Some(asked) = page.history.asked else {
            return Some(page.history.discovered);
        };
        let wait = price.value() / self.slope(page.number);
        Some(asked + Duration::from_secs_f64(wait))
    }
}

/// The state after a look ahead: the worth of the page that can be fetched now, whether each page
/// is on the bench, the appointments, and the moment from which pages may be fetched early again.
type Left = (
    Option<Worth>,
    Vec<bool>,
    Vec<(Appointment, AppointmentKind)>,
    Moment,
);

/// Looks ahead in groups of this size, while `busy` servers are being visited. The appointments
/// were made at the first price and are examined at the second. Also returns how many histories
/// were loaded.
fn look_ahead(group: usize, pages: &[Drawn], prices: (f64, f64), busy: usize) -> (Left, usize) {
    let begin = Moment::START + Duration::from_secs(100_000);
    let url = |(number, page): (usize, &Drawn)| {
        PageUrl::parse(&format!("http://h{}.org/{number}", page.0)).unwrap()
    };
    let urls: Vec<PageUrl> = pages.iter().enumerate().map(url).collect();
    let mut ledger = MemoryLedger::default();
    for (order, (url, page)) in (0..).zip(urls.iter().zip(pages)) {
        let key = PageKey::of(url);
        let discovery = Discovery {
            url: url.as_str().to_owned(),
            order,
            at: begin,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        let mut facts = vec![Entry::Admitted(key, discovery)];
        if let Some(ago) = page.2 {
            let at = Moment::from_micros(begin.micros() - ago * 1_000_000);
            let visit = Visit::new(at, Outcome::Unchanged);
            let history = History::discovered(at, 0).after(visit);
            let visited = Box::new(Visited {
                history,
                ..Visited::default()
            });
            facts.push(Entry::Visited(key, visited));
        }
        ledger.commit(&facts);
    }
    let (policy, strategy) = (Drawing(pages.to_vec()), Box::new(Quality));
    let frontier = Frontier::new(policy, strategy, Price::LEAST, Manners::default(), 7);
    let mut frontier = frontier.with_budget(0.001);
    let set_price = |frontier: &mut Frontier<Drawing>, price: f64| {
        if let PriceRule::Budget(spending) = &mut frontier.price_rule {
            spending.tracker = PriceTracker::at(Price::new(price).unwrap());
        }
    };
    set_price(&mut frontier, prices.0);
    let texts = |_, _: &mut dyn FnMut(Said<'_>)| ();
    frontier.recall(&ledger, |_| true, texts, begin).unwrap();
    let under_way: Vec<_> = (0..busy).map(|_| frontier.bench.next(begin)).collect();
    set_price(&mut frontier, prices.1);
    let loaded = std::cell::Cell::new(0);
    while !frontier.pull_in_groups(group, begin) {
        bring(&mut frontier, |key| {
            loaded.set(loaded.get() + 1);
            Some(ledger.visited(key).unwrap().history)
        });
    }
    drop(under_way);
    let waits = (0..pages.len() as u32).map(|page| frontier.bench.waits(Number(page)));
    let waits = waits.collect();
    let appointments = std::iter::from_fn(|| frontier.calendar.pop()).collect();
    let early_from = frontier.spending().unwrap().early_from;
    let left = (frontier.bench.ready(begin), waits, appointments, early_from);
    (left, loaded.get())
}

#[test]
fn a_choice_loads_4_histories_if_one_of_these_pages_is_fetched_early_and_16_if_none_is() {
    // Each page was visited 10 s ago and is worth 10 to 80 now.
    let pages: Vec<Drawn> = (0..40)
        .map(|page| (page % 4, 1 + page % 8, Some(10)))
        .collect();
    let loaded = |price| look_ahead(4, &pages, (300.0, price), 0).1;
    assert_eq!(loaded(100.0), 4);
    assert_eq!(loaded(300.0), PULLS);
}

proptest! {
    #[test]
    fn the_size_of_groups_changes_no_choice(
        pages in prop::collection::vec((0u32..4, 1u32..9, prop::option::weighted(0.95, 1u64..60)), 1..60),
        prices in (300.0..1500.0, 100.0..1500.0),
        busy in 0usize..3,
        group in 1..PULLS,
    ) {
        let (whole, _) = look_ahead(PULLS, &pages, prices, busy);
        prop_assert_eq!(look_ahead(group, &pages, prices, busy).0, whole);
    }
}
