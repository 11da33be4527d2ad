//! The bench against its laws: nothing is lost, nothing is asked twice, nobody is asked too often.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

const WORTH: fn(u16) -> Worth = |depth| Worth::new(1.0 + 1.0 / (1.0 + f64::from(depth)));

fn page(host: u64, page: u64) -> PageId {
    PageId::new(HostId(host), page)
}

fn at(seconds: u64) -> Moment {
    Moment::from_micros(1_000_000 * seconds)
}

fn claim(bench: &mut Bench, now: Moment) -> Visit {
    match bench.next(now) {
        Next::Visit(visit) => visit,
        other => panic!("expected a visit, got {other:?}"),
    }
}

#[test]
fn a_server_with_a_visit_under_way_is_not_on_the_bench() {
    let mut bench = Bench::new(Manners::default());
    bench.offer(page(1, 1), WORTH(0), at(0), at(0));
    bench.offer(page(1, 2), WORTH(0), at(0), at(0));
    let visit = claim(&mut bench, at(0));
    assert_eq!(
        visit.pages,
        [page(1, 1)],
        "a server whose pace is unknown is asked for one page"
    );
    assert!(matches!(bench.next(at(99)), Next::Idle));
    bench.settle(visit, 1, at(100), Duration::from_secs(5));
    assert!(matches!(bench.next(at(104)), Next::WaitUntil(ready) if ready == at(105)));
    let visit = claim(&mut bench, at(105));
    assert_eq!(visit.pages, [page(1, 2)]);
    bench.settle(visit, 1, at(106), Duration::ZERO);
}

#[test]
fn better_pages_leave_first_and_equals_in_order() {
    let mut bench = Bench::new(Manners::default());
    bench.settle_first_visit(1);
    for (number, depth) in [(1, 2), (2, 1), (3, 2), (4, 1), (5, 0)] {
        bench.offer(page(1, number), WORTH(depth), at(0), at(0));
    }
    let visit = claim(&mut bench, at(1));
    assert_eq!(visit.pages, [5, 2, 4, 1, 3].map(|number| page(1, number)));
    bench.settle(visit, 2, at(1), Duration::ZERO);
    let visit = claim(&mut bench, at(1));
    assert_eq!(
        visit.pages,
        [4, 1, 3].map(|number| page(1, number)),
        "what was not asked for"
    );
    bench.settle(visit, 3, at(1), Duration::ZERO);
}

#[test]
fn hosts_that_share_an_address_share_its_politeness() {
    let address: IpAddr = [127, 0, 0, 9].into();
    let mut bench = Bench::new(Manners::default());
    for host in [1, 2] {
        bench.offer(page(host, 1), WORTH(0), at(0), at(0));
    }
    let (first, second) = (claim(&mut bench, at(0)), claim(&mut bench, at(0)));
    let Bound::Go(first) = bench.bind(first, 0, address, at(0)) else {
        panic!("the first goes")
    };
    assert!(matches!(
        bench.bind(second, 0, address, at(0)),
        Bound::Moved
    ));
    assert!(
        matches!(bench.next(at(9)), Next::Idle),
        "its page waits for the first visit"
    );
    bench.settle(first, 1, at(10), Duration::from_secs(1));
    let second = claim(&mut bench, at(11));
    assert_eq!(second.pages, [page(2, 1)]);
    assert!(matches!(
        bench.bind(second, 0, address, at(11)),
        Bound::Go(_)
    ));
}

#[test]
fn a_host_that_moves_in_the_middle_of_a_visit_is_not_asked_twice() {
    let mut bench = Bench::new(Manners::default());
    bench.settle_first_visit(1);
    for number in 0..4 {
        bench.offer(page(1, number), WORTH(0), at(0), at(0));
    }
    let visit = claim(&mut bench, at(0));
    let Bound::Go(visit) = bench.bind(visit, 0, [127, 0, 0, 1].into(), at(0)) else {
        panic!("free")
    };
    assert!(matches!(
        bench.bind(visit, 3, [127, 0, 0, 2].into(), at(0)),
        Bound::Moved
    ));
    assert_eq!(claim(&mut bench, at(0)).pages, [page(1, 3)]);
}

#[test]
fn a_parked_host_keeps_nothing_and_says_so() {
    let mut bench = Bench::new(Manners::default());
    for number in 0..5 {
        bench.offer(page(1, number), WORTH(0), at(0), at(0));
    }
    let visit = claim(&mut bench, at(0));
    bench.park(visit.host);
    bench.settle(visit, 1, at(1), Duration::ZERO);
    bench.offer(page(1, 9), WORTH(0), at(0), at(1));
    assert!(matches!(bench.next(at(2)), Next::Idle));
    assert_eq!((bench.waiting(), bench.left_alone()), (0, 5));
}

#[test]
fn a_host_over_its_limit_is_left_alone() {
    let mut bench = Bench::new(Manners {
        pages_per_host: 3,
        ..Manners::default()
    });
    for number in 0..9 {
        bench.offer(page(1, number), WORTH(0), at(0), at(0));
    }
    let mut fetched = 0;
    while let Next::Visit(visit) = bench.next(at(1)) {
        fetched += visit.pages.len();
        let asked = visit.pages.len();
        bench.settle(visit, asked, at(1), Duration::from_micros(1));
        if fetched > 9 {
            break;
        }
        if let Next::WaitUntil(_) = bench.next(at(1)) {
            bench.servers[0].ready = at(1);
            bench.seat(0);
        }
    }
    assert_eq!((fetched, bench.left_alone()), (3, 6));
}

#[derive(Debug, Clone)]
enum Step {
    Offer {
        host: u64,
        page: u64,
        depth: u16,
        due: u64,
    },
    Next,
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

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..6, 0u64..40, 0u16..4, 0u64..8).prop_map(|(host, page, depth, due)| Step::Offer {
            host,
            page,
            depth,
            due
        }),
        Just(Step::Next),
        Just(Step::Next),
        (0usize..8).prop_map(|which| Step::Bind { which }),
        (0usize..8, 0usize..20, 0u64..4).prop_map(|(which, asked, delay)| Step::Settle {
            which,
            asked,
            delay
        }),
        (0u64..5).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Six hosts on three addresses, any order of events.
    #[test]
    fn nothing_is_lost_and_nobody_is_asked_too_often(steps in prop::collection::vec(step(), 0..300), seats in 1u8..3) {
        let address = |host: HostId| IpAddr::from([127, 0, 0, (host.0 % 3) as u8 + 1]);
        let mut bench = Bench::new(Manners { seats, ..Manners::default() });
        let mut now = at(1);
        let mut offered = HashSet::new();
        let mut asked_for = HashSet::new();
        let mut out: Vec<(bool, Visit)> = Vec::new();
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
                        (false, Some(which)) => Step::Bind { which },
                        (false, None) if drain => Step::Settle { which: 0, asked: 99, delay: 0 },
                        _ => { now = now + Duration::from_secs(1); Step::Next }
                    }
                }
            };
            match step {
                Step::Offer { host, page: number, depth, due } => {
                    if offered.insert(page(host, number)) {
                        bench.offer(page(host, number), WORTH(depth), at(due), now);
                    }
                }
                Step::Next => {
                    if let Next::Visit(visit) = bench.next(now) {
                        out.push((false, visit));
                    }
                }
                Step::Bind { which } if which < out.len() => {
                    let (_, visit) = out.swap_remove(which);
                    let place = address(visit.host);
                    if let Bound::Go(visit) = bench.bind(visit, 0, place, now) {
                        out.push((true, visit));
                        let there = out.iter().filter(|(bound, visit)| *bound && address(visit.host) == place);
                        prop_assert!(there.count() <= usize::from(seats), "more visits than seats");
                        prop_assert!(seats > 1 || not_before.get(&place).is_none_or(|&ready| ready <= now), "too soon");
                    }
                }
                Step::Settle { which, asked, delay } if which < out.len() && out[which].0 => {
                    let (_, visit) = out.swap_remove(which);
                    let asked = asked.min(visit.pages.len());
                    for page in &visit.pages[..asked] {
                        prop_assert!(asked_for.insert(*page), "asked twice");
                    }
                    not_before.insert(address(visit.host), now + Duration::from_secs(delay));
                    bench.settle(visit, asked, now, Duration::from_secs(delay));
                }
                Step::Wait(seconds) => now = now + Duration::from_secs(seconds),
                Step::Bind { .. } | Step::Settle { .. } => {}
            }
        }
        prop_assert_eq!(bench.waiting(), 0);
        prop_assert_eq!(offered, asked_for);
    }
}

impl Bench {
    /// Makes the pace of a host known, so that visits take several pages.
    fn settle_first_visit(&mut self, host: u64) {
        self.offer(page(host, 999), WORTH(0), at(0), at(0));
        let visit = claim(self, at(0));
        self.settle(visit, 1, at(0), Duration::ZERO);
    }
}
