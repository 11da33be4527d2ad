//! Property tests that every policy must pass.
//!
//! The policies come from the catalog, so a new one is tested as soon as it has a name.

mod needs;
mod parts;
mod sources;
mod world;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use crate::catalog::{Catalog, Order, RefreshName, SchedulerName, Wishes};
use crate::order::{BreadthFirst, Scores};
use crate::retry::Retry;
use crate::source::{Scheduler, SourceRules, Sources};
use crate::{
    Crawl, Fact, History, Moment, Moves, Number, Outcome, Page, Policy, Price, Refresh, Text,
    Upkeep, Visit, VisitFact, Worth,
};
use world::{WorldStep, planned_visit, world};

const DAY: Duration = Duration::from_secs(86_400);

/// Orderings whose worth may fall when a page gets one more link: a poor parent lowers a mean
/// of parents and host, and an agent that runs out of energy loses its pages.
const MEANS: [&str; 7] = [
    "agents",
    "intelligent",
    "parent-quality",
    "forward-links",
    "laser",
    "learned",
    "bandit",
];

/// Every ordering of the catalog, and some combinations.
fn expressions() -> Vec<String> {
    let orders = Catalog::standard();
    let named = orders.orders().iter().flat_map(Order::examples);
    let combined = [
        "pagerank*0.7 + similarity*0.3",
        "hot-anchor*1000 + 0.5*backlink + depth-limited(2)",
        "opic + hot-page*2 + random(7)*1e-3",
    ];
    named.chain(combined.map(str::to_owned)).collect()
}

fn order(expression: &str) -> Box<dyn Policy> {
    let mut scores = Scores::default();
    scores.insert("https://a.edu/", 3.5);
    let inputs = Wishes {
        query: Some("red fox".into()),
        location: vec![
            "host:.edu=2".into(),
            "path:/shut=0".into(),
            "depth=0.8".into(),
        ],
        scores: Some(Arc::new(scores)),
        topic: Some(Arc::new(crate::focus::tests::red())),
    };
    Catalog::standard().order(expression, &inputs).unwrap()
}

/// Every refresh policy of the catalog, and some with an argument.
fn refreshes() -> Vec<String> {
    let catalog = Catalog::standard();
    let named = catalog.refreshes().iter().flat_map(RefreshName::examples);
    let others = ["currency(0)", "currency(3)"].map(str::to_owned);
    named.chain(others).collect()
}

/// Every refresh policy but those that plan ahead: what their plans give to a page depends on all
/// other pages.
fn by_curve() -> Vec<String> {
    let mut names = refreshes();
    names.retain(|name| !Catalog::standard().plans_ahead(name, "priced"));
    names
}

/// A crawl with this refresh policy and this estimator.
fn crawl(refresh: &str, rate: &str) -> Crawl {
    let mut rates = Scores::default();
    rates.insert("https://a.edu/", 0.5);
    rates.insert("https://b.example/fox", 0.0);
    let upkeep = Upkeep {
        rate: Some(rate.to_owned()),
        rates: Some(Arc::new(rates)),
        budget: Some(2.5 / DAY.as_secs_f64()),
        slots: 6,
        ..Upkeep::default()
    };
    let refresh = Catalog::standard().refresh(refresh, &upkeep).unwrap();
    refreshing(Some(refresh))
}

fn refreshing(refresh: Option<Box<dyn Refresh>>) -> Crawl {
    Crawl {
        refresh,
        retry: Retry {
            confirm: Some(DAY / 8),
            ..Retry::default()
        },
        order: Box::new(BreadthFirst),
        sources: None,
        listings: Some(DAY),
        least: Worth::new(0.2),
    }
}

/// Every scheduler of the catalog.
fn schedulers() -> Vec<(String, Box<dyn Scheduler>)> {
    let catalog = Catalog::standard();
    let names = catalog
        .schedulers()
        .iter()
        .flat_map(SchedulerName::examples);
    let built = names.map(|name| {
        let scheduler = catalog.scheduler(&name).expect("the example is valid");
        (name, scheduler)
    });
    built.collect()
}

/// Returns the name of an expression that has an argument.
fn base(expression: &str) -> &str {
    expression.split('(').next().unwrap_or(expression)
}

fn policies() -> Vec<(String, Box<dyn Policy>)> {
    let mut policies: Vec<(String, Box<dyn Policy>)> =
        vec![("crawl".into(), Box::new(refreshing(None)))];
    policies.extend(refreshes().into_iter().map(|name| {
        let crawl: Box<dyn Policy> = Box::new(crawl(&name, "gamma"));
        (name, crawl)
    }));
    policies.extend(schedulers().into_iter().map(|(name, scheduler)| {
        let mut crawl = crawl("holistic", "gamma");
        crawl.sources = Some(Sources::new(scheduler, SourceRules::default()));
        let crawl: Box<dyn Policy> = Box::new(crawl);
        (format!("holistic with {name}"), crawl)
    }));
    for rate in Catalog::standard().estimators() {
        let crawl: Box<dyn Policy> = Box::new(crawl("freshness", rate.name));
        policies.push((format!("freshness by {}", rate.name), crawl));
    }
    policies.extend(expressions().into_iter().map(|name| {
        let order = order(&name);
        (name, order)
    }));
    policies
}

/// Any history of visits, hints and measured gains.
fn history() -> impl Strategy<Value = History> {
    let visits = prop::collection::vec(planned_visit(), 0..12);
    (0u64..1 << 50, any::<u16>(), 0u16..3, visits).prop_map(|(start, depth, signals, visits)| {
        let start = History::discovered(Moment::from_micros(start), depth);
        let visited = visits
            .iter()
            .fold(start, |history, visit| visit.applied_to(history));
        let last = visited.asked.unwrap_or(visited.discovered);
        let listing = depth.is_multiple_of(5);
        (0..signals)
            .fold(visited, |history, _| history.signalled(last + DAY))
            .listing(listing)
    })
}

proptest! {
    #[test]
    fn due_is_the_inverse_of_worth(
        world in world(),
        number in 0u32..16,
        history in history(),
        exponent in -12f64..12.0,
        cheaper in 0.01f64..1.0,
        later in 0u64..1 << 52,
    ) {
        let price = 10f64.powf(exponent);
        let dear = Price::new(price).unwrap();
        let cheap = Price::new(price * cheaper).unwrap();
        let page = Page { number: Number(number), history: &history };
        for (name, mut policy) in policies() {
            world.feed(policy.as_mut());
            let now = history.discovered + Duration::from_micros(later);
            prop_assert!(policy.worth(page, now).value().is_finite(), "{}: worth is finite", name);
            prop_assert_eq!(policy.worth(page, now), policy.worth(page, now), "{}: same input, same output", name);
            let Some(due) = policy.due(page, dear) else { continue };
            prop_assert!(policy.worth(page, due).pays(dear), "{}: due is the inverse of worth", name);
            // `due` rounds up to a microsecond, and the rounding of a double may add another.
            let before = Moment::from_micros(due.micros().saturating_sub(3));
            if before > history.discovered {
                prop_assert!(!policy.worth(page, before).pays(dear), "{}: due is the first moment", name);
            }
            let sooner = policy.due(page, cheap);
            prop_assert!(sooner.is_some_and(|sooner| sooner <= due), "{}: a lower price never delays", name);
        }
    }

    #[test]
    fn more_views_and_larger_gains_never_delay_a_refresh(
        world in world(),
        number in 0u32..16,
        history in history(),
        views in 0.0f64..100.0,
        more in 0.0f32..100.0,
        exponent in -12f64..12.0,
        name in prop::sample::select(by_curve()),
    ) {
        let price = Price::new(10f64.powf(exponent)).unwrap();
        let mut policy = crawl(&name, "gamma");
        world.feed(&mut policy);
        let number = Number(number);
        let due = |policy: &Crawl, history: &History| {
            policy.due(Page { number, history }, price).unwrap_or(Moment::from_micros(u64::MAX))
        };
        // By more than rounding errors.
        let later = |one: Moment, other: Moment| {
            one.micros() as f64 > other.micros() as f64 * (1.0 + 1e-9)
        };
        let before = due(&policy, &history);
        if history.recent.iter().next_back().is_some_and(|last| last.gain.is_some()) {
            let last = history.recent.iter().next_back().and_then(|last| last.gain);
            let gained = history.gained(last.unwrap_or_default() + more);
            prop_assert!(!later(due(&policy, &gained), before), "a larger gain");
        }
        let shown = Fact::Shown(crate::Shown { page: number, at: Moment::START, views, clicks: 0.0 });
        policy.observe(&shown, &mut Moves::default());
        policy.observe(&shown, &mut Moves::default());
        let wanted = due(&policy, &history);
        policy.observe(&shown, &mut Moves::default());
        prop_assert!(!later(due(&policy, &history), wanted), "more views");
    }

    /// A clock that was set back dates a visit before the previous visit.
    #[test]
    fn worth_is_finite_and_due_its_inverse_after_visits_dated_backwards(
        world in world(),
        number in 0u32..16,
        discovered in 0u64..1 << 50,
        visits in prop::collection::vec((0u64..1 << 50, 0usize..4), 1..8),
        now in 0u64..1 << 51,
        exponent in -12f64..12.0,
    ) {
        let outcomes = [Outcome::Changed, Outcome::Unchanged, Outcome::Gone, Outcome::Unreachable];
        let now = Moment::from_micros(now);
        let price = Price::new(10f64.powf(exponent)).unwrap();
        for (name, mut policy) in policies() {
            world.feed(policy.as_mut());
            let mut history = History::discovered(Moment::from_micros(discovered), 1);
            for &(at, outcome) in &visits {
                let before = history;
                history = before.after(Visit::new(Moment::from_micros(at), outcomes[outcome])).named(1);
                let fact = VisitFact { page: Number(number), before: &before, after: &history };
                policy.observe(&Fact::Visited(fact), &mut Moves::default());
            }
            let page = Page { number: Number(number), history: &history };
            prop_assert!(policy.worth(page, now).value().is_finite(), "{}: worth is finite", name);
            if let Some(due) = policy.due(page, price) {
                prop_assert!(policy.worth(page, due).pays(price), "{}: due is the inverse of worth", name);
            }
        }
    }

    #[test]
    fn same_facts_make_the_same_worth_and_no_page_is_lost(world in world()) {
        for name in expressions() {
            let (mut one, mut other) = (order(&name), order(&name));
            world.feed(one.as_mut());
            world.feed(other.as_mut());
            for page in 0..world.pages {
                let worth = world.worth(one.as_ref(), page);
                prop_assert_eq!(worth, world.worth(other.as_ref(), page), "{}: page {}", &name, page);
                prop_assert!(worth == Worth::NONE || worth >= Worth::LEAST, "{}: page {} is worth {:?}", &name, page, worth);
                let may_refuse = ["depth-limited", "location", "hard"]
                    .iter()
                    .any(|refuses| name.contains(refuses));
                prop_assert!(may_refuse || worth != Worth::NONE, "{}: page {} is lost", &name, page);
            }
        }
    }

    #[test]
    fn reported_moves_keep_a_queue_equal_to_the_worths(world in world()) {
        for name in expressions() {
            let mut order = order(&name);
            let mut queue: Vec<Worth> = Vec::new();
            let mut read = vec![false; world.pages as usize];
            for step in &world.steps {
                if let WorldStep::Reads { page, .. } = step {
                    read[*page as usize] = true;
                }
                let mut moves = step.feed(order.as_mut());
                for (page, worth) in &moves {
                    prop_assert!(!read[page.index()], "{}: page {} was read", &name, page.0);
                    queue[page.index()] = *worth;
                }
                let reported = moves.len();
                moves.sort_by_key(|(page, _)| *page);
                moves.dedup_by_key(|(page, _)| *page);
                prop_assert_eq!(moves.len(), reported, "{}: each once", &name);
                if let WorldStep::Discovers { page, .. } = step {
                    queue.push(world.worth(order.as_ref(), *page));
                }
                for (page, &worth) in (0..).zip(&queue).filter(|&(page, _)| !read[page as usize]) {
                    prop_assert_eq!(world.worth(order.as_ref(), page), worth, "{}: page {}", &name, page);
                }
            }
        }
    }

    #[test]
    fn one_more_link_or_a_larger_weight_never_lowers_a_worth(world in world(), target in any::<u32>(), weight in 1f64..100.0) {
        prop_assume!(world.pages > 0);
        let target = target % world.pages;
        for name in expressions() {
            let mut order = order(&name);
            world.feed(order.as_mut());
            if !MEANS.contains(&base(&name)) && !world.is_read(target) {
                let before = world.worth(order.as_ref(), target);
                let page = world.pages;
                WorldStep::Discovers { page, url: "", host: 0, depth: 0, seed: false }.feed(order.as_mut());
                let links = vec![(target, "")];
                WorldStep::Reads { page, text: Text::Nothing, links, out_links: 1 }.feed(order.as_mut());
                let after = world.worth(order.as_ref(), target);
                prop_assert!(after >= before, "{}: {:?} after {:?}", &name, after, before);
            }
        }
        for name in Catalog::standard().names().filter(|&name| name != "depth-limited") {
            let (mut plain, mut weighted) = (order(name), order(&format!("{name}*{weight}")));
            world.feed(plain.as_mut());
            world.feed(weighted.as_mut());
            let (plain, weighted) = (world.worth(plain.as_ref(), target), world.worth(weighted.as_ref(), target));
            prop_assert!(weighted >= plain, "{}*{}: {:?} after {:?}", name, weight, weighted, plain);
        }
    }

    #[test]
    fn a_restart_keeps_worths(world in world()) {
        let replayed = world.replayed();
        for (name, tolerance) in [("backlink", 0.0), ("pagerank", 0.15), ("location", 0.0), ("given", 0.0), ("random(3)", 0.0)] {
            let (mut original, mut restarted) = (order(name), order(name));
            world.feed(original.as_mut());
            replayed.feed(restarted.as_mut());
            for page in 0..world.pages {
                let [original, restarted] = [&original, &restarted].map(|order| world.worth(order.as_ref(), page).value());
                prop_assert!((original - restarted).abs() <= tolerance * original.max(restarted), "{}: {} was {}", name, restarted, original);
            }
        }
    }

    #[test]
    fn a_restart_keeps_the_worth_of_revisits(world in world(), later in 1u64..1 << 45) {
        let replayed = world.replayed();
        // Plans of `sbr` and `ebr` depend on when they were made.
        for name in refreshes().into_iter().filter(|name| !name.contains("br")) {
            let (mut original, mut restarted) = (crawl(&name, "gamma"), crawl(&name, "gamma"));
            world.feed(&mut original);
            replayed.feed(&mut restarted);
            for number in 0..world.pages {
                let history = world.visited(number);
                let page = Page { number: Number(number), history: &history };
                let now = history.asked.unwrap_or(history.discovered) + Duration::from_micros(later);
                let [original, restarted] = [&original, &restarted].map(|crawl| crawl.worth(page, now).value());
                prop_assert!((original - restarted).abs() <= 1e-6 * original.max(restarted), "{}: page {}: {} was {}", name, number, restarted, original);
            }
        }
    }
}
