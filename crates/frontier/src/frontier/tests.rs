//! Tests of the frontier: how facts move pages, how a budget is spent, and what a restart keeps.

mod ahead;
mod domain_budgets;
mod early;
mod given_up;
mod unsettled;

use page::PageUrl;
use policy::published::order::Backlink;
use policy::published::server::Quality;
use policy::{LinkFact, Text};

use super::*;
use crate::bench::{HostVisit, Turn};
use crate::memory::MemoryLedger;

const NOW: Moment = Moment::from_micros(1);

fn frontier(price: Price) -> Frontier<Backlink> {
    let order = Backlink::default();
    Frontier::new(order, Box::new(Quality), price, Manners::default(), 7)
}

/// Returns what to do now; `past` provides histories.
fn choose<P: Policy>(
    frontier: &mut Frontier<P>,
    now: Moment,
    past: impl Fn(PageKey) -> Option<History>,
) -> Next {
    loop {
        match frontier.next(now) {
            Next::Unknown => bring(frontier, &past),
            next => return next,
        }
    }
}

/// Returns whether a visit continues; `past` provides histories.
fn go_on<P: Policy>(
    frontier: &mut Frontier<P>,
    visit: &mut HostVisit,
    now: Moment,
    past: impl Fn(PageKey) -> Option<History>,
) -> bool {
    loop {
        match frontier.more(visit, true, now) {
            More::Unknown => bring(frontier, &past),
            more => return more == More::Claimed,
        }
    }
}

fn bring<P: Policy>(frontier: &mut Frontier<P>, past: impl Fn(PageKey) -> Option<History>) {
    let wanted = frontier.wanted();
    assert!(!wanted.is_empty(), "a choice waits for nothing");
    for key in wanted {
        frontier.bring(key.page, past(key));
    }
}

fn url(path: u32) -> PageUrl {
    PageUrl::parse(&format!("http://e.org/{path}")).unwrap()
}

/// Adds a page if it is new. Returns its number.
fn hear(frontier: &mut Frontier<Backlink>, path: u32, facts: &mut Vec<Entry>) -> Number {
    if let Some(number) = frontier.number(url(path).id()) {
        return number;
    }
    let link = FrontierLink {
        url: &url(path),
        depth: 1,
        hops: 0,
        source: Some(url(99).id()),
        absent: None,
    };
    let (number, fact) = frontier.hear(link, NOW);
    facts.push(fact);
    number
}

/// Lets the frontier read a page with links to these pages.
fn read(frontier: &mut Frontier<Backlink>, page: u32, links: &[u32], facts: &mut Vec<Entry>) {
    hear(frontier, page, facts);
    let links: Vec<_> = links
        .iter()
        .map(|&to| LinkFact::new(hear(frontier, to, facts), ""))
        .collect();
    let reading = Reading {
        text: Text::Nothing,
        links: &links,
        out_links: links.len() as u32,
        again: false,
    };
    facts.extend(frontier.read(url(page).id(), reading));
}

/// Returns the pages in the order in which they are claimed.
fn claimed(frontier: &mut Frontier<Backlink>) -> Vec<u32> {
    let mut order = Vec::new();
    while let Turn::Visit(mut visit) = frontier.bench.next(NOW) {
        while let Some(number) = visit.first() {
            order.push(number.0);
            visit.settled(number);
        }
        frontier
            .bench
            .settle(visit, NOW, std::time::Duration::ZERO, false);
    }
    order
}

#[test]
fn links_move_waiting_pages_and_lift_them_over_the_price() {
    let mut frontier = frontier(Price::new(2.0).unwrap());
    let mut facts = Vec::new();
    read(&mut frontier, 0, &[1, 2, 3], &mut facts);
    assert!(
        claimed(&mut frontier).is_empty(),
        "one link each is too little"
    );
    read(&mut frontier, 4, &[2, 3], &mut facts);
    read(&mut frontier, 5, &[3], &mut facts);
    assert_eq!(claimed(&mut frontier), [3, 2]);
    read(&mut frontier, 6, &[3, 1], &mut facts);
    assert_eq!(
        claimed(&mut frontier),
        [1],
        "a page that was claimed does not come back"
    );
}

#[test]
fn a_restart_ranks_pages_by_the_same_links() {
    let mut ledger = MemoryLedger::default();
    let mut first = frontier(Price::LEAST);
    let mut facts = Vec::new();
    for (page, links) in [
        (0, &[1, 2, 3, 4, 5][..]),
        (1, &[2, 3, 5]),
        (2, &[3, 5]),
        (3, &[5]),
    ] {
        read(&mut first, page, links, &mut facts);
        let key = first.key(url(page).id()).unwrap();
        let visit = policy::Visit::new(NOW, policy::Outcome::Changed);
        let history = History::discovered(NOW, 1).after(visit);
        let visited = crate::record::Visited {
            history,
            ..Default::default()
        };
        facts.push(Entry::Visited(key, Box::new(visited)));
    }
    let entries = facts;
    ledger.commit(&entries);
    let mut second = frontier(Price::LEAST);
    let waits = |known: &crate::record::Known| known.visited.is_none();
    second
        .recall(&ledger, waits, |_, tell| tell(Said::default()), NOW)
        .unwrap();
    assert_eq!(claimed(&mut second), [5, 4]);
    assert_eq!(second.known(), 6);
}

/// Recalls an earlier run. Returns the pages of the sample for the price, sorted by key.
fn recalled_sample<P: Policy>(mut frontier: Frontier<P>, ledger: &MemoryLedger) -> Vec<PageKey> {
    let texts = |_, _: &mut dyn FnMut(Said<'_>)| ();
    frontier.recall(ledger, |_| true, texts, NOW).unwrap();
    let mut sampled = frontier.sampled();
    sampled.sort_unstable();
    sampled
}

#[test]
fn the_sample_for_the_price_is_the_same_after_a_restart() {
    let mut facts = Vec::new();
    let mut live = frontier(Price::LEAST).with_budget(1.0);
    read(&mut live, 0, &[1, 2, 3], &mut facts);
    assert_eq!(live.sampled().len(), 4);
    let mut ledger = MemoryLedger::default();
    ledger.commit(&facts);
    // The sample is the same whether or not the policy needs the facts of earlier runs.
    let mut sampled = live.sampled();
    sampled.sort_unstable();
    let linked = frontier(Price::LEAST).with_budget(1.0);
    assert_eq!(recalled_sample(linked, &ledger), sampled);
    let growing = || {
        Frontier::new(
            LinearGrowth,
            Box::new(Quality),
            Price::LEAST,
            Manners::default(),
            7,
        )
    };
    assert_eq!(
        recalled_sample(growing().with_budget(1.0), &ledger),
        sampled
    );
    assert!(recalled_sample(growing(), &ledger).is_empty(), "no budget");
}

/// If a page has two links to another page, the policy observes the anchor text of the first,
/// also after a restart.
#[test]
fn of_two_links_to_one_page_the_first_is_recalled() {
    /// Records anchor texts.
    struct AnchorRecorder(std::sync::Arc<std::sync::Mutex<Vec<String>>>);
    impl Policy for AnchorRecorder {
        fn needs(&self) -> policy::Needs {
            policy::Needs {
                links: true,
                words: true,
                places: true,
                ..policy::Needs::default()
            }
        }
        fn observe(&mut self, fact: &Fact<'_>, _moves: &mut policy::Moves) {
            if let Fact::Read(read) = fact {
                let anchors = read.links.iter().map(|link| link.anchor.to_owned());
                self.0.lock().unwrap().extend(anchors);
            }
        }
        fn worth(&self, _page: Page<'_>, _now: Moment) -> Worth {
            Worth::LEAST
        }
    }
    let mut ledger = MemoryLedger::default();
    let (mut live, mut entries) = (frontier(Price::LEAST), Vec::new());
    read(&mut live, 0, &[1], &mut entries);
    let visit = policy::Visit::new(NOW, policy::Outcome::Changed);
    let visited = crate::record::Visited {
        history: History::discovered(NOW, 1).after(visit),
        ..Default::default()
    };
    let key = live.key(url(0).id()).unwrap();
    entries.push(Entry::Visited(key, Box::new(visited)));
    ledger.commit(&entries);
    let heard = std::sync::Arc::default();
    let order = AnchorRecorder(std::sync::Arc::clone(&heard));
    let mut recalled = Frontier::new(
        order,
        Box::new(Quality),
        Price::LEAST,
        Manners::default(),
        7,
    );
    let links = ["first", "second"].map(|anchor| Placed {
        to: url(1).id(),
        anchor: anchor.into(),
        around: Default::default(),
        path: Default::default(),
    });
    let said = Said {
        links: &links,
        ..Said::default()
    };
    recalled
        .recall(&ledger, |_| true, |_, tell| tell(said), NOW)
        .unwrap();
    assert_eq!(*heard.lock().unwrap(), ["first"]);
}

/// The tolerance is 0 for `backlink`, 25 % for `opic` and 2 % for the others.
#[test]
fn a_restart_keeps_the_worth_of_pages_within_the_tolerance_of_each_ordering() {
    // A chain with branches and a way back, read in an order that differs from that of the
    // ledger.
    let web: [(u32, &[u32]); 7] = [
        (0, &[8, 3, 9]),
        (8, &[5, 3]),
        (3, &[5, 1, 0]),
        (5, &[2, 4]),
        (1, &[]),
        (2, &[6, 7, 4]),
        (7, &[4, 10, 0]),
    ];
    let catalog = policy::catalog::Catalog::standard();
    // The number of pages known at a payment of OPIC's root decides when the next payment comes.
    // After a restart all pages are known at once, so OPIC's worths differ more.
    for (order, tolerance) in [
        ("backlink", 0.0),
        ("opic", 0.25),
        ("rankmass", 0.02),
        ("pagerank", 0.02),
        ("forward-links", 0.02),
    ] {
        let mut ledger = MemoryLedger::default();
        let made = || {
            catalog
                .order(order, &policy::catalog::Wishes::default())
                .unwrap()
        };
        let start = || {
            Frontier::new(
                made(),
                Box::new(Quality),
                Price::LEAST,
                Manners::default(),
                7,
            )
        };
        let (mut live, mut entries) = (start(), Vec::new());
        entries.extend(live.hear_seed(&url(0), NOW));
        for (minute, (page, links)) in (1u64..).zip(web) {
            let at = Moment::from_micros(minute * 60_000_000);
            let known: Vec<_> = links
                .iter()
                .map(|&to| {
                    let number = live.number(url(to).id()).unwrap_or_else(|| {
                        let source = Some(url(page).id());
                        let (depth, hops, url) = (minute as u16, 0, &url(to));
                        let link = FrontierLink {
                            url,
                            depth,
                            hops,
                            source,
                            absent: None,
                        };
                        let (number, fact) = live.hear(link, at);
                        entries.push(fact);
                        number
                    });
                    LinkFact::new(number, "")
                })
                .collect();
            let reading = Reading {
                text: Text::Nothing,
                links: &known,
                out_links: known.len() as u32,
                again: false,
            };
            entries.extend(live.read(url(page).id(), reading));
            let outcome = policy::Outcome::Changed;
            let history = History::discovered(NOW, 1).after(policy::Visit::new(at, outcome));
            // Page 8 did not answer at a later visit. The content that was read before stays
            // valid.
            let outage = policy::Visit::new(at, policy::Outcome::Unreachable);
            let history = if page == 8 {
                history.after(outage)
            } else {
                history
            };
            let visited = crate::record::Visited {
                history,
                ..Default::default()
            };
            let key = live.key(url(page).id()).unwrap();
            entries.push(Entry::Visited(key, Box::new(visited)));
        }
        ledger.commit(&entries);
        let mut recalled = start();
        recalled
            .recall(&ledger, |_| true, |_, tell| tell(Said::default()), NOW)
            .unwrap();
        let history = History::discovered(NOW, 1);
        for page in [4, 6, 9, 10] {
            let number = live.number(url(page).id()).unwrap();
            assert_eq!(recalled.number(url(page).id()), Some(number));
            let page = Page {
                number,
                history: &history,
            };
            let [before, after] = [&mut live, &mut recalled]
                .map(|frontier| frontier.policy().worth(page, NOW).value());
            assert!(
                (before - after).abs() <= tolerance * before,
                "{order}: {before} and {after}"
            );
            assert!(before > 1e-9, "{order} knows nothing of it");
        }
    }
}

#[test]
fn at_most_twelve_anchor_texts_are_stored_for_a_page_each_once() {
    let mut frontier = frontier(Price::LEAST);
    let number = hear(&mut frontier, 99, &mut Vec::new());
    let words = |source: u32| match source {
        0 => String::new(),
        1..5 => "Next".into(),
        _ => format!("{source:02}{}", "ä".repeat(300)),
    };
    let (mut kept, mut same) = (0, 0);
    for source in 0..90 {
        hear(&mut frontier, source, &mut Vec::new());
        let words = words(source);
        let reading = Reading {
            text: Text::Nothing,
            links: &[LinkFact::new(number, &words)],
            out_links: 3,
            again: false,
        };
        let Some(Entry::Links(_, links)) = frontier.read(url(source).id(), reading) else {
            panic!("{source} has links")
        };
        let anchor = links.anchor(number.0);
        same += u32::from(anchor == "Next");
        let length = anchor.chars().count();
        assert!(matches!(length, 0 | 4) || length == ANCHOR, "{length}");
        kept += u32::from(length > 0);
    }
    assert_eq!((kept, same), (IN_LINKS, 1));
}

/// Worth grows linearly with age, at a rate that depends on the page.
struct LinearGrowth;

/// Growth of the worth of a page, per second.
fn growth(number: Number) -> f64 {
    f64::from(1 + number.0 % 8)
}

impl Policy for LinearGrowth {
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let age = page
            .history
            .asked
            .map_or(1e6, |asked| now.since(asked).as_secs_f64());
        Worth::new(growth(page.number) * age)
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let Some(asked) = page.history.asked else {
            return Some(page.history.discovered);
        };
        let wait = price.value() / growth(page.number);
        let wait = std::time::Duration::try_from_secs_f64(wait).ok()?;
        Some(asked + wait + std::time::Duration::from_micros(1))
    }
}

/// At least 98 % of the allowed fetches are made. After a change of the budget the shares are
/// measured once the overdue pages are fetched.
#[test]
fn under_a_budget_a_page_is_visited_in_proportion_to_the_growth_of_its_worth() {
    let pages = 400;
    for (per_second, later) in [(0.5, 0.5), (20.0, 20.0), (0.5, 20.0), (20.0, 0.5)] {
        let manners = Manners {
            pages_per_visit: 1,
            pages_per_host: u32::MAX,
            ..Manners::default()
        };
        let mut frontier = Frontier::new(LinearGrowth, Box::new(Quality), Price::LEAST, manners, 7)
            .with_budget(per_second);
        let mut histories = HashMap::new();
        for path in 0..pages {
            let link = FrontierLink {
                url: &url(path),
                depth: 0,
                hops: 0,
                source: None,
                absent: None,
            };
            frontier.hear(link, NOW);
            histories.insert(url(path).id(), History::discovered(NOW, 0));
        }
        let third = 20 * pages;
        let fetches = 3 * third;
        let mut made = vec![0u32; pages as usize];
        let mut idle = 0;
        let mut now = NOW;
        for fetch in 0..fetches {
            let budget = if fetch < third { per_second } else { later };
            now = now + std::time::Duration::from_secs_f64(1.0 / budget);
            if fetch == third && budget != per_second {
                let known = frontier.waiting();
                frontier.afford(later, now);
                assert_eq!(frontier.waiting(), known);
            }
            let Next::Visit(mut visit) = choose(&mut frontier, now, |key: PageKey| {
                histories.get(&key.page).copied()
            }) else {
                idle += 1;
                continue;
            };
            let number = visit.first().unwrap();
            let page = frontier.page(visit.host, number);
            let before = histories[&page];
            let after = before.after(policy::Visit::new(now, policy::Outcome::Unchanged));
            histories.insert(page, after);
            frontier.visited(page, &before, &after, now);
            visit.settled(number);
            frontier
                .bench
                .settle(visit, now, std::time::Duration::ZERO, false);
            if fetch >= 2 * third {
                made[number.index()] += 1;
            }
        }
        assert!(
            idle * 50 < fetches,
            "{per_second}, then {later}: {idle} of {fetches} fetches were not made"
        );
        let all: f64 = (0..pages).map(|page| growth(Number(page))).sum();
        for class in 0..8 {
            let made: u32 = made.iter().skip(class).step_by(8).sum();
            let due = f64::from(third) * growth(Number(class as u32)) / all * 50.0;
            let share = f64::from(made) / due;
            assert!(
                (0.93..1.07).contains(&share),
                "{per_second}, then {later}, class {class}: {share}"
            );
        }
    }
}

/// The worth of the first [`MATTER`] pages grows with the age of their copies, at different rates.
/// The others have a worth of 0.1, and are never due again once they were visited.
struct FewMatter;

/// Number of pages whose worth grows.
const MATTER: u32 = 40;

impl Policy for FewMatter {
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let age = page.history.asked.map(|asked| now.since(asked));
        Worth::new(match age {
            _ if page.number.0 >= MATTER => 0.1,
            None => 1e3,
            Some(age) => growth(page.number) * age.as_secs_f64(),
        })
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        match page.history.asked {
            None => {
                let worth = self.worth(page, page.history.discovered);
                worth.pays(price).then_some(page.history.discovered)
            }
            Some(_) if page.number.0 >= MATTER => None,
            Some(asked) => {
                let wait = price.value() / growth(page.number);
                let wait = std::time::Duration::try_from_secs_f64(wait).ok()?;
                Some(asked + wait + std::time::Duration::from_micros(1))
            }
        }
    }
}

#[test]
fn new_pages_that_do_not_pay_come_after_known_ones_that_nearly_do() {
    let manners = Manners {
        pages_per_visit: 1,
        ..Manners::default()
    };
    let mut frontier =
        Frontier::new(FewMatter, Box::new(Quality), Price::LEAST, manners, 7).with_budget(1.0);
    let mut histories = HashMap::new();
    for path in 0..500 {
        let link = FrontierLink {
            url: &url(path),
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        frontier.hear(link, NOW);
        histories.insert(url(path).id(), History::discovered(NOW, 0));
    }
    let (mut poor, mut rich) = (0, 0);
    for second in 0..1000 {
        let now = NOW + std::time::Duration::from_secs(second);
        let past = |key: PageKey| histories.get(&key.page).copied();
        let Next::Visit(mut visit) = choose(&mut frontier, now, past) else {
            continue;
        };
        let number = visit.first().unwrap();
        let page = frontier.page(visit.host, number);
        let before = histories[&page];
        let after = before.after(policy::Visit::new(now, policy::Outcome::Unchanged));
        histories.insert(page, after);
        frontier.visited(page, &before, &after, now);
        visit.settled(number);
        let at_once = std::time::Duration::ZERO;
        frontier.bench.settle(visit, now, at_once, false);
        *(if number.0 < MATTER {
            &mut rich
        } else {
            &mut poor
        }) += 1;
    }
    assert!(poor <= 10, "{poor} of {} were spent badly", poor + rich);
    assert!(rich >= 980, "only {rich} of 1000 were made");
}

#[test]
fn a_visit_continues_with_waiting_pages_and_with_pages_that_have_become_due() {
    let mut frontier = Frontier::new(
        LinearGrowth,
        Box::new(Quality),
        Price::new(60.0).unwrap(),
        Manners::default(),
        7,
    );
    let mut histories = HashMap::new();
    for path in 0..3 {
        frontier.hear_seed(&url(path), NOW);
        histories.insert(url(path).id(), History::discovered(NOW, 0));
    }
    let mut claimed = Vec::new();
    let mut settle = |frontier: &mut Frontier<LinearGrowth>, visit: &mut HostVisit, now| {
        let number = visit.first().unwrap();
        claimed.push(number.0);
        let page = frontier.page(visit.host, number);
        let before = histories[&page];
        let after = before.after(policy::Visit::new(now, policy::Outcome::Unchanged));
        histories.insert(page, after);
        frontier.visited(page, &before, &after, now);
        visit.settled(number);
        histories.clone()
    };
    let Next::Visit(mut visit) = choose(&mut frontier, NOW, |_| None) else {
        panic!("three pages wait")
    };
    let mut now = NOW;
    let mut known = settle(&mut frontier, &mut visit, now);
    for _ in 0..2 {
        assert!(
            go_on(&mut frontier, &mut visit, now, |key: PageKey| known
                .get(&key.page)
                .copied()),
            "another page waits"
        );
        known = settle(&mut frontier, &mut visit, now);
    }
    let past = |key: PageKey| known.get(&key.page).copied();
    assert!(
        !go_on(&mut frontier, &mut visit, now, past),
        "all pages were requested"
    );
    // Page 2 gains three per second, so it reaches the price first.
    now = now + std::time::Duration::from_secs(21);
    assert!(go_on(&mut frontier, &mut visit, now, past), "page 2 is due");
    settle(&mut frontier, &mut visit, now);
    assert!(!go_on(&mut frontier, &mut visit, now, |key: PageKey| {
        known.get(&key.page).copied()
    }));
    assert_eq!(claimed, [2, 1, 0, 2]);
}

/// The worth of page 0 grows with the time since its last visit. The worth of a new page halves
/// every second.
struct Fading;

impl Policy for Fading {
    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let age = |from: Moment| now.since(from).as_secs_f64();
        Worth::new(match page.history.asked {
            Some(asked) if page.number.0 == 0 => age(asked) / 5.0,
            Some(_) => 0.0,
            None => 8.0 * 0.5f64.powf(age(page.history.discovered)),
        })
    }

    fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        match page.history.asked {
            Some(asked) if page.number.0 == 0 => {
                let wait = std::time::Duration::try_from_secs_f64(price.value() * 5.0).ok()?;
                Some(asked + wait)
            }
            Some(_) => None,
            None => (price.value() <= 8.0).then_some(page.history.discovered),
        }
    }

    fn fades(&self, page: Number) -> bool {
        page.0 > 0
    }
}

/// A new page that loses its worth while its server is busy is not fetched. Pages that gained
/// worth, and newer pages, are.
#[test]
fn a_new_page_that_loses_its_worth_while_it_waits_leaves_the_bench() {
    let manners = Manners {
        pages_per_visit: 1,
        ..Manners::default()
    };
    let mut frontier =
        Frontier::new(Fading, Box::new(Quality), Price::LEAST, manners, 7).with_budget(0.2);
    let mut histories: HashMap<PageId, History> = HashMap::new();
    let mut fetched = Vec::new();
    let at = |seconds: u64| NOW + std::time::Duration::from_secs(seconds);
    for turn in 0..12 {
        let now = at(30 * turn);
        let new = match turn {
            0 => 0..6,
            10 => 6..7,
            _ => 0..0,
        };
        for path in new {
            let link = FrontierLink {
                url: &url(path),
                depth: 0,
                hops: 0,
                source: None,
                absent: None,
            };
            frontier.hear(link, now);
            histories.insert(url(path).id(), History::discovered(now, 0));
        }
        let past = |key: PageKey| histories.get(&key.page).copied();
        let Next::Visit(mut visit) = choose(&mut frontier, now, past) else {
            continue;
        };
        let number = visit.first().unwrap();
        fetched.push((turn, number.0));
        let page = frontier.page(visit.host, number);
        let before = histories[&page];
        let after = before.after(policy::Visit::new(now, policy::Outcome::Unchanged));
        histories.insert(page, after);
        frontier.visited(page, &before, &after, now);
        visit.settled(number);
        let delay = std::time::Duration::from_secs(10);
        frontier.bench.settle(visit, now, delay, false);
    }
    let new = |(turn, page): &&(u64, u32)| *page > 0 && *turn > 0;
    let late: Vec<_> = fetched.iter().filter(new).collect();
    assert_eq!(late, [&(10, 6)], "of {fetched:?}");
    let again = fetched
        .iter()
        .filter(|(turn, page)| *page == 0 && *turn > 0);
    assert!(again.count() > 5, "of {fetched:?}");
}

#[test]
fn pages_that_one_fact_moves_are_moved_in_groups_and_all_before_a_choice() {
    let mut frontier = frontier(Price::LEAST);
    let mut facts = Vec::new();
    let all: Vec<u32> = (1..1_000).collect();
    read(&mut frontier, 0, &all, &mut facts);
    let mut groups = 1;
    while frontier.has_moves() {
        frontier.follow_moves();
        groups += 1;
    }
    assert_eq!(groups, all.len().div_ceil(MOVED_AT_ONCE));
    // The same links from another page, and one more to the last page.
    read(&mut frontier, 2_000, &all, &mut facts);
    read(&mut frontier, 2_001, &[999], &mut facts);
    assert!(frontier.has_moves());
    let Next::Visit(visit) = frontier.next(NOW) else {
        panic!("pages wait")
    };
    assert_eq!(visit.first(), frontier.number(url(999).id()));
    assert!(!frontier.has_moves());
}
