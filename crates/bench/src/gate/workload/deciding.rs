//! The workload `decide-10000-times`: claims and settles pages of many servers.
//!
//! Most decisions are those of a crawl; some are made under a budget, among known pages.

use std::time::Duration;

use anyhow::{Context, Result};
use frontier::Frontier;
use frontier::bench::Manners;
use policy::server::BestPrefix;
use policy::{Crawl, Moment, Price};

use crate::choosing::choose;
use crate::order::visits::Visits;
use crate::order::world::OrderWorld;
use crate::refresh::{LastVisits, RefreshCell, known_pages, step};

/// Decisions of a crawl.
const OF_CRAWL: u32 = 9_550;
/// Decisions under a budget. Each takes at least 20 times the instructions of a decision of a
/// crawl. With these numbers neither kind is negligible in the sum, so a growth of either is
/// noticed.
const UNDER_BUDGET: u32 = 450;
const SERVERS: u64 = 1_000;
/// New pages. There are few, because the random seeds of hash maps make the count of the set-up
/// vary: by 50,000 instructions with this number.
const NEW_PAGES: u64 = 12_000;
const KNOWN_PAGES: u32 = 3_000;

/// Decides 10,000 times.
pub fn decide(only_set_up: bool) -> Result<()> {
    let mut now = Moment::from_micros(1_700_000_000_000_000);
    let manners = Manners {
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let (policy, strategy) = (Crawl::default(), Box::new(BestPrefix));
    let mut crawl = Frontier::new(policy, strategy, Price::LEAST, manners, 0x5eed);
    OrderWorld::new(SERVERS).fill(&mut crawl, NEW_PAGES, now)?;
    let mut visits = Visits::default();
    let budgeted = RefreshCell {
        pages: KNOWN_PAGES,
        decisions: UNDER_BUDGET,
        policy: "holistic".into(),
    };
    let mut known = LastVisits::new(KNOWN_PAGES);
    let mut upkeep = known_pages(&budgeted, &mut known, now)?;
    // Under valgrind, rustix cannot read the clock of the kernel.
    let no_clock = || Duration::ZERO;
    let step = step(KNOWN_PAGES);
    // The first choice computes the price from all pages, so it belongs to the set-up.
    choose(&mut upkeep, &mut known, (now, step), 1, no_clock)?;
    if only_set_up {
        return Ok(());
    }
    for _ in 0..OF_CRAWL {
        now = now + Duration::from_micros(1);
        visits
            .decide(&mut crawl, now)
            .context("the frontier has no page left")?;
    }
    let later = now + step;
    choose(
        &mut upkeep,
        &mut known,
        (later, step),
        UNDER_BUDGET,
        no_clock,
    )?;
    Ok(())
}
