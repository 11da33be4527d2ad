//! Claims of Baldi, Frasconi & Smyth (2003), chapter 6, about the three confinement modes (BK6).
//!
//! They are checked for the largest static team, since these authors discuss static teams. Exact
//! statements (no overlap, full coverage) must hold in every run.

use crate::experiment::PublishedClaim;
use crate::findings::Measured;

/// Checks claim BK6; empty if the largest team is a single crawler or the teams were not run.
pub(super) fn claims(runs: &[Vec<Measured>], crawlers: &[u32]) -> Vec<PublishedClaim> {
    let largest = crawlers.iter().max().copied().unwrap_or(1);
    if largest < 2 {
        return Vec::new();
    }
    let found = TeamFindings {
        runs,
        crawlers: largest,
    };
    let claims = [found.firewall(), found.crossover(), found.exchange()];
    claims.into_iter().flatten().collect()
}

struct TeamFindings<'a> {
    runs: &'a [Vec<Measured>],
    crawlers: u32,
}

impl TeamFindings<'_> {
    fn firewall(&self) -> Option<PublishedClaim> {
        let overlap = self.range("static-firewall", "overlap")?;
        let coverage = self.range("static-firewall", "coverage")?;
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "firewall, {} crawlers: no page is fetched twice, and not every page is fetched",
                self.crawlers
            ),
            published: "overlap 0, coverage < 1".into(),
            found: format!("overlap {overlap}, coverage {coverage}"),
            holds: overlap.high == 0.0 && coverage.high < 1.0,
        })
    }

    fn crossover(&self) -> Option<PublishedClaim> {
        let overlap = self.range("static-crossover", "overlap")?;
        let coverage = self.range("static-crossover", "coverage")?;
        let confined = self.range("static-firewall", "coverage")?;
        let mut pairs = self
            .each("static-crossover", "coverage")
            .zip(self.each("static-firewall", "coverage"));
        let holds = overlap.low > 0.0 && pairs.all(|(more, less)| more > less);
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "crossover, {} crawlers: more pages are fetched than by firewall, some of them twice",
                self.crawlers
            ),
            published: "coverage up, overlap > 0".into(),
            found: format!("overlap {overlap}, coverage {coverage} (firewall {confined})"),
            holds,
        })
    }

    fn exchange(&self) -> Option<PublishedClaim> {
        let overlap = self.range("static-exchange", "overlap")?;
        let coverage = self.range("static-exchange", "coverage")?;
        let messages = self.range("static-exchange", "messages")?;
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "exchange, {} crawlers: every page is fetched once, at the cost of messages",
                self.crawlers
            ),
            published: "overlap 0, coverage 1, messages > 0".into(),
            found: format!("overlap {overlap}, coverage {coverage}, {messages} messages a page"),
            holds: overlap.high == 0.0 && coverage.low == 1.0 && messages.low > 0.0,
        })
    }

    fn range(&self, team: &str, metric: &str) -> Option<ValueRange> {
        let mut values = self.each(team, metric);
        let first = values.next()?;
        let range = ValueRange {
            low: first,
            high: first,
        };
        Some(values.fold(range, |range, value| ValueRange {
            low: range.low.min(value),
            high: range.high.max(value),
        }))
    }

    fn each(&self, team: &str, metric: &str) -> impl Iterator<Item = f64> {
        let is_it = move |number: &&Measured| {
            number.policy == team && number.metric == metric && number.x == f64::from(self.crawlers)
        };
        let runs = self.runs.iter();
        runs.filter_map(move |run| run.iter().find(is_it).map(|number| number.value))
    }
}

/// Minimum and maximum over all runs.
#[derive(Clone, Copy)]
struct ValueRange {
    low: f64,
    high: f64,
}

impl std::fmt::Display for ValueRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.low == self.high {
            true => write!(formatter, "{:.3}", self.low),
            false => write!(formatter, "{:.3} to {:.3}", self.low, self.high),
        }
    }
}
