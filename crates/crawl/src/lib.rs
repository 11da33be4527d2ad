//! The crawl as one state machine, without sockets, disk, clock, threads or locks.
//!
//! [`Core::step`] takes an [`Event`] and returns [`Action`]s. The same events in the same order
//! give the same actions. A driver carries out the actions and reports their outcomes as
//! events. There are three drivers:
//!
//! - the live one (crate `node`) has sockets, a ledger on disk and the clock;
//! - the laboratory has recorded and invented worlds and a simulated clock;
//! - the simulator (`tests/simulation`) has a network and a disk in memory, with faults drawn
//!   from a seed.
//!
//! A page passes four stages: a [`Claim`] (the right to fetch it), the answer that the driver
//! fetched, a [`Judged`] page (what the answer means, see [`verdict`]), and a [`Record`] (what
//! is committed).

mod action;
mod answer;
mod blocked;
mod change_hints;
mod core;
mod discovery;
mod event;
mod forgotten;
mod host;
mod overlay;
mod plan;
pub mod scope;
mod site;
mod tally;
pub mod verdict;

pub use action::{
    Action, Claim, Distance, Found, Get, InLink, Note, Purpose, Record, Request, Work,
};
pub use answer::{Answer, AnswerText, DocumentText};
pub use blocked::Blocked;
pub use core::{Begun, Core, Mode, Policies, belongs, is_dropped, tell_searches};
pub use discovery::{Admission, Admitter, KnownLink, Offer, Ownership, Source, link_facts};
pub use event::{
    Answered, ConnectionId, ConnectionState, Event, Failure, Gain, Judged, Met, Opened, Reply,
    Stored, VisitId,
};
pub use forgotten::ForgottenPages;
pub use host::{Host, LONGEST_WAIT, RobotsFile};
pub use plan::{Again, GROUP, Plan, ServerPace, TOKEN};
pub use scope::Scope;
pub use site::{OpenHours, SiteRules};
pub use tally::{Summary, Tally};
