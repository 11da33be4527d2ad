//! The laboratory: runs crawl policies in recorded and invented worlds and measures the results.
//!
//! [`world`] reads recorded webs and [`invent`] generates others. [`run`] crawls them without a
//! network, and [`loopback`] serves them on sockets. [`measure`] computes how good an order of
//! visits was, [`experiment`] compares policies, and [`report`] shows the results.
//!
//! **Invariant:** measurements are pure functions of their arguments. Servers listen on
//! 127.0.0.1 only, and stop when dropped.

pub mod experiment;
pub mod findings;
pub mod invent;
mod kinds;
pub mod loopback;
pub mod measure;
pub mod report;
pub mod run;
pub mod statistics;
pub mod table;
pub mod text;
pub mod workers;
pub mod world;

/// An error of the laboratory.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A world could not be served.
    #[error(transparent)]
    Serve(#[from] testweb::TestwebError),
    /// A table of a world is invalid.
    #[error("{}, line {line}: {why}", path.display())]
    Table {
        /// The file.
        path: std::path::PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong in this line.
        why: String,
    },
    /// The user asked for something that does not exist or is out of range.
    #[error("{0}")]
    Wish(String),
    /// A file is truncated, or its compressed data is invalid.
    #[error("cannot read {} beyond line {line}", path.display())]
    Broken {
        /// The file.
        path: std::path::PathBuf,
        /// The last line that could be read.
        line: u64,
        /// The error of the system or the decoder.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: std::path::PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: std::path::PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl LabError {
    /// Returns whether the error is one of usage: a request that cannot be met, not a failure.
    pub fn is_wrong_usage(&self) -> bool {
        matches!(self, Self::Wish(_))
    }
}
