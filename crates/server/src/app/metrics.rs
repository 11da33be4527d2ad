//! How does the server do? Numbers for Prometheus.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Where someone searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Surface {
    /// The search page.
    Page,
    /// The search page while someone types.
    Typing,
    /// Suggestions while someone types.
    Suggest,
    /// The API.
    Api,
    /// A tool of an agent.
    Agent,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Searched {
    surface: Surface,
}

/// What is counted.
pub struct Metrics {
    searches: Family<Searched, Counter>,
    failures: Family<Searched, Counter>,
    seconds: Histogram,
    clicks: Counter,
    limited: Counter,
}

impl Metrics {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            searches: Family::default(),
            failures: Family::default(),
            // From half a millisecond to four seconds.
            seconds: Histogram::new(exponential_buckets(0.0005, 2.0, 14)),
            clicks: Counter::default(),
            limited: Counter::default(),
        }
    }

    /// Counts a search and the time in which it was answered, waiting included.
    pub fn searched(&self, surface: Surface, took: Duration, answered: bool) {
        let surface = Searched { surface };
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

    /// Counts a request that came too soon after others.
    pub fn limited(&self) {
        self.limited.inc();
    }

    /// All numbers as text, with those that `more` adds.
    pub fn text(&self, more: impl FnOnce(&mut Registry)) -> Result<String, std::fmt::Error> {
        let mut registry = Registry::with_prefix("avocet");
        registry.register(
            "searches",
            "Searches that were asked for",
            self.searches.clone(),
        );
        registry.register(
            "failed_searches",
            "Searches that could not be answered",
            self.failures.clone(),
        );
        registry.register_with_unit(
            "search_duration",
            "The time in which searches were answered",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("clicks", "Clicks on results", self.clicks.clone());
        registry.register(
            "limited_requests",
            "Requests that were refused since their client asked too often",
            self.limited.clone(),
        );
        more(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)?;
        Ok(text)
    }
}
