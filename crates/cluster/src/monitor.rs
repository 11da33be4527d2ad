//! Checks the set-up of NATS servers by their monitoring ports.
//!
//! A server that does not sync every write loses acknowledged messages when all servers lose power
//! at once. A client cannot see this setting, so it is read from the monitoring port
//! (`http: 8222` in the configuration of the server).

use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most bytes of an answer that are read. An answer has about 4 KiB.
const LIMIT: u64 = 1 << 20;

/// The part of `/varz` that is used.
#[derive(Debug, Deserialize)]
struct ServerState {
    server_name: String,
    jetstream: JetStreamState,
}

#[derive(Debug, Deserialize)]
struct JetStreamState {
    config: Option<JetStreamConfig>,
}

#[derive(Debug, Deserialize)]
struct JetStreamConfig {
    #[serde(default)]
    sync_always: bool,
}

/// Returns what is wrong with the set-up of a server, given its monitoring address such as
/// `http://10.0.0.1:8222`; `None`: nothing.
pub async fn fault(monitor: &str) -> Option<String> {
    let answer = tokio::time::timeout(PATIENCE, read(monitor)).await;
    let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")));
    match answer {
        Ok(answer) => judged(&answer),
        Err(why) => Some(format!(
            "the set-up of the NATS server cannot be checked at {monitor} ([cluster] monitors): {why}"
        )),
    }
}

/// Reads `/varz`. Returns the body of the answer.
async fn read(monitor: &str) -> Result<String, String> {
    let address = monitor.strip_prefix("http://").unwrap_or(monitor);
    let address = address.trim_end_matches('/');
    let said = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(address).await.map_err(said)?;
    let request = format!("GET /varz HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(said)?;
    let mut answer = String::new();
    let read = stream.take(LIMIT).read_to_string(&mut answer).await;
    read.map_err(said)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        status => Err(format!("status {}", status.unwrap_or("missing"))),
    }
}

/// Returns what is wrong with a server, by its answer.
fn judged(answer: &str) -> Option<String> {
    let state: ServerState = match serde_json::from_str(answer) {
        Ok(state) => state,
        Err(error) => {
            return Some(format!(
                "the answer of a NATS monitor cannot be read: {error}"
            ));
        }
    };
    let name = state.server_name;
    match state.jetstream.config {
        None => Some(format!(
            "the NATS server {name} has no JetStream: add a jetstream block to its configuration"
        )),
        Some(config) if !config.sync_always => Some(format!(
            "the NATS server {name} does not sync every write: set `sync_interval: always` in its jetstream block, else a power cut of all servers loses facts that the nodes count as stored"
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request with these bytes.
    async fn monitor(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let read = stream.read(&mut [0; 1024]).await;
            assert!(read.unwrap() > 0, "a request");
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        format!("http://{address}/")
    }

    #[tokio::test]
    async fn a_server_that_does_not_sync_every_write_is_named() {
        let good = "HTTP/1.0 200 OK\r\nA: b\r\n\r\n{\"server_name\": \"s1\", \"jetstream\": {\"config\": {\"sync_always\": true}}}";
        assert_eq!(fault(&monitor(good).await).await, None);
        let said = async |answer| fault(&monitor(answer).await).await.unwrap();
        let lazy = "HTTP/1.0 200 OK\r\n\r\n{\"server_name\": \"s2\", \"jetstream\": {\"config\": {\"sync_interval\": 120}}}";
        let lazy = said(lazy).await;
        assert!(lazy.contains("s2 does not sync every write"), "{lazy}");
        let without = "HTTP/1.0 200 OK\r\n\r\n{\"server_name\": \"s3\", \"jetstream\": {}}";
        let without = said(without).await;
        assert!(without.contains("s3 has no JetStream"), "{without}");
        let refused = said("HTTP/1.0 404 Not Found\r\n\r\n").await;
        assert!(refused.contains("status 404"), "{refused}");
        let other = said("HTTP/1.0 200 OK\r\n\r\nhello").await;
        assert!(other.contains("cannot be read"), "{other}");
    }

    #[tokio::test]
    async fn a_monitor_that_does_not_answer_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let why = fault(&address).await.unwrap();
        assert!(
            why.contains("cannot be checked") && why.contains(&address),
            "{why}"
        );
    }
}
