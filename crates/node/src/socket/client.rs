//! The side of a command.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use ledger::{LedgerReader, RecordsAnswer, RecordsRequest, RemoteRecords};
use serde_json::Value;

use super::{SocketPath, StoreReply, StoreRequest, receive, send};
use crate::panics::POISONED;

/// A connection to the crawl that has a store.
#[derive(Debug)]
pub struct StoreClient(UnixStream);

/// The store of a crawl, which waits until this is dropped.
#[derive(Debug)]
pub struct BorrowedFromCrawl {
    _connection: UnixStream,
}

impl StoreClient {
    /// Connects to the crawl that has the store at `root`; `None` if none answers.
    pub fn connect(root: &Path) -> Option<Self> {
        let path = SocketPath::of(root).ok()?;
        UnixStream::connect(&path.path).ok().map(Self)
    }

    /// Returns a reader of the ledger as it is now. Waits while another command has the store.
    /// Fails if the crawl ends meanwhile.
    pub fn read(mut self) -> io::Result<LedgerReader> {
        send(&mut self.0, &StoreRequest::Read)?;
        match receive(&mut self.0)? {
            StoreReply::Ready => Ok(LedgerReader::remote(Arc::new(ConnectedRecords(
                Mutex::new(self.0),
            )))),
            other => Err(unexpected(other)),
        }
    }

    /// Asks the crawl to explain a URL.
    pub fn explain(mut self, url: &str) -> Result<Value> {
        send(&mut self.0, &StoreRequest::Explain(url.to_owned()))?;
        match receive(&mut self.0)? {
            StoreReply::Explained(json) => Ok(serde_json::from_str(&json)?),
            StoreReply::Refused(why) => bail!(why),
            other @ StoreReply::Ready => Err(unexpected(other).into()),
        }
    }

    /// Waits until the crawl has closed the store. It goes on when the returned value is dropped.
    /// Fails if the crawl ends meanwhile.
    pub fn borrow(mut self) -> io::Result<BorrowedFromCrawl> {
        send(&mut self.0, &StoreRequest::Borrow)?;
        match receive(&mut self.0)? {
            StoreReply::Ready => Ok(BorrowedFromCrawl {
                _connection: self.0,
            }),
            other => Err(unexpected(other)),
        }
    }
}

fn unexpected(reply: StoreReply) -> io::Error {
    match reply {
        StoreReply::Refused(why) => io::Error::other(why),
        _ => io::Error::other("the crawl gave an answer of another kind"),
    }
}

/// The ledger of the crawl at the other end of a connection.
struct ConnectedRecords(Mutex<UnixStream>);

impl RemoteRecords for ConnectedRecords {
    fn ask(&self, request: &RecordsRequest) -> io::Result<RecordsAnswer> {
        let mut stream = self.0.lock().expect(POISONED);
        send(&mut *stream, request)?;
        receive(&mut *stream)
    }
}
