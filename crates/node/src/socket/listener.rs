//! The side of the crawl: it answers commands on threads of their own.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use ledger::Ledger;

use super::{SocketPath, StoreReply, StoreRequest, receive, send};
use crate::live::Live;
use crate::panics::POISONED;

/// Connections that are answered at the same time. A further one waits in the queue of the system.
const MOST: usize = 64;
/// Time between two attempts to ask a crawl that begins.
const RETRY_EVERY: Duration = Duration::from_millis(50);

/// The socket of a crawl, until it is dropped.
pub struct StoreSocket {
    shared: Arc<SharedSocket>,
    accepting: Option<JoinHandle<()>>,
    path: SocketPath,
}

struct SharedSocket {
    live: Arc<Live>,
    ended: AtomicBool,
    connections: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl StoreSocket {
    /// Opens the socket of a crawl, which must have locked its store. Returns `None`, with a
    /// warning in the log, if the file system has no sockets.
    pub fn open(live: &Arc<Live>) -> Option<Self> {
        let opened = Self::bind(live);
        opened
            .inspect_err(|error| {
                tracing::warn!(
                    "other commands must wait for the end of this one: no socket can be made in {}: {error}",
                    live.root().display()
                );
            })
            .ok()
    }

    fn bind(live: &Arc<Live>) -> io::Result<Self> {
        let path = SocketPath::of(live.root())?;
        // A killed process leaves its socket.
        match fs::remove_file(&path.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path.path)?;
        fs::set_permissions(&path.path, Permissions::from_mode(0o600))?;
        let shared = Arc::new(SharedSocket {
            live: live.clone(),
            ended: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepts = shared.clone();
        let thread = std::thread::Builder::new().name("socket".into());
        let accepting = thread.spawn(move || accepts.accept(&listener))?;
        Ok(Self {
            shared,
            accepting: Some(accepting),
            path,
        })
    }
}

/// Closes the socket and all connections.
impl Drop for StoreSocket {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.shared.live.loans().end();
        // Wakes the thread that accepts.
        drop(UnixStream::connect(&self.path.path));
        fs::remove_file(&self.path.path).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
        let connections = std::mem::take(&mut *self.shared.connections.lock().expect(POISONED));
        for (stream, thread) in connections {
            stream.shutdown(Shutdown::Both).ok();
            thread.join().ok();
        }
    }
}

impl SharedSocket {
    fn accept(self: &Arc<Self>, listener: &UnixListener) {
        while let Ok((stream, _)) = listener.accept() {
            if self.has_ended() {
                return;
            }
            if !is_allowed(&stream) {
                continue;
            }
            while self.live_connections() >= MOST {
                std::thread::sleep(RETRY_EVERY);
            }
            if let Err(error) = self.start(stream) {
                tracing::warn!("a command could not be answered: {error}");
            }
        }
    }

    fn start(self: &Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let (shared, kept) = (self.clone(), stream.try_clone()?);
        let thread = std::thread::Builder::new().name("command".into());
        let thread = thread.spawn(move || {
            // The command may have been killed.
            shared.answer(stream).ok();
        })?;
        let mut connections = self.connections.lock().expect(POISONED);
        connections.push((kept, thread));
        Ok(())
    }

    /// Forgets the connections that have ended, and returns the number of the others.
    fn live_connections(&self) -> usize {
        let mut connections = self.connections.lock().expect(POISONED);
        connections.retain(|(_, thread)| !thread.is_finished());
        connections.len()
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn answer(&self, mut stream: UnixStream) -> io::Result<()> {
        match receive(&mut stream)? {
            StoreRequest::Read => self.read(&mut stream),
            StoreRequest::Explain(url) => {
                let reply = self.explain(&url, &stream);
                send(&mut stream, &reply)
            }
            StoreRequest::Borrow => self.lend(&mut stream),
        }
    }

    /// Answers requests for records, all of the same moment, until the command has enough.
    fn read(&self, stream: &mut UnixStream) -> io::Result<()> {
        let loans = self.live.loans();
        let Some(_permit) = loans.read(|| !is_closed(stream)) else {
            return Ok(());
        };
        // Held until the end: the next term of the crawl then uses the ledger that is open.
        let Some(ledger) = self.ledger(stream) else {
            return Ok(());
        };
        let reader = ledger.snapshot();
        send(stream, &StoreReply::Ready)?;
        loop {
            let answer = reader.answer(&receive(stream)?);
            send(stream, &answer)?;
        }
    }

    /// Returns the ledger of the crawl. Waits for a crawl that begins.
    fn ledger(&self, stream: &UnixStream) -> Option<Arc<Ledger>> {
        self.ask(stream, || self.live.ask(|crawl| crawl.ledger()))
    }

    fn explain(&self, url: &str, stream: &UnixStream) -> StoreReply {
        let explained = self.ask(stream, || self.live.ask(|crawl| crawl.explain(url)));
        let json = explained.map(|explained| -> Result<String> {
            let explained = explained?;
            Ok(serde_json::to_string(&explained)?)
        });
        match json {
            Some(Ok(json)) => StoreReply::Explained(json),
            Some(Err(error)) => StoreReply::Refused(format!("{error:#}")),
            None => StoreReply::Refused("the crawl has just ended: run the command again".into()),
        }
    }

    fn ask<T>(&self, stream: &UnixStream, question: impl Fn() -> Option<T>) -> Option<T> {
        while !self.has_ended() && !is_closed(stream) {
            if let Some(answer) = question() {
                return Some(answer);
            }
            std::thread::sleep(RETRY_EVERY);
        }
        None
    }

    /// Lends the store until the command closes the connection.
    fn lend(&self, stream: &mut UnixStream) -> io::Result<()> {
        let Some(_loan) = self.live.loans().borrow(|| !is_closed(stream)) else {
            return Ok(());
        };
        send(stream, &StoreReply::Ready)?;
        let mut rest = [0];
        while stream.read(&mut rest)? > 0 {}
        Ok(())
    }
}

/// Returns whether the other side has closed the connection.
fn is_closed(stream: &UnixStream) -> bool {
    let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
    match rustix::net::recv(stream, &mut [0u8; 1], flags) {
        Ok((_, read)) => read == 0,
        Err(error) => error != rustix::io::Errno::AGAIN,
    }
}

/// Returns whether the other side is root or has the user of this process.
fn is_allowed(stream: &UnixStream) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid.is_root() || peer.uid == rustix::process::geteuid())
}

/// Returns the mode bits of the socket of a store, for a test.
#[cfg(test)]
fn mode(root: &std::path::Path) -> u32 {
    let path = SocketPath::of(root).unwrap();
    fs::metadata(&path.path).unwrap().permissions().mode() & 0o777
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::StoreClient;

    #[test]
    fn a_socket_is_for_its_owner_also_below_a_long_path_and_after_a_kill() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("x".repeat(150));
        fs::create_dir(&root).unwrap();
        let live = Live::of(&root);
        assert!(StoreClient::connect(&root).is_none());
        let socket = StoreSocket::open(&live).unwrap();
        assert_eq!(mode(&root), 0o600);
        assert!(StoreClient::connect(&root).is_some());
        // As a killed process does, this one leaves its socket.
        std::mem::forget(socket);
        let again = StoreSocket::open(&Live::of(&root)).unwrap();
        assert!(StoreClient::connect(&root).is_some());
        drop(again);
        assert!(StoreClient::connect(&root).is_none());
        assert!(!root.join("SOCKET").exists());
    }
}
