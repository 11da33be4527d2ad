//! By which policies does this crawl decide, as the user wrote them?
//!
//! Kept in the store beside the facts, not among them: `avocet explain` answers by the policies of the
//! last crawl, and the next crawl may have others.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use frontier::DomainLimits;
use policy::catalog::{Catalog, Order, Wish, Wishes};
use policy::order::Scores;
use policy::server::Strategy;
use policy::{Policy, Refresh, Sources, Worth};
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::settings::topic::Subject;
use crate::settings::upkeep::Refreshing;
use crate::store;
use crawl::scope::{Reach, ScopeRules};

/// The ordering that is used where the user names none.
pub const ORDER: &str = "rankmass";
/// The server strategy that is used where the user names none.
pub const SERVERS: &str = "best-prefix";

/// What the user wants to be fetched first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranking {
    /// The ordering of pages, an expression of the catalog.
    pub order: String,
    /// The server strategy, a name of the catalog.
    pub servers: String,
    /// The query that the crawl is for.
    pub query: Option<String>,
    /// Rules for `location`.
    pub location: Vec<String>,
    /// Where the scores for `given` are.
    pub scores: Option<PathBuf>,
    /// The topic that the crawl is about.
    #[serde(default)]
    pub topic: Option<Subject>,
    /// What a page must be worth to be fetched.
    pub threshold: Option<f64>,
    /// How known pages are kept fresh; `None`: the crawl ends.
    #[serde(default)]
    pub refresh: Option<Refreshing>,
}

/// The policies, made.
pub struct Choice {
    /// The ordering of pages never fetched.
    pub order: Box<dyn Policy>,
    /// The ranking of servers.
    pub strategy: Box<dyn Strategy>,
    /// What a page must be worth.
    pub least: Worth,
    /// The query that the ordering looks for.
    pub query: Option<String>,
    /// The refresh of known pages, for a crawl that does not end.
    pub refresh: Option<Box<dyn Refresh>>,
    /// The content sources, for such a crawl.
    pub sources: Option<Sources>,
    /// How often pages are polled that list others, at least.
    pub listings: Option<Duration>,
}

/// What the last crawl was told, for those who ask about it later.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastCrawl {
    /// What it fetched first.
    pub ranking: Ranking,
    /// What belonged to it.
    pub scope: ScopeRules,
    /// Whether it might fetch from private addresses, by flag or configuration.
    #[serde(default)]
    pub allow_private: bool,
    /// Page budgets of domains that are not a seed's; `None`: any number of pages.
    #[serde(default)]
    pub domains: Option<DomainLimits>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            order: ORDER.to_owned(),
            servers: SERVERS.to_owned(),
            query: None,
            location: Vec::new(),
            scores: None,
            topic: None,
            threshold: None,
            refresh: None,
        }
    }
}

impl Ranking {
    /// Whether this differs from another by the budget alone, and nothing was planned ahead for it.
    pub fn differs_by_budget(&self, other: &Self) -> bool {
        let refresh = other.refresh.clone();
        let alike = Self {
            refresh,
            ..self.clone()
        };
        let both = self.refresh.as_ref().zip(other.refresh.as_ref());
        alike == *other && both.is_some_and(|(ours, theirs)| ours.differs_by_budget(theirs))
    }

    /// Makes the policies, or says what is wrong with the wishes.
    pub fn choose(&self) -> Result<Choice> {
        let catalog = Catalog::standard();
        let wishes = Wishes {
            query: self.query.clone(),
            location: self.location.clone(),
            scores: self
                .scores
                .as_deref()
                .map(read_scores)
                .transpose()?
                .map(Arc::new),
            topic: self
                .topic
                .as_ref()
                .map(Subject::open)
                .transpose()?
                .map(Arc::new),
        };
        let order = catalog.order(&self.order, &wishes).context("--order")?;
        self.refuse_idle_wishes(&catalog)?;
        let positive = |least: &f64| *least > 0.0 && least.is_finite();
        if self.threshold.is_some_and(|least| !positive(&least)) {
            bail!("--threshold must be a number above zero");
        }
        Ok(Choice {
            order,
            strategy: catalog.servers(&self.servers).context("--servers")?,
            least: Worth::new(self.threshold.unwrap_or(0.0)),
            query: self.query.clone(),
            refresh: self.refresh.as_ref().map(Refreshing::choose).transpose()?,
            sources: match &self.refresh {
                Some(refreshing) => refreshing.sources.choose(refreshing.budget)?,
                None => None,
            },
            listings: self.refresh.as_ref().map(Refreshing::listings),
        })
    }
}

impl Ranking {
    /// Refuses what the ordering does not look at: the user expects something of it.
    fn refuse_idle_wishes(&self, catalog: &Catalog) -> Result<()> {
        let given = [
            (Wish::Query, self.query.is_some()),
            (Wish::Location, !self.location.is_empty()),
            (Wish::Scores, self.scores.is_some()),
            (Wish::Topic, self.topic.is_some()),
        ];
        for (wish, _) in given.into_iter().filter(|(_, given)| *given) {
            let asks = |order: &&Order| order.wish == Some(wish);
            let names: Vec<_> = catalog
                .orders()
                .iter()
                .filter(asks)
                .map(|order| order.name)
                .collect();
            if !names.iter().any(|name| self.order.contains(name)) {
                bail!(
                    "{} has no use with --order {:?}: use {}, alone or in a combination",
                    wish.flag(),
                    self.order,
                    names.join(", ")
                );
            }
        }
        Ok(())
    }
}

impl LastCrawl {
    /// Whether the store was ever crawled.
    pub fn exists(store: &Path) -> bool {
        path(store).exists()
    }

    /// Takes note of what a crawl was told.
    pub fn write(&self, store: &Path) -> Result<()> {
        let path = path(store);
        store::replace_durably(&path, &serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// What the last crawl was told. A file that is empty or damaged is like one that says nothing:
    /// the usual policies, and every page that the ledger knows is in scope.
    pub fn read(store: &Path) -> Result<Self> {
        let path = path(store);
        let text = fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => NeverCrawled(path.display().to_string()).into(),
            _ => anyhow::Error::from(error).context(format!("cannot read {}", path.display())),
        })?;
        Ok(serde_json::from_slice(&text).unwrap_or_else(|error| {
            warn!(path = %path.display(), %error, "the settings of the last crawl cannot be read: the next crawl writes them again");
            Self {
                ranking: Ranking::default(),
                scope: ScopeRules {
                    reach: Reach::Any,
                    ..ScopeRules::default()
                },
                allow_private: false,
                domains: None,
            }
        }))
    }
}

/// Nobody has crawled into the store: it was made by an import.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {0}: was there a crawl?")]
pub struct NeverCrawled(String);

fn path(store: &Path) -> PathBuf {
    store.join("crawl.json")
}

/// Reads `URL<tab>score` lines.
pub fn read_scores(path: &Path) -> Result<Scores> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the scores in {}", path.display()))?;
    let mut scores = Scores::default();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        let wrong = || {
            format!(
                "{}, line {}: {line:?} is not like https://example.org/<tab>0.5",
                path.display(),
                number + 1
            )
        };
        let (url, score) = line.rsplit_once('\t').with_context(wrong)?;
        let score: f64 = score.trim().parse().with_context(wrong)?;
        let url = page::PageUrl::parse(url).with_context(wrong)?;
        scores.insert(url.as_str(), score);
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(ranking: &Ranking) -> String {
        match ranking.choose() {
            Ok(_) => panic!("{ranking:?} should be refused"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn wrong_wishes_say_what_to_write() {
        let order = |order: &str| Ranking {
            order: order.into(),
            ..Ranking::default()
        };
        assert!(error(&order("pagernk")).contains("`pagerank`"));
        assert!(error(&order("similarity")).contains("--query"));
        assert!(error(&order("given")).contains("--scores"));
        let servers = Ranking {
            servers: "fastest".into(),
            ..Ranking::default()
        };
        assert!(error(&servers).contains("best-prefix"));
        let idle = Ranking {
            query: Some("birds".into()),
            ..order("backlink")
        };
        assert!(error(&idle).contains("similarity"));
        let idle = Ranking {
            location: vec!["depth=0.8".into()],
            ..order("pagerank")
        };
        assert!(error(&idle).contains("--location has no use"));
        let free = Ranking {
            threshold: Some(0.0),
            ..Ranking::default()
        };
        assert!(error(&free).contains("--threshold"));
    }

    #[test]
    fn scores_are_read_and_bad_lines_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.tsv");
        let given = Ranking {
            order: "given".into(),
            scores: Some(path.clone()),
            ..Ranking::default()
        };
        fs::write(&path, "http://e.org/a\t2.5\n\nHTTP://E.org/b\t1\n").unwrap();
        assert!(given.choose().is_ok());
        for wrong in ["http://e.org/a 2.5", "http://e.org/a\tmuch", "mailto:x\t1"] {
            fs::write(&path, format!("http://e.org/\t1\n{wrong}\n")).unwrap();
            assert!(error(&given).contains("line 2"), "{wrong}");
        }
    }

    #[test]
    fn the_last_crawl_is_remembered() {
        let directory = tempfile::tempdir().unwrap();
        assert!(LastCrawl::read(directory.path()).is_err());
        let ranking = Ranking {
            order: "pagerank*2 + backlink".into(),
            ..Ranking::default()
        };
        let scope = ScopeRules::default();
        let domains = Some(DomainLimits::default());
        let last = LastCrawl {
            ranking,
            scope,
            domains,
            allow_private: false,
        };
        last.write(directory.path()).unwrap();
        let read = LastCrawl::read(directory.path()).unwrap();
        assert_eq!(read.ranking.order, "pagerank*2 + backlink");
        assert_eq!(read.domains, domains);
        // After a power cut the file may be empty.
        fs::write(path(directory.path()), "").unwrap();
        let read = LastCrawl::read(directory.path()).unwrap();
        assert_eq!(read.ranking.order, Ranking::default().order);
        assert_eq!(read.scope.reach, Reach::Any);
    }
}
