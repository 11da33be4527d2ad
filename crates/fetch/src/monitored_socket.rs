//! Records what hyper reads from a socket, and for which request.
//!
//! Sits between the socket and hyper. Keeps the response head verbatim for the archive, bounds
//! its size (see [`Heads`]), counts bytes, and records when the first one arrived.
//!
//! **Invariant:** a byte that arrives before any byte of the request was written ends the
//! connection. It is never taken for the beginning of the next answer (hostile-web.md, rows 13, 16,
//! 19).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::heads::{HeadLimits, HeadStep, Heads};
use crate::settings::FetchLimits;
use crate::socket::{PeekOutcome, Socket};
use crate::trouble::Trouble;

/// A socket that records what is read from it.
pub(crate) struct MonitoredSocket {
    socket: Socket,
    monitor: ReadMonitor,
}

/// A handle to the record of what was read since the last request. The socket and the connection
/// that sends the requests hold clones of one handle.
#[derive(Clone)]
pub(crate) struct ReadMonitor(Arc<Mutex<ReadRecord>>);

#[derive(Default)]
struct ReadRecord {
    phase: Phase,
    heads: Heads,
    bytes: u64,
    first_byte: Option<Instant>,
    /// Why a read or a write was refused.
    refusal: Option<Trouble>,
    limits: HeadLimits,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No request is in flight.
    #[default]
    Idle,
    /// A request was handed to hyper, and no byte of it was written yet.
    Unsent,
    /// The response head is being received.
    Head,
    /// The response body is being received.
    Body,
}

impl ReadMonitor {
    pub(crate) fn new(limits: &FetchLimits) -> Self {
        Self(Arc::new(Mutex::new(ReadRecord {
            limits: limits.into(),
            ..ReadRecord::default()
        })))
    }

    /// Resets the record for a request that is about to be sent.
    pub(crate) fn begin(&self) {
        let mut seen = self.lock();
        *seen = ReadRecord {
            phase: Phase::Unsent,
            heads: Heads::new(seen.limits),
            limits: seen.limits,
            ..ReadRecord::default()
        };
    }

    /// Ends the record: the answer is complete and nothing more may arrive.
    pub(crate) fn end(&self) {
        self.lock().phase = Phase::Idle;
    }

    /// Returns the final response head, verbatim.
    pub(crate) fn head(&self) -> Bytes {
        std::mem::take(&mut self.lock().heads).into_final()
    }

    /// Returns why a read or a write was refused: [`Trouble::Unsolicited`], or a limit that the
    /// head exceeded.
    pub(crate) fn refusal(&self) -> Option<Trouble> {
        self.lock().refusal.clone()
    }

    /// Returns the bytes received since the request, and when the first one arrived.
    pub(crate) fn received(&self) -> (u64, Option<Instant>) {
        let seen = self.lock();
        (seen.bytes, seen.first_byte)
    }

    fn lock(&self) -> MutexGuard<'_, ReadRecord> {
        self.0
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

impl ReadRecord {
    /// Records bytes that were read.
    fn note(&mut self, new: &[u8]) -> Result<(), Trouble> {
        match self.phase {
            Phase::Idle | Phase::Unsent => return Err(Trouble::Unsolicited),
            Phase::Head if self.bytes == 0 => self.first_byte = Some(Instant::now()),
            Phase::Head | Phase::Body => {}
        }
        self.bytes += new.len() as u64;
        if self.phase == Phase::Head {
            self.note_head(new)
        } else {
            Ok(())
        }
    }

    fn note_head(&mut self, mut new: &[u8]) -> Result<(), Trouble> {
        while !new.is_empty() {
            let (taken, step) = self.heads.take(new)?;
            new = &new[taken..];
            if step == HeadStep::Final {
                self.phase = Phase::Body;
                break;
            }
        }
        Ok(())
    }
}

impl MonitoredSocket {
    pub(crate) fn new(socket: Socket, monitor: ReadMonitor) -> Self {
        Self { socket, monitor }
    }

    fn refuse(&self, trouble: Trouble) -> io::Error {
        self.monitor.lock().refusal = Some(trouble);
        io::Error::from(io::ErrorKind::InvalidData)
    }

    fn is_in(&self, phase: Phase) -> bool {
        self.monitor.lock().phase == phase
    }
}

impl AsyncRead for MonitoredSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_in(Phase::Idle) {
            match self.socket.peek() {
                PeekOutcome::Nothing => {}
                PeekOutcome::Bytes => return Poll::Ready(Err(self.refuse(Trouble::Unsolicited))),
                PeekOutcome::End => return Poll::Ready(Ok(())),
            }
        }
        let before = buf.filled().len();
        std::task::ready!(Pin::new(&mut self.socket).poll_read(cx, buf))?;
        let new = &buf.filled()[before..];
        if new.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let noted = self.monitor.lock().note(new);
        Poll::Ready(noted.map_err(|trouble| self.refuse(trouble)))
    }
}

impl AsyncWrite for MonitoredSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // The last moment at which an answer sent too early can be distinguished from one to
        // this request.
        let unsent = self.is_in(Phase::Unsent);
        if unsent && self.socket.peek() == PeekOutcome::Bytes {
            return Poll::Ready(Err(self.refuse(Trouble::Unsolicited)));
        }
        let written = std::task::ready!(Pin::new(&mut self.socket).poll_write(cx, buf))?;
        if unsent && written > 0 {
            self.monitor.lock().phase = Phase::Head;
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn bytes_belong_to_a_request_or_are_refused() {
        let monitor = ReadMonitor::new(&FetchLimits::default());
        assert_eq!(monitor.lock().note(b"x"), Err(Trouble::Unsolicited));
        monitor.begin();
        assert_eq!(
            monitor.lock().note(b"x"),
            Err(Trouble::Unsolicited),
            "not written"
        );
        monitor.lock().phase = Phase::Head;
        let (early, head) = ("HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n");
        let all = format!("{early}{head}body\n\nmore\r\n\r\n");
        for byte in all.as_bytes() {
            assert_eq!(monitor.lock().note(&[*byte]), Ok(()));
        }
        assert_eq!(monitor.received().0, all.len() as u64);
        assert_eq!(monitor.head(), head);
        monitor.end();
        assert_eq!(monitor.lock().note(b"x"), Err(Trouble::Unsolicited));
    }

    /// An answer that arrived before the request is refused, and the request is not sent.
    #[tokio::test]
    async fn nothing_is_sent_after_unsolicited_bytes() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ours, theirs) =
            tokio::join!(tokio::net::TcpStream::connect(address), listener.accept());
        let (ours, (mut theirs, _)) = (ours.unwrap(), theirs.unwrap());
        let monitor = ReadMonitor::new(&FetchLimits::default());
        let mut wire = MonitoredSocket::new(Socket::Plain(ours), monitor.clone());
        monitor.begin();
        theirs.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while wire.socket.peek() != PeekOutcome::Bytes {
            tokio::task::yield_now().await;
        }
        assert!(wire.write_all(b"GET").await.is_err());
        assert_eq!(monitor.refusal(), Some(Trouble::Unsolicited));
        drop(wire);
        let mut sent = Vec::new();
        theirs.read_to_end(&mut sent).await.ok();
        assert!(sent.is_empty(), "{sent:?}");
    }
}
