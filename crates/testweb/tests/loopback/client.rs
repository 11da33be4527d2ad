//! The least client that can tell what a server sent.
//!
//! **Invariant:** it never waits for a time, only for bytes or the end of them.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A well-framed answer.
pub struct Got {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            unread: Vec::new(),
        }
    }

    pub async fn send(&mut self, path: &str, headers: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: lab\r\n{headers}\r\n");
        self.write(&request).await;
    }

    /// Sends these bytes.
    pub async fn write(&mut self, request: &str) {
        self.stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Asks and reads one answer; `None` if the server has closed.
    pub async fn get(&mut self, path: &str, headers: &str) -> Option<Got> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: lab\r\n{headers}\r\n");
        self.stream.write_all(request.as_bytes()).await.ok()?;
        self.answer().await
    }

    /// Reads one answer; `None` if the server has closed.
    pub async fn answer(&mut self) -> Option<Got> {
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
        let mut got = Got {
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

    /// Whether the server has closed and sent nothing more.
    pub async fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && self.stream.read_buf(&mut self.unread).await.unwrap() == 0
    }

    /// Asks once, says it is done, and reads at least so many bytes if there are as many; also tells
    /// whether the connection ended with a reset.
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

    /// What a server says before it is asked.
    pub async fn greeting(address: SocketAddr) -> Vec<u8> {
        let mut client = Self::connect(address).await;
        client.stream.read_buf(&mut client.unread).await.unwrap();
        client.unread
    }
}

impl Got {
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

/// The targets of all links, as written.
pub fn links(html: &str) -> impl Iterator<Item = &str> {
    html.split("<a href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}
