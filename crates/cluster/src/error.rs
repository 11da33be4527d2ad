//! Failures of the broker.

use std::path::PathBuf;

use async_nats::jetstream;

use crate::message::Unreadable;
use crate::objects::ObjectError;
use crate::snapshot::SnapshotError;

/// A failure of the broker or of the way to it.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// No server can be reached.
    #[error(
        "cannot connect to the NATS servers {servers}: check [cluster] servers, and that they run"
    )]
    Connect {
        /// The addresses.
        servers: String,
        /// The cause.
        source: async_nats::ConnectError,
    },
    /// A file of the connection's settings cannot be read.
    #[error("cannot read the NATS credentials {path}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The server is too old.
    #[error(
        "the NATS server has version {found}, and a cluster needs 2.12 or later: older versions can lose a compare-and-set"
    )]
    Version {
        /// The version of the server.
        found: String,
    },
    /// A stream cannot be created.
    #[error("cannot create the stream {stream}: is JetStream enabled on the NATS servers?")]
    Stream {
        /// The stream.
        stream: String,
        /// The cause.
        source: jetstream::context::CreateStreamError,
    },
    /// A request was not answered.
    #[error("the NATS servers did not answer: {what}")]
    Request {
        /// The request, in words.
        what: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A message cannot be decoded.
    #[error(transparent)]
    Message(#[from] Unreadable),
    /// A snapshot cannot be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The log has a snapshot after the message up to which it was to be read: its owner has
    /// trimmed it meanwhile.
    #[error("the log of slot {slot} was trimmed while it was read")]
    Trimmed {
        /// The number of the slot.
        slot: u16,
    },
}

impl BrokerError {
    /// Returns the error of a request that was not answered.
    pub fn request(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Request {
            what: what.into(),
            source: source.into(),
        }
    }
}
