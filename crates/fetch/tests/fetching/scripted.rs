//! A server that sends scripted bytes, and a client that uses the fetcher as the engine does.
//!
//! **Invariant:** the server answers `/next` correctly over any connection. Every test can
//! therefore show that a server which misbehaved once can still be crawled.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::{
    AllowPrivate, Connection, FetchAnswer, FetchOptions, FetchRequest, Fetcher, Ports,
    RobotsAnswer, Trouble,
};
use page::url::PageUrl;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One action of the server in answer to a request.
#[derive(Clone)]
pub enum ServerAction {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes again and again until the client closes the connection.
    Flood(Vec<u8>),
    /// Sends these bytes one by one, with a pause between two.
    Drip(Vec<u8>, Duration),
    /// Closes in an orderly way.
    Close,
    /// Resets the connection.
    Reset,
    /// Sends nothing more and keeps the connection open.
    Hang,
}

pub fn send(bytes: impl AsRef<[u8]>) -> ServerAction {
    ServerAction::Send(bytes.as_ref().to_vec())
}

/// A request as the server received it.
pub struct ReceivedRequest {
    pub path: String,
}

type Script = dyn Fn(&ReceivedRequest) -> Vec<ServerAction> + Send + Sync;

pub struct ScriptedServer {
    pub address: SocketAddr,
    /// The heads of all requests.
    pub asked: Arc<Mutex<Vec<String>>>,
}

pub const NEXT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext";

impl ScriptedServer {
    pub async fn start(
        script: impl Fn(&ReceivedRequest) -> Vec<ServerAction> + Send + Sync + 'static,
    ) -> Self {
        let plain = |tcp: TcpStream| -> Pin<Box<dyn Future<Output = Option<TcpStream>> + Send>> {
            Box::pin(async move { Some(tcp) })
        };
        Self::start_with(script, plain).await
    }

    /// Starts a server whose connections begin with another protocol, such as TLS.
    pub async fn start_with<S, F>(
        script: impl Fn(&ReceivedRequest) -> Vec<ServerAction> + Send + Sync + 'static,
        begin: F,
    ) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Fn(TcpStream) -> Pin<Box<dyn Future<Output = Option<S>> + Send>> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, log): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&asked));
        let begin = Arc::new(begin);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (script, log, begin) =
                    (Arc::clone(&script), Arc::clone(&log), Arc::clone(&begin));
                tokio::spawn(async move {
                    // With this option, dropping the socket resets the connection. An orderly
                    // close is explicit.
                    socket2::SockRef::from(&tcp)
                        .set_linger(Some(Duration::ZERO))
                        .unwrap();
                    if let Some(stream) = begin(tcp).await {
                        converse(stream, &*script, &log).await;
                    }
                });
            }
        });
        Self { address, asked }
    }

    pub fn url(&self, path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{}{path}", self.address)).unwrap()
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    script: &Script,
    log: &Mutex<Vec<String>>,
) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else {
                return;
            };
            head.push(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        log.lock().unwrap().push(head);
        let asked = ReceivedRequest { path };
        let steps = if asked.path == "/next" {
            vec![send(NEXT)]
        } else {
            script(&asked)
        };
        for step in steps {
            let went_well = match step {
                ServerAction::Send(bytes) => stream.write_all(&bytes).await.is_ok(),
                ServerAction::Flood(bytes) => loop {
                    if stream.write_all(&bytes).await.is_err() {
                        break false;
                    }
                },
                ServerAction::Drip(bytes, pause) => drip(&mut stream, &bytes, pause).await,
                ServerAction::Close => {
                    let _ = stream.shutdown().await;
                    // Reads until the other side closes, so that no reset follows.
                    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
                    false
                }
                ServerAction::Reset => false,
                ServerAction::Hang => std::future::pending().await,
            };
            if !went_well {
                return;
            }
        }
        let _ = stream.flush().await;
    }
}

async fn drip(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8], pause: Duration) -> bool {
    for byte in bytes {
        if stream.write_all(&[*byte]).await.is_err() {
            return false;
        }
        tokio::time::sleep(pause).await;
    }
    true
}

/// Settings for tests: every address and port is allowed.
pub fn open_settings() -> FetchOptions {
    FetchOptions {
        allow_private: AllowPrivate::Always,
        ports: Ports::Any,
        ..FetchOptions::default()
    }
}

/// A client that keeps a connection while it is open. It repeats a request over a new connection if
/// the kept one had ended, or if the server had sent unsolicited bytes over it.
pub struct TestClient {
    pub fetcher: Fetcher,
    pub connection: Option<Connection>,
}

impl TestClient {
    pub fn new(settings: FetchOptions) -> Self {
        Self {
            fetcher: Fetcher::new(settings).unwrap(),
            connection: None,
        }
    }

    pub async fn get(&mut self, url: &PageUrl) -> FetchAnswer {
        self.ask(&request(url)).await
    }

    pub async fn ask(&mut self, request: &FetchRequest<'_>) -> FetchAnswer {
        if let Some(open) = self.connection.as_mut().filter(|open| open.is_open()) {
            let answer = open.get(request).await;
            if !matches!(answer.outcome, Err(Trouble::Stale | Trouble::Unsolicited)) {
                return answer;
            }
        }
        match self.connect(request.url).await {
            Ok(opened) => self.connection.insert(opened).get(request).await,
            Err(trouble) => FetchAnswer {
                outcome: Err(trouble),
                first_byte: Duration::ZERO,
                total: Duration::ZERO,
                wire_bytes: 0,
            },
        }
    }

    pub async fn robots(&mut self, url: &PageUrl) -> RobotsAnswer {
        self.fetcher.robots(url, &mut self.connection).await
    }

    pub async fn connect(&self, url: &PageUrl) -> Result<Connection, Trouble> {
        let route = self.fetcher.route(url).await?;
        self.fetcher.connect(url, &route).await
    }

    /// Requests all pages over one new connection, which is kept.
    pub async fn get_all(&mut self, urls: &[PageUrl]) -> Vec<FetchAnswer> {
        let connection = self.connect(&urls[0]).await.unwrap();
        ask_all(self.connection.insert(connection), urls).await
    }

    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open)
    }
}

/// Requests all pages over a connection. Asserts one answer per request.
pub async fn ask_all(connection: &mut Connection, urls: &[PageUrl]) -> Vec<FetchAnswer> {
    let mut answers: Vec<Option<FetchAnswer>> = vec![None; urls.len()];
    let requests: Vec<FetchRequest<'_>> = urls.iter().map(request).collect();
    connection
        .get_all(&requests, |place, answer| {
            let before = answers[place].replace(answer);
            assert!(before.is_none(), "{} is answered twice", urls[place]);
        })
        .await;
    answers.into_iter().map(Option::unwrap).collect()
}

/// Returns an unconditional request.
pub fn request(url: &PageUrl) -> FetchRequest<'_> {
    FetchRequest {
        url,
        etag: None,
        last_modified: None,
    }
}

/// Returns a summary line for each answer.
pub fn summaries(answers: &[FetchAnswer]) -> Vec<String> {
    answers.iter().map(summary).collect()
}

/// Summarizes an answer in one line: the status and truncation, or the kind of trouble.
pub fn summary(answer: &FetchAnswer) -> String {
    match &answer.outcome {
        Ok(response) => match response.truncated {
            Some(truncation) => format!("{} {}", response.status, truncation.name()),
            None => response.status.to_string(),
        },
        Err(trouble) => trouble.kind().to_owned(),
    }
}
