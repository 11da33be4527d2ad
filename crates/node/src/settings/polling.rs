//! How are content sources polled, as the user wrote it?

use std::time::Duration;

use anyhow::{Context, Result, bail};
use policy::Sources;
use policy::catalog::Catalog;
use policy::source::{Seen, Settings};
use serde::{Deserialize, Serialize};

/// The scheduler that is used where the user names none.
pub const SCHEDULER: &str = "priced";
/// What the user writes who wants no sources to be looked for.
pub const NONE: &str = "none";

/// A scheduler of sources and how it judges them; what is not set is as the paper has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Polling {
    /// The scheduler, a name of the catalog, or `none`.
    pub policy: String,
    /// The share of the budget that schedulers plan for who do not know the price.
    pub share: Option<f64>,
    /// Polls that the rate of new links is estimated from.
    pub polls: Option<usize>,
    /// How often plans are made anew.
    pub replan: Option<Duration>,
    /// The bins that clicks are counted in, by the age of their page.
    pub bin: Option<Duration>,
    /// The age at which a page one link from a main page becomes a source.
    pub older: Option<Duration>,
    /// Whether rates of new links follow the hour of the week.
    pub rhythm: Option<bool>,
    /// Clicks that a new page is expected to get of which nothing is known.
    pub profit: Option<f64>,
    /// On which pages clicks are counted.
    pub clicks: Option<Clicks>,
}

/// On which pages clicks are counted: what it means that a page has none.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Clicks {
    /// On pages that were fetched, from then on: our own log, where only what is in the index can be clicked.
    #[default]
    Fetched,
    /// On all pages from their beginning, whether we have them or not: a site's own counts, imported.
    Known,
}

impl Polling {
    /// Where the user says nothing of the share: as much as for the rest.
    const SHARE: f64 = 0.5;

    /// By this scheduler, and else as the paper has it.
    pub fn by(policy: impl Into<String>) -> Self {
        Self {
            policy: policy.into(),
            share: None,
            polls: None,
            replan: None,
            bin: None,
            older: None,
            rhythm: None,
            profit: None,
            clicks: None,
        }
    }

    /// Makes the sources of a crawl with this budget; `None`: the user wants none.
    pub fn choose(&self, budget: f64) -> Result<Option<Sources>> {
        if self.policy == NONE {
            return Ok(None);
        }
        let positive = |number: &f64| *number > 0.0 && number.is_finite();
        if self
            .share
            .is_some_and(|share| !positive(&share) || share > 1.0)
        {
            bail!("[source] share must be above 0 and at most 1");
        }
        if self.polls.is_some_and(|polls| !(1..=10).contains(&polls)) {
            bail!("[source] polls must be 1 to 10");
        }
        if self.bin.is_some_and(|bin| bin < Duration::from_secs(1)) {
            bail!("[source] bin must be at least a second: \"20min\" is usual");
        }
        if self.profit.is_some_and(|profit| !positive(&profit)) {
            bail!("[source] profit must be a number above zero");
        }
        let catalog = Catalog::standard();
        let scheduler = catalog.scheduler(&self.policy);
        let scheduler = scheduler.context("--sources (`none`: no page is polled for new ones)")?;
        let usual = Settings::default();
        let settings = Settings {
            per_second: budget * self.share.unwrap_or(Self::SHARE),
            polls: self.polls.unwrap_or(usual.polls),
            replan: self.replan.unwrap_or(usual.replan),
            bin: self.bin.unwrap_or(usual.bin),
            older: self.older.unwrap_or(usual.older),
            rhythm: self.rhythm.unwrap_or(usual.rhythm),
            profit: self.profit.unwrap_or(usual.profit),
            seen: match self.clicks.unwrap_or_default() {
                Clicks::Fetched => Seen::Fetched,
                Clicks::Known => Seen::Known,
            },
            ..usual
        };
        Ok(Some(Sources::new(scheduler, settings)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_wishes_say_what_to_write() {
        let error = |polling: Polling| match polling.choose(1.0) {
            Ok(_) => panic!("{polling:?} should be refused"),
            Err(error) => format!("{error:#}"),
        };
        let usual = || Polling::by(SCHEDULER);
        assert!(usual().choose(1.0).unwrap().is_some());
        assert!(Polling::by(NONE).choose(1.0).unwrap().is_none());
        let misspelt = error(Polling::by("bsf"));
        assert!(
            misspelt.contains("`bfs`") && misspelt.contains("`none`"),
            "{misspelt}"
        );
        let share = Some(1.5);
        assert!(error(Polling { share, ..usual() }).contains("share"));
        let polls = Some(11);
        assert!(error(Polling { polls, ..usual() }).contains("1 to 10"));
        let bin = Some(Duration::ZERO);
        assert!(error(Polling { bin, ..usual() }).contains("second"));
        let profit = Some(0.0);
        assert!(error(Polling { profit, ..usual() }).contains("profit"));
    }
}
