//! One run of the servers experiment: one web, crawled with all strategies.

use std::sync::Arc;

use policy::Policy;
use policy::catalog::Servers;
use policy::order::{BreadthFirst, Given, Scores};

use super::judge::Judge;
use super::measured::{BASELINE, measured};
use super::{ServersExperimentOptions, protocols, uses_quality};
use crate::LabError;
use crate::findings::Measured;
use crate::measure::QualityGain;
use crate::run::servers::{Crawled, Crawler, Dial, SimulatedNetwork, SimulatedProtocol, crawl};
use crate::workers::{ExperimentProgress, each};
use crate::world::Graph;

/// One run.
pub(super) struct StrategyTrial<'a> {
    pub options: &'a ServersExperimentOptions,
    /// Names of the strategies to report.
    pub wanted: &'a [&'static str],
    /// The strategies to run, the baseline first.
    pub strategies: &'a [Servers],
    pub network: &'a SimulatedNetwork,
    pub seed: u64,
    pub threads: usize,
    pub progress: &'a dyn ExperimentProgress,
}

/// A quality function and its value for each page.
struct JudgedPages {
    judge: Judge,
    qualities: Vec<f64>,
    scores: Arc<Scores>,
}

/// A crawl to make.
struct PlannedCrawl<'a> {
    strategy: &'a Servers,
    /// Quality that the strategy may use; `None` if it uses none.
    known: Option<&'a JudgedPages>,
}

impl StrategyTrial<'_> {
    /// Crawls with all strategies and returns the numbers of this run.
    pub fn run(&self) -> Result<Vec<Measured>, LabError> {
        let graph = self.network.graph();
        let judges = self.options.quality.iter();
        let judged: Vec<JudgedPages> = judges
            .map(|&judge| JudgedPages::new(judge, graph, self.seed))
            .collect();
        let crawls = self.crawls(&judged);
        let mut numbers = Vec::new();
        for judged in &judged {
            let is_own = |strategy: &str, planned: &PlannedCrawl<'_>| {
                let known = planned
                    .known
                    .is_none_or(|known| known.judge == judged.judge);
                known && planned.strategy.name == strategy
            };
            let gain = |strategy: &str| {
                let mut crawls = crawls.iter();
                let (_, crawled) = crawls.find(|(planned, _)| is_own(strategy, planned))?;
                let gain = QualityGain::new(crawled.fetched.clone(), &judged.qualities);
                Some((gain, crawled.dials))
            };
            let base = gain(BASELINE).filter(|(base, _)| base.total() > 0.0);
            let (base, _) = base.ok_or_else(|| {
                LabError::Wish("the servers of this world take no time, or have no pages".into())
            })?;
            for strategy in self.wanted {
                if let Some((own, dials)) = gain(strategy) {
                    numbers.extend(measured(strategy, judged.judge, &own, dials, &base));
                }
            }
        }
        if self.options.http.is_none() {
            numbers.extend(self.compare_protocols());
        }
        Ok(numbers)
    }

    /// Crawls with every strategy, once per quality function. A strategy that ignores quality
    /// crawls only once.
    fn crawls<'a>(&'a self, judged: &'a [JudgedPages]) -> Vec<(PlannedCrawl<'a>, Crawled)> {
        let mut planned = Vec::new();
        for strategy in self.strategies {
            if uses_quality(strategy.name) {
                let known = judged.iter().map(Some);
                planned.extend(known.map(|known| PlannedCrawl { strategy, known }));
            } else {
                let known = None;
                planned.push(PlannedCrawl { strategy, known });
            }
        }
        let crawler = Crawler {
            connections: self.options.connections,
            http: self.options.http.unwrap_or(SimulatedProtocol::Http11),
            dial: self.dial(),
            costs: self.options.applied_costs(),
            pages: None,
        };
        let what = format!("strategies, seed {}", self.seed);
        self.progress.begin(&what, planned.len());
        each(planned, self.threads, self.progress, |planned| {
            let crawled = self.crawl(&planned, &crawler);
            (planned, crawled)
        })
    }

    fn compare_protocols(&self) -> Vec<Measured> {
        let (dial, costs) = (self.dial(), self.options.applied_costs());
        let pages = self.network.graph().pages();
        let all = protocols::crawlers(pages, dial, costs).map(|crawler| (self.network, crawler));
        let fast = protocols::fast(self.network);
        let fast = fast.iter().flat_map(|network| {
            let crawlers = protocols::fast_crawlers(network.graph().pages(), dial, costs);
            crawlers.map(move |crawler| (network, crawler))
        });
        let crawls: Vec<(&SimulatedNetwork, Crawler)> = all.chain(fast).collect();
        let what = format!("protocols, seed {}", self.seed);
        self.progress.begin(&what, crawls.len());
        let crawled = each(crawls, self.threads, self.progress, |(network, crawler)| {
            let strategy = (self.strategies[0].build)();
            let crawled = crawl(network, Box::new(BreadthFirst), strategy, &crawler);
            match std::ptr::eq(network, self.network) {
                true => vec![protocols::measured(&crawler, &crawled)],
                false => protocols::fast_measured(&crawler, &crawled),
            }
        });
        crawled.concat()
    }

    fn crawl(&self, planned: &PlannedCrawl<'_>, crawler: &Crawler) -> Crawled {
        let strategy = (planned.strategy.build)();
        crawl(self.network, planned.order(), strategy, crawler)
    }

    fn dial(&self) -> Dial {
        if self.options.loopback {
            Dial::Loopback
        } else {
            Dial::Network
        }
    }
}

impl PlannedCrawl<'_> {
    fn order(&self) -> Box<dyn Policy> {
        match self.known {
            Some(known) => Box::new(Given::new(Arc::clone(&known.scores))),
            None => Box::new(BreadthFirst),
        }
    }
}

impl JudgedPages {
    fn new(judge: Judge, graph: &Graph, seed: u64) -> Self {
        let qualities = judge.qualities(graph, seed);
        let mut scores = Scores::default();
        for (page, &quality) in qualities.iter().enumerate() {
            scores.insert(graph.url(page).as_str(), quality);
        }
        Self {
            judge,
            qualities,
            scores: Arc::new(scores),
        }
    }
}
