//! Tests page budgets of domains: pages beyond a budget are deferred, later released and never
//! lost. Budgets are the same after a restart.

use page::Simhash;

use super::*;
use crate::domains::{DomainLimits, SpentBudget};

const LIMITS: DomainLimits = DomainLimits {
    pages: 10,
    spare: 200,
};
/// Budget, in pages, of a domain that one other domain links to, before any of its texts was read.
const BASE: usize = 5;

fn start() -> Frontier<Backlink> {
    frontier(Price::LEAST).with_domain_budgets(LIMITS)
}

fn at(host: &str, page: u32) -> PageUrl {
    PageUrl::parse(&format!("http://{host}/{page}")).unwrap()
}

fn hear_of(frontier: &mut Frontier<Backlink>, url: &PageUrl, from: &PageUrl) -> Vec<Entry> {
    let link = FrontierLink {
        url,
        depth: 1,
        hops: 0,
        source: Some(from.id()),
        absent: None,
    };
    let known = frontier.number(url.id());
    let fact = known.is_none().then(|| frontier.hear(link, NOW).1);
    let number = frontier.number(url.id()).unwrap();
    let reading = Reading {
        text: Text::Nothing,
        links: &[LinkFact::new(number, "")],
        out_links: 1,
        again: false,
    };
    let read = frontier.read(from.id(), reading);
    fact.into_iter().chain(read).collect()
}

/// Returns a crawl from `seed.example` that knows this number of pages of a domain.
fn crawl(host: &str, pages: u32) -> Frontier<Backlink> {
    let mut frontier = start();
    let seed = at("seed.example", 0);
    frontier.hear_seed(&seed, NOW);
    for page in 0..pages {
        hear_of(&mut frontier, &at(host, page), &seed);
    }
    frontier
}

fn spent(frontier: &Frontier<Backlink>, host: &str) -> Option<SpentBudget> {
    frontier.domain_account(at(host, 0).host()).unwrap().spent
}

/// Makes the next visit and returns its pages; `None`: there is no visit to make.
fn visit(frontier: &mut Frontier<Backlink>) -> Option<Vec<u32>> {
    let Next::Visit(mut visit) = choose(frontier, NOW, |_| None) else {
        return None;
    };
    let mut claimed = Vec::new();
    while let Some(number) = visit.first() {
        claimed.push(number.0);
        visit.settled(number);
        go_on(frontier, &mut visit, NOW, |_| None);
    }
    let at_once = std::time::Duration::ZERO;
    frontier.bench.settle(visit, NOW, at_once, false);
    Some(claimed)
}

#[test]
fn evidence_releases_the_best_deferred_pages() {
    let mut frontier = crawl("far.example", 40);
    assert_eq!(frontier.bench.waiting(), 1 + BASE);
    assert_eq!(frontier.bench.deferred(), 40 - BASE);
    assert_eq!(frontier.waiting(), 41, "none is lost");
    assert_eq!(spent(&frontier, "far.example"), Some(SpentBudget::Domain));
    let last = frontier.number(at("far.example", 39).id()).unwrap();
    assert!(
        frontier
            .bench
            .is_deferred(last, at("far.example", 0).host())
    );

    // A link within the domain is no evidence, but makes page 39 the best deferred page.
    let own = at("far.example", 0);
    hear_of(&mut frontier, &at("far.example", 39), &own);
    assert_eq!(frontier.bench.deferred(), 40 - BASE);

    // A second domain links to far.example. Its own first page is within its budget.
    let other = at("other.example", 0);
    hear_of(&mut frontier, &other, &at("seed.example", 0));
    hear_of(&mut frontier, &own, &other);
    assert_eq!(frontier.bench.deferred(), 40 - 2 * BASE);
    assert!(
        !frontier.bench.is_deferred(last, own.host()),
        "the best page is released first"
    );

    // Two domains allow 20 pages. Distinct texts raise the factor on them from 1/2 to 3/4.
    for text in 0..20 {
        let digest = page::TextDigest {
            simhash: Simhash(text),
            ..page::TextDigest::of("")
        };
        frontier.share_text(own.host(), &digest);
    }
    assert_eq!(frontier.bench.deferred(), 40 - 3 * BASE);
    frontier.bench.park(own.host());
    assert_eq!(frontier.bench.deferred(), 0);
    assert_eq!(frontier.bench.left_alone(), 40, "a parked host keeps none");
}

#[test]
fn deferred_pages_are_fetched_last_and_each_once() {
    let mut frontier = crawl("far.example", 40);
    let seed = at("seed.example", 0);
    for page in 1..60 {
        hear_of(&mut frontier, &at("seed.example", page), &seed);
    }
    let mut claimed = Vec::new();
    while let Some(numbers) = visit(&mut frontier) {
        claimed.extend(numbers);
    }
    let far = |number: &u32| (1..=40).contains(number);
    let late: Vec<bool> = claimed[60 + BASE..].iter().map(far).collect();
    assert_eq!(late, [true; 40 - BASE], "of {claimed:?}");
    claimed.sort_unstable();
    assert!(claimed.into_iter().eq(0..100), "each once");
}

#[test]
fn spare_capacity_waits_for_visits_and_skips_endless_domains() {
    let mut frontier = crawl("far.example", 40);
    let endless = LIMITS.spare + 1;
    for page in 0..endless {
        let seed = at("seed.example", 0);
        hear_of(&mut frontier, &at("tarpit.example", page), &seed);
    }
    let mut visits = Vec::new();
    while frontier.bench.waiting() > 0 {
        match choose(&mut frontier, NOW, |_| None) {
            Next::Visit(visit) => visits.push(visit),
            // The server of every waiting page is being visited.
            _ => visit_out(&mut frontier, &mut visits),
        }
    }
    let before = frontier.bench.deferred();
    assert!(matches!(choose(&mut frontier, NOW, |_| None), Next::Idle));
    assert_eq!(frontier.bench.deferred(), before, "a visit is under way");
    visit_out(&mut frontier, &mut visits);
    let mut more = 0;
    while let Some(numbers) = visit(&mut frontier) {
        more += numbers.len();
    }
    assert_eq!(more, 40 - BASE);
    assert_eq!(frontier.bench.deferred(), endless as usize - BASE);
    let deferring = frontier.deferring_domains(3);
    assert_eq!(deferring, [("tarpit.example".to_owned(), 201 - BASE)]);
}

/// Settles all visits as if their pages were fetched.
fn visit_out(frontier: &mut Frontier<Backlink>, visits: &mut Vec<HostVisit>) {
    for mut visit in visits.drain(..) {
        while let Some(number) = visit.first() {
            visit.settled(number);
        }
        let at_once = std::time::Duration::ZERO;
        frontier.bench.settle(visit, NOW, at_once, false);
    }
}

#[test]
fn a_small_domain_is_finished_before_a_page_of_a_large_one_is_released() {
    let mut frontier = crawl("far.example", 40);
    for page in 0..100 {
        let seed = at("seed.example", 0);
        hear_of(&mut frontier, &at("large.example", page), &seed);
    }
    let mut claimed = Vec::new();
    while let Some(numbers) = visit(&mut frontier) {
        claimed.extend(numbers);
    }
    assert_eq!(claimed.len(), 141);
    let small = |number: &u32| (1..=40).contains(number);
    let rest = &claimed[1 + 2 * BASE..];
    assert!(rest[..40 - BASE].iter().all(small), "{rest:?}");
}

#[test]
fn pages_that_rise_above_the_price_are_within_the_budget_or_deferred() {
    let price = Price::new(2.0).unwrap();
    let mut frontier = frontier(price).with_domain_budgets(LIMITS);
    let seeds = [0, 1].map(|page| at("seed.example", page));
    for seed in &seeds {
        frontier.hear_seed(seed, NOW);
        // A page is read as a whole: links that a second reading lacks are removed.
        let links: Vec<LinkFact> = (0..40)
            .map(|page| {
                let url = at("far.example", page);
                if frontier.number(url.id()).is_none() {
                    hear_of(&mut frontier, &url, seed);
                }
                LinkFact::new(frontier.number(url.id()).unwrap(), "")
            })
            .collect();
        let reading = Reading {
            text: Text::Nothing,
            links: &links,
            out_links: 40,
            again: false,
        };
        frontier.read(seed.id(), reading);
    }
    let counts = (frontier.bench.waiting(), frontier.bench.deferred());
    assert_eq!(counts, (BASE, 40 - BASE));
}

#[test]
fn a_domain_that_a_user_names_has_no_budget() {
    let mut frontier = crawl("far.example", 40);
    assert!(
        frontier
            .domain_account(at("seed.example", 0).host())
            .is_none()
    );
    frontier.hear_seed(&at("www.far.example", 0), NOW);
    assert_eq!(
        (frontier.bench.deferred(), frontier.bench.waiting()),
        (0, 42)
    );
    assert!(
        frontier
            .domain_account(at("far.example", 0).host())
            .is_none()
    );
}

#[test]
fn further_host_names_of_a_domain_open_only_with_evidence() {
    let mut frontier = start();
    let seed = at("seed.example", 0);
    frontier.hear_seed(&seed, NOW);
    let name = |number: u32| at(&format!("n{number}.wild.example"), 0);
    (0..60).for_each(|number| drop(hear_of(&mut frontier, &name(number), &seed)));
    let asked = |frontier: &mut Frontier<Backlink>| -> usize {
        let visits = std::iter::from_fn(|| visit(frontier));
        visits.map(|numbers| numbers.len()).sum()
    };
    assert_eq!(asked(&mut frontier), 1 + 1, "the seed and one name");
    assert_eq!(
        spent(&frontier, "n7.wild.example"),
        Some(SpentBudget::Names)
    );
    for other in 0..9 {
        let other = at(&format!("o{other}.example"), 0);
        hear_of(&mut frontier, &other, &seed);
        hear_of(&mut frontier, &name(0), &other);
    }
    // Ten linking domains give a budget of 50 pages, and one name is open for every 16 pages.
    assert_eq!(asked(&mut frontier), 9 + 2);
    assert_eq!(frontier.bench.deferred(), 57);
}

#[test]
fn visited_pages_are_refreshed_whatever_the_budget_of_their_domain() {
    let price = Price::new(60.0).unwrap();
    let manners = Manners::default();
    let mut frontier = Frontier::new(LinearGrowth, Box::new(Quality), price, manners, 7)
        .with_domain_budgets(DomainLimits { pages: 2, spare: 0 });
    for page in 0..20 {
        let link = FrontierLink {
            url: &at("far.example", page),
            depth: 1,
            hops: 0,
            source: Some(at("seed.example", 0).id()),
            absent: None,
        };
        frontier.hear(link, NOW);
    }
    let fetch = |frontier: &mut Frontier<LinearGrowth>, now| {
        let before = History::discovered(NOW, 1);
        let after = before.after(policy::Visit::new(NOW, policy::Outcome::Changed));
        let Next::Visit(mut visit) = choose(frontier, now, |_| Some(after)) else {
            return None;
        };
        let number = visit.first().unwrap();
        visit.settled(number);
        let page = frontier.page(visit.host, number);
        frontier.visited(page, &before, &after, now);
        let at_once = std::time::Duration::ZERO;
        frontier.bench.settle(visit, now, at_once, false);
        Some(number.0)
    };
    assert_eq!(fetch(&mut frontier, NOW), Some(0));
    assert_eq!(fetch(&mut frontier, NOW), None, "one page is its budget");
    let later = NOW + std::time::Duration::from_secs(100);
    assert_eq!(fetch(&mut frontier, later), Some(0), "and is due again");
}

#[test]
fn budgets_are_the_same_after_a_restart() {
    let mut ledger = MemoryLedger::default();
    let mut live = start();
    let seed = at("seed.example", 0);
    let mut entries: Vec<Entry> = live.hear_seed(&seed, NOW).into_iter().collect();
    let hosts = [
        "far.example",
        "www.far.example",
        "b.far.example",
        "other.example",
    ];
    for page in 0..30 {
        for host in hosts {
            entries.extend(hear_of(&mut live, &at(host, page), &seed));
        }
    }
    // far.example/3 has a link from another domain and one from its own.
    entries.extend(hear_of(
        &mut live,
        &at("far.example", 3),
        &at("other.example", 0),
    ));
    entries.extend(hear_of(
        &mut live,
        &at("far.example", 3),
        &at("far.example", 1),
    ));
    let mut visited = Vec::new();
    for _ in 0..3 {
        visited.extend(visit(&mut live).unwrap());
    }
    let pages = hosts
        .iter()
        .flat_map(|host| (0..30).map(|page| at(host, page).id()));
    let pages: Vec<PageId> = pages.chain([seed.id()]).collect();
    for number in visited {
        let is_it = |page: &&PageId| live.number(**page) == Some(Number(number));
        let page = *pages.iter().find(is_it).unwrap();
        let mut digest = page::TextDigest::of("");
        digest.simhash = Simhash(u64::from(number % 4));
        live.share_text(page.host(), &digest);
        let visit = policy::Visit::new(NOW, policy::Outcome::Changed);
        let record = crate::record::Visited {
            history: History::discovered(NOW, 1).after(visit),
            copy: Some(crate::record::PageCopy {
                text: Some(digest),
                ..Default::default()
            }),
            ..Default::default()
        };
        entries.push(Entry::Visited(live.key(page).unwrap(), Box::new(record)));
    }
    ledger.commit(&entries);
    let mut recalled = start();
    let unread = |known: &crate::record::Known| known.visited.is_none();
    let texts = |_, tell: &mut dyn FnMut(Said<'_>)| tell(Said::default());
    recalled.recall(&ledger, unread, texts, NOW).unwrap();
    for host in hosts {
        let host = at(host, 0).host();
        let [before, after] = [&live, &recalled].map(|one| one.domain_account(host).unwrap());
        assert_eq!(before, after);
        assert!(before.texts > 0 && before.linking_domains > 0);
    }
    assert_eq!(live.deferring_domains(9), recalled.deferring_domains(9));
    assert_eq!(live.bench.deferred(), recalled.bench.deferred());
    assert!(recalled.domain_account(seed.host()).is_none());
}
