//! Simulated users of the demo, who search over HTTP and click on results.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use testweb::site::{PageNumber, Searchers, ServedWeb};
use tokio::runtime::Runtime;

use crate::cli::DemoArguments;
use node::live::Live;
use node::panics::POISONED;

/// Time between two checks whether the server is up.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// A search without a response counts as failed if the server is still up after this time.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// The searches and clicks of the simulated users so far.
#[derive(Debug, Clone, Default)]
pub struct SearchTraffic(Arc<TrafficCounts>);

#[derive(Debug, Default)]
struct TrafficCounts {
    searches: AtomicU64,
    clicks: AtomicU64,
    failed: AtomicU64,
    over: AtomicBool,
    /// Results that were shown, each with its time.
    shown: Mutex<Vec<(PageNumber, f64)>>,
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
    /// Starts the searches as soon as the server of the crawl is up.
    pub fn start(
        runtime: &Runtime,
        live: &Arc<Live>,
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
        let (live, web, doing) = (live.clone(), web.clone(), traffic.clone());
        runtime.spawn(async move {
            let address = loop {
                match live.address() {
                    Some(address) => break address,
                    None => tokio::time::sleep(CHECK_EVERY).await,
                }
            };
            let client = Client::builder(TokioExecutor::new()).build_http();
            for wish in people.wishes() {
                tokio::time::sleep(Duration::from_secs_f64(wish.after)).await;
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
        self.0.searches.fetch_add(1, Ordering::Relaxed);
        let at = web.now();
        let (mut pages, mut clicks) = (Vec::new(), Vec::new());
        for result in found.results {
            if let Some(page) = web.web().find(&result.url, web.port()) {
                pages.push(page);
                clicks.push(result.click);
            }
        }
        let shown = pages.iter().map(|page| (*page, at));
        self.0.shown.lock().expect(POISONED).extend(shown);
        let chosen = people.choose(wish, &pages, web.web(), at);
        if let Some(click) = chosen.and_then(|place| clicks[place].as_ref()) {
            get(client, &format!("{address}{click}")).await?;
            self.0.clicks.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Counts a failure, unless the demo has ended in the meantime.
    async fn failed_unless_over(&self) {
        tokio::time::sleep(SHUTDOWN).await;
        if !self.0.over.load(Ordering::Relaxed) {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Marks the end of the demo: later failures do not count.
    pub fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }

    /// Returns the number of searches with a response.
    pub fn searches(&self) -> u64 {
        self.0.searches.load(Ordering::Relaxed)
    }

    /// Returns the number of clicks.
    pub fn clicks(&self) -> u64 {
        self.0.clicks.load(Ordering::Relaxed)
    }

    /// Returns the number of searches and clicks without a response.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Returns the results that were shown, each with its time.
    pub fn shown(&self) -> Vec<(PageNumber, f64)> {
        self.0.shown.lock().expect(POISONED).clone()
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
