//! The setup of one simulation: crawl, web and faults, all drawn from a seed.

use std::sync::Arc;
use std::time::Duration;

use crawl::scope::{Reach, ScopeRules};
use crawl::{Again, Ownership, Plan, Policies};
use frontier::{DomainLimits, Partition};
use policy::catalog::{Catalog, Upkeep, Wishes};
use policy::focus::{Topic, TopicDefinition};
use policy::retry::Retry;
use policy::source::SourceRules;
use policy::{Moment, Sources, Worth};

use crate::network::FaultRates;
use crate::random::SimRandom;
use crate::web::{SimWeb, TOPIC, WebShape};

/// The start time of all simulations.
pub const BEGIN: Moment = Moment::from_micros(1_600_000_000_000_000);

impl SimRandom {
    /// Returns a random duration from `from` milliseconds to just below `to + 1` milliseconds.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        // Drawn in microseconds, so that two events rarely fall into the same one.
        Duration::from_micros(self.between(from * 1000, to * 1000 + 999))
    }
}

/// A kind of crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrawlKind {
    /// Ends when no page is left to fetch.
    Once,
    /// As `Once`, and may have limits: on pages, a buffer, page budgets of domains, or a stop
    /// condition.
    Limited,
    /// Refreshes pages within a budget until it is stopped.
    Continuous,
    /// Two cores that each own half of the partitions.
    Split,
}

/// Everything that is drawn from the seed.
pub struct Setup {
    pub plan: Plan,
    pub scope: ScopeRules,
    pub order: &'static str,
    pub servers: &'static str,
    pub refresh: &'static str,
    /// The scheduler of sources; `None`: sources are not polled.
    pub sources: Option<&'static str>,
    /// Maximum number of pages that may be fetched, over all runs.
    pub pages: Option<u64>,
    pub nodes: usize,
    pub faults: FaultRates,
    /// Kills. Each number is the action of a run at which the node is killed; the last is used
    /// first.
    pub kills: Vec<u64>,
    /// Number of groups that are written before a write fails; `None`: no write fails.
    pub commits: Option<u64>,
    /// Longest duration of a commit, in milliseconds.
    pub commit_millis: u64,
    /// How many times a crawl is run again after its end, and the time between two runs.
    pub reruns: (u32, Duration),
    /// Clock jumps: when, and by how many seconds.
    pub clock: Vec<(Moment, i64)>,
    /// Actions of the operator and of searchers.
    pub operator: Vec<(Moment, OperatorOrder)>,
}

/// Most requests of a visit without a delay between them, in simulations that allow it.
pub const BURST: u16 = 3;

/// An action of an operator or a searcher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperatorOrder {
    Pause(bool),
    Stop,
    Budget(f64),
    Search,
}

impl Setup {
    /// Draws a simulation and its web.
    pub fn draw(kind: CrawlKind, random: &mut SimRandom) -> (Self, SimWeb) {
        let shape = shape(kind, random);
        let web = SimWeb::invent(&shape, &mut random.fork(), BEGIN);
        let seeds: Vec<_> = web.homes().cloned().collect();
        let named = random.between(1, 2) as usize;
        let seeds = seeds[..named.min(seeds.len())].to_vec();
        let continuous = kind == CrawlKind::Continuous;
        let budget = random.pick(&[0.002, 0.02, 0.3, 4.0]);
        let plan = Plan {
            seeds: seeds.clone(),
            connections: random.pick(&[1, 2, 4, 16]),
            per_server: random.pick(&[1, 1, 2]),
            width: random.pick(&[1, 1, 4]),
            delay: random.pick(&[
                None,
                None,
                Some(Duration::ZERO),
                Some(Duration::from_secs(3)),
            ]),
            again: match kind {
                CrawlKind::Continuous => Again::Always { budget },
                CrawlKind::Once if random.chance(0.3) => {
                    Again::OlderThan(Duration::from_secs(random.pick(&[5, 60, 3600])))
                }
                _ => Again::Never,
            },
            proxied: random.chance(0.15),
            retry: Retry {
                confirm: continuous.then_some(Duration::from_secs(3600)),
                ..Retry::default()
            },
            index: random.chance(0.5),
            ..Plan::default()
        };
        // A quarter of the simulations have bursts. The number of connections decides which, and
        // not another random draw, so that all other draws of a seed stay what they were.
        let plan = Plan {
            burst: if plan.connections == 4 { BURST } else { 1 },
            ..plan
        };
        let plan = match kind {
            CrawlKind::Limited => limited(plan, random),
            _ => plan,
        };
        let order = match (plan.stop_coverage, plan.until_found) {
            (Some(_), _) => "rankmass",
            (_, Some(_)) => "soft",
            _ => random.pick(&[
                "breadth-first",
                "backlink",
                "pagerank",
                "rankmass",
                "location",
            ]),
        };
        let polled = continuous && random.chance(0.5);
        let reach = random.pick(&[Reach::Any, Reach::Any, Reach::Domain, Reach::Host]);
        let setup = Self {
            scope: ScopeRules {
                seeds: seeds.iter().map(|seed| seed.as_str().to_owned()).collect(),
                reach: if kind == CrawlKind::Split {
                    Reach::Any
                } else {
                    reach
                },
                ..ScopeRules::default()
            },
            order,
            servers: random.pick(&["breadth-first", "best-prefix", "crawl-ability"]),
            refresh: random.pick(&["uniform(1)", "freshness", "age", "holistic", "adaptive"]),
            sources: polled.then(|| {
                random.pick(&[
                    "priced",
                    "bfs",
                    "frequency",
                    "echo-schedule",
                    "echo-newpages",
                ])
            }),
            pages: (kind == CrawlKind::Limited && random.chance(0.5))
                .then(|| random.between(1, 40)),
            nodes: if kind == CrawlKind::Split { 2 } else { 1 },
            faults: faults(random),
            kills: kills(random),
            commits: random.chance(0.2).then(|| random.between(0, 20)),
            commit_millis: random.pick(&[1, 50, 3_000]),
            reruns: match plan.again {
                Again::OlderThan(_) => {
                    let pause = random.pick(&[10, 600, 300_000]);
                    (random.pick(&[1, 2]), Duration::from_secs(pause))
                }
                _ => (0, Duration::ZERO),
            },
            clock: clock(kind, random),
            operator: operator(continuous, budget, random),
            plan,
        };
        (setup, web)
    }

    /// Returns new policies for a run.
    pub fn policies(&self) -> Policies {
        let catalog = Catalog::standard();
        let wishes = Wishes {
            location: vec!["depth=0.8".into()],
            topic: Some(Arc::new(Topic {
                name: TOPIC.to_owned(),
                known: TopicDefinition::Words(TOPIC.to_owned()),
                layers: Vec::new(),
                guide: None,
                above: Vec::new(),
            })),
            ..Wishes::default()
        };
        let (again, upkeep) = (self.plan.again, Upkeep::default());
        let continuous = matches!(again, Again::Always { .. });
        let refresh = || catalog.refresh(self.refresh, &upkeep).expect("a refresh");
        Policies {
            order: catalog.order(self.order, &wishes).expect("an ordering"),
            refresh: continuous.then(refresh),
            sources: self.sources.map(|name| {
                let scheduler = catalog.scheduler(name).expect("a scheduler");
                let settings = SourceRules {
                    older: Duration::from_secs(60),
                    ..SourceRules::default()
                };
                Sources::new(scheduler, settings)
            }),
            listings: continuous.then_some(Duration::from_secs(7200)),
            least: Worth::NONE,
            strategy: catalog.servers(self.servers).expect("a strategy"),
        }
    }

    /// Returns the partitions of a node.
    pub fn ownership(&self, node: usize) -> Ownership {
        if self.nodes == 1 {
            return Ownership::all();
        }
        let ours = |number: &u8| usize::from(*number) % self.nodes == node;
        Ownership::of((0..=255).filter(ours).map(Partition))
    }
}

fn shape(kind: CrawlKind, random: &mut SimRandom) -> WebShape {
    WebShape {
        sites: random.between(1, 8) as usize,
        pages: random.between(20, 60) as usize,
        // Each node keeps the delay of an address only for its own requests.
        shared_addresses: kind != CrawlKind::Split && random.chance(0.5),
        moves: random.chance(0.15),
        busy: random.chance(0.4),
        huge: random.chance(0.1),
    }
}

fn limited(plan: Plan, random: &mut SimRandom) -> Plan {
    let rule = random.below(8);
    Plan {
        buffer: random.chance(0.5).then(|| random.between(0, 20) as usize),
        pages_per_host: random.pick(&[u32::MAX, 3, 10]),
        domains: random.chance(0.5).then(|| DomainLimits {
            pages: random.between(1, 20) as u32,
            spare: random.pick(&[5, 8000]),
        }),
        stop_coverage: rule
            .is_multiple_of(4)
            .then(|| random.pick(&[0.1, 0.5, 0.9])),
        until_found: (rule % 4 == 1).then(|| random.between(1, 10)),
        only_found: rule % 4 == 1 && random.chance(0.5),
        ..plan
    }
}

fn clock(kind: CrawlKind, random: &mut SimRandom) -> Vec<(Moment, i64)> {
    // The clocks of two nodes would jump independently; the simulation has one clock.
    let count = match kind != CrawlKind::Split && random.chance(0.15) {
        true => random.between(1, 3),
        false => 0,
    };
    let jump = |_| {
        let at = BEGIN + random.millis(0, 120_000);
        let seconds = random.pick(&[1, 30, 3600, 200_000]);
        let sign = random.pick(&[1, -1]);
        (at, sign * seconds)
    };
    (0..count).map(jump).collect()
}

fn faults(random: &mut SimRandom) -> FaultRates {
    let mut often = |values: &[f64]| random.pick(values);
    FaultRates {
        resolve: often(&[0.0, 0.0, 0.05, 0.3]),
        connect: often(&[0.0, 0.0, 0.05, 0.3]),
        silence: often(&[0.0, 0.02, 0.1, 0.4]),
        close: often(&[0.0, 0.05, 0.3]),
        slow: often(&[0.0, 0.02, 0.2]),
    }
}

fn kills(random: &mut SimRandom) -> Vec<u64> {
    let count = random.pick(&[0, 1, 3]);
    (0..count)
        .map(|_| {
            let most = random.pick(&[10, 100, 600]);
            random.between(1, most)
        })
        .collect()
}

fn operator(continuous: bool, budget: f64, random: &mut SimRandom) -> Vec<(Moment, OperatorOrder)> {
    let mut orders = Vec::new();
    let length = match continuous {
        // The milliseconds in which the budget pays for about 80 fetches.
        true => ((80.0 / budget) as u64 * 1000).max(60_000),
        false => 60_000,
    };
    if random.chance(0.3) {
        let at = BEGIN + random.millis(0, length / 2);
        orders.push((at, OperatorOrder::Pause(true)));
        orders.push((
            at + random.millis(0, length / 4),
            OperatorOrder::Pause(false),
        ));
    }
    if random.chance(0.15) {
        orders.push((BEGIN + random.millis(0, length), OperatorOrder::Stop));
    }
    for _ in 0..random.pick(&[0, 0, 4]) {
        let at = BEGIN + random.millis(0, length);
        orders.push((at, OperatorOrder::Search));
        if continuous {
            let factor = random.pick(&[0.1, 0.5, 3.0]);
            orders.push((at, OperatorOrder::Budget(budget * factor)));
        }
    }
    if continuous {
        orders.push((BEGIN + Duration::from_millis(length), OperatorOrder::Stop));
    }
    orders
}
