//! An invented living web and a lying server, on loopback, for tests and the demo.
//!
//! [`site`] answers as an honest web would and knows the truth a crawl of it can be checked against;
//! [`lying`] answers as no web should, one route for each lie. [`proxy`] and [`reply`] serve any other
//! web. **Invariant:** what is served listens on 127.0.0.0/8 only and ends when dropped.

pub mod chance;
mod listen;
pub mod lying;
pub mod proxy;
pub mod reply;
pub mod site;

/// What keeps a web from being served.
#[derive(Debug, thiserror::Error)]
pub enum TestwebError {
    /// No listener could be opened there.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address and port that were asked for.
        address: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// It would be open to others than this machine.
    #[error("{address} is not a loopback address")]
    NotLoopback {
        /// The address that was asked for.
        address: std::net::Ipv4Addr,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
