//! Posts the changes that crawls find to the receivers in `[[webhook]]`.
//!
//! Each receiver gets the changes in order, in groups, at least once: the next group is sent only
//! when the last one was answered with 2xx. After a failure the same group is sent again, after 1
//! s, 2 s, 4 s and so on, up to an hour. A receiver checks the signature, and that the timestamp is
//! recent.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use data_encoding::HEXLOWER;
use futures_util::future::join_all;
use node::settings::WebhookSettings;
use node::webhooks::{Deliveries, Poster};
use page::PageUrl;
use ring::hmac;
use serde_json::json;
use tokio::sync::Mutex;

use crate::App;

/// Changes in one request at most.
const GROUP: usize = 100;
/// Time between two looks at the log of changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two attempts to become the process that delivers.
const TRY_EVERY: Duration = Duration::from_secs(5);
/// Longest wait before a group is sent again.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Delivers until the server shuts down. Does nothing if there is no receiver.
pub async fn deliver(app: Arc<App>) {
    if app.webhooks.hooks.is_empty() {
        return;
    }
    let mut closing = app.closing.subscribe();
    let delivering = async {
        if let Err(error) = deliver_all(&app).await {
            tracing::error!("webhooks are not delivered: {error:#}");
        }
    };
    tokio::select! {
        () = delivering => {}
        _ = closing.wait_for(|closing| *closing) => {}
    }
}

async fn deliver_all(app: &Arc<App>) -> Result<()> {
    let poster = Poster::new(&app.webhooks.settings)?;
    let deliveries = loop {
        match app.node.deliveries()? {
            Some(deliveries) => break Arc::new(Mutex::new(deliveries)),
            // Another process serves the same store.
            None => tokio::time::sleep(TRY_EVERY).await,
        }
    };
    let each = app.webhooks.hooks.iter().map(|hook| {
        let receiver = Receiver {
            app,
            hook,
            poster: poster.clone(),
            deliveries: deliveries.clone(),
        };
        async move {
            if let Err(error) = receiver.deliver().await {
                tracing::error!(url = %hook.url, "this webhook is not delivered: {error:#}");
            }
        }
    });
    join_all(each).await;
    Ok(())
}

/// The delivery to one receiver.
struct Receiver<'a> {
    app: &'a Arc<App>,
    hook: &'a WebhookSettings,
    poster: Poster,
    deliveries: Arc<Mutex<Deliveries>>,
}

impl Receiver<'_> {
    async fn deliver(&self) -> Result<()> {
        let url = self.hook.receiver().map_err(anyhow::Error::msg)?;
        let last = self.app.read(|app| app.node.last_change()).await?;
        let mut since = self.deliveries.lock().await.done(&self.hook.url, last)?;
        let mut failures = 0;
        loop {
            let read = self
                .app
                .read(move |app| app.node.changes(since, GROUP))
                .await;
            // A server that is busy reads again in a moment.
            let mut changes = read.unwrap_or_default();
            let Some(end) = changes.last().map(|change| change.number) else {
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            };
            changes.retain(|change| self.hook.wants(change));
            if !changes.is_empty() {
                let body = json!({ "changes": changes, "last": end }).to_string();
                if let Err(why) = self.post(&url, end, body).await {
                    let wait = wait(failures);
                    failures += 1;
                    tracing::warn!(url = %self.hook.url, "a webhook failed and is sent again in {} s: {why}", wait.as_secs());
                    tokio::time::sleep(wait).await;
                    continue;
                }
            }
            failures = 0;
            since = end;
            self.deliveries.lock().await.got(&self.hook.url, end)?;
        }
    }

    async fn post(&self, url: &PageUrl, end: u64, body: String) -> Result<(), String> {
        let time = jiff::Timestamp::now().as_second().to_string();
        // Read each time: a file may have a new secret.
        let secret = self.hook.secret.read().map_err(|why| format!("{why:#}"))?;
        let fields = [
            ("content-type", "application/json".to_owned()),
            ("x-avocet-delivery", end.to_string()),
            ("x-avocet-signature", signature(&secret, &time, &body)),
            ("x-avocet-timestamp", time),
        ];
        match self.poster.post(url, &fields, body).await? {
            200..=299 => Ok(()),
            status => Err(format!("it answered with status {status}")),
        }
    }
}

/// Returns the signature of a body that is sent at a time, in Unix seconds.
fn signature(secret: &str, time: &str, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{time}.{body}").as_bytes());
    format!("sha256={}", HEXLOWER.encode(tag.as_ref()))
}

/// Returns the wait after a number of earlier failures.
fn wait(failures: u32) -> Duration {
    let doubled = 2_u64.saturating_pow(failures);
    Duration::from_secs(doubled).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_hmacs_of_time_and_body() {
        // Computed with Python's hmac.
        assert_eq!(
            signature("key", "1700000000", "{\"a\":1}"),
            "sha256=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03"
        );
    }

    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<u64> = [0, 1, 5, 11, 12, 100].map(|n| wait(n).as_secs()).into();
        assert_eq!(waits, [1, 2, 32, 2048, 3600, 3600]);
    }
}
