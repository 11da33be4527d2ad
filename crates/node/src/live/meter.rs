//! What did a crawl spend its fetches on, and what were they worth?
//!
//! **Invariant:** every request is counted once, for what it was made; the series holds the same requests as the counts, thinned
//! and bounded, so that a program that runs for months needs no more memory than one that runs for hours.

use std::collections::VecDeque;
use std::time::Duration;

use policy::{Moment, Outcome};
use serde::{Deserialize, Serialize};

use super::core_figures::CoreFigures;
use super::snapshot::{Outlook, Storage};
use crate::clock::timestamp;

/// Fetches that are remembered one by one.
const RECENT: usize = 200;
/// Points of the series.
const POINTS: usize = 480;
/// What a point first spans; it doubles when there are too many, up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_secs(2);
/// What a point spans at most: 480 of them are more than four hours.
const LONGEST: Duration = Duration::from_secs(32);
/// What "of late" is.
const LATE: Duration = Duration::from_secs(10);
/// What must be fetched whatever the price, such as a sitemap whose time has come, is quoted above this.
const PRICELESS: f64 = 1e30;

/// What a request was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The first copy of a page.
    New,
    /// Another copy of a known page.
    Refresh,
    /// A page that names new ones.
    Source,
}

impl From<crawl::Purpose> for Kind {
    fn from(purpose: crawl::Purpose) -> Self {
        match purpose {
            crawl::Purpose::New => Self::New,
            crawl::Purpose::Refresh => Self::Refresh,
            crawl::Purpose::Source => Self::Source,
        }
    }
}

/// Requests, by what for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// First copies.
    pub new: u64,
    /// Copies of known pages.
    pub refresh: u64,
    /// Pages that name new ones.
    pub source: u64,
    /// robots.txt files, and questions for pages that cannot exist.
    pub overhead: u64,
}

impl Counts {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.new + self.refresh + self.source + self.overhead
    }

    fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::New => &mut self.new,
            Kind::Refresh => &mut self.refresh,
            Kind::Source => &mut self.source,
        }
    }

    fn add(&mut self, other: &Self) {
        self.new += other.new;
        self.refresh += other.refresh;
        self.source += other.source;
        self.overhead += other.overhead;
    }
}

/// What fetches were worth when their pages were claimed, summed by what they were for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Gains {
    /// First copies.
    pub new: f64,
    /// Copies of known pages.
    pub refresh: f64,
    /// Pages that name new ones.
    pub source: f64,
}

impl Gains {
    /// All of them.
    pub fn all(&self) -> f64 {
        self.new + self.refresh + self.source
    }
}

/// One fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fetch {
    /// The page.
    pub url: String,
    /// When it was asked for.
    pub at: String,
    /// What for.
    pub kind: Kind,
    /// The status of the answer; `null`: there was none.
    pub status: Option<u16>,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Milliseconds to the end of the answer.
    pub ms: f64,
    /// What was found.
    pub outcome: String,
    /// What it was worth when it was claimed; `null`: it was to be fetched at any price.
    pub worth: Option<f64>,
    /// What was wrong.
    pub error: Option<String>,
}

/// Some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// When it began, in seconds since 1970.
    pub at: f64,
    /// How long it is, in seconds.
    pub seconds: f64,
    /// Requests made in it.
    pub fetches: Counts,
    /// Bytes that came in it.
    pub bytes: u64,
    /// What its fetches were worth.
    pub worth: f64,
    /// What a fetch had to be worth at its end; `null`: there is no budget.
    pub price: Option<f64>,
    /// Pages known at its end.
    pub known: usize,
    /// The share of copies expected to be fresh at its end.
    pub freshness: Option<f64>,
    /// The quality expected at its end.
    pub quality: Option<f64>,
    /// Bytes of memory held at its end.
    pub memory: u64,
}

/// Levels at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Level {
    /// What a fetch must be worth.
    pub price: Option<f64>,
    /// Pages known.
    pub known: usize,
}

/// Counts what a crawl does.
#[derive(Debug, Default)]
pub struct Meter {
    /// Requests, by what for.
    pub counts: Counts,
    /// What they were worth.
    pub gains: Gains,
    /// Bytes over the wire.
    pub bytes: u64,
    /// What copies are expected to be like, when that was last asked.
    pub outlook: Option<Outlook>,
    /// What the store takes, when that was last asked.
    pub storage: Storage,
    /// How the core fares.
    pub core: CoreFigures,
    recent: VecDeque<Fetch>,
    points: VecDeque<Point>,
    /// The point that is not over.
    open: Option<(Moment, Point)>,
    span: Duration,
    late: VecDeque<(Moment, u64, u64)>,
}

impl Meter {
    /// Counts a fetch of a page.
    pub fn fetched(&mut self, kind: Kind, fetch: Fetch) {
        *self.counts.of(kind) += 1;
        self.bytes += fetch.bytes;
        let worth = fetch.worth.unwrap_or(0.0);
        match kind {
            Kind::New => self.gains.new += worth,
            Kind::Refresh => self.gains.refresh += worth,
            Kind::Source => self.gains.source += worth,
        }
        if let Some((_, point)) = &mut self.open {
            *point.fetches.of(kind) += 1;
            point.bytes += fetch.bytes;
            point.worth += worth;
        }
        self.recent.push_front(fetch);
        self.recent.truncate(RECENT);
    }

    /// Counts a request that was for no page.
    pub fn overhead(&mut self, bytes: u64) {
        self.counts.overhead += 1;
        self.bytes += bytes;
        if let Some((_, point)) = &mut self.open {
            point.fetches.overhead += 1;
            point.bytes += bytes;
        }
    }

    /// Takes note of the time, and of levels at it.
    pub fn tick(&mut self, now: Moment, level: Level) {
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
        point.price = level.price;
        point.known = level.known;
        point.freshness = self.outlook.map(|outlook| outlook.freshness);
        point.quality = self.outlook.and_then(|outlook| outlook.quality);
        point.memory = self.storage.memory;
        if now.since(*begun) >= self.span.max(SHORTEST) {
            let over = *point;
            self.open = Some((now, new_point(now)));
            self.push(over);
        }
    }

    /// The last fetches, newest first.
    pub fn recent(&self) -> Vec<Fetch> {
        self.recent.iter().cloned().collect()
    }

    /// The last hours, and what is not over.
    pub fn series(&self) -> Vec<Point> {
        let open = self.open.map(|(_, point)| point);
        let open = open.filter(|point| point.seconds > 0.0);
        self.points.iter().copied().chain(open).collect()
    }

    /// Requests and bytes a second, of late.
    pub fn rates(&self) -> (f64, f64) {
        let (Some(first), Some(last)) = (self.late.front(), self.late.back()) else {
            return (0.0, 0.0);
        };
        let seconds = last.0.since(first.0).as_secs_f64().max(1e-3);
        let rate = |now: u64, before: u64| (now - before) as f64 / seconds;
        (rate(last.1, first.1), rate(last.2, first.2))
    }

    fn push(&mut self, point: Point) {
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
        let halves: Vec<Point> = self.points.drain(..).collect();
        let both = |two: &[Point]| two.iter().skip(1).fold(two[0], Point::and);
        self.points = halves.chunks(2).map(both).collect();
    }
}

impl Point {
    /// The two as one.
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

/// What a page was worth when it was claimed; `None`: it was to be fetched at any price.
pub fn priced(worth: f64) -> Option<f64> {
    (worth < PRICELESS).then_some(worth)
}

/// What was found, for people.
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

/// A moment, for people and programs.
pub fn written(moment: Moment) -> String {
    timestamp(moment).to_string()
}

fn new_point(at: Moment) -> Point {
    Point {
        at: at.micros() as f64 / 1e6,
        ..Point::default()
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
            kind: Kind::New,
            status: Some(200),
            bytes: 10,
            ms: 1.0,
            outcome: "changed".into(),
            worth,
            error: None,
        }
    }

    #[test]
    fn the_series_is_bounded_and_loses_no_request_of_its_time() {
        let mut meter = Meter::default();
        meter.tick(at(0), Level::default());
        let hours = 3;
        for second in 1..=hours * 3600 {
            meter.fetched(Kind::New, fetch(Some(2.0)));
            meter.fetched(Kind::Refresh, fetch(None));
            meter.overhead(5);
            meter.tick(at(second), Level::default());
            assert!(meter.series().len() <= POINTS + 1);
        }
        let (mut sum, mut seconds, mut worth) = (Counts::default(), 0.0, 0.0);
        for point in meter.series() {
            sum.add(&point.fetches);
            seconds += point.seconds;
            worth += point.worth;
        }
        assert_eq!(sum, meter.counts, "three hours fit");
        assert_eq!(seconds as u64, hours * 3600);
        assert_eq!(worth, meter.gains.all());
        assert_eq!(meter.gains.new, 2.0 * (hours * 3600) as f64);
        assert_eq!(meter.rates().0, 3.0);
        assert_eq!(meter.recent().len(), RECENT);
        for second in hours * 3600..24 * 3600 {
            meter.tick(at(second), Level::default());
        }
        assert!(meter.series().len() <= POINTS + 1);
        assert_eq!(meter.rates().0, 0.0, "nothing of late");
    }

    #[test]
    fn what_has_no_price_has_no_worth() {
        assert_eq!(priced(3.0), Some(3.0));
        assert_eq!(priced(f64::from(f32::MAX)), None);
        assert_eq!(priced(f64::INFINITY), None);
    }
}
