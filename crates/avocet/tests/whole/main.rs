//! The whole program against real servers, real kills and real disks.

// A test may panic; clippy knows that of test functions only, not of what they call.
#![allow(clippy::unwrap_used)]

mod crash;
mod crawl;
mod drivers;
mod files;
mod hostile;
mod lab;
mod models;
mod order;
mod program;
mod searches;
mod sources;
mod upkeep;
mod usage;
mod webs;
