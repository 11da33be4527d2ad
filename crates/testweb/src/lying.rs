//! A server that lies: what a crawler must survive, one route for each lie.
//!
//! The rows are those of `docs/design/hostile-web.md` that concern fetching and parsing. A lie is a
//! pure function from a request to a script of bytes and pauses; the server plays
//! it over raw TCP, since a real HTTP library would refuse to. **Invariant:** no lie lasts for ever:
//! the [`Pace`] ends each, so a client without limits fails a test instead of hanging it.
//!
//! What must never happen, whatever the lie: text with the word [`SMUGGLED`] under any URL, and an
//! honest page that is not crawled.

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
pub use robots::Robots;
pub use script::{Pace, SMUGGLED};
pub use server::{Nature, Server};
pub use table::{LIES, Lie};
