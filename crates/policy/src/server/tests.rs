//! Tests of the strategies on small queues, calculated by hand, and of their laws.

use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

use super::{BestPrefix, ConnectionSlot, Estimate, Queue, Strategy};
use crate::Rank;
use crate::published::server::{BreadthFirstServers, CrawlAbility, Performance, Quality};

fn estimate(connect: f64, response: f64) -> Estimate {
    Estimate::measured(connect, response, 50)
}

fn bid(strategy: &dyn Strategy, best: &[f32], estimate: &Estimate) -> (f64, usize) {
    let line = ConnectionSlot::default();
    let bid = strategy.bid(&Queue {
        best,
        estimate,
        line,
    });
    ((bid.rank.value() * 1e4).round() / 1e4, bid.pages)
}

#[test]
fn ranks_equal_those_calculated_by_hand() {
    // A connection costs 2 × 1 s, each page 1 s.
    let server = estimate(1.0, 1.0);
    let pages = [8.0, 4.0, 1.0, 1.0];
    assert_eq!(bid(&BreadthFirstServers, &pages, &server), (0.0, 4));
    assert_eq!(bid(&Performance, &pages, &server), (0.6667, 4));
    assert_eq!(bid(&Quality, &pages, &server), (8.0, 4));
    assert_eq!(bid(&CrawlAbility, &pages, &server), (2.3333, 4));
    assert_eq!(
        bid(&BestPrefix, &pages, &server),
        (3.0, 2),
        "8/3 < 12/4 > 13/5"
    );
}

/// At a server that needs a delay after each page, a visit is one page, so both strategies give it
/// the same rank.
#[test]
fn crawl_ability_and_best_prefix_rank_a_single_page_alike() {
    for (connect, response) in [(0.1, 0.5), (2.0, 0.01), (0.0, 1.0)] {
        let server = estimate(connect, response);
        for page in [[0.25], [7.0]] {
            let best = bid(&BestPrefix, &page, &server);
            assert_eq!(bid(&CrawlAbility, &page, &server), best);
        }
    }
}

#[test]
fn a_connection_is_kept_while_the_next_page_pays_at_least_the_rank_of_the_best_waiting_server() {
    let (server, line) = (estimate(1.0, 2.0), ConnectionSlot::default());
    let queue = Queue {
        best: &[],
        estimate: &server,
        line,
    };
    assert!(BestPrefix.stays(6.0, &queue, Rank::new(3.0)));
    assert!(!BestPrefix.stays(5.9, &queue, Rank::new(3.0)));
    assert!(
        !CrawlAbility.stays(6.0, &queue, Rank::new(0.0)),
        "fetches only the pages of its bid"
    );
}

proptest! {
    /// Best-prefix is the maximum over all prefixes, so it is never below crawl-ability.
    #[test]
    fn no_prefix_has_a_higher_rank_than_best_prefix(
        mut worths in prop::collection::vec(0f32..10.0, 1..60),
        connect in 0.0f64..2.0,
        response in 0.001f64..2.0,
        open: bool,
        pipelined: bool,
    ) {
        worths.sort_by(|a, b| b.total_cmp(a));
        let (estimate, line) = (estimate(connect, response), ConnectionSlot { open, pipelined });
        let queue = |pages: usize| Queue { best: &worths[..pages], estimate: &estimate, line };
        let best = BestPrefix.bid(&queue(worths.len()));
        for pages in 1..=worths.len() {
            let whole = CrawlAbility.bid(&queue(pages));
            prop_assert!(whole.rank.value() <= best.rank.value() * (1.0 + 1e-12));
        }
        let chosen = CrawlAbility.bid(&queue(best.pages));
        prop_assert_eq!(chosen.rank, best.rank);
    }

    /// A faster server never ranks lower, and neither does a server whose pages are worth more.
    #[test]
    fn a_faster_server_or_better_pages_never_lower_the_rank(
        mut worths in prop::collection::vec(0f32..10.0, 1..60),
        connect in 0.0f64..2.0,
        response in 0.001f64..2.0,
        faster in 0.1f64..1.0,
        better in 1f32..3.0,
    ) {
        worths.sort_by(|a, b| b.total_cmp(a));
        let raised: Vec<f32> = worths.iter().map(|worth| worth * better).collect();
        let slow = estimate(connect, response);
        let fast = estimate(connect * faster, response * faster);
        let strategies: [&dyn Strategy; 5] = [&BreadthFirstServers, &Performance, &Quality, &CrawlAbility, &BestPrefix];
        for strategy in strategies {
            let rank = |best: &[f32], estimate| strategy.bid(&Queue { best, estimate, line: ConnectionSlot::default() }).rank;
            prop_assert!(rank(&worths, &fast) >= rank(&worths, &slow));
            prop_assert!(rank(&raised, &slow).value() >= rank(&worths, &slow).value() * (1.0 - 1e-6));
            prop_assert!(rank(&worths, &slow).value().is_finite());
        }
    }
}
