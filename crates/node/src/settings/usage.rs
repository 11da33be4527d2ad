//! The error for a request that makes no sense; the program exits with status 2.

/// Wrong usage, and what to write instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
