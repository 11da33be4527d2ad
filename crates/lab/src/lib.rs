//! The laboratory: the policies of a crawl in other worlds, and how results are measured.
//!
//! [`world`] reads recorded webs and [`invent`] invents others; [`run`] crawls them without a network,
//! [`loopback`] serves them on sockets; [`measure`] says how good an order of visits was, [`experiment`]
//! compares policies and [`report`] shows what was found. **Invariant:** what is measured is a pure
//! function of its arguments, and what is served listens on 127.0.0.1 only and ends when dropped.

pub mod experiment;
pub mod findings;
pub mod invent;
mod kinds;
pub mod loopback;
pub mod measure;
pub mod report;
pub mod run;
pub mod statistics;
mod table;
pub mod text;
pub mod workers;
pub mod world;

/// What keeps a web from being served or read, or a result from being drawn.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A world could not be served.
    #[error(transparent)]
    Serve(#[from] testweb::TestwebError),
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
