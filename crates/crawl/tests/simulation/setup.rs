//! What one simulation is: the crawl, the web, and what goes wrong, all drawn from a seed.

use std::sync::Arc;
use std::time::Duration;

use crawl::scope::{Reach, ScopeRules};
use crawl::{Again, Ownership, Plan, Policies};
use frontier::{DomainLimits, Partition};
use policy::catalog::{Catalog, Upkeep, Wishes};
use policy::focus::{Known, Topic};
use policy::retry::Retry;
use policy::source::Settings;
use policy::{Moment, Sources, Worth};

use crate::network::Faults;
use crate::random::Random;
use crate::web::{Shape, TOPIC, Web};

/// When all simulations begin.
pub const BEGIN: Moment = Moment::from_micros(1_600_000_000_000_000);

/// A kind of crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ends when nothing is left to fetch.
    Once,
    /// The same, with limits on pages, a buffer, or budgets of domains.
    Limited,
    /// Refreshes pages within a budget until it is stopped.
    Continuous,
    /// Two cores that own half of the partitions each.
    Split,
}

/// Everything that is drawn.
pub struct Setup {
    pub plan: Plan,
    pub scope: ScopeRules,
    pub order: &'static str,
    pub servers: &'static str,
    pub refresh: &'static str,
    /// How sources of new pages are polled; `None`: they are not.
    pub sources: Option<&'static str>,
    /// Pages that may be fetched, in all runs together.
    pub pages: Option<u64>,
    pub nodes: usize,
    pub faults: Faults,
    /// Kills, each after so many actions of its run.
    pub kills: Vec<u64>,
    /// Groups that are written before a write fails; `None`: none does.
    pub commits: Option<u64>,
    /// How long a commit takes at most, in milliseconds.
    pub commit_millis: u64,
    /// How often a crawl that has ended is run again, and how long after.
    pub reruns: (u32, Duration),
    /// When the clock jumps, and by how many seconds.
    pub clock: Vec<(Moment, i64)>,
    /// Stops, pauses and the like.
    pub operator: Vec<(Moment, Order)>,
}

/// What an operator or a searcher does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    Pause(bool),
    Stop,
    Budget(f64),
    Search,
}

impl Setup {
    /// Draws a simulation and its web.
    pub fn draw(kind: Kind, random: &mut Random) -> (Self, Web) {
        let shape = shape(kind, random);
        let web = Web::invent(&shape, &mut random.fork(), BEGIN);
        let seeds: Vec<_> = web.homes().cloned().collect();
        let named = random.between(1, 2) as usize;
        let seeds = seeds[..named.min(seeds.len())].to_vec();
        let continuous = kind == Kind::Continuous;
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
                Kind::Continuous => Again::Always { budget },
                Kind::Once if random.chance(0.3) => {
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
        let plan = match kind {
            Kind::Limited => limited(plan, random),
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
                reach: if kind == Kind::Split {
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
            pages: (kind == Kind::Limited && random.chance(0.5)).then(|| random.between(1, 40)),
            nodes: if kind == Kind::Split { 2 } else { 1 },
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

    /// The policies, made anew for each run.
    pub fn policies(&self) -> Policies {
        let catalog = Catalog::standard();
        let wishes = Wishes {
            location: vec!["depth=0.8".into()],
            topic: Some(Arc::new(Topic {
                name: TOPIC.to_owned(),
                known: Known::Words(TOPIC.to_owned()),
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
                let settings = Settings {
                    older: Duration::from_secs(60),
                    ..Settings::default()
                };
                Sources::new(scheduler, settings)
            }),
            listings: continuous.then_some(Duration::from_secs(7200)),
            least: Worth::NONE,
            strategy: catalog.servers(self.servers).expect("a strategy"),
        }
    }

    /// The partitions of a node.
    pub fn ownership(&self, node: usize) -> Ownership {
        if self.nodes == 1 {
            return Ownership::all();
        }
        let ours = |number: &u8| usize::from(*number) % self.nodes == node;
        Ownership::of((0..=255).filter(ours).map(Partition))
    }
}

fn shape(kind: Kind, random: &mut Random) -> Shape {
    Shape {
        sites: random.between(1, 8) as usize,
        pages: random.between(20, 60) as usize,
        // Two nodes do not know of each other's requests.
        shared_addresses: kind != Kind::Split && random.chance(0.5),
        moves: random.chance(0.15),
        busy: random.chance(0.4),
        huge: random.chance(0.1),
    }
}

fn limited(plan: Plan, random: &mut Random) -> Plan {
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

fn clock(kind: Kind, random: &mut Random) -> Vec<(Moment, i64)> {
    // Two nodes have a clock each.
    let count = match kind != Kind::Split && random.chance(0.15) {
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

fn faults(random: &mut Random) -> Faults {
    let mut often = |values: &[f64]| random.pick(values);
    Faults {
        resolve: often(&[0.0, 0.0, 0.05, 0.3]),
        connect: often(&[0.0, 0.0, 0.05, 0.3]),
        silence: often(&[0.0, 0.02, 0.1, 0.4]),
        close: often(&[0.0, 0.05, 0.3]),
        slow: often(&[0.0, 0.02, 0.2]),
    }
}

fn kills(random: &mut Random) -> Vec<u64> {
    let count = random.pick(&[0, 1, 3]);
    (0..count)
        .map(|_| {
            let most = random.pick(&[10, 100, 600]);
            random.between(1, most)
        })
        .collect()
}

fn operator(continuous: bool, budget: f64, random: &mut Random) -> Vec<(Moment, Order)> {
    let mut orders = Vec::new();
    let length = match continuous {
        // About 80 fetches.
        true => ((80.0 / budget) as u64 * 1000).max(60_000),
        false => 60_000,
    };
    if random.chance(0.3) {
        let at = BEGIN + random.millis(0, length / 2);
        orders.push((at, Order::Pause(true)));
        orders.push((at + random.millis(0, length / 4), Order::Pause(false)));
    }
    if random.chance(0.15) {
        orders.push((BEGIN + random.millis(0, length), Order::Stop));
    }
    for _ in 0..random.pick(&[0, 0, 4]) {
        let at = BEGIN + random.millis(0, length);
        orders.push((at, Order::Search));
        if continuous {
            let factor = random.pick(&[0.1, 0.5, 3.0]);
            orders.push((at, Order::Budget(budget * factor)));
        }
    }
    if continuous {
        orders.push((BEGIN + Duration::from_millis(length), Order::Stop));
    }
    orders
}
