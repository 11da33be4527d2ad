//! A socket on which several requests are in flight.
//!
//! **Invariant:** answers are read in the order of the requests, and only while one is awaited.
//! Reading never waits for writing, nor writing for reading.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::time::Instant;

use crate::body::{self, BodySource};
use crate::chunks::BodyPiece;
use crate::deadline::Deadline;
use crate::hyper_connection::NoBody;
use crate::reader::{ResponseHead, ResponseReader};
use crate::reply::{self, RawReply};
use crate::request;
use crate::response::Truncation;
use crate::settings::FetchLimits;
use crate::socket::{PeekOutcome, Socket};
use crate::trouble::Trouble;

/// Minimum and maximum size of the read buffer, in bytes. The size doubles each time a read fills
/// the buffer.
const ROOM: std::ops::RangeInclusive<usize> = 8 << 10..=64 << 10;

/// A connection with several requests in flight.
pub(crate) struct Pipeline {
    socket: Socket,
    /// Requests that are not written yet.
    unsent: BytesMut,
    unflushed: bool,
    /// Bytes received that no answer has consumed.
    unread: BytesMut,
    /// Number of bytes received.
    received: u64,
    room: usize,
    open: bool,
    width: usize,
}

/// The outcome of the next request in line.
pub(crate) struct NextAnswer {
    pub(crate) outcome: Result<WholeAnswer, NoAnswer>,
    /// When the first byte arrived; the start of waiting if it was there already; `None` if none
    /// arrived.
    pub(crate) first_byte: Option<Instant>,
    /// Bytes that were read for this request.
    pub(crate) bytes: u64,
}

/// An answer and its head, verbatim.
pub(crate) struct WholeAnswer {
    pub(crate) reply: RawReply,
    pub(crate) head: Bytes,
    /// Whether another answer may follow.
    pub(crate) keeps_open: bool,
}

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The head was not complete before the deadline.
    Late,
    /// The connection ended before the head was complete.
    Ended,
    /// The bytes received are not an acceptable answer.
    Refused(Trouble),
}

impl Pipeline {
    /// Creates a pipeline on which `width` requests may be in flight.
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

    /// Queues a request, which is written while the next answer is awaited.
    ///
    /// Returns the number of bytes received so far: none of them can belong to its answer.
    pub(crate) fn put(&mut self, message: &http::Request<NoBody>) -> u64 {
        request::write(message, &mut self.unsent);
        self.received
    }

    /// Reads the next answer; its deadlines count from `from`.
    ///
    /// The answer must not begin before the byte `not_before` of the input, which
    /// [`put`](Self::put) returned for its request.
    pub(crate) async fn answer(
        &mut self,
        not_before: u64,
        at_most: usize,
        limits: &FetchLimits,
        from: Instant,
    ) -> NextAnswer {
        let waiting = self.unread.len() as u64;
        let before = self.received - waiting;
        let mut first_byte = (waiting > 0).then_some(from);
        let outcome = if before < not_before {
            Err(NoAnswer::Refused(Trouble::Unsolicited))
        } else {
            self.read(at_most, limits, from, &mut first_byte).await
        };
        NextAnswer {
            outcome,
            first_byte,
            bytes: self.received - self.unread.len() as u64 - before,
        }
    }

    /// Checks, while no request is in flight, that the server is quiet.
    ///
    /// Closes the connection if it has ended or if bytes arrived. Returns whether bytes arrived.
    pub(crate) async fn got_unsolicited(&mut self) -> bool {
        if !self.open {
            return false;
        }
        let unsolicited = if self.unread.is_empty() {
            match self.socket.peek() {
                PeekOutcome::Bytes => true,
                PeekOutcome::End => {
                    self.open = false;
                    false
                }
                // Over TLS and over a pipe, only a read shows whether bytes arrived.
                PeekOutcome::Nothing => poll_fn(|cx| Poll::Ready(self.poll_unsolicited(cx))).await,
            }
        } else {
            true
        };
        self.open &= !unsolicited;
        // An idle connection keeps no buffer.
        self.unread = BytesMut::new();
        self.room = *ROOM.start();
        unsolicited
    }

    async fn read(
        &mut self,
        at_most: usize,
        limits: &FetchLimits,
        from: Instant,
        first_byte: &mut Option<Instant>,
    ) -> Result<WholeAnswer, NoAnswer> {
        let mut deadline = Deadline::at(from + limits.first_byte.min(limits.total));
        let mut reader = ResponseReader::new(limits.into());
        let head = poll_fn(|cx| self.poll_head(cx, &mut reader, first_byte));
        let ResponseHead {
            status,
            headers,
            verbatim,
            keeps_open,
        } = deadline.before(head).await.unwrap_or(Err(NoAnswer::Late))?;
        let head_at = Instant::now();
        reply::acceptable(status, &headers, limits).map_err(NoAnswer::Refused)?;
        let mut source = Framed {
            pipeline: self,
            reader,
        };
        let (body, cut) = body::read(&mut source, at_most, limits, from, &mut deadline).await;
        Ok(WholeAnswer {
            reply: RawReply {
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
        reader: &mut ResponseReader,
        first_byte: &mut Option<Instant>,
    ) -> Poll<Result<ResponseHead, NoAnswer>> {
        loop {
            if let Some(head) = reader.head(&mut self.unread).map_err(NoAnswer::Refused)? {
                return Poll::Ready(Ok(head));
            }
            match ready!(self.poll_more(cx)) {
                Ok(0) => {
                    reader.end_of_head().map_err(NoAnswer::Refused)?;
                    return Poll::Ready(Err(NoAnswer::Ended));
                }
                Err(_) => return Poll::Ready(Err(NoAnswer::Ended)),
                Ok(_) => _ = first_byte.get_or_insert_with(Instant::now),
            }
        }
    }

    /// Writes what can be written and waits for bytes to read. Returns how many arrived; 0 at
    /// the end.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // A server may stop reading and still send answers. Requests that cannot be written are
        // dropped; reading goes on.
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

    fn poll_unsolicited(&mut self, cx: &mut Context<'_>) -> bool {
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

/// The body of the current answer.
struct Framed<'a> {
    pipeline: &'a mut Pipeline,
    reader: ResponseReader,
}

impl BodySource for Framed<'_> {
    fn declared(&self) -> Option<u64> {
        self.reader.declared()
    }

    fn is_over(&self) -> bool {
        self.reader.is_over()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncation>>> {
        loop {
            match self.reader.piece(&mut self.pipeline.unread) {
                Ok(BodyPiece::Data(data)) => return Poll::Ready(Some(Ok(data))),
                Ok(BodyPiece::End) => return Poll::Ready(None),
                Ok(BodyPiece::More) => {}
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
