//! How is a connection opened?
//!
//! **Invariant:** what is connected to is an address that passed the gate, or the user's proxy. Every
//! step has its time.

use std::io;
use std::net::SocketAddr;

use page::url::PageUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_socks::tcp::Socks5Stream;

use crate::gate::Gate;
use crate::proxy::{Proxy, ProxyKind};
use crate::settings::Limits;
use crate::socket::Socket;
use crate::tls::{self, Offer, Tls};
use crate::trouble::Trouble;

/// The head of a proxy's answer to `CONNECT` is a few lines.
const PROXY_HEAD: usize = 8 * 1024;

/// Connects to the first of these addresses that answers, within one time for all.
pub(crate) async fn direct(
    addresses: &[SocketAddr],
    gate: &Gate,
    limits: &Limits,
) -> Result<TcpStream, Trouble> {
    let tcp = first_of(addresses, limits).await?;
    if let (Ok(local), Ok(peer)) = (tcp.local_addr(), tcp.peer_addr()) {
        gate.check_ends(local, peer)?;
    }
    Ok(tcp)
}

/// Connects through the proxy: the stream leads to the server, or, for `http` over an HTTP proxy, to the
/// proxy that is then sent whole URLs.
pub(crate) async fn through(
    proxy: &Proxy,
    url: &PageUrl,
    limits: &Limits,
) -> Result<TcpStream, Trouble> {
    let opened = async {
        let place = format!("{}:{}", proxy.host, proxy.port);
        let tcp = TcpStream::connect(&place)
            .await
            .map_err(|error| Trouble::Proxy(format!("{place}: {}", error.kind())))?;
        // Without Nagle's delay, requests go out at once; a socket that cannot do that still works.
        let _ = tcp.set_nodelay(true);
        match proxy.kind {
            ProxyKind::Http if !url.is_secure() => Ok(tcp),
            ProxyKind::Http => tunnel(tcp, proxy, url).await,
            ProxyKind::Socks5 => socks(tcp, proxy, url).await,
        }
    };
    timeout(limits.connect, opened)
        .await
        .unwrap_or(Err(Trouble::ConnectTimeout))
}

/// Begins TLS on a stream, with this offer.
pub(crate) async fn secure(
    tcp: TcpStream,
    tls: &Tls,
    offer: Offer,
    url: &PageUrl,
    limits: &Limits,
) -> Result<Socket, Trouble> {
    let name = tls::server_name(url.host_name())?;
    match timeout(limits.tls, tls.connector(offer).connect(name, tcp)).await {
        Ok(Ok(stream)) => Ok(Socket::Tls(Box::new(stream))),
        Ok(Err(error)) => Err(tls::trouble_of(&error, offer)),
        Err(_) => Err(Trouble::TlsTimeout),
    }
}

async fn first_of(addresses: &[SocketAddr], limits: &Limits) -> Result<TcpStream, Trouble> {
    let each = limits.connect / u32::try_from(addresses.len().max(1)).unwrap_or(1);
    let mut trouble = Trouble::ConnectTimeout;
    for &address in addresses {
        match timeout(each, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => {
                let _ = tcp.set_nodelay(true);
                return Ok(tcp);
            }
            Ok(Err(error)) => trouble = trouble_of(&error),
            Err(_) => trouble = Trouble::ConnectTimeout,
        }
    }
    Err(trouble)
}

fn trouble_of(error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Trouble::ConnectRefused,
        io::ErrorKind::TimedOut => Trouble::ConnectTimeout,
        other => Trouble::Unreachable(other),
    }
}

/// Asks an HTTP proxy for a tunnel (RFC 9110, 9.3.6). The answer is read byte by byte, so that not one
/// byte of the server's is taken.
async fn tunnel(mut tcp: TcpStream, proxy: &Proxy, url: &PageUrl) -> Result<TcpStream, Trouble> {
    let place = format!("{}:{}", url.host_name(), url.port());
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n").into_bytes();
    if let Some(value) = proxy.authorization() {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let broken = |error: io::Error| Trouble::Proxy(error.kind().to_string());
    tcp.write_all(&request).await.map_err(broken)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == PROXY_HEAD {
            return Err(Trouble::Proxy("its answer has no end".to_owned()));
        }
        head.push(tcp.read_u8().await.map_err(broken)?);
    }
    let status = head.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    if head.starts_with(b"HTTP/1.") && status.first() == Some(&b'2') {
        return Ok(tcp);
    }
    Err(Trouble::Proxy(format!(
        "it answered {}",
        String::from_utf8_lossy(status).escape_default()
    )))
}

async fn socks(tcp: TcpStream, proxy: &Proxy, url: &PageUrl) -> Result<TcpStream, Trouble> {
    let host = url
        .host_name()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let target = (host, url.port());
    let opened = match &proxy.credentials {
        Some((user, password)) => {
            Socks5Stream::connect_with_password_and_socket(tcp, target, user, password).await
        }
        None => Socks5Stream::connect_with_socket(tcp, target).await,
    };
    opened
        .map(Socks5Stream::into_inner)
        .map_err(|error| Trouble::Proxy(error.to_string()))
}
