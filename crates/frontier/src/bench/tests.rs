//! Tests the laws of the bench: no page is lost or fetched twice, politeness delays are kept,
//! and the best server and the best page come first.

use std::collections::{BTreeMap, HashMap, HashSet};

use policy::published::server::{BreadthFirstServers, CrawlAbility, Performance, Quality};
use policy::server::BestPrefix;
use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::*;

const HOST: fn(u64) -> HostId = HostId;

fn worth(value: u16) -> Worth {
    Worth::new(f64::from(value))
}

fn at(seconds: u64) -> Moment {
    Moment::from_micros(1_000_000 * seconds)
}

/// Manners with a width at which a visit claims all of its pages at once.
const WIDE: Manners = Manners {
    seats: 1,
    pages_per_visit: 100,
    burst: 1,
    pages_per_host: 1_000_000,
    width: 100,
    patience: Duration::MAX,
};

fn bench(strategy: impl policy::server::Strategy + 'static) -> Bench {
    Bench::new(WIDE, Box::new(strategy))
}

fn claim(bench: &mut Bench, now: Moment) -> HostVisit {
    match bench.next(now) {
        Turn::Visit(visit) => visit,
        other => panic!("expected a visit, got {other:?}"),
    }
}

fn left(visit: &HostVisit) -> Vec<u32> {
    visit.left().map(|number| number.0).collect()
}

/// Settles up to `pages` pages of a visit and returns them.
fn ask(visit: &mut HostVisit, pages: usize) -> Vec<u32> {
    let asked: Vec<_> = visit.left().take(pages).collect();
    asked.iter().for_each(|&page| visit.settled(page));
    asked.iter().map(|page| page.0).collect()
}

impl Bench {
    fn give(&mut self, host: u64, page: u32, value: u16) {
        self.offer(Number(page), HOST(host), worth(value));
    }

    /// Makes the delay of a host known, so that visits take several pages.
    fn settle_first_visit(&mut self, host: u64) {
        self.give(host, 900 + host as u32, 1);
        let mut visit = claim(self, at(0));
        ask(&mut visit, 1);
        self.settle(visit, at(0), Duration::ZERO, false);
    }
}

#[test]
fn a_server_with_a_visit_under_way_is_not_on_the_bench() {
    let mut bench = bench(BreadthFirstServers);
    bench.give(1, 1, 1);
    bench.give(1, 2, 1);
    let mut visit = claim(&mut bench, at(0));
    assert_eq!(
        left(&visit),
        [1],
        "a server whose pace is unknown is asked for one page"
    );
    assert!(matches!(bench.next(at(99)), Turn::Idle));
    ask(&mut visit, 1);
    bench.settle(visit, at(100), Duration::from_secs(5), true);
    assert!(matches!(bench.next(at(104)), Turn::WaitUntil(ready) if ready == at(105)));
    let visit = claim(&mut bench, at(105));
    assert_eq!(left(&visit), [2]);
}

#[test]
fn a_recalled_delay_of_a_server_holds_for_all_of_its_hosts() {
    let shared: IpAddr = "10.0.0.1".parse().unwrap();
    let mut bench = bench(BreadthFirstServers);
    bench.recall_server(ServerKey::Address(shared), at(60), 3);
    bench.recall_server(ServerKey::Host(HOST(2)), at(30), 0);
    for host in [1, 2, 3] {
        bench.give(host, host as u32, 1);
    }
    for host in [1, 3] {
        let visit = claim(&mut bench, at(0));
        assert_eq!(
            (visit.host, bench.server(&visit)),
            (HOST(host), ServerKey::Host(HOST(host))),
            "its address is not known yet"
        );
        assert!(matches!(bench.bind(visit, shared), Bound::Moved));
    }
    assert!(matches!(bench.next(at(29)), Turn::WaitUntil(ready) if ready == at(30)));
    let visit = claim(&mut bench, at(30));
    assert_eq!((visit.host, visit.refusals()), (HOST(2), 0));
    assert!(matches!(bench.next(at(59)), Turn::WaitUntil(ready) if ready == at(60)));
    let mut visit = claim(&mut bench, at(60));
    assert_eq!(bench.server(&visit), ServerKey::Address(shared));
    assert_eq!(visit.refusals(), 3, "refusals of the run before count");
    bench.count_refusal(&mut visit, true);
    assert_eq!(visit.refusals(), 4);
    bench.settle(visit, at(60), Duration::ZERO, false);
    let mut visit = claim(&mut bench, at(60));
    assert_eq!(visit.refusals(), 4, "and refusals of the visit before");
    bench.count_refusal(&mut visit, false);
    assert_eq!(visit.refusals(), 0, "an answer resets the count");
    bench.settle(visit, at(60), Duration::ZERO, false);
    assert_eq!(claim(&mut bench, at(60)).refusals(), 0);
}

#[test]
fn a_server_rests_after_its_visit_moved_to_another() {
    let mut bench = bench(BreadthFirstServers);
    bench.give(1, 1, 1);
    let visit = claim(&mut bench, at(0));
    let Bound::Go(visit) = bench.bind(visit, [127, 0, 0, 1].into()) else {
        panic!("the address is new");
    };
    bench.rest(&visit, at(5));
    assert!(matches!(
        bench.bind(visit, [127, 0, 0, 2].into()),
        Bound::Moved
    ));
    // Another host of the first server waits for the end of the rest.
    let _moved = claim(&mut bench, at(0));
    bench.give(2, 2, 1);
    let visit = claim(&mut bench, at(0));
    assert!(matches!(
        bench.bind(visit, [127, 0, 0, 1].into()),
        Bound::Moved
    ));
    assert!(matches!(bench.next(at(4)), Turn::WaitUntil(ready) if ready == at(5)));
}

#[test]
fn the_bench_is_idle_if_all_servers_need_a_longer_wait_than_patience() {
    let patience = Duration::from_secs(10);
    let mut bench = Bench::new(Manners { patience, ..WIDE }, Box::new(BreadthFirstServers));
    for (host, ready) in [(1, 50), (2, 20)] {
        bench.recall_server(ServerKey::Host(HOST(host)), at(ready), 0);
        bench.give(host, host as u32, 1);
    }
    assert!(matches!(bench.next(at(9)), Turn::Idle));
    assert_eq!(bench.waiting(), 2, "they stay");
    assert!(matches!(bench.next(at(10)), Turn::WaitUntil(ready) if ready == at(20)));
    let visit = claim(&mut bench, at(20));
    assert_eq!(left(&visit), [2]);
    assert!(matches!(bench.next(at(39)), Turn::Idle));
    assert_eq!(left(&claim(&mut bench, at(50))), [1]);
}

#[test]
fn better_pages_leave_first_and_equals_in_the_order_of_discovery() {
    let mut bench = bench(BreadthFirstServers);
    bench.settle_first_visit(1);
    for (number, value) in [(1, 2), (2, 7), (3, 2), (4, 7), (5, 9)] {
        bench.give(1, number, value);
    }
    let mut visit = claim(&mut bench, at(1));
    assert_eq!(ask(&mut visit, 2), [5, 2]);
    bench.settle(visit, at(1), Duration::ZERO, false);
    let visit = claim(&mut bench, at(1));
    assert_eq!(left(&visit), [4, 1, 3], "what was not asked for");
}

#[test]
fn each_strategy_visits_the_server_that_it_ranks_first() {
    // Server 1 has the single best page and is slow. Server 2 has many fair pages and is fast.
    // Server 3 has two good pages before many poor ones.
    let fast = |response| Estimate::measured(response, response, 50);
    let first = |strategy: Box<dyn policy::server::Strategy>| {
        let mut bench = Bench::new(WIDE, strategy);
        let servers: [(u64, f64, &[u16]); 3] = [
            (1, 4.0, &[100, 1, 1, 1]),
            (2, 0.1, &[11; 40]),
            (3, 0.5, &[90, 80, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ];
        let mut number = 0;
        (1..4).for_each(|host| bench.settle_first_visit(host));
        for (host, response, pages) in servers {
            bench.recall(HOST(host), fast(response));
            for &value in pages {
                number += 1;
                bench.give(host, number, value);
            }
        }
        let visit = claim(&mut bench, at(1));
        (visit.host.0, visit.left().count())
    };
    assert_eq!(
        first(Box::new(BreadthFirstServers)),
        (1, 4),
        "it waits longest"
    );
    assert_eq!(first(Box::new(Performance)), (2, 40));
    assert_eq!(first(Box::new(Quality)), (1, 4));
    assert_eq!(first(Box::new(CrawlAbility)), (2, 40), "440/4.2 > 184/9");
    assert_eq!(first(Box::new(BestPrefix)), (2, 40), "440/4.2 > 170/2");
}

#[test]
fn a_visit_continues_while_the_strategy_prefers_to_stay() {
    let mut bench = bench(BestPrefix);
    for host in [1, 2] {
        bench.settle_first_visit(host);
        bench.recall(HOST(host), Estimate::measured(1.0, 1.0, 50));
    }
    for (number, value) in [(1, 30), (2, 20), (3, 3), (4, 1)] {
        bench.give(1, number, value);
    }
    bench.give(2, 5, 12); // A worth of 12 for three seconds: 4 per second.
    let mut visit = claim(&mut bench, at(1));
    assert_eq!(
        (visit.host, ask(&mut visit, 9)),
        (HOST(1), vec![1, 2]),
        "the best prefix"
    );
    assert!(
        !bench.more(&mut visit, false, at(1)),
        "3 per second is less than 4"
    );
    bench.give(1, 6, 5);
    assert!(bench.more(&mut visit, false, at(1)));
    assert_eq!(ask(&mut visit, 9), [6]);
    assert!(bench.more(&mut visit, true, at(1)), "a connection is free");
    assert_eq!(ask(&mut visit, 9), [3, 4]);
    assert!(!bench.more(&mut visit, true, at(1)), "nothing is left");
}

#[test]
fn a_better_page_found_during_a_visit_is_claimed_before_the_rest() {
    let mut bench = Bench::new(Manners::default(), Box::new(BestPrefix));
    bench.settle_first_visit(1);
    (0..9).for_each(|page| bench.give(1, page, 5));
    let mut visit = claim(&mut bench, at(1));
    assert_eq!(ask(&mut visit, 9), [0]);
    bench.give(1, 20, 8);
    bench.more(&mut visit, false, at(1));
    assert_eq!(ask(&mut visit, 9), [20]);
}

#[test]
fn a_first_visit_that_may_go_on_takes_what_it_was_ranked_for() {
    let mut bench = bench(Quality);
    for number in 0..60 {
        bench.give(1, number, 1);
    }
    bench.give(2, 99, 1);
    let mut visit = claim(&mut bench, at(0));
    assert_eq!(ask(&mut visit, 99).len(), 1);
    assert!(bench.more(&mut visit, false, at(0)));
    assert_eq!(ask(&mut visit, 99).len(), 49, "fifty pages a connection");
    assert!(!bench.more(&mut visit, false, at(0)));
}

#[test]
fn a_changed_worth_moves_the_page_in_its_queue_and_its_server_on_the_bench() {
    let mut bench = bench(Quality);
    bench.track();
    (1..3).for_each(|host| bench.settle_first_visit(host));
    for host in [1, 2] {
        for page in 0..80 {
            bench.give(host, host as u32 * 100 + page, 10);
        }
    }
    bench.hold(Number(7), HOST(1));
    assert_eq!(
        bench.change(Number(7), worth(4), worth(5)),
        None,
        "still too little"
    );
    assert_eq!(bench.change(Number(7), worth(5), worth(5)), Some(HOST(1)));
    assert_eq!(bench.change(Number(279), worth(30), worth(5)), None);
    assert_eq!(bench.change(Number(140), worth(1), worth(5)), None);
    let stands = bench.standing(Number(279), HOST(2)).unwrap();
    assert_eq!(
        (
            stands.pages_before,
            stands.servers_before,
            stands.pages_waiting
        ),
        (0, 0, 80)
    );
    assert_eq!(
        bench.standing(Number(100), HOST(1)).unwrap().servers_before,
        1
    );
    assert_eq!(
        bench.standing(Number(140), HOST(1)).unwrap().pages_before,
        79
    );
    let mut visit = claim(&mut bench, at(0));
    assert_eq!((visit.host, ask(&mut visit, 2)), (HOST(2), vec![279, 200]));
    assert_eq!(
        bench.change(Number(279), worth(99), worth(5)),
        None,
        "it is claimed"
    );
}

#[test]
fn hosts_that_share_an_address_are_visited_one_after_the_other() {
    let address: IpAddr = [127, 0, 0, 9].into();
    let mut bench = bench(BreadthFirstServers);
    for host in [1, 2] {
        bench.give(host, host as u32, 1);
    }
    let (first, second) = (claim(&mut bench, at(0)), claim(&mut bench, at(0)));
    let Bound::Go(mut first) = bench.bind(first, address) else {
        panic!("the first goes")
    };
    assert!(matches!(bench.bind(second, address), Bound::Moved));
    assert!(
        matches!(bench.next(at(9)), Turn::Idle),
        "its page waits for the first visit"
    );
    ask(&mut first, 1);
    bench.settle(first, at(10), Duration::from_secs(1), false);
    let second = claim(&mut bench, at(11));
    assert_eq!(left(&second), [2]);
    assert!(matches!(bench.bind(second, address), Bound::Go(_)));
}

#[test]
fn a_visit_to_a_server_with_a_delay_is_ranked_for_a_burst() {
    let pages = |burst: usize, allowed: usize, delay: u64| {
        let manners = Manners { burst, ..WIDE };
        let mut bench = Bench::new(manners, Box::new(CrawlAbility));
        (1..=9).for_each(|page| bench.give(1, page, 1));
        let mut visit = claim(&mut bench, at(0));
        ask(&mut visit, 10);
        visit.burst = visit.burst.min(allowed);
        bench.settle(visit, at(0), Duration::from_secs(delay), true);
        let stands = bench.standing(Number(9), HOST(1)).unwrap();
        assert_eq!(stands.burst, (delay > 0).then_some(burst.min(allowed)));
        stands.visit_pages
    };
    assert_eq!(pages(1, 9, 1), 1);
    assert_eq!(pages(3, 9, 1), 3);
    assert_eq!(pages(3, 1, 1), 1, "its robots.txt has a crawl delay");
    assert_eq!(pages(1, 9, 0), 8, "it needs no delay");
    let mut bench = bench(CrawlAbility);
    (1..=9).for_each(|page| bench.give(1, page, 1));
    bench.recall_pace(HOST(1), 2);
    assert_eq!(bench.standing(Number(9), HOST(1)).unwrap().visit_pages, 2);
}

#[test]
fn a_host_does_not_keep_the_connection_from_another_of_its_server() {
    let address: IpAddr = [127, 0, 0, 9].into();
    let mut bench = Bench::new(Manners::default(), Box::new(Quality));
    bench.give(1, 1, 1);
    bench.give(2, 2, 1);
    let (first, second) = (claim(&mut bench, at(0)), claim(&mut bench, at(0)));
    let Bound::Go(mut first) = bench.bind(first, address) else {
        panic!("the first goes")
    };
    assert!(matches!(bench.bind(second, address), Bound::Moved));
    ask(&mut first, 1);
    bench.settle(first, at(0), Duration::ZERO, true);
    (100..300).for_each(|page| bench.give(1, page, 2));
    let mut visit = claim(&mut bench, at(1));
    let mut asked = ask(&mut visit, 9).len();
    while bench.more(&mut visit, true, at(1)) {
        asked += ask(&mut visit, 9).len();
    }
    assert_eq!(
        (visit.host, asked),
        (HOST(1), 50),
        "while another host waits"
    );
}

#[test]
fn a_host_that_moves_in_the_middle_of_a_visit_is_not_asked_twice() {
    let mut bench = bench(BreadthFirstServers);
    bench.settle_first_visit(1);
    for number in 0..4 {
        bench.give(1, number, 1);
    }
    let visit = claim(&mut bench, at(0));
    let Bound::Go(mut visit) = bench.bind(visit, [127, 0, 0, 1].into()) else {
        panic!("free")
    };
    ask(&mut visit, 3);
    assert!(matches!(
        bench.bind(visit, [127, 0, 0, 2].into()),
        Bound::Moved
    ));
    assert_eq!(left(&claim(&mut bench, at(0))), [3]);
}

#[test]
fn a_parked_host_drops_its_pages_and_they_are_counted() {
    let mut bench = bench(BreadthFirstServers);
    for number in 0..5 {
        bench.give(1, number, 1);
    }
    let mut visit = claim(&mut bench, at(0));
    ask(&mut visit, 1);
    bench.park(visit.host);
    bench.settle(visit, at(1), Duration::ZERO, false);
    bench.give(1, 9, 1);
    assert!(matches!(bench.next(at(2)), Turn::Idle));
    assert_eq!((bench.waiting(), bench.left_alone()), (0, 5));
}

#[test]
fn a_host_over_its_page_limit_is_parked() {
    let manners = Manners {
        pages_per_host: 3,
        ..WIDE
    };
    let mut bench = Bench::new(manners, Box::new(BestPrefix));
    for number in 0..9 {
        bench.give(1, number, 1);
    }
    let mut fetched = 0;
    while let Turn::Visit(mut visit) = bench.next(at(1)) {
        fetched += ask(&mut visit, 1).len();
        if bench.more(&mut visit, true, at(1)) {
            fetched += ask(&mut visit, 9).len();
        }
        bench.settle(visit, at(1), Duration::ZERO, false);
    }
    assert_eq!((fetched, bench.left_alone()), (3, 6));
}

#[derive(Debug, Clone)]
enum BenchStep {
    Offer {
        host: u64,
        page: u32,
        value: u16,
    },
    Change {
        host: u64,
        page: u32,
        value: u16,
    },
    Turn,
    More {
        which: usize,
    },
    Bind {
        which: usize,
    },
    Settle {
        which: usize,
        asked: usize,
        delay: u64,
    },
    Wait(u64),
}

fn step() -> impl Strategy<Value = BenchStep> {
    prop_oneof![
        3 => (0u64..6, 0u32..40, 0u16..4).prop_map(|(host, page, value)| BenchStep::Offer { host, page, value }),
        1 => (0u64..6, 0u32..40, 0u16..9).prop_map(|(host, page, value)| BenchStep::Change { host, page, value }),
        2 => Just(BenchStep::Turn),
        1 => (0usize..8).prop_map(|which| BenchStep::More { which }),
        1 => (0usize..8).prop_map(|which| BenchStep::Bind { which }),
        1 => (0usize..8, 0usize..20, 0u64..4)
            .prop_map(|(which, asked, delay)| BenchStep::Settle { which, asked, delay }),
        1 => (0u64..5).prop_map(BenchStep::Wait),
    ]
}

fn strategy(which: u8) -> Box<dyn policy::server::Strategy> {
    match which {
        0 => Box::new(BreadthFirstServers),
        1 => Box::new(Performance),
        2 => Box::new(Quality),
        3 => Box::new(CrawlAbility),
        _ => Box::new(BestPrefix),
    }
}

proptest! {
    /// Six hosts on three addresses, with any order of events and any strategy.
    #[test]
    fn no_page_is_lost_and_no_server_is_asked_too_often(
        steps in prop::collection::vec(step(), 0..300),
        seats in 1u8..3,
        which in 0u8..5,
        width in 1usize..9,
    ) {
        let address = |host: HostId| IpAddr::from([127, 0, 0, (host.0 % 3) as u8 + 1]);
        let number = |host: u64, page: u32| host as u32 * 40 + page;
        let mut bench = Bench::new(Manners { seats, width, ..WIDE }, strategy(which));
        bench.track();
        let mut now = at(1);
        let mut offered = HashSet::new();
        let mut asked_for = HashSet::new();
        let mut values: BTreeMap<u32, u16> = BTreeMap::new();
        let mut out: Vec<(bool, HostVisit)> = Vec::new();
        let mut not_before: HashMap<IpAddr, Moment> = HashMap::new();
        let mut drain = false;
        let mut steps = steps.into_iter();
        for _ in 0..3000 {
            let step = match steps.next() {
                Some(step) => step,
                None if bench.waiting() == 0 && out.is_empty() => break,
                None => {
                    drain = !drain;
                    match (out.is_empty(), out.iter().position(|(bound, _)| !bound)) {
                        (false, Some(which)) => BenchStep::Bind { which },
                        (false, None) if drain => BenchStep::Settle { which: 0, asked: 999, delay: 0 },
                        _ => { now = now + Duration::from_secs(1); BenchStep::Turn }
                    }
                }
            };
            match step {
                BenchStep::Offer { host, page, value } => {
                    if offered.insert(number(host, page)) {
                        values.insert(number(host, page), value);
                        bench.offer(Number(number(host, page)), HOST(host), worth(value));
                    }
                }
                BenchStep::Change { host, page, value } => {
                    let number = number(host, page);
                    let waits = bench.standing(Number(number), HOST(host)).is_some();
                    bench.change(Number(number), worth(value), worth(0));
                    if waits {
                        values.insert(number, value);
                        let stands = bench.standing(Number(number), HOST(host));
                        prop_assert_eq!(stands.map(|stands| stands.worth), Some(f32::from(value)));
                    }
                }
                BenchStep::Turn => {
                    if let Turn::Visit(visit) = bench.next(now) {
                        let pages: Vec<_> = visit.left().collect();
                        let value = |page: &Number| (values[&page.0], std::cmp::Reverse(page.0));
                        prop_assert!(pages.iter().map(value).is_sorted_by(|a, b| a > b), "the best first");
                        out.push((false, visit));
                    }
                }
                BenchStep::More { which } if which < out.len() && out[which].0 => {
                    bench.more(&mut out[which].1, which % 2 == 0, now);
                }
                BenchStep::Bind { which } if which < out.len() => {
                    let (_, visit) = out.swap_remove(which);
                    let place = address(visit.host);
                    if let Bound::Go(visit) = bench.bind(visit, place) {
                        out.push((true, visit));
                        let there = out.iter().filter(|(bound, visit)| *bound && address(visit.host) == place);
                        prop_assert!(there.count() <= usize::from(seats), "more visits than seats");
                        prop_assert!(seats > 1 || not_before.get(&place).is_none_or(|&ready| ready <= now), "too soon");
                    }
                }
                BenchStep::Settle { which, asked, delay } if which < out.len() && out[which].0 => {
                    let (_, mut visit) = out.swap_remove(which);
                    for page in ask(&mut visit, asked) {
                        prop_assert!(asked_for.insert(page), "asked twice");
                    }
                    not_before.insert(address(visit.host), now + Duration::from_secs(delay));
                    bench.settle(visit, now, Duration::from_secs(delay), delay == 0);
                }
                BenchStep::Wait(seconds) => now = now + Duration::from_secs(seconds),
                BenchStep::Bind { .. } | BenchStep::Settle { .. } | BenchStep::More { .. } => {}
            }
        }
        prop_assert_eq!(bench.waiting(), 0);
        prop_assert_eq!(offered, asked_for);
    }
}
