//! One crawl on many machines, over NATS JetStream.
//!
//! The web is divided into [slots](Slot). A slot has one owner at a time, and a log on the broker
//! that has everything its owner committed. The [`fold`] of the log is the state of the slot. A
//! node owns a slot from its claim in the log to the next claim or release; every message names the
//! sequence of the message before it, so the broker refuses a node that no longer owns the slot.
//! [`member`] decides which slots a node should own.

pub mod agent;
pub mod broker;
pub mod copies;
pub mod demand;
pub mod division;
pub mod error;
pub mod fold;
pub mod log;
pub mod measures;
pub mod member;
pub mod message;
pub mod monitor;
pub mod note;
pub mod objects;
pub mod publisher;
pub mod server_notes;
pub mod slot_store;
pub mod snapshot;
pub mod view;

pub use division::{Division, Slot};
