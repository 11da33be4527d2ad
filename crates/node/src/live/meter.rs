//! Counts the requests of a crawl by purpose, with their worth, in total and over time.
//!
//! **Invariant:** every request is counted once, for its purpose. The series over time has a
//! bounded number of points: when there are too many, neighbours are merged in pairs, and after
//! about four hours the oldest points are dropped. So memory does not grow with the running time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crawl::Purpose;
use policy::{Moment, Outcome};
use serde::{Deserialize, Serialize};

use super::core_figures::CoreFigures;
use super::snapshot::{FreshnessOutlook, Storage};

/// The number of recent fetches that are kept one by one.
const RECENT: usize = 200;
/// The maximum number of points of the series.
const POINTS: usize = 480;
/// The time span of a point at first. It doubles when there are too many points, up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_secs(2);
/// The longest time span of a point: 480 of them are more than four hours.
const LONGEST: Duration = Duration::from_secs(32);
/// The time over which current rates are averaged.
const LATE: Duration = Duration::from_secs(10);
/// A worth of at least this means that a page must be fetched at any price, such as a sitemap that
/// is due.
const PRICELESS: f64 = 1e30;

/// Counts of requests by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests for pages without a copy.
    pub new: u64,
    /// Requests for pages that may have changed.
    pub refresh: u64,
    /// Polls of sources.
    pub source: u64,
    /// Requests for robots.txt, and probes: requests for URLs that cannot exist.
    pub overhead: u64,
}

impl Counts {
    /// Returns the sum.
    pub fn all(&self) -> u64 {
        self.new + self.refresh + self.source + self.overhead
    }

    fn of(&mut self, kind: Purpose) -> &mut u64 {
        match kind {
            Purpose::New => &mut self.new,
            Purpose::Refresh => &mut self.refresh,
            Purpose::Source => &mut self.source,
        }
    }

    fn add(&mut self, other: &Self) {
        self.new += other.new;
        self.refresh += other.refresh;
        self.source += other.source;
        self.overhead += other.overhead;
    }
}

/// The worth of fetches, as estimated when their pages were claimed, summed by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WorthSums {
    /// The worth of requests for pages without a copy.
    pub new: f64,
    /// The worth of requests for pages that may have changed.
    pub refresh: f64,
    /// The worth of polls of sources.
    pub source: f64,
}

impl WorthSums {
    /// Returns the sum.
    pub fn all(&self) -> f64 {
        self.new + self.refresh + self.source
    }
}

/// One fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fetch {
    /// The URL of the page.
    pub url: String,
    /// When it was requested.
    pub at: String,
    /// The purpose.
    pub kind: Purpose,
    /// The HTTP status of the answer; `null` if there was none.
    pub status: Option<u16>,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Milliseconds from the request to the end of the answer.
    pub ms: f64,
    /// The outcome, such as `changed` or `gone`.
    pub outcome: String,
    /// The worth when the page was claimed; `null` if it had to be fetched at any price.
    pub worth: Option<f64>,
    /// The error code, if there was an error.
    pub error: Option<String>,
}

/// The figures of one time span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// The start, in seconds since 1970.
    pub at: f64,
    /// The length in seconds.
    pub seconds: f64,
    /// Requests in the span.
    pub fetches: Counts,
    /// Bytes received in the span.
    pub bytes: u64,
    /// The worth of its fetches.
    pub worth: f64,
    /// The price at its end; `null` if there is no budget.
    pub price: Option<f64>,
    /// Pages known at its end.
    pub known: usize,
    /// The expected share of fresh copies at its end.
    pub freshness: Option<f64>,
    /// The expected quality at its end (see [`FreshnessOutlook::quality`]).
    pub quality: Option<f64>,
    /// Resident memory at its end, in bytes.
    pub memory: u64,
}

/// Values that are sampled at each tick.
#[derive(Debug, Clone, Copy, Default)]
pub struct TickValues {
    /// The price; `None` if there is no budget.
    pub price: Option<f64>,
    /// Known pages.
    pub known: usize,
}

/// The counts of a crawl.
#[derive(Debug, Default)]
pub struct Meter {
    /// Requests by purpose.
    pub counts: Counts,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<String, u64>,
    /// The worth of fetches by purpose.
    pub gains: WorthSums,
    /// Bytes over the wire.
    pub bytes: u64,
    /// The last estimate of freshness.
    pub outlook: Option<FreshnessOutlook>,
    /// The last measurement of disk and memory usage.
    pub storage: Storage,
    /// Performance figures of the crawl's state machine and its committer.
    pub core: CoreFigures,
    recent: VecDeque<Fetch>,
    points: VecDeque<SeriesPoint>,
    /// The current point and its start.
    open: Option<(Moment, SeriesPoint)>,
    span: Duration,
    /// Time, requests and bytes at the ticks of the last ten seconds.
    late: VecDeque<(Moment, u64, u64)>,
}

impl Meter {
    /// Counts a fetch of a page.
    pub fn fetched(&mut self, kind: Purpose, fetch: Fetch) {
        *self.counts.of(kind) += 1;
        if let Some(status) = fetch.status {
            *self.statuses.entry(status.to_string()).or_default() += 1;
        }
        self.bytes += fetch.bytes;
        let worth = fetch.worth.unwrap_or(0.0);
        match kind {
            Purpose::New => self.gains.new += worth,
            Purpose::Refresh => self.gains.refresh += worth,
            Purpose::Source => self.gains.source += worth,
        }
        if let Some((_, point)) = &mut self.open {
            *point.fetches.of(kind) += 1;
            point.bytes += fetch.bytes;
            point.worth += worth;
        }
        self.recent.push_front(fetch);
        self.recent.truncate(RECENT);
    }

    /// Counts a request that was not for a page.
    pub fn overhead(&mut self, bytes: u64) {
        self.counts.overhead += 1;
        self.bytes += bytes;
        if let Some((_, point)) = &mut self.open {
            point.fetches.overhead += 1;
            point.bytes += bytes;
        }
    }

    /// Advances the series to `now`, with these sampled values.
    pub fn tick(&mut self, now: Moment, values: TickValues) {
        self.late.push_back((now, self.counts.all(), self.bytes));
        while self.late.len() > 2
            && self
                .late
                .get(1)
                .is_some_and(|next| now.since(next.0) >= LATE)
        {
            self.late.pop_front();
        }
        let (begun, point) = self.open.get_or_insert_with(|| (now, new_point(now)));
        point.seconds = now.since(*begun).as_secs_f64();
        point.price = values.price;
        point.known = values.known;
        point.freshness = self.outlook.map(|outlook| outlook.freshness);
        point.quality = self.outlook.and_then(|outlook| outlook.quality);
        point.memory = self.storage.memory;
        if now.since(*begun) >= self.span.max(SHORTEST) {
            let over = *point;
            self.open = Some((now, new_point(now)));
            self.push(over);
        }
    }

    /// Returns the recent fetches, newest first.
    pub fn recent(&self) -> Vec<Fetch> {
        self.recent.iter().cloned().collect()
    }

    /// Returns the points of the last hours, including the current one.
    pub fn series(&self) -> Vec<SeriesPoint> {
        let open = self.open.map(|(_, point)| point);
        let open = open.filter(|point| point.seconds > 0.0);
        self.points.iter().copied().chain(open).collect()
    }

    /// Returns requests and bytes per second, over the last ten seconds.
    pub fn rates(&self) -> (f64, f64) {
        let (Some(first), Some(last)) = (self.late.front(), self.late.back()) else {
            return (0.0, 0.0);
        };
        let seconds = last.0.since(first.0).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| (now - before) as f64 / seconds;
        (rate(last.1, first.1), rate(last.2, first.2))
    }

    fn push(&mut self, point: SeriesPoint) {
        self.span = self.span.max(SHORTEST);
        self.points.push_back(point);
        if self.points.len() <= POINTS {
            return;
        }
        if self.span >= LONGEST {
            self.points.pop_front();
            return;
        }
        self.span *= 2;
        let halves: Vec<SeriesPoint> = self.points.drain(..).collect();
        let both = |two: &[SeriesPoint]| two.iter().skip(1).fold(two[0], SeriesPoint::and);
        self.points = halves.chunks(2).map(both).collect();
    }
}

impl SeriesPoint {
    /// Merges two neighbouring points.
    fn and(mut self, later: &Self) -> Self {
        self.fetches.add(&later.fetches);
        Self {
            at: self.at,
            seconds: self.seconds + later.seconds,
            fetches: self.fetches,
            bytes: self.bytes + later.bytes,
            worth: self.worth + later.worth,
            ..*later
        }
    }
}

/// Returns a worth, or `None` if it means that the page must be fetched at any price.
pub fn priced(worth: f64) -> Option<f64> {
    (worth < PRICELESS).then_some(worth)
}

/// Returns the name of an outcome.
pub fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Changed) => "changed",
        Some(Outcome::Unchanged) => "unchanged",
        Some(Outcome::Gone) => "gone",
        Some(Outcome::Unreachable) => "unreachable",
        Some(Outcome::Refused) => "refused",
        None => "unknown",
    }
}

fn new_point(at: Moment) -> SeriesPoint {
    SeriesPoint {
        at: at.micros() as f64 / 1e6,
        ..SeriesPoint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    fn fetch(worth: Option<f64>) -> Fetch {
        Fetch {
            url: "http://e.org/".into(),
            at: String::new(),
            kind: Purpose::New,
            status: Some(200),
            bytes: 10,
            ms: 1.0,
            outcome: "changed".into(),
            worth,
            error: None,
        }
    }

    #[test]
    fn the_series_is_bounded_and_loses_no_request_of_its_time_span() {
        let mut meter = Meter::default();
        meter.tick(at(0), TickValues::default());
        let hours = 3;
        for second in 1..=hours * 3600 {
            meter.fetched(Purpose::New, fetch(Some(2.0)));
            meter.fetched(Purpose::Refresh, fetch(None));
            meter.overhead(5);
            meter.tick(at(second), TickValues::default());
            assert!(meter.series().len() <= POINTS + 1);
        }
        let (mut sum, mut seconds, mut worth) = (Counts::default(), 0.0, 0.0);
        for point in meter.series() {
            sum.add(&point.fetches);
            seconds += point.seconds;
            worth += point.worth;
        }
        assert_eq!(sum, meter.counts, "the series holds three hours");
        assert_eq!(seconds as u64, hours * 3600);
        assert_eq!(worth, meter.gains.all());
        assert_eq!(meter.gains.new, 2.0 * (hours * 3600) as f64);
        assert_eq!(meter.rates().0, 3.0);
        assert_eq!(meter.recent().len(), RECENT);
        for second in hours * 3600..24 * 3600 {
            meter.tick(at(second), TickValues::default());
        }
        assert!(meter.series().len() <= POINTS + 1);
        assert_eq!(meter.rates().0, 0.0, "no request in the last ten seconds");
    }

    #[test]
    fn a_page_to_fetch_at_any_price_has_no_worth() {
        assert_eq!(priced(3.0), Some(3.0));
        assert_eq!(priced(f64::from(f32::MAX)), None);
        assert_eq!(priced(f64::INFINITY), None);
    }
}
