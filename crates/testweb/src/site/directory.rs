//! Serves a directory of files, for benchmarks and documentation sites.
//!
//! **Invariant:** only files that were found under the directory at the start are served. A
//! request is looked up in a map and never turned into a file name, so no path can lead outside.

use std::collections::HashMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::header::{HeaderMap, LOCATION};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::TestwebError;
use crate::listen::serve;
use crate::proxy::answer_requests;
use crate::reply::{plain, status_only, typed, with_header};

use super::validators::Validators;

/// Up to this total size, in bytes, all files are held in memory; above, each is read on
/// request. The machines for benchmarks have a few GB, and documentation sites are much smaller.
const IN_MEMORY: u64 = 1 << 30;

/// The files of a directory, as a site.
#[derive(Debug)]
pub struct Directory {
    /// The files by decoded path, which starts with a slash.
    files: HashMap<String, File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    content: Option<Bytes>,
    content_type: &'static str,
    validators: Validators,
}

/// A server of a directory; stops when dropped.
#[derive(Debug)]
pub struct DirectoryServer {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
    /// The listener with its connections, which is aborted when dropped.
    _listener: JoinSet<()>,
}

impl Directory {
    /// Reads a directory. Links to files are followed if they stay inside. Other links, and
    /// names that are not Unicode, are left out.
    pub fn read(root: &Path) -> Result<Self, TestwebError> {
        let root = fs::canonicalize(root).map_err(|source| unreadable(root, source))?;
        let mut files = HashMap::new();
        let mut size = 0;
        let mut waiting = vec![(root.clone(), String::from("/"))];
        while let Some((directory, path)) = waiting.pop() {
            let entries =
                fs::read_dir(&directory).map_err(|source| unreadable(&directory, source))?;
            for entry in entries {
                let entry = entry.map_err(|source| unreadable(&directory, source))?;
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type())
                else {
                    continue;
                };
                if kind.is_dir() {
                    waiting.push((entry.path(), format!("{path}{name}/")));
                } else if let Some((file, length)) = File::find(&entry.path(), &root) {
                    size += length;
                    files.insert(format!("{path}{name}"), file);
                }
            }
        }
        if size <= IN_MEMORY {
            for file in files.values_mut() {
                let content =
                    fs::read(&file.path).map_err(|source| unreadable(&file.path, source))?;
                file.content = Some(content.into());
            }
        }
        Ok(Self { files })
    }

    /// Returns the number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Serves the directory at a loopback address, at the given port or any free one, on the
    /// current tokio runtime.
    pub async fn serve(
        self,
        address: Ipv4Addr,
        port: Option<u16>,
    ) -> Result<DirectoryServer, TestwebError> {
        let requests = Arc::new(AtomicU64::new(0));
        let (directory, counted) = (Arc::new(self), Arc::clone(&requests));
        let attend = move |stream: TcpStream| {
            let (directory, requests) = (Arc::clone(&directory), Arc::clone(&counted));
            async move {
                answer_requests(stream, Duration::ZERO, |request| {
                    requests.fetch_add(1, Ordering::Relaxed);
                    directory.answer(request)
                })
                .await;
            }
        };
        let (address, tasks) = serve(address, port, attend).await?;
        Ok(DirectoryServer {
            address,
            requests,
            _listener: tasks,
        })
    }

    fn answer<B>(&self, request: &Request<B>) -> Response<Bytes> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        }
        let raw = request.uri().path();
        let Ok(path) = percent_decode_str(raw).decode_utf8() else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        if let Some(file) = self.files.get(&*path) {
            return file.answer(request.headers());
        }
        let index = format!("{}/index.html", path.trim_end_matches('/'));
        match self.files.get(&index) {
            Some(file) if path.ends_with('/') => file.answer(request.headers()),
            Some(_) => {
                let answer = plain(StatusCode::MOVED_PERMANENTLY, "a directory\n");
                with_header(answer, LOCATION, format!("{raw}/"))
            }
            None => plain(StatusCode::NOT_FOUND, "not found\n"),
        }
    }
}

impl DirectoryServer {
    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of a path, which starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

impl File {
    /// Returns the file at a path and its length. Returns `None` if it is not a file or lies
    /// outside the root.
    fn find(path: &Path, root: &Path) -> Option<(Self, u64)> {
        let real = fs::canonicalize(path)
            .ok()
            .filter(|real| real.starts_with(root))?;
        let metadata = fs::metadata(&real).ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let nanos = modified
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        let tag = format!("{:x}-{nanos:x}", metadata.len());
        let file = Self {
            content_type: content_type(path),
            path: real,
            content: None,
            validators: Validators::new(Some(&tag), Some(modified)),
        };
        Some((file, metadata.len()))
    }

    fn answer(&self, request: &HeaderMap) -> Response<Bytes> {
        let mut answer = if self.validators.matched_by(request) {
            status_only(StatusCode::NOT_MODIFIED)
        } else {
            match self.content() {
                Ok(content) => typed(StatusCode::OK, self.content_type, content),
                Err(_) => return plain(StatusCode::INTERNAL_SERVER_ERROR, "cannot read it\n"),
            }
        };
        self.validators.put(answer.headers_mut());
        answer
    }

    fn content(&self) -> std::io::Result<Bytes> {
        match &self.content {
            Some(content) => Ok(content.clone()),
            None => fs::read(&self.path).map(Bytes::from),
        }
    }
}

/// Returns the media type for the extension of a file name. HTML has no charset parameter: old
/// documentation is not always UTF-8, and states its charset itself.
fn content_type(path: &Path) -> &'static str {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "txt" => "text/plain",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> TestwebError {
    TestwebError::Read {
        path: path.to_path_buf(),
        source,
    }
}
