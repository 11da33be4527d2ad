//! The error for a command or setting that is written wrongly; the program exits with status 2.

/// Wrong usage, and what to write instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
