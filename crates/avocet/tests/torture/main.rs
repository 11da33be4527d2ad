//! Torture tests: kills, damaged files, power cuts, failing disks and wrong clocks, from a seed.
//!
//! Each scenario is a test. Without the variables of [`rounds`] it runs one short round of a
//! fixed seed; `cargo xtask torture --minutes N` runs long rounds of further seeds. The state of
//! the store is compared with the log of the test server, with the WARC files as [`oracle`] reads
//! them, and with what the program reported before.

// Clippy allows `unwrap` in test functions only, and not in the functions that they call.
#![allow(clippy::unwrap_used)]

mod clocks;
mod damage;
mod disk;
mod faults;
mod kills;
mod mount;
mod oracle;
mod power;
mod rounds;
mod subject;

// Shared with the other tests of the whole program. The scenarios do not use all of it.
#[allow(unused)]
#[path = "../whole/program.rs"]
mod program;
#[allow(unused)]
#[path = "../whole/webs.rs"]
mod webs;
