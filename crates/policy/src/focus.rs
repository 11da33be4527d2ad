//! Which pages are of a topic, and which links lead to them? One file, one method of focused crawling.
//!
//! A [`Topic`] says how likely a page that was read is of it; a method is an ordering that spends fetches where such
//! pages are to be expected. **Invariant:** a method judges pages that were read, and links by what the pages that
//! have them say; never a page that was not fetched by its text.

mod bandit;
pub mod bayes;
mod calibration;
pub(crate) mod focused;
pub(crate) mod guide;
pub(crate) mod judge;
mod kin;
mod learned;
pub(crate) mod linear;
mod predicate;
pub(crate) mod rates;
mod rehearsal;
pub(crate) mod rewards;
pub(crate) mod seen;
mod signpost;
pub(crate) mod topic;
mod trainer;
pub mod word_counts;

pub use bandit::Bandit;
pub use bayes::{Bayes, Evidence};
pub use focused::{Focus, Focused};
pub use guide::{Crawled, Guide, Pointer};
pub use judge::{Judge, ON_TOPIC};
pub use learned::Learned;
pub use predicate::{Candidate, Meanings, Predicate, Unreadable};
pub use topic::{Known, Topic};
pub use trainer::{Document, TooFew, Trained, Trainer};
pub use word_counts::Field;

#[cfg(test)]
pub(crate) mod tests;
