//! Generators of worlds. One file, one kind.
//!
//! Every generator is a `Plan`: public fields, which users set by name, and `invent(seed)`. Its file names the
//! distributions and where they come from. **Invariant:** a world is a pure function of its plan and its seed, and
//! every draw comes from a stream of its own purpose and object, so that another setting changes what it says and
//! leaves the rest as it was.

pub mod corpus;
mod draw;
pub mod graph;
mod knob;
mod language;
pub mod pages;
pub mod servers;
pub mod sources;
pub mod topics;

use policy::Moment;

pub(crate) use knob::{Knob, Tuned, tuned};

/// When worlds with a clock begin: 2020 did, in UTC.
pub const BEGINNING: Moment = Moment::from_micros(1_577_836_800_000_000);

/// Seconds of a day.
const DAY: f64 = 86_400.0;
