//! A web we invented, served on loopback, and a server that lies.
//!
//! Two modules with two promises: [`site`] answers as an honest web would and knows the truth a
//! crawl of it can be checked against; [`lying`] answers as no web should, one route for each lie.
//! **Invariant:** both listen on 127.0.0.0/8 only, and end when dropped.

mod listen;
pub mod lying;
pub mod site;

/// What keeps a web from being served.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
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
    /// A file of a directory to serve could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
