//! Counters of the server, in the OpenMetrics text format.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The part of the server that a search came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
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

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SurfaceLabel {
    surface: Surface,
}

/// The counters.
pub struct Metrics {
    searches: Family<SurfaceLabel, Counter>,
    failures: Family<SurfaceLabel, Counter>,
    seconds: Histogram,
    clicks: Counter,
    limited: Counter,
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
        }
    }

    /// Counts a search, and the time from request to answer.
    pub fn searched(&self, surface: Surface, took: Duration, answered: bool) {
        let surface = SurfaceLabel { surface };
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

    /// Returns all metrics as text, with those that `more` registers.
    pub fn text(&self, more: impl FnOnce(&mut Registry)) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::with_prefix("avocet");
        registry.register(
            "searches",
            "Searches requested, by the label surface, which says where: Page, Typing (live results), Suggest, Api or Agent (MCP)",
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
        more(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}
