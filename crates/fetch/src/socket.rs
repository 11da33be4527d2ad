//! The byte stream of a connection: TCP, TLS or a pipe in memory.
//!
//! **Invariant:** the HTTP code sees one stream type, whatever the transport is.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connected socket, with TLS or without, or a pipe in memory.
pub(crate) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Memory(DuplexStream),
}

/// The result of peeking at a socket on which no data is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeekOutcome {
    Nothing,
    Bytes,
    End,
}

impl Socket {
    /// Returns whether bytes or the end can be read, without waiting and without consuming bytes.
    ///
    /// Peeks through the kernel, because the tokio reactor may not have seen the event yet. Over
    /// TLS, bytes may be session tickets, which servers send at any time, so only an end counts.
    pub(crate) fn peek(&self) -> PeekOutcome {
        let (tcp, bytes) = match self {
            Self::Plain(tcp) => (tcp, PeekOutcome::Bytes),
            Self::Tls(tls) => (tls.get_ref().0, PeekOutcome::Nothing),
            // A pipe has no kernel buffer to peek into.
            Self::Memory(_) => return PeekOutcome::Nothing,
        };
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(tcp).peek(&mut byte) {
            Ok(0) => PeekOutcome::End,
            Ok(_) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => PeekOutcome::Nothing,
            Err(_) => PeekOutcome::End,
        }
    }

    /// Returns whether the server chose HTTP/2 in the TLS handshake.
    pub(crate) fn chose_http2(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Memory(_) => false,
            Self::Tls(tls) => tls.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Self::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
            Self::Memory(pipe) => Pin::new(pipe).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Self::Tls(tls) => Pin::new(tls).poll_write(cx, buf),
            Self::Memory(pipe) => Pin::new(pipe).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls).poll_flush(cx),
            Self::Memory(pipe) => Pin::new(pipe).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
            Self::Memory(pipe) => Pin::new(pipe).poll_shutdown(cx),
        }
    }
}
