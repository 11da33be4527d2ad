//! Which bytes came, for which request?
//!
//! Stands between the socket and hyper: keeps the head of the response as it was sent, for the archive,
//! bounds it (see [`Heads`]), counts bytes, and notes when the first one came.
//!
//! **Invariant:** a byte that arrives while no request is out ends the connection; it is never taken for
//! the beginning of the next answer (hostile-web.md, rows 13, 16, 19).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
            phase: Phase::Head,
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Takes note of bytes that were read.
    fn note(&mut self, new: &[u8]) -> Result<(), Breach> {
        match self.phase {
            Phase::Idle => return Err(Breach::Unasked),
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
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.watch.lock().phase == Phase::Idle {
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
        Pin::new(&mut self.socket).poll_write(cx, buf)
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
    use super::*;

    #[test]
    fn bytes_belong_to_a_request_or_are_refused() {
        let watch = Watch::new(&Limits::default());
        assert_eq!(watch.lock().note(b"x"), Err(Breach::Unasked));
        watch.begin();
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
}
