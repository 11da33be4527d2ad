//! Tests of the test webs over real sockets, with a client that sees every byte.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod client;
mod directory;
mod lying;
mod protocols;
mod robots;
mod site;
