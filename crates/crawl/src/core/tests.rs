//! Tests races between loads and commits one by one, and the work of a step. The simulator
//! (`tests/simulation`) produces most of these races only rarely.

use std::sync::Mutex;

use frontier::{Discovery, MemoryLedger};
use page::PageUrl;
use policy::published::server::BreadthFirstServers;
use policy::refresh::Uniform;
use policy::{Number, Price, Visit};

use super::reading::SLICE;
use super::*;
use crate::event::{Judged, Reply};
use crate::plan::Again;
use crate::scope::ScopeRules;
use crate::verdict::{Lead, Signal, Verdict};

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
    begun_with(Crawl {
        refresh: again.map(|every| Box::new(Uniform::every(every)) as _),
        ..Crawl::default()
    })
}

/// Returns such a crawl with this policy.
fn begun_with(policy: Crawl) -> (Core<()>, PageKey, Visited) {
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

/// Counts the discoveries and the links that a policy observes.
#[derive(Default)]
struct Observed {
    discovered: usize,
    links: Vec<Number>,
    finished: usize,
}

/// An ordering that counts what it observes.
struct CountingOrder(Arc<Mutex<Observed>>);

impl Policy for CountingOrder {
    fn needs(&self) -> policy::Needs {
        policy::Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, _moves: &mut Moves) {
        let mut observed = self.0.lock().unwrap();
        match fact {
            Fact::Discovered(_) => observed.discovered += 1,
            Fact::Read(read) => {
                assert_eq!(read.part.before, observed.links.len());
                observed.links.extend(read.links.iter().map(|link| link.to));
                observed.finished += usize::from(read.part.is_last());
            }
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, _page: Page<'_>, _now: Moment) -> Worth {
        Worth::LEAST
    }
}

/// Returns a sitemap of the crawl of [`begun`], with `entries` pages that have changed.
fn sitemap(key: PageKey, entries: u32) -> (Claim, Judged<()>) {
    let claim = Claim {
        number: Number(0),
        key,
        url: url(),
        discovery: discovery(),
        before: None,
        worth: None,
    };
    let pages = (0..entries).map(|entry| url().join(&format!("/{entry}")).unwrap());
    let pages: Vec<PageUrl> = pages.collect();
    let visited = visited(History::discovered(at(0), 0), 200);
    let verdict = Verdict {
        visited,
        copied: true,
        repeated: false,
        leads: pages.iter().map(Lead::seed).collect(),
        text: None,
        gone: false,
        dropped: false,
        listing: Some(page::listing::ListingKind::Sitemap),
        signals: Vec::from_iter(pages.iter().map(|page| Signal {
            page: page.id(),
            modified: at(150),
        })),
        strangers: 0,
        lied: false,
    };
    let judged = Judged {
        verdict,
        sealed: None,
        reply: Reply {
            status: 200,
            retry_after: None,
        },
        first_byte: Duration::ZERO,
        took: Duration::ZERO,
    };
    (claim, judged)
}

#[test]
fn no_step_admits_or_observes_more_than_256_links_of_a_sitemap() {
    const ENTRIES: u32 = 5_000;
    let observed = Arc::<Mutex<Observed>>::default();
    let policy = Crawl {
        order: Box::new(CountingOrder(Arc::clone(&observed))),
        ..Crawl::default()
    };
    let (mut core, key, _) = begun_with(policy);
    let (claim, judged) = sitemap(key, ENTRIES);
    core.mode = Mode::Paused;
    core.step(Event::Woken, at(200), &mut Vec::new());
    core.arrived(VisitId(0), Arc::new(claim), judged);
    let entries = ENTRIES as usize;
    let (mut before, mut steps) = ([1, 0, 0], 0);
    let mut actions = Vec::new();
    while let Some(Arrival::Page(page)) = core.arrivals.front() {
        let hints = entries - page.judged.verdict.signals.len();
        let now = {
            let observed = observed.lock().unwrap();
            [observed.discovered, observed.links.len(), hints]
        };
        for (now, before) in now.into_iter().zip(before) {
            assert!(now - before <= SLICE, "{now} after {before}, step {steps}");
        }
        (before, steps) = (now, steps + 1);
        core.step(Event::Woken, at(200), &mut actions);
    }
    let observed = observed.lock().unwrap();
    assert!(entries - before[1] <= SLICE && entries - before[2] <= SLICE);
    assert!(observed.links.is_sorted());
    assert_eq!((observed.links.len(), observed.finished), (entries, 1));
    assert!(steps > entries / SLICE, "{steps} steps");
    core.step(Event::Woken, at(300), &mut actions);
    let committed = actions.into_iter().find_map(|action| match action {
        Action::Commit(crate::Work::Pages(mut records)) => records.pop(),
        _ => None,
    });
    let committed = committed.unwrap().admitted;
    let Some(Entry::Links(_, links)) = committed.last() else {
        panic!("the links are committed after the pages that they lead to")
    };
    assert_eq!(links.links().count(), entries);
}
