//! What the user asked for cannot be meant: the program ends with 2, as for a flag that there is not.

/// Wrong usage, and what to write instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);
