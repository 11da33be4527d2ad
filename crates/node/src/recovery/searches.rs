//! Follows the logs of searches and clicks while a crawl runs.
//!
//! Other processes serve searches too, so only the logs have all searches and clicks. New lines are
//! read every 30 seconds. The index receives the queries, and the policy receives the pages that
//! were shown or clicked.

use std::path::Path;
use std::time::Duration;

use crawl::Met;
use page::PageUrl;
use policy::Moment;
use repository::index::{QueryCounter, Workload};
use repository::log::{Click, EventLog, LogError, Position};

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
        let (demand, met) = (&mut self.demand, &mut self.met);
        let mut meet = |url: &str, time, views, clicks| {
            if let Ok(url) = PageUrl::parse(url) {
                met.push(Met {
                    page: url.id(),
                    at: moment(time).min(now),
                    views,
                    clicks,
                });
            }
        };
        let reading = self.log.read(&self.position, |search| {
            demand.ask(&search.query, search.count);
            for view in search.views() {
                meet(view.url, search.time, view.views, view.clicks);
            }
        })?;
        self.position = reading.position;
        let reading = self.clicks.read(&self.clicks_position, |click| {
            meet(&click.url, click.time, 0.0, click.count as f64);
        })?;
        self.clicks_position = reading.position;
        Ok(())
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
        Some(self.demand.workload())
    }
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
}
