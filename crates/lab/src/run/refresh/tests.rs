//! Tests of refresh runs against results computed by hand and against closed forms.

use page::PageUrl;
use policy::plan::{age, currency, freshness};
use policy::refresh::Uniform;
use policy::{Curve, Page};
use rand_distr::{Distribution, Exp};

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

fn day(number: f64) -> Moment {
    Moment::START + DAY.mul_f64(number)
}

fn urls(pages: usize) -> Vec<PageUrl> {
    let url = |page| PageUrl::parse(&format!("http://h{}.example/{page}", page % 3)).unwrap();
    (0..pages).map(url).collect()
}

fn lives(pages: usize, shown: &[(u32, f64, Option<u64>)]) -> Lives {
    let change = |&(page, at, text)| (page, Change { at: day(at), text });
    Lives::new(urls(pages), shown.iter().map(change))
}

/// Returns pages that change at these rates a day, from day 0 on.
fn poisson(rates: &[f64], days: f64) -> Lives {
    let mut shown = Vec::new();
    for (page, &rate) in (0..).zip(rates) {
        let mut chance = stream(5, For::Changes, u64::from(page), 0);
        let gap = Exp::new(rate).unwrap();
        let (mut at, mut text) = (0.0, 0);
        while at < days {
            shown.push((page, at, Some(text)));
            at += gap.sample(&mut chance);
            text += 1;
        }
    }
    lives(rates.len(), &shown)
}

fn uniform(every: f64) -> Crawl {
    by(Uniform::every(DAY.mul_f64(every)))
}

fn by(refresh: impl policy::Refresh + 'static) -> Crawl {
    Crawl {
        refresh: Some(Box::new(refresh)),
        ..Crawl::default()
    }
}

fn plan(days: f64, spread: f64) -> RefreshPlan {
    RefreshPlan {
        from: day(0.0),
        until: day(days),
        spread: DAY.mul_f64(spread),
        warm_up: DAY.mul_f64(spread),
        price: Price::ONE,
        graces: vec![DAY * 2],
        seed: 7,
    }
}

#[test]
fn a_page_is_visited_when_it_is_due_and_seen_as_it_is_then() {
    // Born on day 1, changed on 3.5 and 3.6, gone on 8.5, back on 12.5 as it was.
    let page = [
        (0, 1.0, Some(1)),
        (0, 3.5, Some(2)),
        (0, 3.6, Some(3)),
        (0, 8.5, None),
        (0, 12.5, Some(3)),
    ];
    let done = refresh(&lives(1, &page), uniform(3.0), &plan(20.0, 0.0));
    let history = done.histories[0].unwrap();
    // Visits on 1, 4 (changed), 7 (not), 10 (gone), 13 (as the copy), 16 and 19 (not).
    assert_eq!(done.visits, 7);
    assert_eq!((history.revisits, history.changes), (5, 1));
    assert_eq!(history.discovered, day(1.0));
    assert_eq!(history.outcome, Some(policy::Outcome::Unchanged));
    // It lived for 15 days; it was stale from 3.5 to 4, and from 12.5 to 13.
    assert!((done.recency.freshness() - 14.0 / 15.0).abs() < 1e-6);
    assert!((done.recency.pages() - 15.0 / 20.0).abs() < 1e-6);
    let age = (0.5_f64.powi(2) / 2.0 * 2.0) / 15.0;
    assert!((done.recency.age_days() - age).abs() < 1e-6);
    assert_eq!(done.recency.currency().next(), Some(1.0));
}

/// Wants a page every day, but never again after it was seen to change.
struct Shy(Uniform);

/// Worth zero at every age.
struct Never;

impl Curve for Never {
    fn at(&self, _age: f64) -> f64 {
        0.0
    }

    fn age_of(&self, _worth: f64) -> Option<f64> {
        None
    }
}

impl policy::Refresh for Shy {
    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        match page.history.changes {
            0 => self.0.curve(page, importance),
            _ => Box::new(Never),
        }
    }
}

#[test]
fn a_policy_from_outside_the_catalog_runs_and_learns_from_its_visits() {
    let pages = [(0, 0.0, Some(1)), (0, 4.5, Some(2)), (1, 0.0, Some(1))];
    let done = refresh(
        &lives(3, &pages),
        by(Shy(Uniform::every(DAY))),
        &plan(10.0, 0.0),
    );
    // The first page is visited on days 0 to 5, the second on days 0 to 9. The third never exists.
    assert_eq!(done.visits, 6 + 10);
    assert_eq!(done.histories[2], None);
}

#[test]
fn uniform_visits_reach_the_recency_of_the_closed_forms() {
    let rates: Vec<f64> = (0..600).map(|n| 0.01 * 1.01_f64.powi(n)).collect();
    let lives = poisson(&rates, 220.0);
    let done = refresh(&lives, uniform(5.0), &plan(220.0, 5.0));
    assert_eq!(done.visits, 600 * 43);
    let current = done.recency.currency().next().unwrap();
    let mean = |of: &dyn Fn(f64) -> f64| {
        let sum: f64 = rates.iter().map(|&rate| of(rate)).sum();
        sum / rates.len() as f64
    };
    for (found, expected, room) in [
        (
            done.recency.freshness(),
            mean(&|rate| freshness::of_page(rate, 5.0)),
            0.004,
        ),
        (
            current,
            mean(&|rate| currency::of_page(rate, 5.0, 2.0)),
            0.004,
        ),
        (
            done.recency.age_days(),
            mean(&|rate| age::of_page(rate, 5.0)),
            0.015,
        ),
    ] {
        assert!((found - expected).abs() < room, "{found}, not {expected}");
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_other_seeds_other_orders() {
    let lives = poisson(&[0.2; 40], 50.0);
    let run = |seed| {
        let plan = RefreshPlan {
            seed,
            ..plan(50.0, 5.0)
        };
        let done = refresh(&lives, uniform(5.0), &plan);
        (done.recency, done.visits, done.histories)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

#[test]
fn an_empty_world_and_a_run_that_ends_before_its_start_make_no_visits() {
    let done = refresh(&Lives::default(), uniform(1.0), &plan(10.0, 1.0));
    assert_eq!(done.visits, 0);
    assert!(done.recency.freshness().is_nan());
    let backwards = RefreshPlan {
        from: day(9.0),
        until: day(3.0),
        ..plan(0.0, 0.0)
    };
    let page = lives(1, &[(0, 1.0, Some(1))]);
    assert_eq!(refresh(&page, uniform(1.0), &backwards).visits, 0);
}
