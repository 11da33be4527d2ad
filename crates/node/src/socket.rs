//! The Unix socket `SOCKET` in a store, through which commands ask the crawl that has the store.
//!
//! A connection begins with one request. A reader of the ledger then sends further requests for
//! records. A command that borrows the store has it until it closes the connection, so a command
//! that is killed gives the store back.
//!
//! Only the user of the crawl and root get an answer.

mod client;
mod listener;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use client::{BorrowedFromCrawl, StoreClient};
pub use listener::StoreSocket;

/// The longest path of a socket, with its final zero byte.
const LONGEST_PATH: usize = 108;
/// The largest message in bytes. The longest one is the explanation of a page, or a record of the
/// ledger.
const LARGEST: u32 = 64 << 20;

/// What a command wants of the crawl.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum StoreRequest {
    /// To read the ledger as it is now.
    Read,
    /// The explanation of a URL, by the frontier of the crawl.
    Explain(String),
    /// To have the store for itself.
    Borrow,
}

/// The first answer to a [`StoreRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum StoreReply {
    /// The command may read the ledger, or has the store.
    Ready,
    /// An explanation, as JSON.
    Explained(String),
    /// Why there is no answer.
    Refused(String),
}

/// The path of the socket of a store. If it is too long for a socket, it goes through the open
/// directory.
struct SocketPath {
    path: PathBuf,
    /// Keeps the path valid.
    _directory: File,
}

impl SocketPath {
    fn of(root: &Path) -> io::Result<Self> {
        let (name, directory) = ("SOCKET", File::open(root)?);
        let mut path = root.join(name);
        if path.as_os_str().len() >= LONGEST_PATH {
            path = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()).into();
        }
        Ok(Self {
            path,
            _directory: directory,
        })
    }
}

/// Sends a message: its length in four bytes, then the message in the postcard format.
fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&bytes)
}

/// Receives a message.
fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LARGEST {
        return Err(io::Error::other("the message is too long"));
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_huge_ones_are_refused() {
        let request = StoreRequest::Explain("http://a/".into());
        let mut bytes = Vec::new();
        send(&mut bytes, &request).unwrap();
        send(&mut bytes, &StoreRequest::Borrow).unwrap();
        let mut rest = &bytes[..];
        assert_eq!(receive::<StoreRequest>(&mut rest).unwrap(), request);
        assert_eq!(
            receive::<StoreRequest>(&mut rest).unwrap(),
            StoreRequest::Borrow
        );
        assert!(receive::<StoreRequest>(&mut rest).is_err(), "the end");
        let huge = (LARGEST + 1).to_le_bytes();
        let refused = receive::<StoreRequest>(&mut &huge[..]).unwrap_err();
        assert_eq!(refused.to_string(), "the message is too long");
    }
}
