//! Asks the crawl of another process, over HTTP at the address in its state file.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::snapshot::CrawlState;
use crate::reports::{ReportKind, ReportTable};
use crate::store::{self, keys};

/// The longest wait for the next bytes of an answer: an explanation reads all links of the ledger.
const PATIENCE: Duration = Duration::from_secs(60);
/// The maximum number of bytes of an answer.
const LARGEST: u64 = 16 << 20;

/// Asks the crawl that has the store at `root` to explain a URL.
pub fn explain(root: &Path, url: &str) -> Result<Value> {
    let query: String = url.bytes().map(|byte| format!("%{byte:02x}")).collect();
    ask(root, &format!("/api/v1/explain?url={query}"))
}

/// Asks the crawl that has the store at `root` for a report.
pub fn report(root: &Path, kind: ReportKind) -> Result<ReportTable> {
    let answer = ask(root, &format!("/api/v1/reports/{}", kind.name()))?;
    Ok(serde_json::from_value(answer)?)
}

/// Sends a request to the crawl that has the store at `root`, with the token of the store if this
/// user may read it.
fn ask(root: &Path, path: &str) -> Result<Value> {
    let state: Option<CrawlState> = store::read_json(&store::state(root));
    let state =
        state.context("the crawl has not written its state yet: try again in a few seconds")?;
    let address = state.address.with_context(|| {
        format!(
            "the store {} is in use by process {}, which serves nothing: stop it, or start it without --no-serve",
            root.display(),
            state.process
        )
    })?;
    let place = address.trim_start_matches("http://").trim_end_matches('/');
    let token = std::fs::read_to_string(keys::token_path(root)).unwrap_or_default();
    get(place, path, token.trim()).with_context(|| format!("cannot ask the crawl at {address}"))
}

fn get(place: &str, path: &str, token: &str) -> Result<Value> {
    let mut stream = TcpStream::connect(place)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {place}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer)?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .context("the answer is incomplete")?;
    let body: Value = serde_json::from_str(body).context("the answer is not JSON")?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body),
        _ => bail!(
            "{}",
            body["error"]["message"]
                .as_str()
                .unwrap_or("the crawl refused to answer")
        ),
    }
}
