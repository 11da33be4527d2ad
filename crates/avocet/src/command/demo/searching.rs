//! People of the town search, over HTTP like anybody, and click.

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
use testweb::site::{PageNumber, Searchers, Serving};
use tokio::runtime::Runtime;

use crate::cli::Demo;
use node::live::Live;
use node::panics::POISONED;

/// How often it is looked whether there is a search page.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long after a search was not answered it must be that the server is still there.
const FAREWELL: Duration = Duration::from_secs(2);

/// What they did so far.
#[derive(Debug, Clone, Default)]
pub struct Searching(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    searches: AtomicU64,
    clicks: AtomicU64,
    failed: AtomicU64,
    over: AtomicBool,
    /// Results that were shown, and when.
    shown: Mutex<Vec<(PageNumber, f64)>>,
}

/// What the API says of a search.
#[derive(Deserialize)]
struct Found {
    results: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    url: String,
    click: Option<String>,
}

impl Searching {
    /// They begin as soon as the crawl can be asked.
    pub fn start(runtime: &Runtime, live: &Arc<Live>, web: &Arc<Serving>, wishes: &Demo) -> Self {
        let people = Searchers {
            seed: wishes.seed,
            rate: wishes.searches,
            speed: wishes.speed,
        };
        let searching = Self::default();
        if people.rate == 0.0 {
            return searching;
        }
        let (live, web, doing) = (live.clone(), web.clone(), searching.clone());
        runtime.spawn(async move {
            let address = loop {
                match live.address() {
                    Some(address) => break address,
                    None => tokio::time::sleep(LOOK_EVERY).await,
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
        searching
    }

    async fn search(
        &self,
        client: &Browser,
        address: &str,
        web: &Serving,
        people: &Searchers,
        wish: &testweb::site::Wish,
    ) -> Result<()> {
        let words = wish.query.replace(' ', "+");
        let answer = get(client, &format!("{address}/api/v1/search?q={words}")).await?;
        let found: Found =
            serde_json::from_slice(&answer).context("the API answers something else")?;
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

    /// Counts a failure, unless there was nobody to answer any more.
    async fn failed_unless_over(&self) {
        tokio::time::sleep(FAREWELL).await;
        if !self.0.over.load(Ordering::Relaxed) {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The server is gone.
    pub fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }

    /// Searches that were answered.
    pub fn searches(&self) -> u64 {
        self.0.searches.load(Ordering::Relaxed)
    }

    /// Clicks that were counted.
    pub fn clicks(&self) -> u64 {
        self.0.clicks.load(Ordering::Relaxed)
    }

    /// Searches and clicks that were not answered.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Results that were shown, and when.
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
