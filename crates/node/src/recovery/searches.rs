//! What do people search for, what were they shown, and what did they click? Followed while a crawl goes on.
//!
//! Searches are made by other processes too, so the log is the only source: new lines are read now and then. The
//! index is told what people search for, the policy which pages they met.

use std::path::Path;
use std::time::Duration;

use crawl::Met;
use page::PageUrl;
use policy::Moment;
use repository::index::{Demand, Workload};
use repository::log::{Click, Log, LogError, Position};

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
    met: Vec<Met>,
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
            met: Vec::new(),
        }
    }

    /// Whether it is time to look for new lines.
    pub fn is_due(&self, now: Moment) -> bool {
        self.looked.is_none_or(|at| now.since(at) >= FOLLOW_EVERY)
    }

    /// Reads new lines. A log that cannot be read is complained about: the crawl goes on with what it knows.
    pub fn follow(&mut self, now: Moment) {
        self.looked = Some(now);
        if let Err(error) = self.read(now) {
            tracing::warn!(%error, "the log of searches cannot be read");
        }
    }

    /// Takes the pages that searchers met since the last look.
    pub fn take_met(&mut self) -> Vec<Met> {
        std::mem::take(&mut self.met)
    }

    /// Reads new lines. Pages are met at `now` at the latest: a wrong clock may have dated a line in the future.
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

    /// What people search for, if the index should know.
    pub fn workload(&mut self, now: Moment) -> Option<Workload> {
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

/// All pages that searchers met so far, for those who ask about a crawl that is at rest.
pub fn all_met(root: &Path, now: Moment) -> Result<Vec<Met>, LogError> {
    let mut searches = Searches::of(root);
    searches.read(now)?;
    Ok(searches.met)
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
        let follow = |searches: &mut Searches, second| {
            if searches.is_due(at(second)) {
                searches.follow(at(second));
            }
            searches.take_met()
        };
        let id = |url: &str| PageUrl::parse(url).unwrap().id();
        assert!(follow(&mut searches, 0).is_empty());
        assert!(searches.workload(at(0)).is_none(), "nobody searched");
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
        Log::open(&store::log(directory.path()))
            .append(&click)
            .unwrap();
        let met = follow(&mut searches, 75);
        assert_eq!((met.len(), met[0].clicks), (1, 7.0));
        assert_eq!(met[0].at, at(75), "not in the future");
        let words: Vec<String> = {
            let workload = searches.workload(at(40)).unwrap();
            workload.words().map(|(word, _)| word.to_owned()).collect()
        };
        assert_eq!(words, ["fox", "red"]);
        log.append(&Search::new(Timestamp::UNIX_EPOCH, "grey wolf"))
            .unwrap();
        follow(&mut searches, 120);
        assert!(searches.workload(at(120)).is_none(), "not so soon again");
        assert!(searches.workload(at(700)).is_some());
    }
}
