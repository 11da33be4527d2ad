//! Tests races between loads and commits one by one. The simulator (`tests/simulation`) produces
//! most of these races only rarely.

use frontier::{Discovery, MemoryLedger};
use page::PageUrl;
use policy::published::server::BreadthFirstServers;
use policy::refresh::Uniform;
use policy::{Price, Visit};

use super::*;
use crate::plan::Again;
use crate::scope::ScopeRules;

fn at(second: u64) -> Moment {
    Moment::from_micros(1_600_000_000_000_000 + second * 1_000_000)
}

fn visited(history: History, second: u64) -> Visited {
    Visited {
        history: history.after(Visit::new(at(second), Outcome::Changed)),
        ..Visited::default()
    }
}

fn url() -> PageUrl {
    PageUrl::parse("http://example.org/").unwrap()
}

fn discovery() -> Discovery {
    Discovery {
        url: url().as_str().to_owned(),
        order: 0,
        at: at(0),
        depth: 0,
        hops: 0,
        source: None,
        absent: None,
    }
}

/// Returns a continuous crawl at second 100, and the only page of its ledger, which was visited
/// at second 10. `again` is the refresh interval; `None`: never.
fn begun(again: Option<Duration>) -> (Core<()>, PageKey, Visited) {
    let (url, discovery) = (url(), discovery());
    let key = PageKey::of(&url);
    let first = visited(History::discovered(at(0), 0), 10);
    let entry = Entry::Visited(key, Box::new(first.clone()));
    let mut ledger = MemoryLedger::default();
    ledger.commit(&[Entry::Admitted(key, discovery), entry]);
    let plan = Plan {
        again: Again::AtPrice(Price::LEAST),
        ..Plan::default()
    };
    let rules = ScopeRules {
        seeds: vec![url.as_str().to_owned()],
        ..ScopeRules::default()
    };
    let scope = Scope::new(&rules, Default::default()).unwrap();
    let policy = Crawl {
        refresh: again.map(|every| Box::new(Uniform::every(every)) as _),
        ..Crawl::default()
    };
    let policies = (policy, Box::new(BreadthFirstServers) as _);
    let texts = |_, _: &mut dyn FnMut(frontier::Said<'_>)| ();
    let core = Core::begin(plan, scope, policies, &ledger, texts, 1, at(100));
    let Ok(Begun { core, .. }) = core;
    (core, key, first)
}

/// Processes an event. Returns the hints that the core commits, and the pages whose visits it
/// loads.
fn step(core: &mut Core<()>, event: Event<()>) -> (Vec<Moment>, Vec<PageKey>) {
    let mut actions = Vec::new();
    core.step(event, at(200), &mut actions);
    let (mut hints, mut loads) = (Vec::new(), Vec::new());
    for action in actions {
        match action {
            Action::LoadVisits(pages) => loads.extend(pages),
            Action::Commit(crate::Work::Facts(facts)) => {
                hints.extend(facts.iter().filter_map(|fact| match fact {
                    Entry::Signalled(_, at) => Some(*at),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    (hints, loads)
}

fn committed(key: PageKey, visited: &Visited) -> Event<()> {
    Event::Committed {
        facts: vec![Entry::Visited(key, Box::new(visited.clone()))],
        requests: 0,
        gains: Vec::new(),
    }
}

#[test]
fn a_visit_that_is_committed_while_an_older_one_is_loaded_is_loaded_again() {
    let (mut core, key, first) = begun(None);
    let second = visited(first.history, 30);
    core.hints.push(key, at(20));
    assert_eq!(step(&mut core, Event::Woken).1, [key]);
    step(&mut core, committed(key, &second));
    let loaded = Event::VisitsLoaded(vec![(key, Some(first))]);
    let again = step(&mut core, loaded);
    assert_eq!(again, (vec![], vec![key]), "the loaded visit is outdated");
    let loaded = Event::VisitsLoaded(vec![(key, Some(second))]);
    assert_eq!(step(&mut core, loaded), (vec![], vec![]), "no news");
}

#[test]
fn a_hint_is_committed_if_it_is_news_to_the_visit_that_was_loaded() {
    let (mut core, key, first) = begun(None);
    core.hints.push(key, at(20));
    step(&mut core, Event::Woken);
    let loaded = Event::VisitsLoaded(vec![(key, Some(first))]);
    assert_eq!(step(&mut core, loaded), (vec![at(20)], vec![]));
    let known = core.overlay.history(key.page).unwrap();
    assert_eq!(known.signals.last, Some(at(20)));
}

#[test]
fn a_page_that_is_being_loaded_is_outdated_by_a_commit_and_others_are_not() {
    let (mut core, key, first) = begun(None);
    step(&mut core, committed(key, &first));
    assert!(core.outdated.is_empty(), "nothing is being loaded");
    core.loading.insert(key.page);
    step(&mut core, committed(key, &first));
    assert!(core.outdated.contains(&key.page));
}

#[test]
fn a_gain_keeps_later_hints_and_is_ignored_after_a_later_visit() {
    let gain = |key: PageKey, visited: &Visited| Event::Committed {
        facts: vec![Entry::Visited(key, Box::new(visited.clone()))],
        requests: 0,
        gains: vec![Gain {
            page: key.page,
            before: visited.history,
            after: visited.history.gained(0.5),
        }],
    };
    let claimed = |core: &Core<()>| {
        let active = core.active.values().next().unwrap();
        active.claims[0].history()
    };
    for (hint, later) in [(None, None), (Some(20), None), (None, Some(50))] {
        let (mut core, key, first) = begun(Some(Duration::from_secs(5)));
        let mut last = match later {
            Some(second) => visited(first.history, second),
            None => first.clone(),
        };
        if let Some(second) = hint {
            last.history = last.history.signalled(at(second));
        }
        core.overlay.visit(key.page, last.clone(), discovery());
        // The page is due, and a visit claims it.
        step(&mut core, Event::Woken);
        step(&mut core, gain(key, &first));
        let mut expected = last.history;
        if later.is_none() {
            expected = expected.gained(0.5);
        }
        assert_eq!(claimed(&core), expected, "{hint:?}, {later:?}");
    }
}
