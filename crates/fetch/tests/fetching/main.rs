//! Tests of the fetcher against servers on loopback that misbehave in every way we know.
//!
//! **Invariant:** every server belongs to the test itself.
#![cfg(test)]

mod connections;
mod hostile_http;
mod hostile_tls;
mod http2_streams;
mod http_modes;
mod network_access;
mod pipelining;
mod robots_conformance;
mod robots_fetch;
mod rows;
mod scripted;
