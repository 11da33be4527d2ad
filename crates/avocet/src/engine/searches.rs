//! What do people search for, and what were they shown? Followed while a crawl goes on.
//!
//! Searches are made by other processes too, so the log is the only source: new lines are read now and then. The
//! index is told what people search for, the policy which pages they met.

use std::time::Duration;

use page::PageUrl;
use policy::{Fact, Moment, Moves, Policy, Shown};
use repository::index::{Demand, Workload};
use repository::log::{Log, LogError, Position};

use super::committer::Work;
use super::shared::Shared;
use super::{Engine, store};

/// How often new lines are looked for.
const FOLLOW_EVERY: Duration = Duration::from_secs(30);
/// How often the index is told anew what people search for: it then looks at all results.
const TELL_EVERY: Duration = Duration::from_secs(600);

/// The searches so far.
pub struct Searches {
    log: Log,
    position: Position,
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
    pub fn of(root: &std::path::Path) -> Self {
        Self {
            log: Log::open(&store::log(root)),
            position: Position::default(),
            demand: Demand::default(),
            told: None,
            looked: None,
        }
    }

    /// Reads new lines, if it is time to. Returns the pages that searchers met.
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
                at: moment(search.time),
                views: view.views,
                clicks: view.clicks,
            }));
        })?;
        self.position = reading.position;
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
        met.iter().for_each(|met| shared.met(met));
        if let Some(workload) = workload {
            shared.send(Work::Measure(workload));
        }
    }
}

impl Shared {
    /// Tells the policy of a page that searchers met, if it is one of ours.
    fn met(&mut self, met: &Met) {
        let Ok(url) = PageUrl::parse(&met.url) else {
            return;
        };
        if let Some(page) = self.frontier.number(url.id()) {
            let fact = Fact::Shown(Shown {
                page,
                at: met.at,
                views: met.views,
                clicks: met.clicks,
            });
            // A refresh of a known page moves no page that was never fetched.
            let mut none = Moves::default();
            self.frontier.policy().observe(&fact, &mut none);
        }
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
        let mut search = Search::new(Timestamp::UNIX_EPOCH, "red fox");
        search.shown = vec!["http://e.org/a".into(), "http://e.org/b".into()];
        search.clicked = vec!["http://e.org/b".into()];
        log.append(&search).unwrap();
        assert!(searches.follow(at(5)).unwrap().is_empty(), "not yet");
        let met = searches.follow(at(40)).unwrap();
        let met: Vec<_> = met
            .iter()
            .map(|met| (met.url.as_str(), met.clicks))
            .collect();
        assert_eq!(met, [("http://e.org/a", 0.0), ("http://e.org/b", 1.0)]);
        let words: Vec<String> = {
            let workload = searches.workload(at(40)).unwrap();
            workload.words().map(|(word, _)| word.to_owned()).collect()
        };
        assert_eq!(words, ["fox", "red"]);
        log.append(&Search::new(Timestamp::UNIX_EPOCH, "grey wolf"))
            .unwrap();
        searches.follow(at(100)).unwrap();
        assert!(searches.workload(at(100)).is_none(), "not so soon again");
        assert!(searches.workload(at(700)).is_some());
    }
}
