//! A hostile server with one route for each attack ("lie") that a crawler must survive.
//!
//! The rows are those of `docs/design/hostile-web.md` that concern fetching and parsing. A lie
//! is a pure function from a request to a script of bytes and pauses. The server plays the
//! script over raw TCP, since an HTTP library would refuse to send it.
//!
//! **Invariant:** every lie ends, at the latest when the [`Pace`] ends it. So a client without
//! limits fails a test instead of blocking it.
//!
//! Whatever the lie, a crawler must never store text with the word [`SMUGGLED`] under any URL,
//! and must crawl all honest pages.

mod coding;
mod farm;
mod framing;
mod honest;
mod listing;
mod markup;
mod redirect;
mod robots;
mod script;
mod server;
mod table;
mod trap;
mod validator;

pub use farm::{Farm, Site};
pub use honest::HONEST;
pub use robots::HostileRobots;
pub use script::{Pace, SMUGGLED};
pub use server::{HostileServer, Nature};
pub use table::{LIES, Lie};
