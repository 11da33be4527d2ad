//! Creates the policies of a crawl from their names in the settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use policy::catalog::{Catalog, Order, Upkeep, Wish, Wishes};
use policy::order::Scores;
use policy::server::Strategy;
use policy::source::{Credit, Seen, SourceRules};
use policy::{Policy, Refresh, Sources, Worth};
use serde::{Deserialize, Serialize};

use super::topic::{FOCUS, Subject};
use super::{
    BudgetSettings, ClickLog, CrawlSettings, CreditedSources, RefreshSettings, Settings,
    SourceSettings,
};

/// The ordering of a crawl without a topic, if the user names none.
const ORDER: &str = "rankmass";
/// The value of `source.policy` with which only sitemaps and feeds are polled.
pub const NO_SOURCES: &str = "none";

/// The settings that name the policies of a crawl. `crawl.json` keeps them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicySettings {
    /// The names of ordering and server strategy, and their parameters, such as the query.
    pub crawl: CrawlSettings,
    /// The budget of a continuous crawl.
    pub budget: BudgetSettings,
    /// The refresh policy of a continuous crawl, and its parameters.
    pub refresh: RefreshSettings,
    /// The scheduler of sources of a continuous crawl, and its parameters.
    pub source: SourceSettings,
    /// What a focused crawl looks for; `None` if the crawl is not focused.
    pub subject: Option<Subject>,
    /// Whether the crawl is continuous: it refreshes pages until it is stopped (`avocet run`).
    pub continuous: bool,
}

/// The policies of a crawl, created from their settings.
pub struct ChosenPolicies {
    /// The ordering of pages never fetched.
    pub order: Box<dyn Policy>,
    /// The ranking of servers.
    pub strategy: Box<dyn Strategy>,
    /// The minimum worth, by the ordering, at which a new page is fetched.
    pub least: Worth,
    /// The query of the user, for an ordering that looks for its words.
    pub query: Option<String>,
    /// The refresh policy; `None` unless the crawl is continuous.
    pub refresh: Option<Box<dyn Refresh>>,
    /// The sources and their scheduler; `None` if sources are not polled, or the crawl is not
    /// continuous.
    pub sources: Option<Sources>,
    /// The longest time between two polls of a sitemap or feed; `None` unless the crawl is
    /// continuous.
    pub listings: Option<Duration>,
}

impl PolicySettings {
    /// Returns the part of the settings that concerns policies. `root` is the store, whose topics
    /// the settings may name.
    ///
    /// Paths become absolute, so that `explain` finds the files from any directory.
    pub fn new(settings: &Settings, root: &Path, continuous: bool) -> Self {
        let mut crawl = settings.crawl.clone();
        let mut refresh = settings.refresh.clone();
        for path in [&mut crawl.scores, &mut refresh.rates]
            .into_iter()
            .flatten()
        {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        // The ordering `given` uses the scores of `avocet import urls`, unless the user names
        // others.
        let imported = imported_scores(root);
        let by_scores = |order: &String| order.contains("given");
        if crawl.scores.is_none()
            && crawl.order.as_ref().is_some_and(by_scores)
            && imported.exists()
        {
            crawl.scores = Some(std::path::absolute(&imported).unwrap_or(imported));
        }
        let subject = match (&crawl.predicate, &crawl.topic) {
            (Some(predicate), _) => Some(Subject::described(root, predicate)),
            (None, topic) => topic.as_ref().map(|topic| Subject::named(root, topic)),
        };
        Self {
            crawl,
            budget: settings.budget.clone(),
            refresh,
            source: settings.source.clone(),
            subject,
            continuous,
        }
    }

    /// Returns the name of the ordering. For a focused crawl it is the method of focused crawling,
    /// unless the user names another ordering.
    pub fn order(&self) -> &str {
        let named = self.crawl.focus.as_ref().or(self.crawl.order.as_ref());
        let usual = match self.subject {
            Some(_) => FOCUS,
            None => ORDER,
        };
        named.map_or(usual, String::as_str)
    }

    /// Returns the flag that names the ordering, for errors.
    fn order_flag(&self) -> &'static str {
        match self.crawl.focus {
            Some(_) => "--focus",
            None => "--order",
        }
    }

    /// Returns the refresh settings of a continuous crawl; `None` for any other.
    pub fn refreshing(&self) -> Option<&RefreshSettings> {
        self.continuous.then_some(&self.refresh)
    }

    /// Returns the name of the scheduler of sources, or `none`; `None` unless the crawl is
    /// continuous.
    pub fn scheduler(&self) -> Option<&str> {
        self.continuous.then_some(self.source.policy.as_str())
    }

    /// Returns the budget of a continuous crawl, in fetches per second; `None` for any other.
    pub fn budget(&self) -> Option<f64> {
        self.continuous.then(|| self.budget.per_second())
    }

    /// Returns whether these settings differ from others by the budget alone, and no policy plans
    /// ahead for a budget.
    pub fn differs_by_budget(&self, other: &Self) -> bool {
        let same_budget = Self {
            budget: other.budget.clone(),
            ..self.clone()
        };
        let catalog = Catalog::standard();
        let planned = catalog.plans_ahead(&self.refresh.policy, &self.source.policy);
        let differs = self.budget() != other.budget();
        self.continuous && differs && same_budget == *other && !planned
    }

    /// Creates the policies. An error says which setting is wrong and what to write.
    pub fn choose(&self) -> Result<ChosenPolicies> {
        let catalog = Catalog::standard();
        let scores = self.crawl.scores.as_deref().map(read_scores).transpose()?;
        let topic = self.subject.as_ref().map(Subject::open).transpose()?;
        let wishes = Wishes {
            query: self.crawl.query.clone(),
            location: self.crawl.location.clone(),
            scores: scores.map(Arc::new),
            topic: topic.map(Arc::new),
        };
        let order = catalog.order(self.order(), &wishes);
        let order = order.context(self.order_flag())?;
        self.refuse_unused(&catalog)?;
        let strategy = catalog.servers(&self.crawl.servers).context("--servers")?;
        let (refresh, sources) = match self.continuous {
            true => (Some(self.choose_refresh(&catalog)?), self.choose_sources()?),
            false => (None, None),
        };
        Ok(ChosenPolicies {
            order,
            strategy,
            least: Worth::new(self.crawl.threshold.unwrap_or(0.0)),
            query: self.crawl.query.clone(),
            refresh,
            sources,
            listings: self.continuous.then_some(self.refresh.listings.0),
        })
    }

    fn choose_refresh(&self, catalog: &Catalog) -> Result<Box<dyn Refresh>> {
        let refresh = &self.refresh;
        let rates = refresh.rates.as_deref().map(read_scores).transpose()?;
        let upkeep = Upkeep {
            rate: refresh.rate.clone(),
            rates: rates.map(Arc::new),
            budget: Some(self.budget.per_second()),
            step: refresh.step.0,
            slots: refresh.slots,
            since: None,
        };
        let policy = catalog.refresh(&refresh.policy, &upkeep);
        policy.context("--refresh")
    }

    fn choose_sources(&self) -> Result<Option<Sources>> {
        let source = &self.source;
        if source.policy == NO_SOURCES {
            return Ok(None);
        }
        let catalog = Catalog::standard();
        let scheduler = catalog.scheduler(&source.policy);
        let scheduler =
            scheduler.context("--sources (`none`: only sitemaps and feeds are polled)")?;
        let rules = SourceRules {
            per_second: self.budget.per_second() * source.share,
            polls: source.polls,
            replan: source.replan.0,
            bin: source.bin.0,
            older: source.older_than.0,
            rhythm: source.rhythm,
            profit: source.profit,
            seen: match source.clicks {
                ClickLog::Fetched => Seen::Fetched,
                ClickLog::Known => Seen::Known,
            },
            credit: match source.credit {
                CreditedSources::All => Credit::All,
                CreditedSources::First => Credit::First,
            },
            least: source.least.0,
            ..SourceRules::default()
        };
        Ok(Some(Sources::new(scheduler, rules)))
    }

    /// Refuses a query, location rules, scores or a topic that the ordering does not use: the user
    /// expects them to have an effect.
    fn refuse_unused(&self, catalog: &Catalog) -> Result<()> {
        let given = [
            (Wish::Query, self.crawl.query.is_some()),
            (Wish::Location, !self.crawl.location.is_empty()),
            (Wish::Scores, self.crawl.scores.is_some()),
            (Wish::Topic, self.subject.is_some()),
        ];
        for (wish, _) in given.into_iter().filter(|(_, given)| *given) {
            let asks = |order: &&Order| order.wish == Some(wish);
            let orders = catalog.orders().iter().filter(asks);
            let names: Vec<_> = orders.map(|order| order.name).collect();
            if !names.iter().any(|name| self.order().contains(name)) {
                bail!(
                    "{} has no use with {} {:?}: choose {}, alone or in a combination",
                    wish.flag(),
                    self.order_flag(),
                    self.order(),
                    names.join(", ")
                );
            }
        }
        Ok(())
    }
}

/// Returns the file of the scores that `avocet import urls` has read into the store at `root`.
pub fn imported_scores(root: &Path) -> PathBuf {
    root.join("scores.tsv")
}

/// Reads a file of lines `URL<tab>number`. Empty lines are skipped.
pub fn read_scores(path: &Path) -> Result<Scores> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the scores in {}", path.display()))?;
    let mut scores = Scores::default();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() {
            continue;
        }
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

    /// The policies of `avocet run` with these settings.
    fn run(toml: &str) -> PolicySettings {
        let settings = super::super::Layer::parse(toml)
            .unwrap()
            .settings()
            .unwrap();
        PolicySettings::new(&settings, Path::new("."), true)
    }

    fn error(toml: &str) -> String {
        match run(toml).choose() {
            Ok(_) => panic!("{toml} should be refused"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn the_error_for_a_wrong_name_says_what_to_write() {
        assert!(run("").choose().unwrap().sources.is_some());
        let none = run("source.policy = \"none\"").choose().unwrap();
        assert!(none.sources.is_none() && none.refresh.is_some());
        for (toml, says) in [
            ("crawl.order = \"pagernk\"", "`pagerank`"),
            ("crawl.order = \"similarity\"", "--query"),
            ("crawl.order = \"given\"", "--scores"),
            (
                "crawl.focus = \"lerned\"\ncrawl.topic = \"rust\"",
                "--focus: ",
            ),
            ("crawl.servers = \"fastest\"", "best-prefix"),
            (
                "crawl.order = \"backlink\"\ncrawl.query = \"birds\"",
                "similarity",
            ),
            (
                "crawl.order = \"pagerank\"\ncrawl.location = [\"depth=0.8\"]",
                "--location has no use",
            ),
            ("refresh.policy = \"freshnes\"", "freshness"),
            (
                "refresh.policy = \"freshness\"\nrefresh.rate = \"gama\"",
                "gamma",
            ),
            (
                "refresh.policy = \"freshness\"\nrefresh.rate = \"given\"",
                "--rates",
            ),
            ("source.policy = \"bsf\"", "`bfs`"),
            ("source.policy = \"bsf\"", "`none`"),
        ] {
            assert!(error(toml).contains(says), "{toml}: {}", error(toml));
        }
    }

    #[test]
    fn an_error_names_the_flag_that_named_the_ordering() {
        for (toml, flag) in [
            ("crawl.order = \"pagernk\"", "--order: "),
            ("crawl.focus = \"lerned\"", "--focus: "),
            (
                "crawl.focus = \"pagerank\"\ncrawl.query = \"birds\"",
                "with --focus \"pagerank\"",
            ),
        ] {
            assert!(error(toml).contains(flag), "{toml}: {}", error(toml));
        }
    }

    #[test]
    fn a_crawl_that_is_not_continuous_has_no_refresh_policy_and_no_scheduler() {
        let ends = PolicySettings::default();
        let chosen = ends.choose().unwrap();
        assert!(chosen.refresh.is_none() && chosen.sources.is_none());
        assert_eq!((ends.budget(), ends.scheduler()), (None, None));
        assert_eq!(ends.order(), "rankmass");
        assert_eq!(run("crawl.topic = \"rust\"").order(), "learned");
    }

    #[test]
    fn settings_differ_by_budget_only_if_no_policy_plans_ahead_for_it() {
        let pairs = [
            ("", "", true),
            ("", "refresh.policy = \"uniform\"\n", false),
            ("", "refresh.rate = \"mle\"\n", false),
            (
                "refresh.policy = \"sbr(0.3)\"\n",
                "refresh.policy = \"sbr(0.3)\"\n",
                false,
            ),
            (
                "source.policy = \"echo-schedule\"\n",
                "source.policy = \"echo-schedule\"\n",
                false,
            ),
        ];
        for (before, after, expected) in pairs {
            let after = run(&format!("{after}budget.fetches_per_second = 2.0"));
            assert_eq!(run(before).differs_by_budget(&after), expected, "{before}");
        }
        assert!(!run("").differs_by_budget(&run("")));
    }

    #[test]
    fn scores_are_read_and_bad_lines_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.tsv");
        let given = format!("crawl.order = \"given\"\ncrawl.scores = {path:?}");
        fs::write(&path, "http://e.org/a\t2.5\n\nHTTP://E.org/b\t1\n").unwrap();
        assert!(run(&given).choose().is_ok());
        for wrong in ["http://e.org/a 2.5", "http://e.org/a\tmuch", "mailto:x\t1"] {
            fs::write(&path, format!("http://e.org/\t1\n{wrong}\n")).unwrap();
            assert!(error(&given).contains("line 2"), "{wrong}");
        }
    }
}
