//! Which bytes came, for which request?
//!
//! Stands between the socket and hyper: keeps the head of the response as it was sent, for the archive,
//! bounds it, counts bytes, and notes when the first one came.
//!
//! **Invariant:** a byte that arrives while no request is out ends the connection; it is never taken for
//! the beginning of the next answer (hostile-web.md, rows 13, 16, 19).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

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
    head: BytesMut,
    /// Where in `head` the line begins that has not ended yet.
    line: usize,
    /// Lines of the head at hand, the status line and the empty one included.
    lines: usize,
    /// Bytes of all heads, the dropped informational ones included.
    head_bytes: usize,
    informational: u32,
    bytes: u64,
    first_byte: Option<Instant>,
    breach: Option<Breach>,
    limits: HeadLimits,
}

/// The limits of a head, from [`Limits`].
#[derive(Default, Clone, Copy)]
struct HeadLimits {
    bytes: usize,
    fields: usize,
    informational: u32,
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
        let limits = HeadLimits {
            bytes: limits.head,
            fields: limits.headers,
            informational: limits.informational,
        };
        Self(Arc::new(Mutex::new(Seen {
            limits,
            ..Seen::default()
        })))
    }

    /// A request is about to be sent.
    pub(crate) fn begin(&self) {
        let mut seen = self.lock();
        *seen = Seen {
            phase: Phase::Head,
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
        std::mem::take(&mut self.lock().head).freeze()
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

    /// Goes through the lines of the head: an empty one ends it, and if it was an informational one the
    /// next begins.
    fn note_head(&mut self, mut new: &[u8]) -> Result<(), Breach> {
        while let Some(end) = new.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = new.split_at(end + 1);
            self.head.extend_from_slice(line);
            self.head_bytes += line.len();
            new = rest;
            let whole = &self.head[self.line..];
            let is_empty = whole == b"\r\n" || whole == b"\n";
            let is_first = self.line == 0;
            self.line = self.head.len();
            self.lines += 1;
            if self.head_bytes > self.limits.bytes || self.lines > self.limits.fields + 2 {
                return Err(Breach::Size);
            }
            // Servers may send an empty line before the status line (RFC 9112, 2.2).
            if is_empty && is_first {
                self.begin_head();
            } else if is_empty && is_informational(&self.head) {
                self.begin_head();
                self.informational += 1;
                if self.informational > self.limits.informational {
                    return Err(Breach::Informational);
                }
            } else if is_empty {
                self.phase = Phase::Body;
                return Ok(());
            }
        }
        self.head.extend_from_slice(new);
        self.head_bytes += new.len();
        if self.head_bytes > self.limits.bytes {
            Err(Breach::Size)
        } else {
            Ok(())
        }
    }

    fn begin_head(&mut self) {
        self.head.clear();
        (self.line, self.lines) = (0, 0);
    }
}

/// Whether a head is that of a 1xx response (`HTTP/1.1 103 …`). 101 is final: we never ask to upgrade.
fn is_informational(head: &[u8]) -> bool {
    let status = head
        .iter()
        .position(|&byte| byte == b' ')
        .and_then(|space| head.get(space + 1..space + 4));
    matches!(status, Some([b'1', _, _])) && status != Some(b"101")
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
    use proptest::prelude::*;

    fn seen() -> Seen {
        let limits = HeadLimits {
            bytes: 200,
            fields: 3,
            informational: 2,
        };
        Seen {
            phase: Phase::Head,
            limits,
            ..Seen::default()
        }
    }

    const FINAL: &[u8] = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n";

    proptest! {
        /// However the bytes are cut into reads, the head is the same.
        #[test]
        fn cuts_do_not_matter(cuts in prop::collection::vec(0usize..80, 0..10)) {
            let all = [b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", FINAL, b"body\n\nmore\r\n\r\n"].concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(all.len())).collect();
            cuts.extend([0, all.len()]);
            cuts.sort_unstable();
            let mut seen = seen();
            for pair in cuts.windows(2) {
                seen.note(&all[pair[0]..pair[1]]).unwrap();
            }
            prop_assert_eq!(&seen.head[..], FINAL);
            prop_assert_eq!(seen.bytes, all.len() as u64);
            prop_assert_eq!(seen.informational, 1);
        }
    }

    #[test]
    fn limits_hold_to_the_byte() {
        let head =
            |padding: usize| format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(padding));
        let fixed = head(0).len();
        assert_eq!(seen().note(head(200 - fixed).as_bytes()), Ok(()));
        assert_eq!(seen().note(head(201 - fixed).as_bytes()), Err(Breach::Size));
        assert_eq!(
            seen().note(&[b'x'; 201]),
            Err(Breach::Size),
            "a line without end"
        );
        let fields = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert_eq!(seen().note(fields(3).as_bytes()), Ok(()));
        assert_eq!(seen().note(fields(4).as_bytes()), Err(Breach::Size));
        let early = b"HTTP/1.1 103 Early\r\n\r\n";
        assert_eq!(seen().note(&early.repeat(2)), Ok(()));
        assert_eq!(seen().note(&early.repeat(3)), Err(Breach::Informational));
        assert_eq!(
            Seen {
                phase: Phase::Idle,
                ..seen()
            }
            .note(b"x"),
            Err(Breach::Unasked)
        );
    }

    #[test]
    fn bare_line_feeds_and_leading_empty_lines_are_understood() {
        let mut lenient = seen();
        lenient
            .note(b"\r\n\nHTTP/1.1 200 OK\nA: b\n\nbody")
            .unwrap();
        assert_eq!(&lenient.head[..], b"HTTP/1.1 200 OK\nA: b\n\n");
    }
}
