//! Crawls of simulated worlds, driven by a clock that jumps to the next event.
//!
//! Every run uses the crawl core of `avocet crawl`, through the driver in `driver.rs`.

mod driver;
pub mod ephemeral;
pub mod joint;
mod ordering;
mod partition;
pub mod refresh;
pub mod servers;
pub mod steps;
pub mod upkeep;
mod wall;

pub use ordering::{Trip, order_after, order_of_crawl, order_of_visits, trip};
pub use partition::{Confinement, Coordination, Division, TeamPlan, TeamWork, team};
pub use wall::CrawlableWorld;
