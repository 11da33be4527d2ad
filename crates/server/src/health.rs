//! Endpoints for monitoring: `/health`, `/ready` and `/metrics` (OpenMetrics, or the classic text
//! format of Prometheus if `Accept` asks for it).

mod classic;
mod of_cluster;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use classic::{CLASSIC, OPEN, classic, wants_open};
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::{App, dashboard};
use node::live::core_figures::{CoreFigures, Durations};
use node::live::snapshot::Snapshot;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/health", get(|| async { "alive\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
}

/// Answers 200 if the index can be read, and so searches can be answered; 503 otherwise.
async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.read(|app| Ok(app.index.languages()?)).await {
        Ok(_) => "ready\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error:#}\n")).into_response(),
    }
}

async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let pages = Gauge::<i64>::default();
    pages.set(i64::try_from(app.index.count()).unwrap_or(i64::MAX));
    let snapshot = dashboard::snapshot(&app).await;
    let crawling = app.node.is_crawling(&snapshot);
    let text = app.metrics.text(|registry| {
        registry.register("indexed_pages", "Pages in the index", pages);
        let crawl = registry.sub_registry_with_prefix("crawl");
        gauge(
            crawl,
            "running",
            "1 while a crawl runs, else 0",
            f64::from(crawling),
        );
        if crawling {
            of_crawl(crawl, &snapshot);
            of_core(crawl.sub_registry_with_prefix("core"), &snapshot.core);
        }
        if let Some(cluster) = app.node.whole_crawl() {
            let registry = registry.sub_registry_with_prefix("cluster");
            of_cluster::register(registry, &cluster.overview());
        }
    });
    let accept = headers.get(header::ACCEPT);
    let accept = accept.map(|value| value.to_str().unwrap_or_default());
    let vary = (header::VARY, "Accept");
    match text {
        Ok(text) if wants_open(accept) => {
            ([(header::CONTENT_TYPE, OPEN), vary], text).into_response()
        }
        Ok(text) => ([(header::CONTENT_TYPE, CLASSIC), vary], classic(&text)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A histogram of durations that the crawl counted.
#[derive(Debug)]
struct DurationHistogram(Durations);

impl EncodeMetric for DurationHistogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        // The encoder writes `f64::MAX` as the bound `+Inf`.
        let buckets = self
            .0
            .buckets()
            .map(|(bound, count)| (bound.min(f64::MAX), count));
        let buckets: Vec<(f64, u64)> = buckets.collect();
        let (sum, count) = (self.0.seconds(), self.0.count());
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Registers the metrics of the core of a crawl.
fn of_core(registry: &mut Registry, core: &CoreFigures) {
    registry.register_with_unit(
        "step_duration",
        "Time that the core (the state machine that decides what the crawl does) takes for one event",
        Unit::Seconds,
        DurationHistogram(core.steps),
    );
    registry.register_with_unit(
        "commit_duration",
        "Time of one group commit to archive and ledger; the index commits separately",
        Unit::Seconds,
        DurationHistogram(core.commits),
    );
    let waiting = core.events_waiting as f64;
    gauge(
        registry,
        "events_waiting",
        "Events that wait for the core",
        waiting,
    );
    let histories = Counter::<u64>::default();
    histories.inc_by(core.histories);
    registry.register(
        "histories_loaded",
        "Page histories that the core loaded from the ledger since the program started",
        histories,
    );
}

/// Registers the metrics of a crawl, from its last snapshot.
fn of_crawl(registry: &mut Registry, snapshot: &Snapshot) {
    let (state, storage) = (&snapshot.state, &snapshot.storage);
    let summary = &state.summary;
    let numbers = [
        ("urls", "URLs known to the crawl", summary.urls_seen as f64),
        (
            "queued",
            "URLs to fetch, now or later",
            summary.queued as f64,
        ),
        ("due", "URLs that are due now", summary.due as f64),
        ("visits", "Visits under way", state.visits as f64),
        (
            "fetches_per_second",
            "Requests per second, over the last 10 seconds",
            state.fetches_per_second,
        ),
        (
            "bytes_per_second",
            "Bytes received per second, over the last 10 seconds",
            state.bytes_per_second,
        ),
        (
            "ledger_bytes",
            "Size of the ledger on disk",
            storage.ledger as f64,
        ),
        (
            "archive_bytes",
            "Size of the archive on disk",
            storage.archive as f64,
        ),
        (
            "index_bytes",
            "Size of the index on disk",
            storage.index as f64,
        ),
        (
            "disk_free_bytes",
            "Free space on the disk of the store",
            storage.free as f64,
        ),
        (
            "memory_bytes",
            "Resident memory of the process that crawls",
            storage.memory as f64,
        ),
    ];
    for (name, help, value) in numbers {
        gauge(registry, name, help, value);
    }
    let optional = [
        (
            "price",
            "Least worth of a fetch that the budget allows; absent without a budget",
            summary.price,
        ),
        (
            "budget_per_second",
            "Fetches per second that the budget allows; absent without a budget",
            state.budget,
        ),
        (
            "expected_freshness",
            "Expected share of fresh copies, 0 to 1",
            snapshot.outlook.map(|outlook| outlook.freshness),
        ),
        (
            "expected_quality",
            "Expected share of fresh copies, weighted by what searchers lose by an old copy, 0 to 1",
            snapshot.outlook.and_then(|outlook| outlook.quality),
        ),
        (
            "new_page_clicks_share",
            "Estimated share of the clicks on pages of the last week that came after the crawl had fetched the page, 0 to 1; absent without clicks",
            state.new_page_clicks.map(|clicks| clicks.share),
        ),
    ];
    for (name, help, value) in optional {
        if let Some(value) = value {
            gauge(registry, name, help, value);
        }
    }
    let fetches = Family::<PurposeLabel, Counter>::default();
    let counts = &state.fetches;
    for (purpose, count) in [
        ("new", counts.new),
        ("refresh", counts.refresh),
        ("source", counts.source),
        ("overhead", counts.overhead),
    ] {
        fetches
            .get_or_create(&PurposeLabel { purpose })
            .inc_by(count);
    }
    registry.register(
        "fetches",
        "Requests made since the program started, by purpose: new, refresh, source or overhead (robots.txt, probes of pages that cannot exist)",
        fetches,
    );
    let answers = Family::<StatusLabel, Counter>::default();
    for (status, count) in &state.statuses {
        let status = status.clone();
        answers
            .get_or_create(&StatusLabel { status })
            .inc_by(*count);
    }
    registry.register(
        "answers",
        "Answers of servers since the program started, by the label status: the HTTP status",
        answers,
    );
    let errors = Family::<ErrorLabel, Counter>::default();
    for (kind, count) in &summary.errors {
        errors
            .get_or_create(&ErrorLabel { kind: kind.clone() })
            .inc_by(*count);
    }
    registry.register(
        "errors",
        "Errors since the program started, by the label kind: an error code",
        errors,
    );
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PurposeLabel {
    purpose: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabel {
    kind: String,
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: f64) {
    let gauge = Gauge::<f64, AtomicU64>::default();
    gauge.set(value);
    registry.register(name, help, gauge);
}
