//! Counters of the server, in the OpenMetrics text format.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use node::process::ProcessFigures;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// The part of the server that a search came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The search page.
    Page,
    /// The search page, while the searcher types.
    Typing,
    /// Suggestions, while the searcher types.
    Suggest,
    /// The API.
    Api,
    /// An Atom feed of the results.
    Feed,
    /// A tool call of an agent (MCP).
    Agent,
}

impl Surface {
    /// Returns the value of the label.
    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Typing => "typing",
            Self::Suggest => "suggest",
            Self::Api => "api",
            Self::Feed => "feed",
            Self::Agent => "agent",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SurfaceLabel {
    surface: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    status: u16,
}

/// The counters.
pub struct Metrics {
    searches: Family<SurfaceLabel, Counter>,
    failures: Family<SurfaceLabel, Counter>,
    seconds: Histogram,
    clicks: Counter,
    limited: Counter,
    requests: Family<RouteLabels, Counter>,
}

impl Metrics {
    /// Creates counters at zero.
    pub fn new() -> Self {
        Self {
            searches: Family::default(),
            failures: Family::default(),
            // Upper bounds from 0.5 ms to 4 s.
            seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 14)),
            clicks: Counter::default(),
            limited: Counter::default(),
            requests: Family::default(),
        }
    }

    /// Counts a search, and the time from request to answer.
    pub fn searched(&self, surface: Surface, took: Duration, answered: bool) {
        let surface = SurfaceLabel {
            surface: surface.name(),
        };
        self.searches.get_or_create(&surface).inc();
        if !answered {
            self.failures.get_or_create(&surface).inc();
        }
        self.seconds.observe(took.as_secs_f64());
    }

    /// Counts a click.
    pub fn clicked(&self) {
        self.clicks.inc();
    }

    /// Counts a request that the rate limit refused.
    pub fn limited(&self) {
        self.limited.inc();
    }

    /// Counts an answer. `route` is the pattern of the path, so that paths of clients make no
    /// labels.
    pub fn answered(&self, route: &str, status: u16) {
        let route = route.to_owned();
        self.requests
            .get_or_create(&RouteLabels { route, status })
            .inc();
    }

    /// Returns all metrics as text, with those that `more` registers.
    pub fn text(&self, more: impl FnOnce(&mut Registry)) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::with_prefix("avocet");
        registry.register(
            "searches",
            "Searches requested, by the label surface, which says where: page, typing (live results), suggest, api, feed (Atom) or agent (MCP)",
            self.searches.clone(),
        );
        registry.register(
            "failed_searches",
            "Searches that could not be answered, by the label surface, as in avocet_searches",
            self.failures.clone(),
        );
        registry.register_with_unit(
            "search_duration",
            "Time from the request of a search or suggestion to its answer",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("clicks", "Clicks on results", self.clicks.clone());
        registry.register(
            "limited_requests",
            "Requests refused with status 429, by the limits on one client",
            self.limited.clone(),
        );
        registry.register(
            "requests",
            "Requests answered, by the labels route, the pattern of the path, and status, that of the answer",
            self.requests.clone(),
        );
        registry.register(
            "build",
            "The version of the program",
            Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]),
        );
        more(&mut registry);
        let mut text = String::new();
        encode_registry(&mut text, &registry)?;
        encode_registry(&mut text, &of_process(ProcessFigures::read()))?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// Returns the metrics of the process, with the names that Prometheus clients give them.
fn of_process(figures: ProcessFigures) -> Registry {
    let mut registry = Registry::with_prefix("process");
    let cpu = Counter::<f64, AtomicU64>::default();
    cpu.inc_by(figures.cpu_seconds);
    registry.register(
        "cpu_seconds",
        "Processor time of this process in seconds, in user and kernel mode",
        cpu,
    );
    for (name, help, value) in [
        (
            "resident_memory_bytes",
            "Resident memory of this process in bytes",
            figures.resident_bytes as f64,
        ),
        (
            "virtual_memory_bytes",
            "Virtual memory of this process in bytes",
            figures.virtual_bytes as f64,
        ),
        (
            "start_time_seconds",
            "Start of this process in seconds since 1970",
            figures.started,
        ),
        (
            "open_fds",
            "Open file descriptors of this process",
            figures.open_files as f64,
        ),
        (
            "max_fds",
            "Limit on the open file descriptors of this process",
            figures.most_files as f64,
        ),
        ("threads", "Threads of this process", figures.threads as f64),
    ] {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
    registry
}
