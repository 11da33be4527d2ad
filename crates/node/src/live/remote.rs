//! How does another process ask a crawl that holds the store? Over HTTP, where the crawl says that it listens.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::snapshot::State;
use crate::store;

/// How long an answer may take: all links are read through for one.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of an answer.
const LARGEST: u64 = 16 << 20;

/// Asks the crawl that holds the store at `root` to explain a URL.
pub fn explain(root: &Path, url: &str) -> Result<Value> {
    let said = std::fs::read(store::state(root)).ok();
    let state = said.and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
    let state = state.context("the crawl has not said anything yet: ask again in a moment")?;
    let address = state.address.with_context(|| {
        format!(
            "the store {} is in use by process {}, which serves nothing: stop it, or start it without --no-serve",
            root.display(),
            state.process
        )
    })?;
    let place = address.trim_start_matches("http://").trim_end_matches('/');
    let query: String = url.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let path = format!("/api/v1/explain?url={query}");
    get(place, &path).with_context(|| format!("the crawl that listens at {address}"))
}

fn get(place: &str, path: &str) -> Result<Value> {
    let mut stream = TcpStream::connect(place)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {place}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("it gave no answer")?;
    let body: Value = serde_json::from_str(body).context("it did not answer in JSON")?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body),
        _ => bail!(
            "{}",
            body["error"]["message"].as_str().unwrap_or("it refused")
        ),
    }
}
