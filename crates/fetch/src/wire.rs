//! Which bytes came, for which request?
//!
//! Stands between the socket and hyper: keeps the head of the response as it was sent, for the archive,
//! bounds it (see [`Heads`]), counts bytes, and notes when the first one came.
//!
//! **Invariant:** a byte that arrives before the request was written ends the connection; it is never taken
//! for the beginning of the next answer (hostile-web.md, rows 13, 16, 19).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::heads::{Excess, HeadLimits, Heads, Step};
use crate::settings::Limits;
use crate::socket::{Socket, Waiting};

/// A socket whose reading is watched.
pub(crate) struct Wire {
    socket: Socket,
    watch: Watch,
}

/// What was seen on the wire since the request was sent; shared with the connection that asks.
#[derive(Clone)]
pub(crate) struct Watch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    phase: Phase,
    heads: Heads,
    bytes: u64,
    first_byte: Option<Instant>,
    breach: Option<Breach>,
    limits: HeadLimits,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No request is out.
    #[default]
    Idle,
    /// A request was handed over, and no byte of it is on the wire.
    Unsent,
    /// The head of the answer is awaited.
    Head,
    /// The rest is the body.
    Body,
}

/// Which limit the head broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breach {
    Size,
    Informational,
    /// Bytes came that nobody had asked for.
    Unasked,
}

impl Watch {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Mutex::new(Seen {
            limits: limits.into(),
            ..Seen::default()
        })))
    }

    /// A request is about to be sent.
    pub(crate) fn begin(&self) {
        let mut seen = self.lock();
        *seen = Seen {
            phase: Phase::Unsent,
            heads: Heads::new(seen.limits),
            limits: seen.limits,
            ..Seen::default()
        };
    }

    /// The answer is complete: nothing more may come.
    pub(crate) fn end(&self) {
        self.lock().phase = Phase::Idle;
    }

    /// The head of the final response, verbatim.
    pub(crate) fn head(&self) -> Bytes {
        std::mem::take(&mut self.lock().heads).into_final()
    }

    pub(crate) fn breach(&self) -> Option<Breach> {
        self.lock().breach
    }

    /// Bytes since the request, and when the first one came.
    pub(crate) fn received(&self) -> (u64, Option<Instant>) {
        let seen = self.lock();
        (seen.bytes, seen.first_byte)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        // A panic elsewhere leaves numbers that are still in range.
        self.0
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

impl Seen {
    /// Takes note of bytes that were read.
    fn note(&mut self, new: &[u8]) -> Result<(), Breach> {
        match self.phase {
            Phase::Idle | Phase::Unsent => return Err(Breach::Unasked),
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

    fn note_head(&mut self, mut new: &[u8]) -> Result<(), Breach> {
        while !new.is_empty() {
            let (taken, step) = self.heads.take(new)?;
            new = &new[taken..];
            if step == Step::Final {
                self.phase = Phase::Body;
                break;
            }
        }
        Ok(())
    }
}

impl From<Excess> for Breach {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Size => Self::Size,
            Excess::Informational => Self::Informational,
        }
    }
}

impl Wire {
    pub(crate) fn new(socket: Socket, watch: Watch) -> Self {
        Self { socket, watch }
    }

    fn refuse(&self, breach: Breach) -> io::Error {
        self.watch.lock().breach = Some(breach);
        io::Error::from(io::ErrorKind::InvalidData)
    }

    fn is_in(&self, phase: Phase) -> bool {
        self.watch.lock().phase == phase
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_in(Phase::Idle) {
            match self.socket.waiting() {
                Waiting::Nothing => {}
                Waiting::Bytes => return Poll::Ready(Err(self.refuse(Breach::Unasked))),
                Waiting::End => return Poll::Ready(Ok(())),
            }
        }
        let before = buf.filled().len();
        std::task::ready!(Pin::new(&mut self.socket).poll_read(cx, buf))?;
        let new = &buf.filled()[before..];
        if new.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let noted = self.watch.lock().note(new);
        Poll::Ready(noted.map_err(|breach| self.refuse(breach)))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        // The last moment at which an answer that is there already can be told from one to this request.
        let unsent = self.is_in(Phase::Unsent);
        if unsent && self.socket.waiting() == Waiting::Bytes {
            return Poll::Ready(Err(self.refuse(Breach::Unasked)));
        }
        let written = std::task::ready!(Pin::new(&mut self.socket).poll_write(cx, buf))?;
        if unsent && written > 0 {
            self.watch.lock().phase = Phase::Head;
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
        let watch = Watch::new(&Limits::default());
        assert_eq!(watch.lock().note(b"x"), Err(Breach::Unasked));
        watch.begin();
        assert_eq!(watch.lock().note(b"x"), Err(Breach::Unasked), "not written");
        watch.lock().phase = Phase::Head;
        let (early, head) = ("HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n");
        let all = format!("{early}{head}body\n\nmore\r\n\r\n");
        for byte in all.as_bytes() {
            assert_eq!(watch.lock().note(&[*byte]), Ok(()));
        }
        assert_eq!(watch.received().0, all.len() as u64);
        assert_eq!(watch.head(), head);
        watch.end();
        assert_eq!(watch.lock().note(b"x"), Err(Breach::Unasked));
    }

    /// An answer that is there when the request is about to be written is refused, and the request stays
    /// unsent.
    #[tokio::test]
    async fn nothing_is_sent_to_a_server_that_spoke_first() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ours, theirs) =
            tokio::join!(tokio::net::TcpStream::connect(address), listener.accept());
        let (ours, (mut theirs, _)) = (ours.unwrap(), theirs.unwrap());
        let watch = Watch::new(&Limits::default());
        let mut wire = Wire::new(Socket::Plain(ours), watch.clone());
        watch.begin();
        theirs.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while wire.socket.waiting() != Waiting::Bytes {
            tokio::task::yield_now().await;
        }
        assert!(wire.write_all(b"GET").await.is_err());
        assert_eq!(watch.breach(), Some(Breach::Unasked));
        drop(wire);
        let mut sent = Vec::new();
        theirs.read_to_end(&mut sent).await.ok();
        assert!(sent.is_empty(), "{sent:?}");
    }
}
