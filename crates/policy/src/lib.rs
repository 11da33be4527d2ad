//! Policies: they say what a fetch of a page is worth, and when.
//!
//! A policy is pure. It knows facts, page histories and moments, but no URL type, store, clock
//! or random source. It learns through [`observe`](Policy::observe) and answers through
//! [`worth`](Policy::worth) and [`due`](Policy::due). No other part of the program decides what
//! is worth a fetch.

pub mod catalog;
mod chance;
pub mod crawl;
mod curve;
mod estimate;
pub mod fact;
pub mod focus;
pub mod history;
#[cfg(test)]
mod laws;
pub mod moment;
pub mod order;
pub mod plan;
mod policy;
pub mod published;
pub mod quality;
pub mod query;
pub mod refresh;
pub mod report;
pub mod retry;
mod rows;
pub mod scores;
pub mod server;
pub mod source;
pub mod words;
pub mod worth;

pub use catalog::{Catalog, CatalogError, Upkeep, Wishes};
pub use crawl::Crawl;
pub use curve::Curve;
pub use estimate::{Estimator, Rates, Threshold, change_rate};
pub use fact::{
    About, Appeared, Discovered, Fact, LinkFact, Moves, Needs, Number, Page, Part, Read, Shown,
    Text, VisitFact,
};
pub use history::{History, Outcome, Visit};
pub use moment::Moment;
pub use policy::{Dues, Policy};
pub use refresh::Refresh;
pub use report::{Report, Term};
pub use rows::Rows;
pub use source::Sources;
pub use worth::{Cost, Price, Rank, Worth};
