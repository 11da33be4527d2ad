//! A minimal HTTP client that shows every byte of an answer.
//!
//! **Invariant:** it never waits for a time, only for bytes or for the end of the connection.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub struct ByteClient {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A correctly framed answer.
pub struct TestAnswer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl ByteClient {
    pub async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            unread: Vec::new(),
        }
    }

    /// Makes one request on a connection of its own, and reads the answer.
    pub async fn get_once(address: SocketAddr, path: &str) -> TestAnswer {
        let mut client = Self::connect(address).await;
        client.get(path, "").await.unwrap()
    }

    pub async fn send(&mut self, path: &str, headers: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: lab\r\n{headers}\r\n");
        self.write(&request).await;
    }

    /// Sends bytes as they are.
    pub async fn write(&mut self, request: &str) {
        self.stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Sends a request and reads one answer. Returns `None` if the server has closed.
    pub async fn get(&mut self, path: &str, headers: &str) -> Option<TestAnswer> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: lab\r\n{headers}\r\n");
        self.stream.write_all(request.as_bytes()).await.ok()?;
        self.answer().await
    }

    /// Reads one answer. Returns `None` if the server has closed.
    pub async fn answer(&mut self) -> Option<TestAnswer> {
        let end = loop {
            if let Some(at) = self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if self.stream.read_buf(&mut self.unread).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8(self.unread.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut got = TestAnswer {
            status,
            head,
            body: Vec::new(),
        };
        let length = match status {
            204 | 304 => 0,
            _ => got.header("content-length").unwrap().parse().unwrap(),
        };
        while self.unread.len() < length {
            assert!(
                self.stream.read_buf(&mut self.unread).await.unwrap() > 0,
                "cut short"
            );
        }
        got.body = self.unread.drain(..length).collect();
        Some(got)
    }

    /// Returns whether the server has closed and sent nothing more.
    pub async fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && self.stream.read_buf(&mut self.unread).await.unwrap() == 0
    }

    /// Sends one request, closes its side, and reads until there are `enough` bytes or the
    /// answer ends. Also returns whether the connection ended with a reset.
    pub async fn raw(address: SocketAddr, path: &str, enough: usize) -> (Vec<u8>, bool) {
        let mut client = Self::connect(address).await;
        client.send(path, "").await;
        client.stream.shutdown().await.unwrap();
        let mut bytes = Vec::new();
        while bytes.len() < enough {
            match client.stream.read_buf(&mut bytes).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return (bytes, true),
            }
        }
        (bytes, false)
    }

    /// Returns what a server sends before any request.
    pub async fn greeting(address: SocketAddr) -> Vec<u8> {
        let mut client = Self::connect(address).await;
        client.stream.read_buf(&mut client.unread).await.unwrap();
        client.unread
    }
}

impl TestAnswer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self
            .head
            .split("\r\n")
            .skip(1)
            .filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// Returns the targets of all links, as written.
pub fn links(html: &str) -> impl Iterator<Item = &str> {
    html.split("<a href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}
