//! What every policy obeys, whatever it values.
//!
//! The orderings are those of the catalog: a new one is under these laws as soon as it has a name.

mod world;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use crate::catalog::{Catalog, Wishes};
use crate::order::{BreadthFirst, Scores};
use crate::refresh::Uniform;
use crate::retry::Retry;
use crate::{
    Crawl, History, Moment, Number, Outcome, Page, Policy, Price, Refresh, Text, Visit, Worth,
};
use world::{Step, world};

const DAY: Duration = Duration::from_secs(86_400);

/// The mean of parents and host falls when a poor parent appears: these may move both ways.
const MEANS: [&str; 2] = ["parent-quality", "forward-links"];

/// Every ordering of the catalog, and some combinations.
fn expressions() -> Vec<String> {
    let orders = Catalog::standard();
    let named = orders.orders().iter().map(|order| match order.argument {
        Some(_) => format!("{}(3)", order.name),
        None => order.name.to_owned(),
    });
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
    let wishes = Wishes {
        query: Some("red fox".into()),
        location: vec![
            "host:.edu=2".into(),
            "path:/shut=0".into(),
            "depth=0.8".into(),
        ],
        scores: Some(Arc::new(scores)),
    };
    Catalog::standard().order(expression, &wishes).unwrap()
}

fn policies() -> Vec<(String, Box<dyn Policy>)> {
    let crawl = |refresh: Option<Box<dyn Refresh>>| Crawl {
        refresh,
        retry: Retry::default(),
        order: Box::new(BreadthFirst),
        least: Worth::new(0.2),
    };
    let mut policies: Vec<(String, Box<dyn Policy>)> = vec![
        ("crawl".into(), Box::new(crawl(None))),
        (
            "crawl that refreshes".into(),
            Box::new(crawl(Some(Box::new(Uniform::every(DAY))))),
        ),
    ];
    policies.extend(expressions().into_iter().map(|name| {
        let order = order(&name);
        (name, order)
    }));
    policies
}

fn history() -> impl Strategy<Value = History> {
    let outcome = prop::sample::select(vec![
        Outcome::Changed,
        Outcome::Unchanged,
        Outcome::Gone,
        Outcome::Unreachable,
        Outcome::Refused,
    ]);
    let visits = prop::collection::vec((0u64..1 << 40, outcome), 0..6);
    (0u64..1 << 50, any::<u16>(), visits).prop_map(|(start, depth, visits)| {
        let mut at = Moment::from_micros(start);
        visits
            .into_iter()
            .fold(History::discovered(at, depth), |history, (gap, outcome)| {
                at = at + Duration::from_micros(gap);
                history.after(Visit::new(at, outcome))
            })
    })
}

proptest! {
    #[test]
    fn due_is_the_inverse_of_worth(
        world in world(),
        number in 0u32..16,
        history in history(),
        price in 1e-12f64..3.0,
        cheaper in 0.01f64..1.0,
        later in 0u64..1 << 52,
    ) {
        let dear = Price::new(price).unwrap();
        let cheap = Price::new(price * cheaper).unwrap();
        let page = Page { number: Number(number), history: &history };
        for (name, mut policy) in policies() {
            world.tell(policy.as_mut());
            let now = history.discovered + Duration::from_micros(later);
            prop_assert!(policy.worth(page, now).value().is_finite(), "{}: worth is finite", name);
            prop_assert_eq!(policy.worth(page, now), policy.worth(page, now), "{}: same input, same output", name);
            let Some(due) = policy.due(page, dear) else { continue };
            prop_assert!(policy.worth(page, due).pays(dear), "{}: due is the inverse of worth", name);
            // Microseconds are rounded up, and once more for the fraction of a double.
            let before = Moment::from_micros(due.micros().saturating_sub(3));
            if before > history.discovered {
                prop_assert!(!policy.worth(page, before).pays(dear), "{}: due is the first moment", name);
            }
            let sooner = policy.due(page, cheap);
            prop_assert!(sooner.is_some_and(|sooner| sooner <= due), "{}: a lower price never delays", name);
        }
    }

    #[test]
    fn same_facts_make_the_same_worth_and_no_page_is_lost(world in world()) {
        for name in expressions() {
            let (mut one, mut other) = (order(&name), order(&name));
            world.tell(one.as_mut());
            world.tell(other.as_mut());
            for page in 0..world.pages {
                let worth = world.worth(one.as_ref(), page);
                prop_assert_eq!(worth, world.worth(other.as_ref(), page), "{}: page {}", &name, page);
                prop_assert!(worth == Worth::NONE || worth >= Worth::LEAST, "{}: page {} is worth {:?}", &name, page, worth);
                let may_refuse = name.contains("depth-limited") || name.contains("location");
                prop_assert!(may_refuse || worth != Worth::NONE, "{}: page {} is lost", &name, page);
            }
        }
    }

    #[test]
    fn the_queue_knows_what_the_policy_thinks(world in world()) {
        for name in expressions() {
            let mut order = order(&name);
            let mut queue: Vec<Worth> = Vec::new();
            let mut read = vec![false; world.pages as usize];
            for step in &world.steps {
                if let Step::Reads { page, .. } = step {
                    read[*page as usize] = true;
                }
                let mut moves = step.tell(order.as_mut());
                for (page, worth) in &moves {
                    prop_assert!(!read[page.index()], "{}: page {} was read", &name, page.0);
                    queue[page.index()] = *worth;
                }
                let told = moves.len();
                moves.sort_by_key(|(page, _)| *page);
                moves.dedup_by_key(|(page, _)| *page);
                prop_assert_eq!(moves.len(), told, "{}: each once", &name);
                if let Step::Hears { page, .. } = step {
                    queue.push(world.worth(order.as_ref(), *page));
                }
                for (page, &worth) in (0..).zip(&queue).filter(|&(page, _)| !read[page as usize]) {
                    prop_assert_eq!(world.worth(order.as_ref(), page), worth, "{}: page {}", &name, page);
                }
            }
        }
    }

    #[test]
    fn more_importance_never_delays(world in world(), target in any::<u32>(), weight in 1f64..100.0) {
        prop_assume!(world.pages > 0);
        let target = target % world.pages;
        for name in expressions() {
            let mut order = order(&name);
            world.tell(order.as_mut());
            if !MEANS.contains(&name.as_str()) && !world.is_read(target) {
                let before = world.worth(order.as_ref(), target);
                let page = world.pages;
                Step::Hears { page, url: "", host: 0, depth: 0, seed: false }.tell(order.as_mut());
                let links = vec![(target, "")];
                Step::Reads { page, text: Text::Nothing, links, out_links: 1 }.tell(order.as_mut());
                let after = world.worth(order.as_ref(), target);
                prop_assert!(after >= before, "{}: {:?} after {:?}", &name, after, before);
            }
        }
        for name in Catalog::standard().names().filter(|&name| name != "depth-limited") {
            let (mut plain, mut weighted) = (order(name), order(&format!("{name}*{weight}")));
            world.tell(plain.as_mut());
            world.tell(weighted.as_mut());
            let (plain, weighted) = (world.worth(plain.as_ref(), target), world.worth(weighted.as_ref(), target));
            prop_assert!(weighted >= plain, "{}*{}: {:?} after {:?}", name, weight, weighted, plain);
        }
    }

    #[test]
    fn a_stop_forgets_nothing(world in world()) {
        let recalled = world.recalled();
        for (name, tolerance) in [("backlink", 0.0), ("pagerank", 0.15), ("location", 0.0), ("given", 0.0), ("random(3)", 0.0)] {
            let (mut lived, mut told) = (order(name), order(name));
            world.tell(lived.as_mut());
            recalled.tell(told.as_mut());
            for page in 0..world.pages {
                let [lived, told] = [&lived, &told].map(|order| world.worth(order.as_ref(), page).value());
                prop_assert!((lived - told).abs() <= tolerance * lived.max(told), "{}: {} was {}", name, told, lived);
            }
        }
    }
}
