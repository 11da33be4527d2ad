//! Tests that pages of a host that is given up (*parked*) make room for pages of other hosts.

use super::super::revaluation::RevaluationQueue;
use super::*;

#[test]
fn pages_of_a_parked_host_leave_the_revaluation_queue() {
    let mut frontier = Frontier::new(
        LinearGrowth,
        Box::new(Quality),
        Price::LEAST,
        Manners::default(),
        7,
    )
    .with_budget(1.0);
    let mut histories = HashMap::new();
    for path in 0..40 {
        let link = FrontierLink {
            url: &url(path),
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        frontier.hear(link, NOW);
        let first = History::discovered(NOW, 0);
        let seen = first.after(policy::Visit::new(NOW, policy::Outcome::Changed));
        histories.insert(url(path).id(), seen);
    }
    let past = |key: PageKey| histories.get(&key.page).copied();
    for (page, seen) in &histories {
        frontier.visited(*page, &History::discovered(NOW, 0), seen, NOW);
    }
    let waits = |frontier: &Frontier<LinearGrowth>| frontier.revisits().map(RevaluationQueue::len);
    let mut now = NOW + std::time::Duration::from_secs(10_000);
    let Next::Visit(visit) = choose(&mut frontier, now, past) else {
        panic!("all are overdue");
    };
    assert!(waits(&frontier) > Some(8), "{:?}", waits(&frontier));
    let host = visit.host;
    frontier
        .bench
        .settle(visit, now, std::time::Duration::ZERO, false);
    frontier.bench.park(host);
    for _ in 0..100 {
        now = now + std::time::Duration::from_secs(1);
        assert!(!matches!(choose(&mut frontier, now, past), Next::Visit(_)));
    }
    assert_eq!(waits(&frontier), Some(0));
}
