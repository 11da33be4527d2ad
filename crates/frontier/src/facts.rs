//! Where the facts of earlier runs come from: a ledger on disk, or one in memory.

use page::HostId;
use policy::Moment;

use crate::bench::ServerKey;
use crate::record::{HostFacts, Known, OutLinks, PageKey, ServerFacts};

/// All facts, one kind after another, as [`Frontier::recall`](crate::Frontier::recall) takes them in.
pub trait Facts {
    /// Why facts cannot be read.
    type Error;

    /// Every page, each with its last visit, sorted by key.
    fn pages(&self) -> impl Iterator<Item = Result<Known, Self::Error>>;

    /// Every page that was read, with where it led.
    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), Self::Error>>;

    /// What is known of all hosts.
    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), Self::Error>>;

    /// What is known of all servers.
    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), Self::Error>>;

    /// When facts from the future were first noticed, while there are any.
    fn noticed_ahead(&self) -> Result<Option<Moment>, Self::Error>;

    /// The error that says that a record is not what was written.
    fn damaged(what: String) -> Self::Error;
}
