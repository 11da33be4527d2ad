//! Generators of worlds, one module per kind.
//!
//! Every generator is a plan: a struct with public fields, which users set by name, and a method
//! `invent(seed)`. Its module names the distributions and their sources.
//!
//! **Invariant:** a world is a pure function of its plan and its seed. Every object (page, source,
//! query) draws from random streams of its own. Adding objects therefore leaves the draws of the
//! others as they were.

pub mod corpus;
mod draw;
pub mod graph;
mod knob;
mod language;
pub mod pages;
pub mod servers;
pub mod sources;
pub mod topics;
pub mod town;

use policy::Moment;

pub(crate) use knob::{Knob, Tuned, tuned};

/// Start of worlds that have a clock: 2020-01-01, 00:00 UTC.
pub const BEGINNING: Moment = Moment::from_micros(1_577_836_800_000_000);

/// Seconds per day.
const DAY: f64 = 86_400.0;
