//! A server of a few files that a test changes while they are served.
//!
//! With a constant entity tag the server denies all changes: it answers every conditional request
//! with 304.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Media type and content of files by their path.
type FilesByPath = BTreeMap<String, (String, Vec<u8>)>;

/// The files. The file `*` is served for all other paths.
#[derive(Clone, Default)]
pub struct Files {
    files: Arc<Mutex<FilesByPath>>,
    /// The entity tag of every response, if any.
    tag: Option<&'static str>,
    denials: Arc<AtomicU32>,
    /// The heads of all requests so far.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Files {
    /// Gives all files one constant entity tag, so that every conditional request gets a 304.
    pub fn always_tagged(mut self, tag: &'static str) -> Self {
        self.tag = Some(tag);
        self
    }

    pub fn put(&self, path: &str, media: &str, content: impl Into<Vec<u8>>) {
        let mut files = self.files.lock().unwrap();
        files.insert(path.into(), (media.into(), content.into()));
    }

    /// Returns a site whose home page links to all pages. Each page has the word "everywhere", and
    /// at least `length` bytes of words from a vocabulary of a thousand.
    pub fn site(pages: u32, length: usize) -> Self {
        let files = Self::default();
        let links: String = (0..pages)
            .map(|n| format!("<a href=/{n}>{n}</a> "))
            .collect();
        files.put(
            "/",
            "text/html",
            format!("<title>home</title>everywhere {links}"),
        );
        let mut state = 1u64;
        for n in 0..pages {
            let mut text = format!("<title>page {n}</title>everywhere page{n}");
            while text.len() < length {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                text += &format!(" w{}", (state >> 32) % 1000);
            }
            files.put(&format!("/{n}"), "text/html", text);
        }
        files
    }

    pub fn remove(&self, path: &str) {
        self.files.lock().unwrap().remove(path);
    }

    /// Returns the heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Returns the number of 304 responses.
    pub fn denials(&self) -> u32 {
        self.denials.load(Ordering::Relaxed)
    }

    /// Serves until the test ends.
    pub async fn serve(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let files = self.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let files = files.clone();
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        match stream.read_u8().await {
                            Ok(byte) => head.push(byte),
                            Err(_) => return,
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    stream.write_all(&files.answer(&head)).await.ok();
                    files.heads.lock().unwrap().push(head);
                });
            }
        });
        address
    }

    fn answer(&self, head: &str) -> Vec<u8> {
        let path = head.split(' ').nth(1).unwrap_or("/");
        let files = self.files.lock().unwrap();
        let (mut status, media, mut content) = match files.get(path).or(files.get("*")) {
            Some((media, content)) => ("200 OK", media.as_str(), &content[..]),
            None => ("404 Not Found", "text/plain", &b"nothing here"[..]),
        };
        let mut tag = String::new();
        if let Some(etag) = self.tag.filter(|_| status == "200 OK") {
            tag = format!("ETag: {etag}\r\n");
            let conditional = |line: &str| line.to_ascii_lowercase().starts_with("if-none-match:");
            if head.lines().any(conditional) {
                self.denials.fetch_add(1, Ordering::Relaxed);
                (status, content) = ("304 Not Modified", b"");
            }
        }
        let length = content.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media}\r\n{tag}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        [head.as_bytes(), content].concat()
    }
}
