//! In which order are pages fetched that nobody has seen yet? One file, one ordering.
//!
//! [`Catalog`](crate::catalog::Catalog) knows them by name.

mod backlink;
mod breadth_first;
mod combination;
mod depth_limited;
mod forward_links;
mod given;
mod hot_anchor;
mod hot_page;
mod location;
mod opic;
mod pagerank;
mod parent_quality;
mod random;
mod rankmass;
mod similarity;

pub use backlink::Backlink;
pub use breadth_first::BreadthFirst;
pub use combination::{Combination, Weighted};
pub use depth_limited::DepthLimited;
pub use forward_links::ForwardLinks;
pub use given::{Given, Scores};
pub use hot_anchor::HotAnchor;
pub use hot_page::HotPage;
pub use location::{Location, Rule};
pub use opic::Opic;
pub use pagerank::PageRank;
pub use parent_quality::ParentQuality;
pub use random::Random;
pub(crate) use random::split_mix;
pub use rankmass::RankMass;
pub use similarity::Similarity;

/// What graph orderings want to be told.
const LINKS: crate::Needs = crate::Needs {
    links: true,
    words: false,
    places: false,
    text: false,
    visits: false,
    searches: false,
};

#[cfg(test)]
mod tests;
