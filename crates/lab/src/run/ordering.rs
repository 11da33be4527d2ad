//! The order in which a policy fetches the pages of a graph.
//!
//! - [`order_of_visits`]: servers cost nothing. Each visit fetches one page, and the best page
//!   anywhere is next. This is the setting of Cho, Garcia-Molina & Page (1998).
//! - [`order_of_crawl`]: the two levels of servers and pages, over one connection, as in
//!   `avocet crawl --connections 1`.
//!
//! **The wall:** a policy receives what the crawler has fetched so far and nothing else. The crate
//! of the policies depends on no world. A run takes a policy as a `'static` value, so a policy
//! cannot borrow a world either:
//!
//! ```compile_fail,E0597
//! # use policy::{Moment, Page, Policy, Worth};
//! # use lab::{run::order_of_visits, world::Graph};
//! struct Peeking<'a>(&'a Graph);
//!
//! impl Policy for Peeking<'_> {
//!     fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
//!         Worth::new(self.0.links(page.number.index()).len() as f64)
//!     }
//! }
//!
//! let graph = Graph::new(["http://e.org/"].into_iter(), [].into_iter());
//! order_of_visits(&graph, Box::new(Peeking(&graph)), &[0]);
//! ```
//!
//! The same policy without the borrow compiles:
//!
//! ```
//! # use policy::{Moment, Page, Policy, Worth};
//! # use lab::{run::order_of_visits, world::Graph};
//! struct Blind;
//!
//! impl Policy for Blind {
//!     fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
//!         Worth::new(1.0 + page.number.index() as f64)
//!     }
//! }
//!
//! let graph = Graph::new(["http://e.org/"].into_iter(), [].into_iter());
//! assert_eq!(order_of_visits(&graph, Box::new(Blind), &[0]), [0]);
//! ```

use std::time::Duration;

use crawl::{Again, Plan};
use frontier::bench::Manners;
use policy::published::server::Quality;
use policy::server::Strategy;
use policy::{Crawl, Moment, Policy, Price};

use super::driver::{InstantServers, LabDriver, NEVER};
use super::wall::{CrawlableWorld, NamedPage, Wall};

/// Time between two fetches, so that no two have the same time.
pub(super) const STEP: Duration = Duration::from_micros(1);

/// The result of a crawl with a bounded buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// Pages in the order of their fetches.
    pub visits: Vec<usize>,
    /// Pages that left the buffer, in order. Once the buffer is full, each visit drops one page.
    pub drops: Vec<usize>,
}

/// Returns the pages in the order in which a policy fetches them from the seeds. Servers cost
/// nothing.
pub fn order_of_visits<'a>(
    web: impl Into<CrawlableWorld<'a>>,
    order: Box<dyn Policy>,
    seeds: &[usize],
) -> Vec<usize> {
    trip(web, order, seeds, usize::MAX).visits
}

/// Like [`order_of_visits`], within a part of the web, with a policy that has already crawled all
/// pages of an earlier part. Links out of the part are seen but not followed.
///
/// The policy keeps what it learned there, as it would in a store that holds these pages. The
/// result contains only the visits after that.
pub fn order_after<'a>(
    web: impl Into<CrawlableWorld<'a>>,
    order: Box<dyn Policy>,
    earlier: impl Fn(usize) -> bool,
    seeds: &[usize],
    part: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let web = web.into();
    let crawl = crawl_by(order);
    type Rule<'r> = Box<dyn FnMut(NamedPage) -> bool + 'r>;
    let before: Rule<'_> = Box::new(|named| earlier(named.page));
    let wall = Wall::new(web, crawl.needs(), before);
    let plan = Plan {
        // The crawl must go on after a part is exhausted.
        again: Again::AtPrice(Price::LEAST),
        ..single_page_plan()
    };
    let mut driver = start(wall, plan, crawl);
    // A page of the earlier part that is not discovered yet becomes a seed, so that the policy
    // reads every page of that part.
    for page in (0..web.graph().pages()).filter(|page| earlier(*page)) {
        let named = driver.world.discover(NamedPage::seed(page));
        driver.exhaust(named.into_iter().collect());
    }
    let read = driver.world.visits.len();
    driver
        .world
        .set_admission(Box::new(|named| part(named.page)));
    let seeds = seeds.iter().map(|&seed| NamedPage::seed(seed));
    let named = seeds
        .filter_map(|seed| driver.world.discover(seed))
        .collect();
    driver.exhaust(named);
    driver.world.visits.split_off(read)
}

/// Like [`order_of_visits`], with a buffer of at most `buffer` pages. When it is full, the page
/// that the policy rates lowest is dropped.
pub fn trip<'a>(
    web: impl Into<CrawlableWorld<'a>>,
    order: Box<dyn Policy>,
    seeds: &[usize],
    buffer: usize,
) -> Trip {
    let crawl = crawl_by(order);
    let plan = Plan {
        buffer: (buffer < usize::MAX).then_some(buffer),
        ..single_page_plan()
    };
    let mut wall = Wall::new(web.into(), crawl.needs(), |_| true);
    let plan = with_seeds(plan, &mut wall, seeds);
    let mut driver = start(wall, plan, crawl);
    driver.run(NEVER, []);
    Trip {
        visits: driver.world.visits,
        drops: driver.world.drops,
    }
}

/// Returns the pages in the order in which `avocet crawl` fetches them over one connection.
///
/// Every host is a server of its own. It answers at once, needs no delay, forbids nothing and
/// keeps connections open. So a strategy that ranks servers by speed sees equally fast servers.
pub fn order_of_crawl<'a>(
    web: impl Into<CrawlableWorld<'a>>,
    policy: policy::Crawl,
    strategy: Box<dyn Strategy>,
    manners: Manners,
    seeds: &[usize],
) -> Vec<usize> {
    let plan = Plan {
        per_server: manners.seats,
        pages_per_visit: manners.pages_per_visit,
        pages_per_host: manners.pages_per_host,
        width: manners.width,
        ..Plan::default()
    };
    let mut wall = Wall::new(web.into(), policy.needs(), |_| true);
    let plan = with_seeds(plan, &mut wall, seeds);
    let policies = (policy, strategy);
    let connections = InstantServers::persistent(STEP);
    let mut driver = LabDriver::new(wall, connections, plan, policies, Moment::START + STEP);
    driver.run(NEVER, []);
    driver.world.visits
}

/// Returns a crawl that orders pages by this policy and fetches none twice.
pub(super) fn crawl_by(order: Box<dyn Policy>) -> Crawl {
    Crawl {
        order,
        ..Crawl::default()
    }
}

/// Returns a plan for worlds in which servers cost nothing: each visit fetches one page, so the
/// next page is the best one anywhere.
pub(super) fn single_page_plan() -> Plan {
    Plan {
        pages_per_visit: 1,
        without_rules: true,
        ..Plan::default()
    }
}

/// Starts a crawl in which servers cost nothing.
pub(super) fn start<O: FnMut(NamedPage) -> bool>(
    wall: Wall<'_, O>,
    plan: Plan,
    crawl: Crawl,
) -> LabDriver<Wall<'_, O>> {
    let policies = (crawl, Box::new(Quality) as _);
    let connections = InstantServers::one_page(STEP);
    LabDriver::new(wall, connections, plan, policies, Moment::START + STEP)
}

/// Returns the plan with these seeds.
pub(super) fn with_seeds<O: FnMut(NamedPage) -> bool>(
    plan: Plan,
    wall: &mut Wall<'_, O>,
    seeds: &[usize],
) -> Plan {
    let seeds = seeds.iter().map(|&seed| NamedPage::seed(seed));
    let seeds = seeds.filter_map(|seed| wall.discover(seed));
    Plan {
        seeds: seeds.map(|seed| seed.url).collect(),
        ..plan
    }
}

#[cfg(test)]
mod tests {
    use policy::catalog::{Catalog, Wishes};

    use super::*;
    use crate::world::Graph;

    /// Page 0 links to 1, 2 and 3. Page 1 links to 4; pages 2 and 3 link to 5; page 5 links to
    /// 6. Even and odd pages are on two hosts.
    fn graph() -> Graph {
        let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (5, 6)];
        let urls: Vec<String> = (0..7)
            .map(|page| format!("http://{}.org/{page}", page % 2))
            .collect();
        Graph::new(urls.iter().map(String::as_str), edges.into_iter())
    }

    fn order(name: &str) -> Box<dyn Policy> {
        Catalog::standard().order(name, &Wishes::default()).unwrap()
    }

    #[test]
    fn orderings_fetch_in_their_order_across_hosts() {
        let visits = |name| order_of_visits(&graph(), order(name), &[0]);
        assert_eq!(visits("breadth-first"), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            visits("backlink"),
            [0, 1, 2, 3, 5, 4, 6],
            "two links before one"
        );
        assert_eq!(visits("depth-limited(1)"), [0, 1, 2, 3]);
        assert_ne!(visits("random(1)"), visits("random(2)"));
    }

    #[test]
    fn the_policy_observes_an_earlier_crawl_that_the_result_leaves_out() {
        // Records the pages that the policy observes as read, in order.
        #[derive(Default)]
        struct ReadRecorder(std::sync::Arc<std::sync::Mutex<Vec<u32>>>);
        impl Policy for ReadRecorder {
            fn needs(&self) -> policy::Needs {
                policy::Needs {
                    links: true,
                    ..policy::Needs::default()
                }
            }
            fn observe(&mut self, fact: &policy::Fact<'_>, _moves: &mut policy::Moves) {
                if let policy::Fact::Read(read) = fact {
                    self.0.lock().unwrap().push(read.page.0);
                }
            }
            fn worth(&self, _page: policy::Page<'_>, _now: policy::Moment) -> policy::Worth {
                policy::Worth::new(1.0)
            }
        }
        let recorder = ReadRecorder::default();
        let read_pages = recorder.0.clone();
        let earlier = |page: usize| page == 5 || page == 6;
        let visits = order_after(&graph(), Box::new(recorder), earlier, &[0], |page| page < 4);
        assert_eq!(visits, [0, 1, 2, 3]);
        assert_eq!(
            *read_pages.lock().unwrap(),
            [0, 1, 2, 3, 4, 5],
            "six pages were read"
        );
    }

    #[test]
    fn one_connection_stays_as_long_as_the_visit_was_ranked_for() {
        let crawl = |servers, pages_per_visit| {
            let policy = policy::Crawl {
                order: order("breadth-first"),
                ..policy::Crawl::default()
            };
            let strategy = Catalog::standard().servers(servers).unwrap();
            let manners = Manners {
                pages_per_visit,
                ..Manners::default()
            };
            order_of_crawl(&graph(), policy, strategy, manners, &[0])
        };
        // The visit to the first host was ranked for page 0 alone. After it, the other host comes
        // first, because it has waited longer.
        assert_eq!(crawl("breadth-first", 100), [0, 1, 3, 2, 4, 5, 6]);
        assert_eq!(crawl("quality", 1), [0, 1, 2, 3, 4, 5, 6]);
    }
}
