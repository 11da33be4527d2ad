//! What do bytes travel through?
//!
//! **Invariant:** plain or with TLS, HTTP above sees one kind of stream.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connected socket, with TLS or without, or a pipe in its place.
pub(crate) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Memory(DuplexStream),
}

/// What waits to be read on a socket that should be quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Nothing,
    Bytes,
    End,
}

impl Socket {
    /// Asks the kernel, not the reactor, whether something is there: the reactor may not have heard yet.
    /// Over TLS bytes may be the session tickets that servers send at any time, so only an end counts.
    pub(crate) fn waiting(&self) -> Waiting {
        let (tcp, bytes) = match self {
            Self::Plain(tcp) => (tcp, Waiting::Bytes),
            Self::Tls(tls) => (tls.get_ref().0, Waiting::Nothing),
            // There is no kernel between the ends of a pipe that could know more than its reader.
            Self::Memory(_) => return Waiting::Nothing,
        };
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(tcp).peek(&mut byte) {
            Ok(0) => Waiting::End,
            Ok(_) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Waiting::Nothing,
            Err(_) => Waiting::End,
        }
    }

    /// Whether the server chose HTTP/2 in the TLS handshake.
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
