//! A bare HTTP client: a lower bound for the cost of fetching the pages.
//!
//! It keeps one blocking connection per server open, and counts and drops the bodies. The rest of a
//! crawler's cost is its work on the pages.
//!
//! **Invariant:** an answer that is not a complete 200 is an error. Otherwise a client that fails
//! fast would look fast.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use page::PageUrl;
use serde::{Deserialize, Serialize};

/// The time-out for a read.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes read at a time. Larger than most pages, so that most need one system call.
const BUFFER: usize = 256 << 10;

/// Totals of a run.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fetched {
    /// Pages fetched.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Connections opened.
    pub connections: u64,
}

/// Fetches a list of URLs and prints the totals.
pub fn run(list: &Path) -> Result<()> {
    let text =
        fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut servers: BTreeMap<String, Vec<PageUrl>> = BTreeMap::new();
    for line in text.lines() {
        let url = PageUrl::parse(line).with_context(|| format!("the URL {line:?}"))?;
        let server = format!("{}:{}", url.host_name(), url.port());
        servers.entry(server).or_default().push(url);
    }
    let mut all = Fetched::default();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (server, urls) in &servers {
            threads.push(scope.spawn(move || fetch(server, urls)));
        }
        for thread in threads {
            let fetched = thread
                .join()
                .unwrap_or_else(|_| bail!("a client panicked"))?;
            all.pages += fetched.pages;
            all.bytes += fetched.bytes;
            all.connections += fetched.connections;
        }
        anyhow::Ok(())
    })?;
    println!("{}", serde_json::to_string(&all)?);
    Ok(())
}

/// Fetches pages of one server, one after another.
fn fetch(server: &str, urls: &[PageUrl]) -> Result<Fetched> {
    let mut fetched = Fetched::default();
    let mut open: Option<BareConnection> = None;
    let mut request = String::new();
    for url in urls {
        request.clear();
        request.extend([
            "GET ",
            url.path_and_query(),
            " HTTP/1.1\r\nHost: ",
            server,
            "\r\n\r\n",
        ]);
        let mut line = match open.take() {
            Some(line) => line,
            None => {
                fetched.connections += 1;
                BareConnection::open(server)
                    .with_context(|| format!("cannot connect to {server}"))?
            }
        };
        line.stream.write_all(request.as_bytes())?;
        let (bytes, keep) = line
            .answer()
            .with_context(|| format!("the answer to {url}"))?;
        fetched.pages += 1;
        fetched.bytes += bytes;
        open = keep.then_some(line);
    }
    Ok(fetched)
}

/// An open connection, with the bytes that were read and not yet parsed.
struct BareConnection<S = TcpStream> {
    stream: S,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
}

impl BareConnection {
    fn open(server: &str) -> Result<Self> {
        let stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self::on(stream))
    }
}

impl<S: Read> BareConnection<S> {
    fn on(stream: S) -> Self {
        Self {
            stream,
            buffer: vec![0; BUFFER],
            from: 0,
            to: 0,
        }
    }

    /// Reads one answer. Returns the length of its body, and whether the connection stays open.
    fn answer(&mut self) -> Result<(u64, bool)> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let read = &self.buffer[self.from..self.to];
            let httparse::Status::Complete(length) = head.parse(read)? else {
                self.more()?;
                continue;
            };
            ensure!(head.code == Some(200), "status {:?}", head.code);
            let value = |name: &str| {
                let header = head
                    .headers
                    .iter()
                    .find(|header| header.name.eq_ignore_ascii_case(name));
                header.and_then(|header| std::str::from_utf8(header.value).ok())
            };
            let keep =
                !value("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            let size = value("content-length").map(str::parse::<u64>).transpose()?;
            let chunked = value("transfer-encoding").is_some();
            self.from += length;
            return match size {
                Some(size) => self.skip(size).map(|()| (size, keep)),
                None if chunked => self.skip_chunks().map(|size| (size, keep)),
                None => bail!("neither a length nor chunks"),
            };
        }
    }

    fn skip_chunks(&mut self) -> Result<u64> {
        let mut all = 0;
        loop {
            let read = &self.buffer[self.from..self.to];
            let size =
                httparse::parse_chunk_size(read).map_err(|_| anyhow::anyhow!("not a chunk"))?;
            let httparse::Status::Complete((length, size)) = size else {
                self.more()?;
                continue;
            };
            self.from += length;
            // A line end follows each chunk. The last chunk is empty; the test servers send no
            // trailers.
            self.skip(size + 2)?;
            all += size;
            if size == 0 {
                return Ok(all);
            }
        }
    }

    fn skip(&mut self, mut bytes: u64) -> Result<()> {
        loop {
            let have = (self.to - self.from) as u64;
            if have >= bytes {
                self.from += bytes as usize;
                return Ok(());
            }
            bytes -= have;
            (self.from, self.to) = (0, 0);
            self.more()?;
        }
    }

    fn more(&mut self) -> Result<()> {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        } else if self.to == self.buffer.len() {
            ensure!(self.from > 0, "a head of {BUFFER} bytes");
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        let read = self.stream.read(&mut self.buffer[self.to..])?;
        ensure!(read > 0, "the server closed the connection");
        self.to += read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes in small pieces.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = self.1.min(buffer.len()).min(self.0.len());
            let (now, later) = self.0.split_at(most);
            buffer[..most].copy_from_slice(now);
            self.0 = later;
            Ok(most)
        }
    }

    #[test]
    fn answers_are_separated_however_they_arrive() {
        let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n\
            HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: close\r\n\r\n";
        for step in [1, 2, 3, 7, 64, 4096] {
            let mut line = BareConnection::on(Slow(wire, step));
            assert_eq!(line.answer().unwrap(), (5, true), "{step}");
            assert_eq!(line.answer().unwrap(), (13, true), "{step}");
            assert_eq!(line.answer().unwrap(), (0, false), "{step}");
            assert!(line.answer().is_err(), "{step}");
        }
    }

    #[test]
    fn a_body_larger_than_the_buffer_is_counted_whole() {
        let size = 3 * BUFFER + 17;
        let mut wire = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        wire.resize(wire.len() + size, b'x');
        let next = wire.clone();
        wire.extend(next);
        let mut line = BareConnection::on(Slow(&wire, 100_000));
        assert_eq!(line.answer().unwrap(), (size as u64, true));
        assert_eq!(line.answer().unwrap(), (size as u64, true));
    }

    #[test]
    fn an_answer_that_is_not_a_complete_200_is_an_error() {
        for wire in [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "nonsense\r\n\r\n",
            "",
        ] {
            assert!(
                BareConnection::on(Slow(wire.as_bytes(), 9))
                    .answer()
                    .is_err(),
                "{wire:?}"
            );
        }
    }
}
