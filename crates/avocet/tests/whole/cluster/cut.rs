//! A way to a TCP server that can be cut, as a network can: connections stay open, and nothing
//! arrives.

use testweb::proxy::{self, Listening};
use tokio::net::TcpStream;
use tokio::sync::watch;

pub struct CuttableWay {
    listening: Listening,
    is_cut: watch::Sender<bool>,
}

impl CuttableWay {
    /// Opens a way to a port of this machine.
    pub async fn to(port: u16) -> Self {
        let (is_cut, cut) = watch::channel(false);
        let listening = proxy::listen(None, move |stream| carry(stream, port, cut.clone()));
        Self {
            listening: listening.await.unwrap(),
            is_cut,
        }
    }

    pub fn url(&self) -> String {
        self.listening.url().replace("http://", "nats://")
    }

    /// Cuts the way (`true`), or opens it for new connections (`false`).
    pub fn cut(&self, cut: bool) {
        self.is_cut.send_replace(cut);
    }
}

async fn carry(mut client: TcpStream, port: u16, mut cut: watch::Receiver<bool>) {
    if !*cut.borrow() {
        let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else {
            return;
        };
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut client, &mut server) => return,
            _ = cut.wait_for(|cut| *cut) => {}
        }
    }
    // A connection that was open during a cut is closed when the way is open again.
    cut.wait_for(|cut| !*cut).await.ok();
}
