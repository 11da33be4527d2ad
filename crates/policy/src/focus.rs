//! Which pages are of a topic, and which links lead to them? One file, one method of focused crawling.
//!
//! A [`Topic`] says how likely a page that was read is of it; a method is an ordering that spends fetches where such
//! pages are to be expected. **Invariant:** a method judges pages that were read, and links by what the pages that
//! have them say; never a page that was not fetched by its text.

mod agents;
mod anchor;
mod bandit;
pub mod bayes;
mod best_first;
mod calibration;
mod context_graph;
mod fish;
mod focused;
mod guide;
mod hard;
mod intelligent;
mod judge;
mod kin;
mod laser;
mod learned;
mod linear;
mod predicate;
mod rates;
mod rehearsal;
mod reinforcement;
mod seen;
mod shark;
mod signpost;
mod soft;
mod topic;
mod trainer;
pub mod words;

pub use agents::Agents;
pub use anchor::Anchor;
pub use bandit::Bandit;
pub use bayes::{Bayes, Evidence};
pub use best_first::BestFirst;
pub use context_graph::ContextGraph;
pub use fish::Fish;
pub use focused::{Focus, Focused};
pub use guide::{Crawled, Guide, Pointer};
pub use hard::Hard;
pub use intelligent::Intelligent;
pub use judge::{Judge, ON_TOPIC};
pub use laser::Laser;
pub use learned::Learned;
pub use predicate::{Candidate, Meanings, Predicate, Unreadable};
pub use reinforcement::Reinforcement;
pub use shark::Shark;
pub use soft::Soft;
pub use topic::{Known, Topic};
pub use trainer::{Document, TooFew, Trained, Trainer};
pub use words::Field;

#[cfg(test)]
pub(crate) mod tests;
