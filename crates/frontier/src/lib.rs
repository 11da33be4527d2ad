//! Which page next, and not before when?
//!
//! The life of a URL: *discovered* (a link, a seed, a redirect names it) → *admitted* (past the
//! [`Roll`]: never heard of before, and numbered) → *waiting* on the [`Bench`] for its server → *claimed* as part
//! of a visit → *settled*: visited, with an outcome, and perhaps due again later.
//!
//! Everything here is memory, stepped with `now`. A ledger holds the facts from which that memory is made again
//! after a stop ([`Facts`]): what was admitted, what each visit found.

pub mod bench;
pub mod budget;
pub mod buffer;
mod calendar;
pub mod domains;
mod facts;
pub mod frontier;
mod memory;
pub mod novelty;
pub mod owner;
mod present;
mod price;
pub mod record;
pub mod roll;
mod rows;

pub use bench::{Bench, Bound, ServerKey, Standing, Visit};
pub use budget::Budget;
pub use buffer::Buffer;
pub use domains::{DomainAccount, DomainLimits, SpentBudget};
pub use facts::Facts;
pub use frontier::{Frontier, Link, More, Next, Placed, Reading, Recalled, Said};
pub use memory::MemoryLedger;
pub use novelty::Novelty;
pub use owner::Partition;
pub use present::{Ahead, Present};
pub use record::{
    Discovery, Entry, HostFacts, Known, OutLinks, PageCopy, PageKey, Probe, RobotsFact,
    ServerFacts, Speed, Visited,
};
pub use roll::Roll;
