//! A living web on loopback: invented from a seed, served by real sockets, logged from outside.
//!
//! The model ([`Web`]) is pure: it knows each page at each moment and what a crawl must reach. The
//! server ([`Serving`]) adds sockets, latency and a log that is an oracle outside any store. Directories
//! of pages are served by [`directory`].
//! **Invariant:** the same [`Plan`] invents the same web to the byte, so a failing test is repeatable.

mod answer;
mod census;
mod connection;
pub mod directory;
mod html;
mod invent;
mod life;
mod line;
mod log;
mod plan;
mod recency;
mod serving;
mod town;
mod truth;
mod validators;
mod web;

pub use census::Fetches;
pub use log::{Log, Visit};
pub use plan::{Changes, Faults, KeepAlive, Latency, Plan, Population, RobotsShares, Spread, Tail};
pub use recency::Copies;
pub use serving::{Clock, Serving};
pub use town::{Searchers, Town, Wish};
pub use truth::Scope;
pub use web::{Coding, Kind, Page, PageNumber, RobotsFile, Server, ServerNumber, Web};
