//! Tests of the whole program as a process, with real sockets, kills and disks.

// Clippy allows `unwrap` in test functions only, and not in the functions that they call.
#![allow(clippy::unwrap_used)]

mod agents;
mod beside;
mod budgets;
mod changes;
mod cluster;
mod contrib;
mod controls;
mod crash;
mod crawl;
mod demand;
mod disks;
mod documents;
mod drivers;
mod dry_run;
mod exports;
mod files;
mod forget;
mod hostile;
mod http;
mod http2;
mod inspector;
mod lab;
mod metrics;
mod models;
mod openapi;
mod operations;
mod order;
mod own_world;
mod panics;
mod pauses;
mod politeness;
mod program;
mod proxied;
mod python_client;
mod recovery;
mod reference;
mod reports;
mod results;
mod running;
mod searches;
mod serve;
mod server;
mod shells;
mod silent;
mod sites;
mod sources;
mod stated;
mod topic;
mod topics;
mod upkeep;
mod usage;
mod webs;
