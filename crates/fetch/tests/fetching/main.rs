//! Do we get the bytes, from servers that lie?
//!
//! **Invariant:** every server here is on loopback and of the test itself; no test asks how long
//! something took.
#![cfg(test)]

mod connections;
mod hostile_http;
mod hostile_tls;
mod http2_streams;
mod http_modes;
mod pipelining;
mod robots_conformance;
mod robots_fetch;
mod rows;
mod scripted;
mod ways_in;
