//! Decides which page is fetched next and when, in memory and without I/O.
//!
//! The life of a URL: *discovered* (a link, a seed or a redirect names it) → *admitted* (the
//! [`SeenSet`] does not know it and gives it a number) → *waiting* in a calendar until it is
//! worth the price, then on the [`Bench`] for its server → *claimed* as part of a visit →
//! *settled*: visited, with an outcome, and perhaps due again later.
//!
//! All state is in memory, and time is an argument (`now`). A ledger keeps the facts from which
//! this state is rebuilt after a restart ([`Facts`]), such as admitted pages, their links and the
//! results of visits.

pub mod bench;
pub mod budget;
pub mod buffer;
mod calendar;
pub mod checkpoint;
pub mod domains;
mod facts;
pub mod frontier;
mod heap;
mod memory;
pub mod novelty;
pub mod owner;
mod present;
mod price;
pub mod record;
pub mod seen_set;

pub use bench::{Bench, Bound, HostVisit, ServerKey, Standing};
pub use budget::Budget;
pub use buffer::Buffer;
pub use checkpoint::{BaseBlocks, CheckpointFacts, DamagedCheckpoint, MemoryBase, TailEvents};
pub use domains::{DomainAccount, DomainLimits, SpentBudget};
pub use facts::Facts;
pub use frontier::{Frontier, FrontierLink, More, Next, Placed, Reading, Recalled, Said};
pub use memory::MemoryLedger;
pub use novelty::Novelty;
pub use owner::Partition;
pub use present::{Ahead, Present};
pub use record::{
    Discovery, Entry, HostFacts, Known, OutLinks, PageCopy, PageKey, Probe, RobotsFact,
    ServerFacts, Speed, Visited,
};
pub use seen_set::SeenSet;
