//! Time-outs of connections: records what the server waits for, and since when.
//!
//! **Invariant:** every wait for the client has a time-out: for the next request, for the rest of
//! a request, and for the client to read an answer. A client cannot extend the time for a head or
//! a body by sending it slowly, because the time counts from its beginning.

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

/// Time for the head of a request, from its first byte; for the first request, from the start of
/// the connection.
///
/// A browser sends the head in one packet. Five seconds allow several retransmissions.
pub const HEAD: Duration = Duration::from_secs(5);
/// Time from an answer to the next request. People click within a minute.
pub const IDLE: Duration = Duration::from_secs(60);
/// Time for the body of a request, from the end of its head. Bodies of the API have at most 64 KiB,
/// and forms are smaller.
pub const BODY: Duration = Duration::from_secs(10);
/// Time in which a client must read part of an answer when the send buffer is full.
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
    /// Room in the send buffer: the client must read.
    Reading,
}

/// What one connection waits for, shared by the task that serves it and by the admission control.
pub struct ConnectionWatch {
    state: Mutex<WatchState>,
    /// Signals that the connection is to be closed to make room for another.
    closing: Notify,
    /// Signals the admission control that this connection now waits for its client.
    waits: Arc<Notify>,
}

#[derive(Debug)]
struct WatchState {
    /// `None` while the server works on an answer.
    awaited: Option<Awaited>,
    since: Instant,
    /// Whether a request was read and its answer is not complete.
    answering: bool,
    /// When the head of the last request was complete.
    begun: Instant,
}

impl ConnectionWatch {
    /// Creates the watch of a connection accepted now, which notifies `waits`.
    pub fn new(now: Instant, waits: Arc<Notify>) -> Arc<Self> {
        let state = WatchState {
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

    /// Returns the time since which the server waits for the client.
    ///
    /// Returns `None` while the server works on an answer.
    pub fn waits_since(&self) -> Option<Instant> {
        let state = self.lock();
        state.awaited.map(|_| state.since)
    }

    /// Asks the task of the connection to close it.
    pub fn close(&self) {
        self.closing.notify_one();
    }

    /// Completes when the connection is to be closed: by a time-out, or to make room for another.
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
            // The state is checked again after the shortest time-out (5 s) at the latest, because
            // a wait may begin meanwhile. The time for a body counts from the end of the head. So
            // it may pass before the next check, and the connection is closed up to 5 s late.
            let look = now + HEAD.min(UNREAD).min(BODY);
            tokio::time::sleep_until(deadline.unwrap_or(look).min(look)).await;
        }
    }

    /// Records that bytes have arrived.
    fn received(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Request) {
            state.wait(Awaited::Head, Instant::now());
        }
    }

    /// Records that the head of a request is complete.
    pub fn request_began(&self) {
        let mut state = self.lock();
        state.begun = Instant::now();
        state.answering = true;
        state.awaited = None;
    }

    /// Records that the server waits for the rest of the body.
    fn wants_body(&self) {
        let mut state = self.lock();
        if state.awaited.is_none() {
            let begun = state.begun;
            state.wait(Awaited::Body, begun);
            self.waits.notify_one();
        }
    }

    /// Records that more of the body has arrived, or all of it.
    fn has_body(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Body) {
            state.awaited = None;
        }
    }

    /// Records that the send buffer is full, because the client does not read.
    fn is_unread(&self) {
        let mut state = self.lock();
        if state.awaited != Some(Awaited::Reading) {
            state.wait(Awaited::Reading, Instant::now());
            self.waits.notify_one();
        }
    }

    /// Records that the client reads again.
    fn is_read(&self) {
        let mut state = self.lock();
        if state.awaited == Some(Awaited::Reading) {
            state.awaited = None;
            if !state.answering {
                state.wait(Awaited::Request, Instant::now());
            }
        }
    }

    /// Records that the answer is complete; the client may still have to read its end.
    fn answered(&self) {
        let mut state = self.lock();
        state.answering = false;
        if state.awaited != Some(Awaited::Reading) {
            state.wait(Awaited::Request, Instant::now());
            self.waits.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state
            .lock()
            .expect("nothing panics while the lock is held")
    }
}

impl WatchState {
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

/// A socket that reports its progress to a watch.
pub struct WatchedSocket {
    pub socket: TcpStream,
    pub watch: Arc<ConnectionWatch>,
}

impl WatchedSocket {
    fn record(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.watch.is_unread(),
            Poll::Ready(_) => self.watch.is_read(),
        }
    }
}

impl Drop for WatchedSocket {
    fn drop(&mut self) {
        // Without this, the kernel would keep the unread bytes after the connection is closed.
        if self.watch.lock().awaited == Some(Awaited::Reading) {
            self.socket.set_zero_linger().ok();
        }
    }
}

impl AsyncRead for WatchedSocket {
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

impl AsyncWrite for WatchedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.record(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, pieces);
        self.record(&written);
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

/// The body of a request, which reports its progress to a watch.
pub struct Upload {
    pub body: Incoming,
    pub watch: Arc<ConnectionWatch>,
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

/// The body of an answer. Dropping it tells the watch that the answer is complete.
pub struct Download {
    pub body: axum::body::Body,
    pub watch: Arc<ConnectionWatch>,
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
mod tests {
    use super::*;

    /// Returns the watch of a connection whose request is being answered.
    fn answering() -> Arc<ConnectionWatch> {
        let watch = ConnectionWatch::new(Instant::now(), Arc::default());
        watch.request_began();
        watch
    }

    /// Returns the seconds until the connection is closed, at most an hour.
    async fn lasts(watch: &ConnectionWatch) -> u64 {
        let begun = Instant::now();
        let hour = Duration::from_secs(3600);
        tokio::time::timeout(hour, watch.over()).await.ok();
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn every_wait_for_a_client_ends() {
        let fresh = || ConnectionWatch::new(Instant::now(), Arc::default());
        let watch = fresh();
        assert_eq!(lasts(&watch).await, HEAD.as_secs(), "no byte arrives");
        let watch = fresh();
        tokio::time::sleep(Duration::from_secs(3)).await;
        watch.received();
        assert_eq!(
            lasts(&watch).await,
            HEAD.as_secs() - 3,
            "an incomplete head"
        );
        let watch = answering();
        assert_eq!(lasts(&watch).await, 3600, "no limit for the server");
        watch.answered();
        assert_eq!(lasts(&watch).await, IDLE.as_secs(), "no second request");
        let watch = answering();
        watch.answered();
        tokio::time::sleep(Duration::from_secs(20)).await;
        watch.received();
        assert_eq!(
            lasts(&watch).await,
            HEAD.as_secs(),
            "an incomplete second request"
        );
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
        assert_eq!(
            lasts(&watch).await,
            UNREAD.as_secs(),
            "the client does not read"
        );
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
