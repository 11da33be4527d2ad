//! What are connections made of?
//!
//! **Invariant:** whatever they are made of, the gate has been passed before one is opened.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::DuplexStream;

/// Opens a pipe to whoever answers at an address.
pub type Pipes = Arc<dyn Fn(SocketAddr) -> DuplexStream + Send + Sync>;

/// Where connections lead.
#[derive(Clone, Default)]
pub enum Network {
    /// Out of this machine, or around it: sockets, and TLS above them for `https`.
    #[default]
    Sockets,
    /// To the other ends of pipes in memory, without TLS. Nothing there takes time but what says so, so that
    /// a whole crawl can run while the runtime's clock is paused.
    Memory(Pipes),
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sockets => "Sockets",
            Self::Memory(_) => "Memory",
        })
    }
}
