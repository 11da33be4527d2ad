//! Published orderings of pages never fetched, one per file.

mod backlink;
mod forward_links;
mod hot_anchor;
mod hot_page;
mod random;

pub use backlink::Backlink;
pub use forward_links::ForwardLinks;
pub use hot_anchor::HotAnchor;
pub use hot_page::HotPage;
pub use random::Random;
