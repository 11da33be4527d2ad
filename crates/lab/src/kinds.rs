//! Kinds of data that a world can hold, one module each: graphs, labelled texts, page views,
//! histories, news and queries.
//!
//! Each can be read from tables and written to them; generators make most of them, too.
//! `docs/reference/worlds.md` describes the tables.

mod bodies;
pub(crate) mod files;
mod graph;
mod histories;
mod ids;
mod linked;
mod lives;
mod news;
mod queries;
mod reach;
mod topic;
mod town;
mod traffic;
mod urls;

pub use bodies::{Bodies, Body, BodyWriter};
pub use graph::Graph;
pub use histories::{Histories, Version};
pub use linked::Linked;
pub use lives::{Change, Lives, text_at};
pub use news::{Clicked, LinkPeriod, News};
pub use queries::Queries;
pub use topic::{LabelledWorld, Labels};
pub use town::{NamedPeriod, Sitemap, Town, TownPage, TownSource};
pub use traffic::Traffic;

pub(crate) use reach::ReachSearch;

/// A changing collection of texts and the queries that search it.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The texts.
    pub histories: Histories,
    /// The queries.
    pub queries: Queries,
}
