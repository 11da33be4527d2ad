//! The transport under connections: sockets, or pipes in memory for tests.
//!
//! **Invariant:** with either transport, the gate is passed before a connection is opened.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::DuplexStream;

/// Opens a pipe to the simulated server at an address.
pub type Pipes = Arc<dyn Fn(SocketAddr) -> DuplexStream + Send + Sync>;

/// The transport that connections use.
#[derive(Clone, Default)]
pub enum NetworkTransport {
    /// TCP sockets, with TLS above them for `https`.
    #[default]
    Sockets,
    /// Pipes in memory, without TLS. Only explicit timers take time, so a whole crawl can run
    /// while the runtime's clock is paused.
    Memory(Pipes),
}

impl fmt::Debug for NetworkTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sockets => "Sockets",
            Self::Memory(_) => "Memory",
        })
    }
}
