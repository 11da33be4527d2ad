//! Simulated users of the demo, who search over HTTP and click on results.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use testweb::site::{PageNumber, Searchers, ServedWeb};
use tokio::runtime::Handle;

use super::CHECK_EVERY;
use crate::cli::DemoArguments;
use node::panics::POISONED;

/// A search or click that failed is counted only if the demo still runs this long afterwards.
///
/// When the demo ends, its server stops first, and the last requests fail.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// The simulated users.
#[derive(Debug, Clone, Default)]
pub struct SearchTraffic(Arc<Mutex<TrafficCounts>>);

/// The searches and clicks so far.
#[derive(Debug, Default)]
pub struct TrafficCounts {
    /// Searches with a response.
    pub searches: u64,
    pub clicks: u64,
    /// Searches and clicks without a response, or with an error as response.
    pub failed: u64,
    /// Whether the demo has ended: later failures do not count.
    pub over: bool,
    /// Results that were shown, each with its time in seconds since the start.
    pub shown: Vec<(PageNumber, f64)>,
}

/// Response of the search API.
#[derive(Deserialize)]
struct SearchAnswer {
    results: Vec<ResultLink>,
}

#[derive(Deserialize)]
struct ResultLink {
    url: String,
    click: Option<String>,
}

impl SearchTraffic {
    /// Starts the searches as soon as `address` returns the address of a server. It is asked before
    /// every search; while it returns `None`, the users do not search.
    pub fn start(
        runtime: &Handle,
        address: impl Fn() -> Option<String> + Send + 'static,
        web: &Arc<ServedWeb>,
        arguments: &DemoArguments,
    ) -> Self {
        let people = Searchers {
            seed: arguments.seed,
            rate: arguments.searches,
            speed: arguments.speed,
        };
        let traffic = Self::default();
        if people.rate == 0.0 {
            return traffic;
        }
        let (web, doing) = (web.clone(), traffic.clone());
        runtime.spawn(async move {
            while address().is_none() {
                tokio::time::sleep(CHECK_EVERY).await;
            }
            let client = Client::builder(TokioExecutor::new()).build_http();
            for wish in people.wishes() {
                tokio::time::sleep(Duration::from_secs_f64(wish.after)).await;
                let Some(address) = address() else { continue };
                if let Err(error) = doing.search(&client, &address, &web, &people, &wish).await {
                    doing.failed_unless_over().await;
                    tracing::debug!("a search of the demo failed: {error:#}");
                }
            }
        });
        traffic
    }

    async fn search(
        &self,
        client: &Browser,
        address: &str,
        web: &ServedWeb,
        people: &Searchers,
        wish: &testweb::site::UserSearch,
    ) -> Result<()> {
        let words = wish.query.replace(' ', "+");
        let answer = get(client, &format!("{address}/api/v1/search?q={words}")).await?;
        let found: SearchAnswer = serde_json::from_slice(&answer)
            .context("the response of the search API cannot be read")?;
        let at = web.now();
        let (mut pages, mut clicks) = (Vec::new(), Vec::new());
        for result in found.results {
            if let Some(page) = web.web().find(&result.url, web.port()) {
                pages.push(page);
                clicks.push(result.click);
            }
        }
        {
            let mut counts = self.counts();
            counts.searches += 1;
            counts.shown.extend(pages.iter().map(|page| (*page, at)));
        }
        let chosen = people.choose(wish, &pages, web.web(), at);
        if let Some(click) = chosen.and_then(|place| clicks[place].as_ref()) {
            get(client, &format!("{address}{click}")).await?;
            self.counts().clicks += 1;
        }
        Ok(())
    }

    /// Counts a failure, unless the demo has ended in the meantime.
    async fn failed_unless_over(&self) {
        tokio::time::sleep(SHUTDOWN).await;
        let mut counts = self.counts();
        counts.failed += u64::from(!counts.over);
    }

    /// Locks and returns the counts.
    pub fn counts(&self) -> MutexGuard<'_, TrafficCounts> {
        self.0.lock().expect(POISONED)
    }
}

type Browser = Client<HttpConnector, Empty<Bytes>>;

async fn get(client: &Browser, url: &str) -> Result<Bytes> {
    let answer = client.get(url.parse()?).await?;
    let status = answer.status();
    ensure!(
        status.is_success() || status.is_redirection(),
        "{url}: {status}"
    );
    Ok(answer.into_body().collect().await?.to_bytes())
}
