//! Which page next, and not before when?
//!
//! The life of a URL: *discovered* (a link, a seed, a redirect names it) → *admitted* (past the
//! [`Roll`]: never heard of before, and numbered) → *waiting* on the [`Bench`] for its server → *claimed* as part
//! of a visit → *settled*: visited, with an outcome, and perhaps due again later.
//!
//! Everything here but the [`Ledger`] is memory, stepped with `now`. The ledger holds the facts from
//! which that memory is made again after a stop: what was admitted, what each visit found.

pub mod bench;
pub mod budget;
pub mod buffer;
mod calendar;
pub mod domains;
pub mod frontier;
pub mod ledger;
pub mod novelty;
pub mod owner;
mod price;
pub mod roll;
mod rows;

pub use bench::{Bench, Bound, Next, ServerKey, Standing, Visit};
pub use budget::Budget;
pub use buffer::Buffer;
pub use domains::{DomainAccount, DomainLimits, SpentBudget};
pub use frontier::{Frontier, Link, Placed, Reading, Recalled, Said};
pub use ledger::{
    Ahead, Batch, Discovery, Entry, HostFacts, Known, Ledger, LedgerError, OutLinks, PageCopy,
    PageKey, Place, Present, Probe, RobotsFact, ServerFacts, Speed, Visited,
};
pub use novelty::Novelty;
pub use owner::Partition;
pub use roll::Roll;
