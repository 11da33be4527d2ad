//! A minimal HTTP client that sends exactly the bytes that a test gives it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An HTTP response.
#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    /// Header fields, by lower-case name.
    pub head: BTreeMap<String, String>,
    pub body: String,
}

/// Sends a request with further header fields and a body, and returns the response.
pub fn ask(to: SocketAddr, method: &str, path: &str, fields: &[&str], body: &str) -> HttpAnswer {
    let host = format!("Host: {to}");
    let named = fields.iter().any(|field| field.starts_with("Host:"));
    let mut head = vec![format!("{method} {path} HTTP/1.1")];
    head.extend((!named).then_some(host));
    head.extend(fields.iter().map(|field| (*field).to_owned()));
    head.push("Connection: close".into());
    if !body.is_empty() {
        head.push(format!("Content-Length: {}", body.len()));
    }
    send(
        to,
        format!("{}\r\n\r\n{body}", head.join("\r\n")).as_bytes(),
    )
}

/// Sends bytes unchanged, and returns the response.
pub fn send(to: SocketAddr, bytes: &[u8]) -> HttpAnswer {
    let mut stream = TcpStream::connect(to).unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    HttpAnswer::read(&answer)
}

impl HttpAnswer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }

    fn read(bytes: &[u8]) -> Self {
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(bytes)));
        let head = str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let head: BTreeMap<String, String> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let body = &bytes[end + 4..];
        let body = match head.get("transfer-encoding").map(String::as_str) {
            Some("chunked") => dechunked(body),
            _ => body.to_vec(),
        };
        Self {
            status: status.parse().unwrap(),
            head,
            body: String::from_utf8(body).unwrap(),
        }
    }
}

fn dechunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = str::from_utf8(&bytes[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        body.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[(end + 4 + length).min(bytes.len())..];
    }
    body
}
