//! Torture: kills, damaged files, power cuts, failing disks and wrong clocks, drawn from a seed.
//!
//! Each scenario is a test. Without the variables of [`rounds`] it runs one short round of a fixed
//! seed; `cargo xtask torture --minutes N` runs long rounds of further seeds. The judges are outside
//! of the store: the log of the test server, the WARC files as [`oracle`] reads them, and what the
//! program itself reported before.

// A test may panic; clippy knows that of test functions only, not of what they call.
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

// The harness of the other whole-program tests; a scenario does not use all of it.
#[allow(unused)]
#[path = "../whole/program.rs"]
mod program;
#[allow(unused)]
#[path = "../whole/webs.rs"]
mod webs;
