//! Click evidence: which results users chose although others were ranked above them.
//!
//! Joachims, "Optimizing search engines using clickthrough data" (KDD 2002): a click alone says
//! little, since the first results are clicked most, whatever they are. A click on a lower
//! result says that it was preferred to those above. So a click on the first result does not
//! count here. A page that evidence has moved to the first place is not raised further by its
//! clicks there.
//!
//! **Invariant:** a factor is between 1 and 1 + [`MOST`], a single click has little effect, and
//! memory is bounded.

use std::collections::HashMap;

use page::{PageId, PageUrl};

use super::{Click, EventLog, LogError, Position, Search};

/// Maximum relative increase of a score by evidence.
const MOST: f64 = 0.25;

/// Number of choices at which half of the maximum is reached. It is a pseudo-count that limits
/// the effect of chance and of a single frequent clicker.
const HALF: f64 = 10.0;

/// Maximum number of queries. When it is reached, only known queries are counted.
const QUERIES: usize = 50_000;

/// Maximum number of pages per query.
const PAGES: usize = 50;

/// The pages that users chose, by query.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    queries: HashMap<Box<str>, Vec<(PageId, f64)>>,
    searches: Position,
    clicks: Position,
}

impl Choices {
    /// Reads what was added to the logs since the last call.
    pub fn read(
        &mut self,
        searches: &EventLog<Search>,
        clicks: &EventLog<Click>,
    ) -> Result<(), LogError> {
        let (from, to) = (self.searches.clone(), self.clicks.clone());
        let reading = searches.read(&from, |search: Search| {
            for clicked in &search.clicked {
                let place = search.shown.iter().position(|shown| shown == clicked);
                if let Some(place) = place {
                    self.count(&search.query, clicked, search.rank(place), search.count);
                }
            }
        })?;
        self.searches = reading.position;
        let reading = clicks.read(&to, |click: Click| {
            if let (Some(query), Some(rank)) = (&click.query, click.rank) {
                self.count(query, &click.url, rank.into(), click.count);
            }
        })?;
        self.clicks = reading.position;
        Ok(())
    }

    fn count(&mut self, query: &str, url: &str, rank: u64, times: u64) {
        let Ok(url) = PageUrl::parse(url) else { return };
        let query = normal(query);
        if rank < 2 || self.queries.len() >= QUERIES && !self.queries.contains_key(&*query) {
            return;
        }
        let pages = self.queries.entry(query.into()).or_default();
        let page = url.id();
        match pages.iter().position(|(known, _)| *known == page) {
            Some(place) => pages[place].1 += times as f64,
            None if pages.len() < PAGES => pages.push((page, times as f64)),
            None => {}
        }
    }

    /// Returns the factors for the scores of pages, for a query.
    pub fn factors(&self, query: &str) -> Vec<(PageId, f32)> {
        let pages = self.queries.get(&*normal(query));
        let factor = |chosen: f64| (1.0 + MOST * chosen / (chosen + HALF)) as f32;
        let pages = pages.into_iter().flatten();
        pages
            .map(|&(page, chosen)| (page, factor(chosen)))
            .collect()
    }

    /// Returns the queries for which a page was chosen over others, with counts, the most
    /// frequent first.
    pub fn of(&self, page: PageId) -> Vec<(&str, f64)> {
        let mut found: Vec<(&str, f64)> = Vec::new();
        for (query, pages) in &self.queries {
            let chosen = pages.iter().find(|(known, _)| *known == page);
            found.extend(chosen.map(|(_, times)| (&**query, *times)));
        }
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
        found
    }
}

/// Normalizes case and whitespace of a query.
fn normal(query: &str) -> String {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn id(url: &str) -> PageId {
        PageUrl::parse(url).unwrap().id()
    }

    fn click(url: &str, query: &str, rank: u16, count: u64) -> Click {
        Click {
            time: Timestamp::UNIX_EPOCH,
            url: url.into(),
            count,
            query: Some(query.into()),
            rank: Some(rank),
        }
    }

    #[test]
    fn pages_chosen_over_others_are_raised_by_at_most_a_quarter() {
        let dir = tempfile::tempdir().unwrap();
        let (searches, clicks) = (EventLog::open(dir.path()), EventLog::open(dir.path()));
        let (a, b, c) = ("http://e.org/a", "http://e.org/b", "http://e.org/c");
        clicks
            .append_all(&[
                click(a, "Pied  avocet", 3, 10),
                click(b, "pied avocet", 1, 1000),
                Click {
                    query: None,
                    ..click(b, "", 5, 1000)
                },
            ])
            .unwrap();
        let mut imported = Search::new(Timestamp::UNIX_EPOCH, "pied avocet");
        imported.shown = vec![b.into(), c.into()];
        imported.clicked = vec![c.into(), b.into(), "http://e.org/elsewhere".into()];
        imported.count = 1_000_000;
        searches.append(&imported).unwrap();
        let mut choices = Choices::default();
        for _ in 0..2 {
            choices.read(&searches, &clicks).unwrap();
            let factors: HashMap<PageId, f32> =
                choices.factors("PIED avocet").into_iter().collect();
            assert_eq!(
                factors.len(),
                2,
                "each entry is read once, and a click on the first result does not count"
            );
            assert!((factors[&id(a)] - 1.125).abs() < 1e-6);
            assert!(factors[&id(c)] > 1.249 && factors[&id(c)] <= 1.25);
        }
        assert!(choices.factors("avocet").is_empty());
        assert_eq!(choices.of(id(a)), [("pied avocet", 10.0)]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut choices = Choices::default();
        for n in 0..QUERIES + 10 {
            choices.count(&format!("q{n}"), "http://e.org/", 2, 1);
        }
        for n in 0..PAGES + 10 {
            choices.count("q1", &format!("http://e.org/{n}"), 2, 1);
        }
        assert_eq!(
            (choices.queries.len(), choices.factors("q1").len()),
            (QUERIES, PAGES)
        );
    }
}
