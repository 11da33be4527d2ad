//! The hostile server: plays scripts over TCP.
//!
//! **Invariant:** one script is played for each request. The request is counted before that, so
//! that a test knows what was requested even if no answer arrived.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::TestwebError;
use crate::listen::serve;

use super::honest;
use super::robots::HostileRobots;
use super::script::{AfterScript, Pace, Script, ScriptRequest, ScriptStep};
use super::table::Lie;

/// Maximum length of a request head in bytes. Crawlers reject URLs that are much shorter, so
/// this server does not fail first.
const LONGEST_HEAD: usize = 2 << 20;

/// The behaviour of a hostile server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// All [`LIES`](super::LIES), with an index at `/` and honest pages among them.
    Lies,
    /// Honest pages with a hostile robots.txt.
    Robots(HostileRobots),
    /// Not a web server: it sends an SSH banner before any request (row 14).
    Banner,
}

/// A hostile server; stops when dropped.
#[derive(Debug)]
pub struct HostileServer {
    address: SocketAddr,
    hits: Arc<Hits>,
    /// The listener with its connections, which is aborted when dropped.
    _listener: JoinSet<()>,
}

type Hits = Mutex<HashMap<String, u32>>;

impl HostileServer {
    /// Starts a server at a loopback address, at any free port, on the current tokio runtime.
    pub async fn start(
        address: Ipv4Addr,
        nature: Nature,
        pace: Pace,
    ) -> Result<Self, TestwebError> {
        let hits = Arc::new(Hits::default());
        let counted = Arc::clone(&hits);
        let attend = move |stream: TcpStream| {
            let hits = Arc::clone(&counted);
            async move {
                // A client that disconnects in the middle of a lie behaves well.
                let _ = converse(stream, nature, pace, &hits).await;
            }
        };
        let (address, tasks) = serve(address, None, attend).await?;
        Ok(Self {
            address,
            hits,
            _listener: tasks,
        })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of a path, which starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the number of requests for exactly this path and query.
    pub fn hits(&self, path: &str) -> u32 {
        lock(&self.hits).get(path).copied().unwrap_or(0)
    }

    /// Returns the number of requests below a prefix, which shows how deep a crawl went into a
    /// trap.
    pub fn hits_below(&self, prefix: &str) -> u32 {
        let hits = lock(&self.hits);
        hits.iter()
            .filter(|(path, _)| path.starts_with(prefix))
            .map(|(_, n)| n)
            .sum()
    }
}

async fn converse(
    mut stream: TcpStream,
    nature: Nature,
    pace: Pace,
    hits: &Hits,
) -> io::Result<()> {
    if nature == Nature::Banner {
        stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").await?;
        // The request of the client is not answered.
        let _ = timeout(pace.longest, stream.read_u8()).await;
        return Ok(());
    }
    let mut unread = BytesMut::new();
    while let Some(head) = read_head(&mut stream, &mut unread).await? {
        let script = answer(&head, nature, hits);
        // An answer that takes too long ends here, and with it the connection.
        let Ok(played) = timeout(pace.longest, play(&mut stream, &script, pace)).await else {
            break;
        };
        played?;
        match script.then {
            AfterScript::Keep => {}
            AfterScript::Close => break,
            AfterScript::Reset => return stream.set_zero_linger(),
        }
    }
    stream.shutdown().await
}

/// Reads the next request head. Returns `None` if the client is done, or sent something that is
/// not a head.
async fn read_head(stream: &mut TcpStream, unread: &mut BytesMut) -> io::Result<Option<Bytes>> {
    let mut searched = 0;
    loop {
        if let Some(end) = unread[searched..]
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
        {
            return Ok(Some(unread.split_to(searched + end + 4).freeze()));
        }
        // The end of the head may begin in the last three bytes.
        searched = unread.len().saturating_sub(3);
        if unread.len() > LONGEST_HEAD || stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
}

fn answer(head: &[u8], nature: Nature, hits: &Hits) -> Script {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let path = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or("/");
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let earlier = {
        let mut hits = lock(hits);
        let count = hits.entry(path.to_owned()).or_default();
        *count += 1;
        *count - 1
    };
    let request = ScriptRequest {
        path,
        earlier,
        headers: &headers,
    };
    match nature {
        Nature::Robots(robots) => robots.answer(&request),
        _ if path == "/" => honest::index(),
        _ => match Lie::at(path) {
            Some(lie) => (lie.script)(&request),
            None => honest::at(path).unwrap_or_else(Script::not_found),
        },
    }
}

async fn play(stream: &mut TcpStream, script: &Script, pace: Pace) -> io::Result<()> {
    for step in &script.steps {
        match step {
            ScriptStep::Send(bytes) => stream.write_all(bytes).await?,
            ScriptStep::Flood(bytes) => {
                let mut sent = 0;
                while sent < pace.most_bytes {
                    stream.write_all(bytes).await?;
                    sent += bytes.len() as u64;
                }
            }
            // The time limit ends these two steps.
            ScriptStep::Drip(bytes) => loop {
                stream.write_all(bytes).await?;
                sleep(pace.pause).await;
            },
            ScriptStep::Silence => std::future::pending().await,
            ScriptStep::Pause => sleep(pace.pause).await,
        }
    }
    Ok(())
}

fn lock(hits: &Hits) -> std::sync::MutexGuard<'_, HashMap<String, u32>> {
    hits.lock()
        .expect("another task panicked while it held this lock")
}
