//! What do people search for, what were they shown, and what did they click? Followed while a crawl goes on.
//!
//! Searches are made by other processes too, so the log is the only source: new lines are read now and then. The
//! index is told what people search for, the policy which pages they met.

use std::path::Path;
use std::time::Duration;

use frontier::Frontier;
use page::PageUrl;
use policy::{Crawl, Fact, Moment, Moves, Policy, Shown};
use repository::index::{Demand, Workload};
use repository::log::{Click, Log, LogError, Position};

use super::Engine;
use super::committer::Work;
use crate::store;

/// How often new lines are looked for.
const FOLLOW_EVERY: Duration = Duration::from_secs(30);
/// How often the index is told anew what people search for: it then looks at all results.
const TELL_EVERY: Duration = Duration::from_secs(600);

/// The searches so far.
pub struct Searches {
    log: Log,
    position: Position,
    clicks: Log<Click>,
    clicks_position: Position,
    demand: Demand,
    /// Queries that the index was told of, and when.
    told: Option<(u64, Moment)>,
    looked: Option<Moment>,
}

/// A page that searchers met.
struct Met {
    url: String,
    at: Moment,
    views: f64,
    clicks: f64,
}

impl Searches {
    /// Those of a store.
    pub fn of(root: &Path) -> Self {
        Self {
            log: Log::open(&store::log(root)),
            position: Position::default(),
            clicks: Log::open(&store::log(root)),
            clicks_position: Position::default(),
            demand: Demand::default(),
            told: None,
            looked: None,
        }
    }

    /// Reads new lines, if it is time to. Returns the pages that searchers met, none of them after `now`: a wrong
    /// clock may have dated a line in the future.
    fn follow(&mut self, now: Moment) -> Result<Vec<Met>, LogError> {
        if self.looked.is_some_and(|at| now.since(at) < FOLLOW_EVERY) {
            return Ok(Vec::new());
        }
        self.looked = Some(now);
        let (demand, mut met) = (&mut self.demand, Vec::new());
        let reading = self.log.read(&self.position, |search| {
            demand.ask(&search.query, search.count);
            met.extend(search.views().map(|view| Met {
                url: view.url.to_owned(),
                at: moment(search.time).min(now),
                views: view.views,
                clicks: view.clicks,
            }));
        })?;
        self.position = reading.position;
        let reading = self.clicks.read(&self.clicks_position, |click| {
            met.push(Met {
                url: click.url,
                at: moment(click.time).min(now),
                views: 0.0,
                clicks: click.count as f64,
            });
        })?;
        self.clicks_position = reading.position;
        Ok(met)
    }

    /// What people search for, if the index should know.
    fn workload(&mut self, now: Moment) -> Option<Workload> {
        let asked = self.demand.asked();
        let news = match self.told {
            None => asked > 0,
            Some((before, at)) => asked > before && now.since(at) >= TELL_EVERY,
        };
        if !news {
            return None;
        }
        self.told = Some((asked, now));
        Some(self.demand.workload())
    }
}

impl Engine {
    /// Takes in what was searched for since the last look. A log that cannot be read is complained about: the
    /// crawl goes on with what it knows.
    pub(super) fn follow_searches(&self, searches: &mut Searches, now: Moment) {
        let met = searches.follow(now);
        let met = met.unwrap_or_else(|error| {
            tracing::warn!(%error, "the log of searches cannot be read");
            Vec::new()
        });
        let workload = searches.workload(now);
        if met.is_empty() && workload.is_none() {
            return;
        }
        let mut shared = self.shared();
        tell(&mut shared.frontier, &met);
        if let Some(workload) = workload {
            shared.send(Work::Measure(workload));
        }
    }
}

/// Tells the policy what searchers met so far, for those who ask about a crawl that is at rest.
pub fn recall(root: &Path, frontier: &mut Frontier<Crawl>, now: Moment) -> Result<(), LogError> {
    let met = Searches::of(root).follow(now)?;
    tell(frontier, &met);
    Ok(())
}

/// Tells the policy what searchers met, and lets it think about it: after a stop all clicks come at once, behind all visits.
fn tell(frontier: &mut Frontier<Crawl>, met: &[Met]) {
    met.iter().for_each(|met| meet(frontier, met));
    if let Some(sources) = &mut frontier.policy().sources {
        let last = met.iter().map(|met| met.at).max();
        sources.wait(last.unwrap_or_default());
    }
}

/// Tells the policy of a page that searchers met, if it is one of ours.
fn meet(frontier: &mut Frontier<Crawl>, met: &Met) {
    let Ok(url) = PageUrl::parse(&met.url) else {
        return;
    };
    if let Some(page) = frontier.number(url.id()) {
        let fact = Fact::Shown(Shown {
            page,
            at: met.at,
            views: met.views,
            clicks: met.clicks,
        });
        // What is clicked moves no page that waits: those of its source are looked at when their time comes.
        let mut none = Moves::default();
        frontier.policy().observe(&fact, &mut none);
    }
}

/// A time of the log, as the crawl counts.
fn moment(time: jiff::Timestamp) -> Moment {
    Moment::from_micros(u64::try_from(time.as_microsecond()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use repository::log::Search;

    use super::*;

    #[test]
    fn new_lines_are_followed_and_told_now_and_then() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log::open(&store::log(directory.path()));
        let mut searches = Searches::of(directory.path());
        let at = |seconds: u64| Moment::from_micros(seconds * 1_000_000);
        assert!(searches.follow(at(0)).unwrap().is_empty());
        assert!(searches.workload(at(0)).is_none(), "nobody searched");
        let mut search = Search::new(Timestamp::from_second(20).unwrap(), "red fox");
        search.shown = vec!["http://e.org/a".into(), "http://e.org/b".into()];
        search.clicked = vec!["http://e.org/b".into()];
        log.append(&search).unwrap();
        assert!(searches.follow(at(5)).unwrap().is_empty(), "not yet");
        let met = searches.follow(at(40)).unwrap();
        assert_eq!(met[0].at, at(20));
        let met: Vec<_> = met
            .iter()
            .map(|met| (met.url.as_str(), met.clicks))
            .collect();
        assert_eq!(met, [("http://e.org/a", 0.0), ("http://e.org/b", 1.0)]);
        let click = Click {
            time: "2026-11-16T11:10:00Z".parse().unwrap(),
            url: "http://e.org/c".into(),
            count: 7,
            query: None,
            rank: None,
        };
        Log::open(&store::log(directory.path()))
            .append(&click)
            .unwrap();
        let met = searches.follow(at(75)).unwrap();
        assert_eq!((met.len(), met[0].clicks), (1, 7.0));
        assert_eq!(met[0].at, at(75), "not in the future");
        let words: Vec<String> = {
            let workload = searches.workload(at(40)).unwrap();
            workload.words().map(|(word, _)| word.to_owned()).collect()
        };
        assert_eq!(words, ["fox", "red"]);
        log.append(&Search::new(Timestamp::UNIX_EPOCH, "grey wolf"))
            .unwrap();
        searches.follow(at(120)).unwrap();
        assert!(searches.workload(at(120)).is_none(), "not so soon again");
        assert!(searches.workload(at(700)).is_some());
    }
}
