//! What the server waits for on a connection, and since when.
//!
//! **Invariant:** a connection on which the server waits for the client (a request, the rest of one, the reading of an
//! answer) has a time-out. Bytes that come one by one do not extend it: a head and a body are timed from their
//! beginning.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Time for the head of a request, from its first byte; of the first request, from the connection. A browser sends it in
/// one packet; five seconds are several retransmissions.
pub const HEAD: Duration = Duration::from_secs(5);
/// Time from an answer to the next request: people click within a minute.
pub const IDLE: Duration = Duration::from_secs(60);
/// Time for the body of a request, from the end of its head. The largest that is taken has 64 KiB.
pub const BODY: Duration = Duration::from_secs(10);
/// Time that a client may leave an answer unread while there is more of it.
pub const UNREAD: Duration = Duration::from_secs(10);

/// What the server waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// The first byte of the next request.
    Request,
    /// The rest of a head.
    Head,
    /// The rest of a body.
    Body,
    /// That the client reads.
    Reading,
}

/// The state of one connection, shared by those who serve it and those who may close it.
pub struct Watch {
    state: Mutex<State>,
    /// Signals that the connection is to be closed to make room.
    closing: Notify,
    /// Signals the room that this connection has begun to wait for its client.
    waits: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    /// `None`: the server works on an answer.
    awaited: Option<Awaited>,
    since: Instant,
    /// Whether a request was read and its answer is not written.
    answering: bool,
    /// When the head of the last request was complete.
    begun: Instant,
}

impl Watch {
    /// Of a connection that was accepted now. Tells `waits` when it waits for its client.
    pub fn new(now: Instant, waits: Arc<Notify>) -> Arc<Self> {
        let state = State {
            awaited: Some(Awaited::Head),
            since: now,
            answering: false,
            begun: now,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            closing: Notify::new(),
            waits,
        })
    }

    /// Returns since when the server waits for the client; `None` while it works on an answer.
    pub fn waits_since(&self) -> Option<Instant> {
        let state = self.lock();
        state.awaited.map(|_| state.since)
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.closing.notify_one();
    }

    /// Ends when the connection is to be closed: the client took too long, or the room is needed.
    pub async fn over(&self) {
        tokio::select! {
            () = self.closing.notified() => {}
            () = self.expired() => {}
        }
    }

    async fn expired(&self) {
        loop {
            let (deadline, now) = (self.lock().deadline(), Instant::now());
            if deadline.is_some_and(|deadline| deadline <= now) {
                return;
            }
            // What begins meanwhile ends no earlier than the shortest time-out after now.
            let look = now + HEAD.min(UNREAD).min(BODY);
            tokio::time::sleep_until(deadline.unwrap_or(look).min(look)).await;
        }
    }

    /// Bytes came.
    fn received(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Request) {
            state.wait(Awaited::Head, Instant::now());
        }
    }

    /// The head of a request is complete.
    pub fn begins(&self) {
        let mut state = self.lock();
        state.begun = Instant::now();
        state.answering = true;
        state.awaited = None;
    }

    /// The rest of the body is awaited.
    fn wants_body(&self) {
        let mut state = self.lock();
        if state.awaited.is_none() {
            let begun = state.begun;
            state.wait(Awaited::Body, begun);
            self.waits.notify_one();
        }
    }

    /// More of the body came, or all of it.
    fn has_body(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Body) {
            state.awaited = None;
        }
    }

    /// The answer cannot be written on: the client does not read.
    fn is_unread(&self) {
        let mut state = self.lock();
        if state.awaited != Some(Awaited::Reading) {
            state.wait(Awaited::Reading, Instant::now());
            self.waits.notify_one();
        }
    }

    /// The client reads.
    fn is_read(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Reading) {
            state.awaited = None;
            if !state.answering {
                state.wait(Awaited::Request, Instant::now());
            }
        }
    }

    /// The answer is complete, but for what may be unread.
    fn answered(&self) {
        let mut state = self.lock();
        state.answering = false;
        if state.awaited != Some(Awaited::Reading) {
            state.wait(Awaited::Request, Instant::now());
            self.waits.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while the lock is held")
    }
}

impl State {
    fn wait(&mut self, awaited: Awaited, since: Instant) {
        (self.awaited, self.since) = (Some(awaited), since);
    }

    fn deadline(&self) -> Option<Instant> {
        let time = match self.awaited? {
            Awaited::Request => IDLE,
            Awaited::Head => HEAD,
            Awaited::Body => BODY,
            Awaited::Reading => UNREAD,
        };
        Some(self.since + time)
    }
}

/// A socket whose progress is watched.
pub struct Watched {
    socket: TcpStream,
    watch: Arc<Watch>,
}

impl Watched {
    pub fn new(socket: TcpStream, watch: Arc<Watch>) -> Self {
        Self { socket, watch }
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.watch.is_unread(),
            Poll::Ready(_) => self.watch.is_read(),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // What the client does not read would stay in the kernel's memory after the connection.
        if self.watch.lock().awaited == Some(Awaited::Reading) {
            self.socket.set_zero_linger().ok();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_read(cx, buf))?;
        self.watch.received();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, pieces);
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// The body of a request, which the client has yet to send.
pub struct Upload {
    body: Incoming,
    watch: Arc<Watch>,
}

impl Upload {
    pub fn new(body: Incoming, watch: Arc<Watch>) -> Self {
        Self { body, watch }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match polled {
            Poll::Pending => self.watch.wants_body(),
            Poll::Ready(_) => self.watch.has_body(),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.watch.has_body();
    }
}

/// The body of an answer; its end is the end of the work on it.
pub struct Download {
    body: axum::body::Body,
    watch: Arc<Watch>,
}

impl Download {
    pub fn new(body: axum::body::Body, watch: Arc<Watch>) -> Self {
        Self { body, watch }
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.watch.answered();
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A connection whose request is being answered.
    pub fn answering() -> Arc<Watch> {
        let watch = Watch::new(Instant::now(), Arc::default());
        watch.begins();
        watch
    }

    /// Seconds until the connection is closed for its client's sake; at most an hour.
    async fn lasts(watch: &Watch) -> u64 {
        let begun = Instant::now();
        let hour = Duration::from_secs(3600);
        tokio::time::timeout(hour, watch.over()).await.ok();
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn every_wait_for_a_client_ends() {
        let fresh = || Watch::new(Instant::now(), Arc::default());
        let watch = fresh();
        assert_eq!(lasts(&watch).await, HEAD.as_secs(), "nothing comes");
        let watch = fresh();
        tokio::time::sleep(Duration::from_secs(3)).await;
        watch.received();
        assert_eq!(lasts(&watch).await, HEAD.as_secs() - 3, "byte by byte");
        let watch = answering();
        assert_eq!(lasts(&watch).await, 3600, "an answer takes its time");
        watch.answered();
        assert_eq!(lasts(&watch).await, IDLE.as_secs(), "no other request");
        let watch = answering();
        watch.answered();
        tokio::time::sleep(Duration::from_secs(20)).await;
        watch.received();
        assert_eq!(lasts(&watch).await, HEAD.as_secs(), "half of another");
        let watch = answering();
        for _ in 0..4 {
            watch.wants_body();
            tokio::time::sleep(Duration::from_secs(2)).await;
            watch.has_body();
        }
        watch.wants_body();
        assert_eq!(lasts(&watch).await, BODY.as_secs() - 8, "a slow body");
        let watch = answering();
        watch.is_unread();
        assert_eq!(lasts(&watch).await, UNREAD.as_secs(), "it is not read");
        let watch = answering();
        watch.answered();
        watch.is_unread();
        tokio::time::sleep(Duration::from_secs(9)).await;
        watch.is_read();
        assert_eq!(lasts(&watch).await, IDLE.as_secs(), "it was read");
        let watch = answering();
        watch.close();
        assert_eq!(lasts(&watch).await, 0);
    }
}
