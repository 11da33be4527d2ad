//! Follows the logs of searches and clicks while a crawl runs.
//!
//! Other processes serve searches too, so only the logs have all searches and clicks. New lines are
//! read every 30 seconds. The index receives the queries, and the policy receives the pages that
//! were shown or clicked. A page that was shown counts by the attention that its rank gets. The
//! [attention](Attention) is fitted to the clicks of the store once there are enough.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crawl::Met;
use page::PageUrl;
use policy::Moment;
use policy::quality::{Attention, RankClicks};
use repository::index::{QueryCounter, Workload};
use repository::log::{Click, EventLog, LogError, Position};
use serde::{Deserialize, Serialize};

use crate::number::{counted, significant};
use crate::store;

/// How often new lines are read.
const FOLLOW_EVERY: Duration = Duration::from_secs(30);
/// Minimum time between two workloads for the index, because the index then evaluates all queries
/// of the workload.
const WORKLOAD_EVERY: Duration = Duration::from_secs(600);

/// The searches and clicks that were read so far.
pub struct Searches {
    log: EventLog,
    position: Position,
    clicks: EventLog<Click>,
    clicks_position: Position,
    demand: QueryCounter,
    ranks: RankClicks,
    /// The number of searches in the last workload for the index, and when it was made.
    last_workload: Option<(u64, Moment)>,
    read_at: Option<Moment>,
    met: Vec<Met>,
}

impl Searches {
    /// Follows the logs of a store from their beginning.
    pub fn of(root: &Path) -> Self {
        Self {
            log: EventLog::open(&store::log(root)),
            position: Position::default(),
            clicks: EventLog::open(&store::log(root)),
            clicks_position: Position::default(),
            demand: QueryCounter::default(),
            ranks: RankClicks::default(),
            last_workload: None,
            read_at: None,
            met: Vec::new(),
        }
    }

    /// Returns whether it is time to read new lines.
    pub fn is_due(&self, now: Moment) -> bool {
        self.read_at.is_none_or(|at| now.since(at) >= FOLLOW_EVERY)
    }

    /// Reads new lines. If a log cannot be read, logs a warning: the crawl continues without it.
    pub fn follow(&mut self, now: Moment) {
        self.read_at = Some(now);
        if let Err(error) = self.read(now) {
            tracing::warn!(%error, "the log of searches cannot be read");
        }
    }

    /// Removes and returns the pages that were shown or clicked since the last call.
    pub fn take_met(&mut self) -> Vec<Met> {
        std::mem::take(&mut self.met)
    }

    /// Reads new lines. A time after `now` counts as `now`: a wrong clock may have written it.
    fn read(&mut self, now: Moment) -> Result<(), LogError> {
        let (demand, ranks) = (&mut self.demand, &mut self.ranks);
        // The attention by rank follows from all lines, so views are counted after reading them.
        let mut seen = Vec::new();
        let mut see = |url: &str, time, rank: Option<u64>, searches, clicks| {
            if let Some(rank) = rank {
                ranks.show(rank, searches);
                ranks.click(rank, clicks);
            }
            if let Ok(url) = PageUrl::parse(url) {
                let met = Met {
                    page: url.id(),
                    at: moment(time).min(now),
                    views: 0.0,
                    clicks: clicks as f64,
                };
                seen.push((met, rank, searches as f64));
            }
        };
        let reading = self.log.read(&self.position, |search| {
            demand.ask(&search.query, search.count);
            for page in search.pages() {
                see(page.url, search.time, page.rank, search.count, page.clicks);
            }
        })?;
        self.position = reading.position;
        let clicks = self.clicks.read(&self.clicks_position, |click| {
            let rank = click.rank.map(u64::from);
            see(&click.url, click.time, rank, 0, click.count);
        });
        let attention = self.attention();
        self.met
            .extend(seen.into_iter().map(|(met, rank, searches)| Met {
                views: rank.map_or(0.0, |rank| searches * attention.at(rank as f64)),
                ..met
            }));
        self.clicks_position = clicks?.position;
        Ok(())
    }

    /// Returns the attention of searchers by rank: fitted to the clicks so far, or the published
    /// one.
    fn attention(&self) -> Attention {
        self.ranks.fit().unwrap_or_default()
    }

    /// Returns the workload of all queries so far, if the index should receive it now.
    pub fn workload(&mut self, now: Moment) -> Option<Workload> {
        let asked = self.demand.asked();
        let news = match self.last_workload {
            None => asked > 0,
            Some((before, at)) => asked > before && now.since(at) >= WORKLOAD_EVERY,
        };
        if !news {
            return None;
        }
        self.last_workload = Some((asked, now));
        let attention = self.attention();
        Some(self.demand.workload().with_attention(attention))
    }
}

/// The attention of a store's searchers by rank, which views and gains are counted with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AttentionReport {
    /// The result of rank r has r to the power of minus this number times the attention of the
    /// first.
    pub exponent: f64,
    /// Whether the exponent was fitted to clicks. If not, it is the published one.
    pub fitted: bool,
    /// Number of clicks on results of a known rank.
    pub clicks: u64,
}

impl AttentionReport {
    /// Reads all logs of a store.
    pub fn of(root: &Path) -> Result<Self, LogError> {
        let mut searches = Searches::of(root);
        searches.read(Moment::START)?;
        Ok(Self {
            exponent: searches.attention().exponent(),
            fitted: searches.ranks.fit().is_some(),
            clicks: searches.ranks.clicks() as u64,
        })
    }
}

impl fmt::Display for AttentionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponent = significant(self.exponent);
        let clicks = counted(self.clicks, "click");
        match self.fitted {
            true => write!(f, "rank^-{exponent}, fitted to {clicks}"),
            false => write!(
                f,
                "rank^-{exponent}, as published; too few clicks to fit it ({clicks})"
            ),
        }
    }
}

/// Returns the workload of all searches in the logs of a store; `None` if there are none.
pub fn logged_workload(root: &Path) -> Result<Option<Workload>, LogError> {
    let mut searches = Searches::of(root);
    searches.read(Moment::START)?;
    Ok(searches.workload(Moment::START))
}

/// Returns all pages that were shown or clicked so far, for a store at rest.
pub fn all_met(root: &Path, now: Moment) -> Result<Vec<Met>, LogError> {
    let mut searches = Searches::of(root);
    searches.read(now)?;
    Ok(searches.met)
}

/// Converts a time of the log to a moment.
fn moment(time: jiff::Timestamp) -> Moment {
    Moment::from_micros(u64::try_from(time.as_microsecond()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use repository::log::Search;

    use super::*;

    #[test]
    fn new_lines_are_read_and_the_workload_is_updated_periodically() {
        let directory = tempfile::tempdir().unwrap();
        let log = EventLog::open(&store::log(directory.path()));
        let mut searches = Searches::of(directory.path());
        let at = |seconds: u64| Moment::from_micros(seconds * 1_000_000);
        let follow = |searches: &mut Searches, second| {
            if searches.is_due(at(second)) {
                searches.follow(at(second));
            }
            searches.take_met()
        };
        let id = |url: &str| PageUrl::parse(url).unwrap().id();
        assert!(follow(&mut searches, 0).is_empty());
        assert!(searches.workload(at(0)).is_none(), "no searches yet");
        let mut search = Search::new(Timestamp::from_second(20).unwrap(), "red fox");
        search.shown = vec!["http://e.org/a".into(), "http://e.org/b".into()];
        search.clicked = vec!["http://e.org/b".into()];
        log.append(&search).unwrap();
        assert!(follow(&mut searches, 5).is_empty(), "not yet");
        let met = follow(&mut searches, 40);
        assert_eq!(met[0].at, at(20));
        let met: Vec<_> = met.iter().map(|met| (met.page, met.clicks)).collect();
        assert_eq!(
            met,
            [(id("http://e.org/a"), 0.0), (id("http://e.org/b"), 1.0)]
        );
        let click = Click {
            time: "2026-11-16T11:10:00Z".parse().unwrap(),
            url: "http://e.org/c".into(),
            count: 7,
            query: None,
            rank: None,
        };
        EventLog::open(&store::log(directory.path()))
            .append(&click)
            .unwrap();
        let met = follow(&mut searches, 75);
        assert_eq!((met.len(), met[0].clicks), (1, 7.0));
        assert_eq!(met[0].at, at(75), "the time is not in the future");
        let words: Vec<String> = {
            let workload = searches.workload(at(40)).unwrap();
            workload.words().map(|(word, _)| word.to_owned()).collect()
        };
        assert_eq!(words, ["fox", "red"]);
        log.append(&Search::new(Timestamp::UNIX_EPOCH, "grey wolf"))
            .unwrap();
        follow(&mut searches, 120);
        assert!(
            searches.workload(at(120)).is_none(),
            "less than ten minutes later"
        );
        assert!(searches.workload(at(700)).is_some());
    }

    #[test]
    fn views_follow_the_attention_that_fits_the_clicks() {
        let directory = tempfile::tempdir().unwrap();
        let log = EventLog::open(&store::log(directory.path()));
        let views = |searches: &mut Searches| {
            searches.read(Moment::START).unwrap();
            searches.take_met()[1].views
        };
        let mut search = Search::new(Timestamp::UNIX_EPOCH, "red fox");
        search.shown = ["a", "b"].map(|page| format!("http://e.org/{page}")).into();
        log.append(&search).unwrap();
        let mut searches = Searches::of(directory.path());
        assert!((views(&mut searches) - 2f64.powf(-1.5)).abs() < 1e-12);
        let report = AttentionReport::of(directory.path()).unwrap();
        assert_eq!(
            (report.exponent, report.fitted, report.clicks),
            (1.5, false, 0)
        );
        // Searchers click the second result half as often as the first: the exponent is 1.
        let click = |page: &str, rank, count| Click {
            time: Timestamp::UNIX_EPOCH,
            url: format!("http://e.org/{page}"),
            count,
            query: Some("red fox".into()),
            rank: Some(rank),
        };
        EventLog::open(&store::log(directory.path()))
            .append_all(&[click("a", 1, 2_000), click("b", 2, 1_000)])
            .unwrap();
        search.count = 5_000;
        log.append(&search).unwrap();
        let found = views(&mut searches) / 5_000.0;
        assert!((found - 0.5).abs() < 1e-6, "{found}");
        let attention = searches.workload(Moment::START).unwrap().attention();
        assert!((attention.exponent() - 1.0).abs() < 1e-6, "{attention:?}");
        let report = AttentionReport::of(directory.path()).unwrap();
        assert_eq!(report.to_string(), "rank^-1, fitted to 3000 clicks");
    }
}
