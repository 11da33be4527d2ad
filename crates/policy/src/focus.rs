//! Focused crawling: topics, and orderings that fetch pages of a topic first.
//!
//! A [`Topic`] gives the probability that a page is of that topic. Each method is one file: an
//! ordering that spends fetches where such pages are expected.
//!
//! **Invariant:** a method judges a read page by its text, its URL and the links to it. It judges
//! an unread page only by its URL, the links to it, and pages that were read.

mod bandit;
pub mod bayes;
mod calibration;
pub(crate) mod focused;
pub(crate) mod guide;
pub(crate) mod judge;
mod learned;
mod link_model;
pub(crate) mod logistic;
mod predicate;
pub(crate) mod rates;
mod related;
mod replay;
pub(crate) mod rewards;
pub(crate) mod topic;
mod trainer;
pub(crate) mod unread;
pub mod word_counts;

pub use bandit::Bandit;
pub use bayes::{Bayes, Evidence};
pub use focused::{Focus, Focused};
pub use guide::{CrawledGraph, Guide, Pointer};
pub use judge::{ON_TOPIC, TopicJudge};
pub use learned::Learned;
pub use predicate::{Candidate, Meanings, Predicate, Unreadable};
pub use topic::{Topic, TopicDefinition};
pub use trainer::{TooFew, Trained, Trainer, TrainingDocument};
pub use word_counts::Field;

#[cfg(test)]
pub(crate) mod tests;
