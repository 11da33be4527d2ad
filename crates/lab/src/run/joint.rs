//! Runs a whole crawl of a town: first copies, refreshes and polls compete for one budget.
//!
//! The crawl core runs with a clock that jumps ([`LabDriver`]), with the production policies: an
//! ordering for importance, a refresh policy, and a scheduler of sources. The scarce resource is
//! either fetches (a budget per second) or connections (each request takes time).
//!
//! - The ledger that the core starts with has a copy of every page that exists at the first
//!   moment, with the links between them. It has a visit to every source and sitemap.
//! - A new page is found when a source that names it is polled. Its first copy costs a fetch.
//! - Searchers click on pages at fixed times, whatever the crawl does. A click is *served* if the
//!   crawl has a copy of the page that equals the page. Clicks on any copy are logged, and the
//!   policies receive the log every hour.
//! - A refresh that finds a change gains what the crawler itself can measure: the logged clicks
//!   on the page per second, over the last week.
//! - A sitemap that is polled gives its hints since the last poll.
//! - [`Split`] says how the budget is divided between discovery (first copies and polls) and
//!   refresh. Only the wrappers of the laboratory know it (`split.rs`).
//!
//! **Invariant:** the policies receive what a crawler sees. Only the judge (`served.rs`) knows
//! whether a copy is fresh.

mod known;
mod ratio;
mod served;
mod servers;
mod split;
mod web;

pub use ratio::{OldNew, discovery_share};
pub use served::Served;
pub use split::{QuotaShares, Split};

use std::time::Duration;

use ::crawl::{Again, Event, Plan};
use policy::published::server::Quality;
use policy::server::{BestPrefix, Strategy};
use policy::source::{Scheduler, SourceRules};
use policy::{Crawl, Moment, Policy, Refresh, Sources};

use super::driver::{Connections, InstantServers, LabDriver};
use crate::kinds::Town;
use servers::TownServers;
use split::{DividedRefresh, DividedScheduler, Division};
use web::TownWeb;

/// Interval at which the policies receive the log of clicks.
const PUSH: Duration = Duration::from_secs(3_600);

/// Pushes between two computations of WebFountain's ratio: a day.
const PUSHES_PER_RATIO: u32 = 24;

/// Pushes between two examinations of all pages by their present worth: six hours. Only a division
/// that scales worths needs them.
const PUSHES_PER_REVIEW: u32 = 6;

/// Budget of a crawl with scarce connections, as a multiple of what the connections can fetch if
/// all sites are fetched equally often.
const PLENTY: f64 = 3.0;

/// What limits the crawl.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scarce {
    /// Fetches a second. Servers answer at once.
    Fetches(f64),
    /// Connections, each of which makes one request at a time.
    Connections {
        /// Number of connections.
        count: usize,
        /// What servers are ranked by.
        by: RankBy,
    },
}

/// What servers are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankBy {
    /// The worth of their best page: the price is per fetch.
    Fetch,
    /// The worth of their best pages per second of connection time: the price is per second.
    Second,
}

/// The policies of a crawl of a town.
pub struct TownPolicies {
    /// The ordering, which gives the importance of pages.
    pub order: Box<dyn Policy>,
    /// The refresh policy.
    pub refresh: Box<dyn Refresh>,
    /// The scheduler of sources.
    pub scheduler: Box<dyn Scheduler>,
}

/// Which parameters of the town the policies know. A crawler knows none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// The rates of clicks and changes of all copies.
    pub copies: bool,
    /// The rate of new pages of all sources, and the clicks on these pages.
    pub sources: bool,
}

/// Settings of a run.
#[derive(Debug, Clone, Copy)]
pub struct JointPlan {
    /// What limits the crawl.
    pub scarce: Scarce,
    /// How the budget is divided.
    pub split: Split,
    /// What the policies know of the town.
    pub known: Known,
    /// Start of the measured period.
    pub measured: Moment,
    /// Interval of the polls of sitemaps.
    pub listings: Duration,
    /// Seed of the draws of the scheduler.
    pub seed: u64,
}

/// Crawls a town.
pub fn crawl(town: &Town, policies: TownPolicies, plan: &JointPlan) -> Served {
    match plan.scarce {
        Scarce::Fetches(_) => run(
            town,
            policies,
            plan,
            InstantServers::one_page(Duration::ZERO),
        ),
        Scarce::Connections { .. } => run(town, policies, plan, TownServers::new(town)),
    }
}

fn run(
    town: &Town,
    policies: TownPolicies,
    plan: &JointPlan,
    connections: impl Connections,
) -> Served {
    let (per_second, count, strategy) = match plan.scarce {
        Scarce::Fetches(per_second) => (per_second, 1, ranked(RankBy::Fetch)),
        Scarce::Connections { count, by } => (plenty(town, count), count, ranked(by)),
    };
    let rules = Plan {
        again: Again::Always { budget: per_second },
        connections: count,
        pages_per_visit: 1,
        without_rules: true,
        ..Plan::default()
    };
    let division = Division::new(plan.split, town.pages.len() as f64);
    let settings = SourceRules {
        per_second,
        // The sources are given: no other page may become one.
        older: Duration::MAX,
        seen: policy::source::Seen::Fetched,
        seed: plan.seed,
        ..SourceRules::default()
    };
    let web = TownWeb::new(town, division.clone(), plan.measured);
    let order = web.order_of_sources(plan.seed);
    let (refresh, scheduler) =
        plan.known
            .policies(town, policies.refresh, policies.scheduler, &order);
    let scheduler = DividedScheduler::new(scheduler, division.clone());
    let crawl = Crawl {
        order: policies.order,
        refresh: Some(Box::new(DividedRefresh {
            policy: refresh,
            sources: town.sources.len(),
            division,
        })),
        sources: Some(Sources::new(Box::new(scheduler), settings)),
        listings: Some(plan.listings),
        ..Crawl::default()
    };
    let ledger = web.ledger(&order);
    let first = town.from + Duration::from_secs(1);
    let mut driver = LabDriver::resumed(web, connections, rules, (crawl, strategy), ledger, first);
    let mut push = town.from + PUSH;
    for pushes in 1_u32.. {
        if push > town.until {
            break;
        }
        driver.run(push, []);
        let clicked = driver.world.push_log(push);
        driver.deliver(push, [Event::Searched(clicked)]);
        if pushes.is_multiple_of(PUSHES_PER_RATIO) {
            driver.world.divide_again(per_second, push);
        }
        if pushes.is_multiple_of(PUSHES_PER_REVIEW) && driver.world.is_scaled() {
            // A budget that shrinks and grows again brings all appointments near, so that the
            // frontier examines every page by its present worth.
            let [small, whole] = [1e-3 * per_second, per_second].map(Event::BudgetChanged);
            driver.deliver(push, [small, whole]);
        }
        push = push + PUSH;
    }
    driver.run(town.until, []);
    driver.world.end()
}

/// Returns more fetches a second than the connections can make.
fn plenty(town: &Town, count: usize) -> f64 {
    let rates = town.seconds.iter().map(|seconds| seconds.recip());
    PLENTY * count as f64 * rates.sum::<f64>() / town.seconds.len() as f64
}

fn ranked(by: RankBy) -> Box<dyn Strategy> {
    match by {
        RankBy::Fetch => Box::new(Quality),
        RankBy::Second => Box::new(BestPrefix),
    }
}

#[cfg(test)]
mod tests;
