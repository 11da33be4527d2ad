//! Orderings: policies for pages that were never fetched. Each file holds one ordering.
//!
//! [`Catalog`](crate::catalog::Catalog) maps names to them.

mod breadth_first;
mod combination;
mod depth_limited;
mod given;
mod location;
mod opic;
mod pagerank;
mod parent_quality;
mod rankmass;
mod similarity;

pub use breadth_first::BreadthFirst;
pub use combination::{Combination, Weighted};
pub use depth_limited::DepthLimited;
pub use given::Given;
pub use location::{Location, LocationRule, RuleError};
pub use opic::Opic;
pub use pagerank::PageRank;
pub use parent_quality::ParentQuality;
pub use rankmass::RankMass;
pub use similarity::Similarity;

pub use crate::scores::Scores;

#[cfg(test)]
mod tests;
