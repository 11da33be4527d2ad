//! Claims of Baldi, Frasconi & Smyth (2003), chapter 6, about the three confinement modes (BK6).
//!
//! They are checked for the largest team. The modes are checked for static teams, by name and by
//! address, since these authors discuss static teams. Exact statements (no overlap, full
//! coverage) must hold in every run.

use crate::experiment::PublishedClaim;
use crate::findings::Measured;

/// Least overlap that counts as significant. The chapter gives no number.
const SIGNIFICANT: f64 = 0.1;

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
    let modes = [("static", ""), ("address", ", by IP address")];
    let modes = modes.into_iter().flat_map(|(team, by)| {
        [
            found.firewall(team, by),
            found.crossover(team, by),
            found.exchange(team, by),
        ]
    });
    let seeds = [found.independent(), found.chosen_seeds()];
    modes.chain(seeds).flatten().collect()
}

struct TeamFindings<'a> {
    runs: &'a [Vec<Measured>],
    crawlers: u32,
}

impl TeamFindings<'_> {
    /// Independent crawlers from seeds that were not chosen.
    fn independent(&self) -> Option<PublishedClaim> {
        let dealt = self.range("independent", "overlap")?;
        let hashed = self.range("independent-hash", "overlap")?;
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "independent, {} crawlers: the overlap is significant (here: a tenth or more) if seeds are dealt at random",
                self.crawlers
            ),
            published: "significant".into(),
            found: format!(
                "overlap {dealt} (seeds dealt); {hashed} if the hash of the domain decides"
            ),
            holds: dealt.low >= SIGNIFICANT,
        })
    }

    /// Independent crawlers from seeds that were chosen with knowledge of the web.
    fn chosen_seeds(&self) -> Option<PublishedClaim> {
        let near = self.range("independent-near", "overlap")?;
        let dealt = self.range("independent", "overlap")?;
        let same = self.range("independent-same", "overlap")?;
        let balance = self.range("independent-near", "balance")?;
        let mut pairs = self
            .each("independent-near", "overlap")
            .zip(self.each("independent", "overlap"));
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "independent, {} crawlers: the overlap is controlled by the choice of seeds",
                self.crawlers
            ),
            published: "less overlap, perhaps uneven work".into(),
            found: format!(
                "overlap {near} (seeds that reach the same pages together, the busiest crawler with {balance} times the mean), {dealt} (dealt), {same} (the same seeds for all)"
            ),
            holds: pairs.all(|(near, dealt)| near < dealt),
        })
    }

    fn firewall(&self, team: &str, by: &str) -> Option<PublishedClaim> {
        let overlap = self.range(&format!("{team}-firewall"), "overlap")?;
        let coverage = self.range(&format!("{team}-firewall"), "coverage")?;
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "firewall, {} crawlers{by}: no page is fetched twice, and not every page is fetched",
                self.crawlers
            ),
            published: "overlap 0, coverage < 1".into(),
            found: format!("overlap {overlap}, coverage {coverage}"),
            holds: overlap.high == 0.0 && coverage.high < 1.0,
        })
    }

    fn crossover(&self, team: &str, by: &str) -> Option<PublishedClaim> {
        let (crossover, firewall) = (format!("{team}-crossover"), format!("{team}-firewall"));
        let overlap = self.range(&crossover, "overlap")?;
        let coverage = self.range(&crossover, "coverage")?;
        let confined = self.range(&firewall, "coverage")?;
        let mut pairs = self
            .each(&crossover, "coverage")
            .zip(self.each(&firewall, "coverage"));
        let holds = overlap.low > 0.0 && pairs.all(|(more, less)| more > less);
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "crossover, {} crawlers{by}: more pages are fetched than by firewall, some of them twice",
                self.crawlers
            ),
            published: "coverage up, overlap > 0".into(),
            found: format!("overlap {overlap}, coverage {coverage} (firewall {confined})"),
            holds,
        })
    }

    fn exchange(&self, team: &str, by: &str) -> Option<PublishedClaim> {
        let exchange = format!("{team}-exchange");
        let overlap = self.range(&exchange, "overlap")?;
        let coverage = self.range(&exchange, "coverage")?;
        let messages = self.range(&exchange, "messages")?;
        Some(PublishedClaim {
            id: "BK6",
            says: format!(
                "exchange, {} crawlers{by}: every page is fetched once, at the cost of messages",
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

    fn each<'n>(&'n self, team: &'n str, metric: &'n str) -> impl Iterator<Item = f64> + 'n {
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
