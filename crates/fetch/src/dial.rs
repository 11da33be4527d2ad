//! Opens connections.
//!
//! **Invariant:** a connection goes to an address that passed the gate, or to the user's proxy.
//! Every step has a deadline.

use std::io;
use std::net::SocketAddr;

use page::url::PageUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_socks::tcp::Socks5Stream;

use crate::gate::AddressGate;
use crate::proxy::{ProxyKind, ProxySettings};
use crate::settings::FetchLimits;
use crate::socket::Socket;
use crate::tls::{self, AlpnOffer, Tls};
use crate::trouble::Trouble;

/// Limit for the head of a proxy's answer to `CONNECT`, in bytes. Usual ones have a few lines.
const PROXY_HEAD: usize = 8 * 1024;

/// Connects to the first address that answers. The attempts share the time limit equally.
pub(crate) async fn direct(
    addresses: &[SocketAddr],
    gate: &AddressGate,
    limits: &FetchLimits,
) -> Result<TcpStream, Trouble> {
    let tcp = first_of(addresses, limits).await?;
    if let (Ok(local), Ok(peer)) = (tcp.local_addr(), tcp.peer_addr()) {
        gate.check_ends(local, peer)?;
    }
    Ok(tcp)
}

/// Connects through the proxy.
///
/// The stream leads to the server. For `http` over an HTTP proxy it leads to the proxy itself,
/// which then receives absolute URLs.
pub(crate) async fn through(
    proxy: &ProxySettings,
    url: &PageUrl,
    limits: &FetchLimits,
) -> Result<TcpStream, Trouble> {
    let opened = async {
        let place = format!("{}:{}", proxy.host, proxy.port);
        let tcp = TcpStream::connect(&place)
            .await
            .map_err(|error| Trouble::Proxy(format!("{place}: {}", error.kind())))?;
        // Disables Nagle's algorithm, so that requests are sent at once. A failure to do so is
        // harmless.
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

/// Runs the TLS handshake on a stream.
pub(crate) async fn secure(
    tcp: TcpStream,
    tls: &Tls,
    offer: AlpnOffer,
    url: &PageUrl,
    limits: &FetchLimits,
) -> Result<Socket, Trouble> {
    let name = tls::server_name(url.host_name())?;
    match timeout(limits.tls, tls.connector(offer).connect(name, tcp)).await {
        Ok(Ok(stream)) => Ok(Socket::Tls(Box::new(stream))),
        Ok(Err(error)) => Err(tls::trouble_of(&error, offer)),
        Err(_) => Err(Trouble::TlsTimeout),
    }
}

async fn first_of(addresses: &[SocketAddr], limits: &FetchLimits) -> Result<TcpStream, Trouble> {
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

/// Asks an HTTP proxy for a tunnel (RFC 9110, 9.3.6).
///
/// The answer is read byte by byte, so that no byte of the server behind it is consumed.
async fn tunnel(
    mut tcp: TcpStream,
    proxy: &ProxySettings,
    url: &PageUrl,
) -> Result<TcpStream, Trouble> {
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
            return Err(Trouble::Proxy(
                "the head of its answer exceeds 8 KiB".to_owned(),
            ));
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

async fn socks(tcp: TcpStream, proxy: &ProxySettings, url: &PageUrl) -> Result<TcpStream, Trouble> {
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
