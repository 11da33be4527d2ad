//! Tests of runs in steps, on worlds small enough to check by hand.

use std::time::Duration;

use policy::catalog::{Catalog, Upkeep};
use policy::refresh::Uniform;
use policy::{Curve, Fact, Moment, Needs, Page, Refresh};

use super::*;
use crate::run::refresh::Change;
use crate::text::{QueryWorkload, Scorer, WorkloadQuery};

const DAY: Duration = Duration::from_secs(86_400);

fn day(number: u32) -> Moment {
    Moment::START + DAY * (number + 1)
}

/// Returns pages with these texts from these days on, observed for `days` days.
fn lives(pages: &[&[(u32, Option<u64>)]], days: u32) -> Lives {
    let url = |n: usize| page::PageUrl::parse(&format!("http://s{}.example/{n}", n % 2)).unwrap();
    let mut shown: Vec<(u32, Change)> = Vec::new();
    for (page, changes) in (0..).zip(pages) {
        let change = |&(at, text): &(u32, Option<u64>)| Change { at: day(at), text };
        shown.extend(changes.iter().map(|at| (page, change(at))));
    }
    // One more page, which changes on the last day, so that all days are observed.
    for (at, text) in [(0, 6), (days, 7)] {
        let change = Change {
            at: day(at),
            text: Some(text),
        };
        shown.push((pages.len() as u32, change));
    }
    Lives::new((0..=pages.len()).map(url).collect(), shown.into_iter())
}

/// Returns eight texts with words 0 to 3.
fn texts(pages: usize) -> CountedTexts {
    let counts = [
        [3, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 2, 0, 0],
        [1, 1, 0, 0],
        [0, 0, 1, 0],
        [2, 0, 2, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ];
    CountedTexts::invented(&counts, pages)
}

fn scored(texts: &CountedTexts) -> Scored {
    let query = |words: &[u32], share| WorkloadQuery {
        words: words.to_vec(),
        share,
    };
    let workload = QueryWorkload {
        queries: vec![query(&[0], 0.7), query(&[0, 1], 0.2), query(&[2], 0.1)],
        note: String::new(),
    };
    Scored::new(Scorer::TfIdf, texts, &workload, &[0, 1, 2]).unwrap()
}

fn uniform() -> Crawl {
    Crawl {
        refresh: Some(Box::new(Uniform::every(DAY))),
        ..Crawl::default()
    }
}

const WORLD: [&[(u32, Option<u64>)]; 4] = [
    &[(0, Some(0)), (3, Some(1)), (6, Some(0))],
    &[(0, Some(1)), (2, Some(2)), (5, Some(5))],
    &[(0, Some(3)), (4, None)],
    &[(3, Some(5)), (7, Some(4))],
];

#[test]
fn a_full_budget_keeps_quality_at_1_and_smaller_budgets_are_at_most_as_fresh() {
    let lives = lives(&WORLD, 10);
    let snapshots = Snapshots::new(&lives, DAY).unwrap();
    assert_eq!(snapshots.moments().len(), 11);
    assert_eq!(snapshots.born().len(), 5);
    let texts = texts(5);
    let scored = scored(&texts);
    let world = SteppedWorld::new(&lives, &snapshots, Some((&texts, &scored)));
    for protocol in [Protocol::Halves, Protocol::Whole, Protocol::Online] {
        let knowledge = InitialKnowledge::of_world(&world, protocol);
        // The budget is above the number of pages.
        let all = world.refresh(uniform(), &knowledge, 50);
        assert_eq!((all.quality, all.embarrassment), (Some(1.0), Some(0.0)));
        let none = world.refresh(uniform(), &knowledge, 0);
        assert!(none.quality < Some(1.0) && none.visits == 0);
        let fresh = |scores: &RepositoryScores| scores.recency.freshness();
        for budget in 1..=5 {
            let some = world.refresh(uniform(), &knowledge, budget);
            assert!(some.best <= 1.0 + 1e-12);
            let between = fresh(&none) <= fresh(&some) && fresh(&some) <= fresh(&all);
            assert!(between, "{protocol:?} {budget}");
        }
    }
}

#[test]
fn initial_histories_depend_on_the_protocol() {
    let lives = lives(&WORLD, 10);
    let snapshots = Snapshots::new(&lives, DAY).unwrap();
    let world = SteppedWorld::new(&lives, &snapshots, None);
    let changes = |protocol, page: u32| {
        let knowledge = InitialKnowledge::of_world(&world, protocol);
        let known = knowledge.of(page, day(0));
        known.map(|history| (history.revisits, history.changes))
    };
    // The first half has five steps and the whole time ten. Page 2 is gone from step 4 on, counted
    // from 0.
    assert_eq!(changes(Protocol::Halves, 0), Some((5, 1)));
    assert_eq!(changes(Protocol::Whole, 0), Some((10, 2)));
    assert_eq!(changes(Protocol::Whole, 2), Some((3, 0)));
    assert_eq!(changes(Protocol::Online, 0), None);
}

/// The visited pages with the gains of their visits.
type VisitGains = std::sync::Arc<std::sync::Mutex<Vec<(u32, Option<f32>)>>>;

/// A policy that values a page by its number times its age, and records the visits that it
/// observes.
struct VisitRecorder(VisitGains);

impl Refresh for VisitRecorder {
    fn needs(&self) -> Needs {
        Needs {
            visits: true,
            searches: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        if let Fact::Visited(visited) = fact {
            let last = visited.after.recent.iter().next_back();
            let visit = (visited.page.0, last.and_then(|last| last.gain));
            self.0.lock().unwrap().push(visit);
        }
    }

    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(Slope(f64::from(page.number.0)))
    }
}

/// Worth that grows with age.
struct Slope(f64);

impl Curve for Slope {
    fn at(&self, age: f64) -> f64 {
        self.0 * age
    }
}

#[test]
fn a_policy_observes_each_of_its_visits_once_with_its_gain() {
    let lives = lives(&WORLD, 7);
    let snapshots = Snapshots::new(&lives, DAY).unwrap();
    let texts = texts(5);
    let scored = scored(&texts);
    let world = SteppedWorld::new(&lives, &snapshots, Some((&texts, &scored)));
    let knowledge = InitialKnowledge::of_world(&world, Protocol::Online);
    let gains_seen = VisitGains::default();
    let crawl = Crawl {
        refresh: Some(Box::new(VisitRecorder(std::sync::Arc::clone(&gains_seen)))),
        ..Crawl::default()
    };
    let scores = world.refresh(crawl, &knowledge, 2);
    assert_eq!(scores.visits, 14, "two in each of seven steps");
    let gains_seen = gains_seen.lock().unwrap();
    // Four pages are known at the start: the first three of `WORLD`, and the page that `lives`
    // adds, which gets number 3. The last page of `WORLD` is born later and gets number 4.
    let mut made = [0; 5];
    for (number, _) in gains_seen.iter().skip(4) {
        made[*number as usize] += 1;
    }
    assert_eq!(
        made.iter().sum::<u64>(),
        scores.visits + 1,
        "and a first copy"
    );
    assert_eq!(made[0], 0, "page 0 is worth nothing");
    assert!(made[1] < made[2] && made[2] <= made[3], "{made:?}");
    // No gain is negative, and a change that matters to no query has a gain of 0.
    let gains: Vec<f32> = gains_seen.iter().filter_map(|(.., gain)| *gain).collect();
    assert!(gains.iter().all(|gain| *gain >= 0.0));
    assert!(gains.contains(&0.0));
}

#[test]
fn every_policy_refreshes_its_budget_of_pages_or_all_known_pages_in_each_step() {
    let lives = lives(&WORLD, 10);
    let snapshots = Snapshots::new(&lives, DAY).unwrap();
    let texts = texts(5);
    let scored = scored(&texts);
    let world = SteppedWorld::new(&lives, &snapshots, Some((&texts, &scored)));
    let names = [
        "uniform",
        "holistic",
        "user-centric",
        "sbr",
        "ebr",
        "harmonic",
        "freshness",
    ];
    for (name, protocol) in names.into_iter().flat_map(|name| {
        let protocols = [Protocol::Halves, Protocol::Whole, Protocol::Online];
        protocols.map(|protocol| (name, protocol))
    }) {
        let knowledge = InitialKnowledge::of_world(&world, protocol);
        let steps = knowledge.from + 1..=10;
        let known = |step: usize| world.known(step).count();
        for budget in 1..=9 {
            let upkeep = Upkeep {
                budget: Some(budget as f64 / DAY.as_secs_f64()),
                step: DAY,
                slots: steps.clone().count() as u32,
                since: Some(snapshots.moments()[knowledge.from]),
                ..Upkeep::default()
            };
            let crawl = Crawl {
                refresh: Some(Catalog::standard().refresh(name, &upkeep).unwrap()),
                ..Crawl::default()
            };
            let scores = world.refresh(crawl, &knowledge, budget);
            // A page that is born in a step gets its first copy in it, and no refresh.
            let spent = steps.clone().map(|step| budget.min(known(step - 1)));
            let spent = spent.sum::<usize>() as u64;
            assert_eq!(
                scores.visits, spent,
                "{name}, {protocol:?}, {budget} a step"
            );
        }
    }
}
