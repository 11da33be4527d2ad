//! How are several requests put on the wire before the first is answered?
//!
//! **Invariant:** answers are read in the order of the requests, and nothing is read but for an answer
//! that is awaited; reading never waits for writing to end, nor writing for reading.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::time::Instant;

use crate::body::{self, Source};
use crate::chunks::Chunk;
use crate::deadline::Deadline;
use crate::line::NoBody;
use crate::reader::{Head, Reader};
use crate::reply::{self, Reply};
use crate::request;
use crate::response::Truncation;
use crate::settings::Limits;
use crate::socket::{Socket, Waiting};
use crate::trouble::Trouble;

/// Bytes read at once: a page with its head, mostly; more while a body fills it every time.
const ROOM: std::ops::RangeInclusive<usize> = 8 << 10..=64 << 10;

/// A connection with several requests out.
pub(crate) struct Pipeline {
    socket: Socket,
    /// Requests, as far as they are not on the wire.
    unsent: BytesMut,
    unflushed: bool,
    /// Bytes that came, as far as no answer has taken them.
    unread: BytesMut,
    /// Bytes that came.
    received: u64,
    room: usize,
    open: bool,
    width: usize,
}

/// What came of the request that is next to be answered.
pub(crate) struct Turn {
    pub(crate) outcome: Result<Whole, Missed>,
    /// When the first byte came; the beginning, if it was there already.
    pub(crate) first_byte: Option<Instant>,
    /// Bytes that were read for it.
    pub(crate) bytes: u64,
}

/// An answer and its head as it came.
pub(crate) struct Whole {
    pub(crate) reply: Reply,
    pub(crate) head: Bytes,
    /// Whether another may follow.
    pub(crate) keeps_open: bool,
}

/// Why there is no answer.
pub(crate) enum Missed {
    /// No head in time.
    Late,
    /// The connection ended before the head did.
    Ended,
    /// What came is refused.
    Refused(Trouble),
}

impl Pipeline {
    /// Takes a connection that `width` requests may be out on.
    pub(crate) fn new(socket: Socket, width: usize) -> Self {
        Self {
            socket,
            unsent: BytesMut::new(),
            unflushed: false,
            unread: BytesMut::new(),
            received: 0,
            room: *ROOM.start(),
            open: true,
            width,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    /// Queues a request; it goes out while the next answer is awaited. Returns how many bytes had been
    /// read by then: none of them can be of its answer.
    pub(crate) fn put(&mut self, message: &http::Request<NoBody>) -> u64 {
        request::write(message, &mut self.unsent);
        self.received
    }

    /// Reads the next answer, whose time counts `from` then on. It may not begin before the byte `not_before`
    /// of what was received, which [`put`](Self::put) returned for its request.
    pub(crate) async fn answer(
        &mut self,
        not_before: u64,
        at_most: usize,
        limits: &Limits,
        from: Instant,
    ) -> Turn {
        let waiting = self.unread.len() as u64;
        let before = self.received - waiting;
        let mut first_byte = (waiting > 0).then_some(from);
        let outcome = if before < not_before {
            Err(Missed::Refused(Trouble::Unasked))
        } else {
            self.read(at_most, limits, from, &mut first_byte).await
        };
        Turn {
            outcome,
            first_byte,
            bytes: self.received - self.unread.len() as u64 - before,
        }
    }

    /// Looks, while no request is out, whether the server is quiet; a connection where it ended or speaks
    /// unasked is closed. Returns whether it spoke.
    pub(crate) async fn spoke_unasked(&mut self) -> bool {
        if !self.open {
            return false;
        }
        let spoke = if self.unread.is_empty() {
            match self.socket.waiting() {
                Waiting::Bytes => true,
                Waiting::End => {
                    self.open = false;
                    false
                }
                // Over TLS only reading tells.
                Waiting::Nothing => poll_fn(|cx| Poll::Ready(self.poll_unasked(cx))).await,
            }
        } else {
            true
        };
        self.open &= !spoke;
        // A connection that is kept for later keeps no memory for it.
        self.unread = BytesMut::new();
        self.room = *ROOM.start();
        spoke
    }

    async fn read(
        &mut self,
        at_most: usize,
        limits: &Limits,
        from: Instant,
        first_byte: &mut Option<Instant>,
    ) -> Result<Whole, Missed> {
        let mut deadline = Deadline::at(from + limits.first_byte.min(limits.total));
        let mut reader = Reader::new(limits.into());
        let head = poll_fn(|cx| self.poll_head(cx, &mut reader, first_byte));
        let Head {
            status,
            headers,
            verbatim,
            keeps_open,
        } = deadline.before(head).await.unwrap_or(Err(Missed::Late))?;
        let head_at = Instant::now();
        reply::acceptable(status, &headers, limits).map_err(Missed::Refused)?;
        let mut source = Framed {
            pipeline: self,
            reader,
        };
        let (body, cut) = body::read(&mut source, at_most, limits, from, &mut deadline).await;
        Ok(Whole {
            reply: Reply {
                status,
                headers,
                body,
                cut,
                head_at,
            },
            head: verbatim,
            keeps_open: keeps_open && cut.is_none(),
        })
    }

    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut Reader,
        first_byte: &mut Option<Instant>,
    ) -> Poll<Result<Head, Missed>> {
        loop {
            if let Some(head) = reader.head(&mut self.unread).map_err(Missed::Refused)? {
                return Poll::Ready(Ok(head));
            }
            match ready!(self.poll_more(cx)) {
                Ok(0) => {
                    reader.end_of_head().map_err(Missed::Refused)?;
                    return Poll::Ready(Err(Missed::Ended));
                }
                Err(_) => return Poll::Ready(Err(Missed::Ended)),
                Ok(_) => _ = first_byte.get_or_insert_with(Instant::now),
            }
        }
    }

    /// Writes what can be written and waits for bytes to read. Returns how many came; 0 at the end.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // A server may close its ears and still have answers for us: what cannot be sent is dropped, and
        // reading tells the rest.
        if let Poll::Ready(Err(_)) = self.poll_send(cx) {
            self.unsent.clear();
            self.unflushed = false;
        }
        self.poll_read(cx)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.unread.reserve(self.room);
        let room = self.unread.capacity() - self.unread.len();
        let read = ready!(pin!(self.socket.read_buf(&mut self.unread)).poll(cx))?;
        if read == room {
            self.room = (self.room * 2).min(*ROOM.end());
        }
        self.received += read as u64;
        Poll::Ready(Ok(read))
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let sent = ready!(Pin::new(&mut self.socket).poll_write(cx, &self.unsent))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unsent.advance(sent);
            self.unflushed = true;
        }
        if self.unflushed {
            ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_unasked(&mut self, cx: &mut Context<'_>) -> bool {
        match self.poll_read(cx) {
            Poll::Pending => false,
            Poll::Ready(Ok(read)) if read > 0 => true,
            Poll::Ready(_) => {
                self.open = false;
                false
            }
        }
    }
}

/// The body of the answer at hand.
struct Framed<'a> {
    pipeline: &'a mut Pipeline,
    reader: Reader,
}

impl Source for Framed<'_> {
    fn declared(&self) -> Option<u64> {
        self.reader.declared()
    }

    fn is_over(&self) -> bool {
        self.reader.is_over()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncation>>> {
        loop {
            match self.reader.piece(&mut self.pipeline.unread) {
                Ok(Chunk::Data(data)) => return Poll::Ready(Some(Ok(data))),
                Ok(Chunk::End) => return Poll::Ready(None),
                Ok(Chunk::More) => {}
                Err(_) => return Poll::Ready(Some(Err(Truncation::Malformed))),
            }
            let declared = self.reader.declared().is_some();
            return Poll::Ready(match ready!(self.pipeline.poll_more(cx)) {
                Ok(0) if self.reader.ends_with_connection() => None,
                Ok(0) => Some(Err(reply::ended(declared))),
                Ok(_) => continue,
                Err(error) => Some(Err(reply::broken(&error, declared))),
            });
        }
    }
}
