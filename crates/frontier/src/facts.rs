//! The source of facts of earlier runs: a ledger on disk or in memory.

use page::HostId;
use policy::Moment;

use crate::bench::ServerKey;
use crate::record::{HostFacts, Known, OutLinks, PageKey, ServerFacts};

/// All facts, by kind, as [`Frontier::recall`](crate::Frontier::recall) reads them.
pub trait Facts {
    /// Error when facts cannot be read.
    type Error;

    /// Returns every page with its last visit, sorted by key.
    fn pages(&self) -> impl Iterator<Item = Result<Known, Self::Error>>;

    /// Returns every page that was read, with its links.
    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), Self::Error>>;

    /// Returns the facts of all hosts.
    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), Self::Error>>;

    /// Returns the facts of all servers.
    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), Self::Error>>;

    /// Returns when facts dated in the future were first noticed; `None` if there are no such
    /// facts.
    fn noticed_ahead(&self) -> Result<Option<Moment>, Self::Error>;

    /// Returns a number above those of all pages that were ever known, also of pages that were
    /// deleted with their partition. 0: no page was ever deleted.
    ///
    /// A link to a deleted page must not become a link to a new one.
    fn first_free(&self) -> Result<u32, Self::Error> {
        Ok(0)
    }

    /// Returns the error for a record whose content is invalid.
    fn damaged(what: String) -> Self::Error;
}
