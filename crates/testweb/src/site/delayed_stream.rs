//! Simulates the network delay of a distant server.
//!
//! Loopback delivers at once, so the delay is added here: the server reads what a client sends
//! one round trip after it was sent. A client cannot tell that the whole round trip is on the
//! way to the server. The costs are those of a real line. A request that waits for the last
//! answer costs a round trip. A request that is sent before that answer arrives (pipelined, or on
//! another stream) does not.
//!
//! **Invariant:** bytes are read in order, and none before its time. When the server closes, it
//! reads and drops what the client still sends, until the client closes too, for at most 2 s. If a
//! socket is closed with unread bytes, the client may lose answers that it has not read yet (RFC
//! 9112, section 9.6).

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Maximum number of bytes in transit. Further bytes wait in the kernel.
const CAPACITY: usize = 64 * 1024;

/// How long the client may take to close its side.
const LINGER: Duration = Duration::from_secs(2);

/// The server's end of a connection.
pub(super) struct DelayedStream<S> {
    stream: S,
    delay: Duration,
    /// Received bytes, with the time at which each may be read.
    on_the_way: VecDeque<(Instant, Bytes)>,
    bytes_on_the_way: usize,
    /// Whether the client sends no more.
    ended: bool,
    due: Option<Pin<Box<Sleep>>>,
    /// The time limit for the client's close, once this side is closed.
    closing: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + Unpin> DelayedStream<S> {
    pub fn new(stream: S, delay: Duration) -> Self {
        Self {
            stream,
            delay,
            on_the_way: VecDeque::new(),
            bytes_on_the_way: 0,
            ended: false,
            due: None,
            closing: None,
        }
    }

    /// Takes in the bytes that have arrived and sets when they may be read. The task is woken when
    /// more bytes arrive.
    fn take_in(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let mut space = [0; 4096];
        while !self.ended && self.bytes_on_the_way < CAPACITY {
            let mut buffer = ReadBuf::new(&mut space);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer)? {
                Poll::Pending => break,
                Poll::Ready(()) if buffer.filled().is_empty() => self.ended = true,
                Poll::Ready(()) => {
                    let bytes = Bytes::copy_from_slice(buffer.filled());
                    self.bytes_on_the_way += bytes.len();
                    self.on_the_way
                        .push_back((Instant::now() + self.delay, bytes));
                }
            }
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DelayedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.delay.is_zero() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        self.take_in(cx)?;
        let Some(&(at, _)) = self.on_the_way.front() else {
            return if self.ended {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            };
        };
        if at > Instant::now() {
            let due = self.due.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if due.deadline() != at {
                due.as_mut().reset(at);
            }
            ready!(due.as_mut().poll(cx));
        }
        if let Some((_, bytes)) = self.on_the_way.front_mut() {
            let count = bytes.len().min(buffer.remaining());
            buffer.put_slice(&bytes[..count]);
            bytes.advance(count);
            if bytes.is_empty() {
                self.on_the_way.pop_front();
            }
            self.bytes_on_the_way -= count;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for DelayedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        if line.closing.is_none() {
            ready!(Pin::new(&mut line.stream).poll_shutdown(cx))?;
            line.closing = Some(Box::pin(sleep(LINGER)));
        }
        loop {
            line.on_the_way.clear();
            line.bytes_on_the_way = 0;
            line.take_in(cx)?;
            if line.bytes_on_the_way < CAPACITY {
                break;
            }
        }
        if let (Some(patience), false) = (&mut line.closing, line.ended) {
            ready!(patience.as_mut().poll(cx));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const DELAY: Duration = Duration::from_millis(30);

    #[tokio::test(start_paused = true)]
    async fn bytes_are_read_in_order_and_none_before_its_time() {
        let (mut client, server) = duplex(1 << 20);
        let mut line = DelayedStream::new(server, DELAY);
        let start = Instant::now();
        let sending = async {
            for (number, pause) in [(1, 0), (2, 0), (3, 10), (4, 100)] {
                sleep(Duration::from_millis(pause)).await;
                client.write_all(&[number; 3]).await.unwrap();
            }
            client.shutdown().await.unwrap();
            client
        };
        let reading = async {
            let mut read = Vec::new();
            loop {
                let mut space = [0; 2];
                let count = line.read(&mut space).await.unwrap();
                if count == 0 {
                    break read;
                }
                let at = start.elapsed().as_millis();
                read.extend(space[..count].iter().map(|&number| (number, at)));
            }
        };
        let (_client, read) = tokio::join!(sending, reading);
        let numbers: Vec<u8> = read.iter().map(|&(number, _)| number).collect();
        assert_eq!(numbers, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
        for (number, at) in read {
            let sent = [0, 0, 10, 110][usize::from(number) - 1];
            // The timer has a resolution of one millisecond and rounds up.
            assert!((sent + 30..=sent + 32).contains(&at), "{number} at {at} ms");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_beyond_the_capacity_are_delivered_too() {
        let (mut client, server) = duplex(1 << 10);
        let mut line = DelayedStream::new(server, DELAY);
        let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let mut read = Vec::new();
        let sending = async {
            client.write_all(&sent).await.unwrap();
            drop(client);
        };
        let (_, count) = tokio::join!(sending, line.read_to_end(&mut read));
        assert_eq!(count.unwrap(), sent.len());
        assert_eq!(read, sent);
    }

    #[tokio::test(start_paused = true)]
    async fn a_close_waits_for_the_client_up_to_a_time_limit() {
        for patient in [true, false] {
            let (mut client, server) = duplex(1 << 20);
            let mut line = DelayedStream::new(server, Duration::ZERO);
            client.write_all(&[0; 200_000]).await.unwrap();
            let start = Instant::now();
            let leaving = async {
                // Reads until the server closes, and then closes.
                let end = client.read_to_end(&mut Vec::new()).await.unwrap();
                assert_eq!(end, 0);
                if !patient {
                    std::future::pending::<()>().await;
                }
                drop(client);
            };
            tokio::select! {
                () = async { leaving.await; std::future::pending().await } => {}
                closed = line.shutdown() => closed.unwrap(),
            }
            assert_eq!(start.elapsed() >= LINGER, !patient);
        }
    }
}
