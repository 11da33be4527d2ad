//! How is a port of loopback listened on?
//!
//! **Invariant:** no other address is ever listened on, and dropping the future of [`accept`] closes
//! its listener and all its connections.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::TestwebError;

/// How many free ports are tried before giving up on one that is free at every address.
const TRIES: usize = 32;

/// How long to wait after a connection could not be accepted; short, and no busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Opens one listener at each address, all at one port: the given one, or any that is free.
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
        // The first listener of port 0 decides the port of all.
        port = listener.local_addr().map_err(failed)?.port();
        listeners.push(listener);
    }
    Ok((listeners, port))
}

/// Accepts for ever, and serves each connection in a task of its own.
pub(crate) async fn accept<F>(listener: TcpListener, mut serve: impl FnMut(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Without this an answer in two writes waits for the client's delayed
                    // acknowledgement. A connection that cannot be set up so is served all the same.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(stream));
                }
                // The client left, or there are no descriptors until connections under way end.
                Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
