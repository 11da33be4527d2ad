//! What a user sets: `avocet.toml`, the policies of a crawl, its budget and its topic.

pub mod config;
pub mod polling;
pub mod ranking;
pub mod topic;
pub mod upkeep;
pub mod usage;
