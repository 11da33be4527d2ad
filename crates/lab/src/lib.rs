//! A web we invented, served on loopback; a server that lies; and how results are measured and drawn.
//!
//! [`site`] answers as an honest web would and knows the truth a crawl of it can be checked against;
//! [`lying`] answers as no web should, one route for each lie. [`world`] reads recorded webs, [`run`]
//! crawls them without a network, [`measure`] says how good an order of visits was and [`figure`] draws it. **Invariant:** what is served listens on 127.0.0.0/8 only and ends
//! when dropped; what is measured and drawn is a pure function of its arguments.

mod chance;
pub mod experiment;
pub mod figure;
pub mod findings;
pub mod invent;
mod listen;
pub mod lying;
pub mod measure;
pub mod report;
pub mod run;
pub mod site;
pub mod statistics;
mod table;
pub mod text;
pub mod workers;
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
    /// A table of a world is not as it should be.
    #[error("{}, line {line}: {why}", path.display())]
    Table {
        /// The file.
        path: std::path::PathBuf,
        /// The line, from one.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The user asked for something that there is not.
    #[error("{0}")]
    Wish(String),
    /// A file ends too early, or is packed in a way that cannot be read.
    #[error("cannot read {} beyond line {line}", path.display())]
    Broken {
        /// The file.
        path: std::path::PathBuf,
        /// The last line that could be read.
        line: u64,
        /// What the system or the unpacking said.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
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

impl LabError {
    /// Whether the user asked for something that there is not, and nothing went wrong.
    pub fn is_wrong_usage(&self) -> bool {
        matches!(self, Self::Wish(_))
    }
}
