//! A web we invented, served on loopback; a server that lies; and how results are measured and drawn.
//!
//! [`site`] answers as an honest web would and knows the truth a crawl of it can be checked against;
//! [`lying`] answers as no web should, one route for each lie. [`world`] reads recorded webs, [`run`]
//! crawls them without a network, [`measure`] says how good an order of visits was and [`figure`] draws it. **Invariant:** what is served listens on 127.0.0.0/8 only and ends
//! when dropped; what is measured and drawn is a pure function of its arguments.

pub mod figure;
mod listen;
pub mod lying;
pub mod measure;
pub mod run;
pub mod site;
pub mod world;

/// What keeps a web from being served or read, or a result from being drawn.
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
    /// A figure could not be drawn.
    #[error("cannot draw the figure {title:?}")]
    Draw {
        /// Its title.
        title: String,
        /// What the drawing library said.
        source: plotters::drawing::DrawingAreaErrorKind<std::io::Error>,
    },
    /// A table of a world is not as it should be.
    #[error("{}: {why}", path.display())]
    Table {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
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
