//! Listens on loopback ports.
//!
//! **Invariant:** only loopback addresses are used. Dropping the future of [`accept`] closes its
//! listener and all its connections.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::TestwebError;

/// Number of free ports that are tried to find one that is free at every address.
const TRIES: usize = 32;

/// Wait after a failed accept. It is short, but prevents a busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Serves connections to one address, at the given port or any free one, each in a task of its
/// own. Returns the address with the port. Dropping the set of tasks ends all of them.
pub(crate) async fn serve<F>(
    address: Ipv4Addr,
    port: Option<u16>,
    attend: impl FnMut(TcpStream) -> F + Clone + Send + 'static,
) -> Result<(SocketAddr, JoinSet<()>), TestwebError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (listeners, port) = listen(&[address], port).await?;
    let tasks = listeners.into_iter();
    let tasks = tasks.map(|listener| accept(listener, attend.clone()));
    Ok((SocketAddr::from((address, port)), tasks.collect()))
}

/// Opens one listener at each address, all at the same port: the given one, or any free one.
pub(crate) async fn listen(
    addresses: &[Ipv4Addr],
    port: Option<u16>,
) -> Result<(Vec<TcpListener>, u16), TestwebError> {
    if let Some(&address) = addresses.iter().find(|address| !address.is_loopback()) {
        return Err(TestwebError::NotLoopback { address });
    }
    let mut tries = if port.is_some() { 1 } else { TRIES };
    loop {
        tries -= 1;
        match listen_at_one_port(addresses, port.unwrap_or(0)).await {
            Err(TestwebError::Listen { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
            done => return done,
        }
    }
}

async fn listen_at_one_port(
    addresses: &[Ipv4Addr],
    mut port: u16,
) -> Result<(Vec<TcpListener>, u16), TestwebError> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for &address in addresses {
        let address = SocketAddr::from((address, port));
        let failed = |source| TestwebError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        // The first listener for port 0 determines the port of all.
        port = listener.local_addr().map_err(failed)?.port();
        listeners.push(listener);
    }
    Ok((listeners, port))
}

/// Accepts connections for ever and serves each in a task of its own.
pub(crate) async fn accept<F>(listener: TcpListener, mut serve: impl FnMut(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Without this option, an answer in two writes waits for the client's
                    // delayed acknowledgement. If it cannot be set, the connection is served
                    // anyway.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream));
                }
                // The client left, or there are no file descriptors until other connections end.
                Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
