//! Test webs on loopback, for tests and the demo: an invented web that changes, and a hostile
//! server.
//!
//! [`site`] answers as an honest web does, and knows the ground truth that a crawl can be
//! checked against. [`lying`] is a hostile server with one route for each attack. [`tracked`] is
//! a web whose log says which of several crawlers asked for what. [`brokers`] starts NATS servers.
//! [`proxy`] and [`reply`] are building blocks for other test webs.
//!
//! **Invariant:** servers listen on 127.0.0.0/8 only, and stop when they are dropped.

pub mod brokers;
pub mod chance;
mod listen;
pub mod lying;
pub mod proxy;
pub mod reply;
pub mod site;
pub mod tracked;

/// Why a test web cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum TestwebError {
    /// The listener cannot be opened.
    #[error("cannot listen on {address}")]
    Listen {
        /// The requested address and port.
        address: std::net::SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// The address would be reachable from other machines.
    #[error("{address} is not a loopback address")]
    NotLoopback {
        /// The requested address.
        address: std::net::Ipv4Addr,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: std::path::PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}
