//! An invented web on loopback that changes over time: generated from a seed, served over real
//! sockets, with a log of all requests.
//!
//! The model ([`Web`]) is pure: it knows each page at each moment, and what a crawl must reach.
//! The server ([`ServedWeb`]) adds sockets, latency and a request log, which is the ground truth
//! for tests. [`directory`] serves directories of files.
//!
//! **Invariant:** the same [`WebPlan`] generates the same web to the byte, so a failing test can be
//! repeated.

mod answer;
mod connection;
mod delayed_stream;
pub mod directory;
mod freshness;
mod html;
mod invent;
mod life;
mod log;
mod plan;
mod request_counts;
mod serving;
mod town;
mod truth;
mod validators;
mod web;

pub use freshness::Copies;
pub use log::{RecordedRequest, RequestLog};
pub use plan::{
    Changes, Faults, KeepAlive, Latency, Population, RobotsShares, Spread, Tail, WebPlan,
};
pub use request_counts::Fetches;
pub use serving::{ServedWeb, WebClock};
pub use town::{Searchers, Town, UserSearch};
pub use truth::TruthScope;
pub use web::{
    Coding, InventedPage, InventedRobots, InventedServer, PageAnswer, PageNumber, ServerNumber, Web,
};
