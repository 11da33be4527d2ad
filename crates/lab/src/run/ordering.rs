//! In which order does a policy fetch the pages of a graph?
//!
//! [`order_of_visits`]: servers cost nothing, so a visit is for one page and the best page anywhere is
//! next: the setting of Cho, Garcia-Molina & Page (1998). [`order_of_crawl`]: the real two levels over one
//! connection, as `avocet crawl --connections 1` goes.
//!
//! **The wall:** a policy is told what a crawler has fetched so far and nothing else. It is of a crate
//! that knows no world, and it is taken by value for as long as it likes to live, so it cannot
//! borrow one either:
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
//! The same without the borrow is fine:
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

use super::driver::{AtOnce, Driver, NEVER};
use super::wall::{Named, Wall, Web};

/// Time that passes between two fetches: enough to tell them apart.
pub(super) const STEP: Duration = Duration::from_micros(1);

/// A crawl, and what it kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// The pages in the order in which they were fetched.
    pub visits: Vec<usize>,
    /// The pages that left the buffer: one with every visit after it was full.
    pub drops: Vec<usize>,
}

/// The pages in the order in which they are fetched from these seeds, where servers cost nothing.
pub fn order_of_visits<'a>(
    web: impl Into<Web<'a>>,
    order: Box<dyn Policy>,
    seeds: &[usize],
) -> Vec<usize> {
    trip(web, order, seeds, usize::MAX).visits
}

/// The same of a part of the web: links that lead elsewhere are seen and not followed.
pub fn order_within<'a>(
    web: impl Into<Web<'a>>,
    order: Box<dyn Policy>,
    seeds: &[usize],
    part: impl Fn(usize) -> bool,
) -> Vec<usize> {
    order_after(web, order, |_| false, seeds, part)
}

/// The same by a policy that has crawled the pages of an earlier part before, all of them, and knows what it learned
/// there, as one does in a store that has them. Only what came after that is told.
pub fn order_after<'a>(
    web: impl Into<Web<'a>>,
    order: Box<dyn Policy>,
    earlier: impl Fn(usize) -> bool,
    seeds: &[usize],
    part: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let web = web.into();
    let crawl = by(order);
    type Rule<'r> = Box<dyn FnMut(Named) -> bool + 'r>;
    let before: Rule<'_> = Box::new(|named| earlier(named.page));
    let wall = Wall::new(web, crawl.needs(), before);
    let plan = Plan {
        // It does not end when a part is exhausted.
        again: Again::AtPrice(Price::LEAST),
        ..of_pages()
    };
    let mut driver = begin(wall, plan, crawl);
    // What no link leads to is named by the user: the policy may have read all of this part.
    for page in (0..web.graph().pages()).filter(|page| earlier(*page)) {
        let named = driver.world.name(Named::seed(page));
        driver.exhaust(named.into_iter().collect());
    }
    let read = driver.world.visits.len();
    driver.world.follow(Box::new(|named| part(named.page)));
    let seeds = seeds.iter().map(|&seed| Named::seed(seed));
    let named = seeds.filter_map(|seed| driver.world.name(seed)).collect();
    driver.exhaust(named);
    driver.world.visits.split_off(read)
}

/// The same with a buffer of so many pages, from which those leave that the policy believes in least.
pub fn trip<'a>(
    web: impl Into<Web<'a>>,
    order: Box<dyn Policy>,
    seeds: &[usize],
    buffer: usize,
) -> Trip {
    let crawl = by(order);
    let plan = Plan {
        buffer: (buffer < usize::MAX).then_some(buffer),
        ..of_pages()
    };
    let mut wall = Wall::new(web.into(), crawl.needs(), |_| true);
    let plan = seeded(plan, &mut wall, seeds);
    let mut driver = begin(wall, plan, crawl);
    driver.run(NEVER, []);
    Trip {
        visits: driver.world.visits,
        drops: driver.world.drops,
    }
}

/// The pages in the order in which `avocet crawl` fetches them over one connection from these seeds.
///
/// Every host is a server of its own, which answers at once, wants no delay, forbids nothing and never
/// hangs up. A strategy that ranks by speed therefore sees servers that are all equally fast.
pub fn order_of_crawl<'a>(
    web: impl Into<Web<'a>>,
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
    let plan = seeded(plan, &mut wall, seeds);
    let policies = (policy, strategy);
    let connections = AtOnce::kept(STEP);
    let mut driver = Driver::new(wall, connections, plan, policies, Moment::START + STEP);
    driver.run(NEVER, []);
    driver.world.visits
}

/// A policy that orders pages, and fetches none twice.
pub(super) fn by(order: Box<dyn Policy>) -> Crawl {
    Crawl {
        order,
        ..Crawl::default()
    }
}

/// Servers cost nothing: a visit is for one page, and the best page anywhere is next.
pub(super) fn of_pages() -> Plan {
    Plan {
        pages_per_visit: 1,
        without_rules: true,
        ..Plan::default()
    }
}

/// A crawl in which servers cost nothing.
pub(super) fn begin<O: FnMut(Named) -> bool>(
    wall: Wall<'_, O>,
    plan: Plan,
    crawl: Crawl,
) -> Driver<Wall<'_, O>> {
    let policies = (crawl, Box::new(Quality) as _);
    let connections = AtOnce::one_page(STEP);
    Driver::new(wall, connections, plan, policies, Moment::START + STEP)
}

/// The plan with these seeds.
pub(super) fn seeded<O: FnMut(Named) -> bool>(
    plan: Plan,
    wall: &mut Wall<'_, O>,
    seeds: &[usize],
) -> Plan {
    let seeds = seeds.iter().map(|&seed| Named::seed(seed));
    let seeds = seeds.filter_map(|seed| wall.name(seed));
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

    /// 0 leads to 1, 2, 3; two of these lead to 5, one to 4; 5 leads to 6. Even and odd pages are on two
    /// hosts.
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
    fn an_earlier_crawl_is_told_to_the_policy_and_not_to_the_reader() {
        // All pages that the policy was asked about or told of, in order.
        #[derive(Default)]
        struct Listening(std::sync::Arc<std::sync::Mutex<Vec<u32>>>);
        impl Policy for Listening {
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
        let listening = Listening::default();
        let heard = listening.0.clone();
        let early = |page: usize| page == 5 || page == 6;
        let visits = order_after(&graph(), Box::new(listening), early, &[0], |page| page < 4);
        assert_eq!(visits, [0, 1, 2, 3]);
        assert_eq!(
            *heard.lock().unwrap(),
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
        // The visit to the first host was ranked for 0 alone; then the other waits longer.
        assert_eq!(crawl("breadth-first", 100), [0, 1, 3, 2, 4, 5, 6]);
        assert_eq!(crawl("quality", 1), [0, 1, 2, 3, 4, 5, 6]);
    }
}
