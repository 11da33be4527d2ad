//! Passes the messages of an agent to the server of the crawl that runs on the store, so that an
//! agent gets the same answers as over HTTP. In a cluster, that server searches all nodes.

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use node::live;
use node::socket::StoreClient;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The error code of JSON-RPC for a fault of the server.
const INTERNAL: i32 = -32603;

/// The server of the crawl that runs on a store.
pub struct RunningServerBridge {
    address: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl RunningServerBridge {
    /// Finds the crawl that runs on a store. Returns `None` if none runs, or if it serves nothing.
    pub fn find(root: &Path) -> Option<Self> {
        let state = live::running(root).ok()?;
        let address = state["address"].as_str()?.trim_end_matches('/').to_owned();
        // A killed crawl leaves its state; another program may listen at its address now.
        StoreClient::connect(root)?;
        let client = Client::builder(TokioExecutor::new()).build_http();
        Some(Self { address, client })
    }

    /// Answers requests until the agent closes standard input.
    pub fn serve(&self, runtime: &Runtime) -> Result<()> {
        let mut output = std::io::stdout().lock();
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let answer = match runtime.block_on(self.pass(&line)) {
                Ok(answer) => answer,
                Err(error) => refusal(&line, &format!("{error:#}")),
            };
            // A notification has no answer.
            if !answer.trim().is_empty() {
                // In JSON a line break is white space: inside of texts it is escaped.
                writeln!(output, "{}", answer.trim().replace(['\r', '\n'], " "))?;
                output.flush()?;
            }
        }
        Ok(())
    }

    async fn pass(&self, message: &str) -> Result<String> {
        let request = Request::post(format!("{}/mcp", self.address))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(Full::new(Bytes::from(message.to_owned())))?;
        let asked = self.client.request(request).await;
        let answer = asked.with_context(|| {
            format!(
                "the crawl at {} does not answer: start avocet mcp again",
                self.address
            )
        })?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        ensure!(
            status.is_success(),
            "the crawl at {} answers {status}: {body}",
            self.address
        );
        Ok(body)
    }
}

/// Returns the answer to a request that could not be passed on; nothing for a notification.
fn refusal(request: &str, why: &str) -> String {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    match &request["id"] {
        Value::Null => String::new(),
        id => {
            let error = json!({ "code": INTERNAL, "message": why });
            json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_fails_gets_an_error_and_a_notification_gets_nothing() {
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
        let answer: Value = serde_json::from_str(&refusal(request, "it is gone")).unwrap();
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["error"]["message"], "it is gone");
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","method":"x"}"#, "it is gone"),
            ""
        );
    }
}
