//! Experiment that compares server strategies by how fast they gain quality.
//!
//! It repeats the experiment of Cao, Jiang & Singh, "Scheduling web crawl for better performance
//! and quality" (2003), §5, in the [simulator](crate::run::servers). `cargo xtask bench servers`
//! repeats it with the real program and sockets, and uses the same measures and claims.
//!
//! **Invariant:** in a run all strategies crawl the same web to its end, from the home pages of
//! all servers. Strategies that use quality receive the true quality of a URL at its discovery,
//! as in the paper. `breadth-first` and `performance` order pages breadth-first.

mod claims;
mod figures;
mod judge;
mod measured;
mod protocols;
pub mod quality;
mod trial;

use policy::catalog::{Catalog, Servers};

use super::{ExperimentSetup, Study};
use crate::LabError;
use crate::findings::rows;
use crate::run::servers::{CrawlerCosts, SimulatedNetwork, SimulatedProtocol};
use crate::workers::ExperimentProgress;
use crate::world::{Linked, World, WorldPart};
use trial::StrategyTrial;

pub use claims::claims;
pub use judge::Judge;
pub use measured::{BASELINE, METRICS, measured};

/// Options of this experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ServersExperimentOptions {
    /// Connections of the crawler.
    pub connections: u16,
    /// Quality functions to measure by.
    pub quality: Vec<Judge>,
    /// HTTP version. `None` means 1.1, with an additional comparison of all versions.
    pub http: Option<SimulatedProtocol>,
    /// Factor on all times of servers.
    pub slowness: f64,
    /// What closing, slow start and the processor cost.
    pub costs: CrawlerCosts,
    /// Whether connections open without delay, as on loopback. The crawler then measures shorter
    /// connection times and longer response times, and `costs` are not applied.
    pub loopback: bool,
}

impl Default for ServersExperimentOptions {
    /// The paper's number of connections, its two quality functions, and the costs of its crawler.
    fn default() -> Self {
        Self {
            connections: 64,
            quality: Judge::ALL.to_vec(),
            http: None,
            slowness: 1.0,
            costs: CrawlerCosts::PUBLISHED,
            loopback: false,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// If the world cannot be read or has no pages or links, if a strategy is unknown, or if an option
/// is out of range.
pub fn run(
    setting: &ExperimentSetup,
    options: &ServersExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let open = |seed| World::open_part(&setting.world, &setting.knobs, seed, WorldPart::Links);
    if setting.is_invented() {
        return study(setting, options, progress, &|seed| match open(seed)? {
            World::Servers(web) => Ok(SimulatedNetwork::of_web(&web, options.slowness)),
            other => network(&other.linked()?, seed, options),
        });
    }
    let world = open(setting.seed)?.linked()?;
    study(setting, options, progress, &|seed| {
        network(&world, seed, options)
    })
}

/// Describes the least time, in seconds, that any strategy needs in this network.
pub fn limits(
    network: &SimulatedNetwork,
    seed: u64,
    http: SimulatedProtocol,
    connections: u16,
) -> String {
    let (all, slowest) = network.least_seconds(http, connections);
    format!(
        "seed {seed}: {} pages on {} servers; {connections} connections that are always busy need {all:.1} s, the slowest \
         server alone {slowest:.1} s",
        network.graph().pages(),
        network.servers().len(),
    )
}

/// Builds a network with the hosts of a world as servers and latencies drawn from the seed.
fn network(
    world: &Linked,
    seed: u64,
    options: &ServersExperimentOptions,
) -> Result<SimulatedNetwork, LabError> {
    let graph = world.graph();
    if graph.pages() == 0 {
        return Err(LabError::Wish("this world has no pages".into()));
    }
    Ok(SimulatedNetwork::of_graph(graph, seed, options.slowness))
}

/// Runs the experiment in the network of each run's seed.
fn study(
    setting: &ExperimentSetup,
    options: &ServersExperimentOptions,
    progress: &dyn ExperimentProgress,
    network: &dyn Fn(u64) -> Result<SimulatedNetwork, LabError>,
) -> Result<Study, LabError> {
    check(options)?;
    let (wanted, strategies) = strategies(setting)?;
    let mut notes: Vec<String> = NOTES.map(str::to_owned).into();
    notes.push(options.describe_costs());
    let mut runs = Vec::new();
    let mut fewest = usize::MAX;
    for run in 0..u64::from(setting.runs.max(1)) {
        let seed = setting.seed_of(run);
        let network = network(seed)?;
        fewest = fewest.min(network.servers().len());
        let http = options.http.unwrap_or(SimulatedProtocol::Http11);
        notes.push(limits(&network, seed, http, options.connections));
        let trial = StrategyTrial {
            options,
            wanted: &wanted,
            strategies: &strategies,
            network: &network,
            seed,
            threads: setting.threads,
            progress,
        };
        runs.push(trial.run()?);
    }
    let rows = rows(&runs, setting.against.as_deref());
    let judges = &options.quality;
    let judged = judges.iter().flat_map(|&judge| claims(judge, &rows));
    let mut claims: Vec<_> = judged.collect();
    if fewest <= usize::from(options.connections) {
        claims.clear();
        notes.push(format!(
            "Claims are not judged: with only {fewest} servers, no server waits for a connection, and a strategy has no choice."
        ));
    }
    if fewest > protocols::MOST {
        claims.extend(protocols::claims(&rows));
    }
    if options.connections != PUBLISHED {
        notes.push(format!(
            "The paper used {PUBLISHED} connections; its claims are judged here with {}.",
            options.connections
        ));
    }
    claims.extend(protocols::fast_claims(&rows));
    let mut figures = figures::figures(judges, options.connections, &rows);
    figures.extend(protocols::figures(&rows));
    Ok(Study {
        findings: setting.findings("servers", rows),
        claims,
        figures,
        notes,
    })
}

impl ServersExperimentOptions {
    /// Returns the costs that apply.
    fn applied_costs(&self) -> CrawlerCosts {
        if self.loopback {
            CrawlerCosts::NONE
        } else {
            self.costs
        }
    }

    fn describe_costs(&self) -> String {
        let costs = self.applied_costs();
        let tcp = match costs.tcp {
            true => {
                "A closing connection keeps its place for a round trip, and an answer takes the round trips of slow start."
            }
            false => {
                "Connections close in no time, and an answer arrives at once, whatever its size."
            }
        };
        let millis = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        format!(
            "{tcp} The processor takes {} ms for an answer and {} ms for a connection, one after the other.",
            millis(costs.per_page),
            millis(costs.per_connection)
        )
    }
}

/// Rejects options that cannot be simulated.
fn check(options: &ServersExperimentOptions) -> Result<(), LabError> {
    let wish = |text: &str| Err(LabError::Wish(text.to_owned()));
    if options.connections == 0 {
        return wish("a crawler needs at least one connection");
    }
    if options.quality.is_empty() {
        return wish("there is no quality to judge by; there are pagerank and zipf");
    }
    if !(1e-6..=1e6).contains(&options.slowness) {
        return wish("the slowness of servers must be from 0.000001 to 1000000");
    }
    Ok(())
}

/// Returns the names of the strategies to report and the strategies to run.
///
/// The baseline is always run, and first, since the times of the others are relative to it.
fn strategies(setting: &ExperimentSetup) -> Result<(Vec<&'static str>, Vec<Servers>), LabError> {
    let catalog = Catalog::standard();
    let known = catalog.strategies().iter();
    let names: Vec<&str> = known.map(|strategy| strategy.name).collect();
    let mut wanted = Vec::new();
    for name in setting.policies.iter().chain(&setting.against) {
        let known = names.iter().find(|known| *known == name);
        let known = known.ok_or_else(|| {
            let names = names.join(", ");
            LabError::Wish(format!(
                "there is no server strategy {name:?}; there are {names}"
            ))
        })?;
        if !wanted.contains(known) {
            wanted.push(*known);
        }
    }
    if setting.policies.is_empty() {
        wanted = names;
    }
    let mut run: Vec<Servers> = catalog.strategies().to_vec();
    run.retain(|strategy| strategy.name == BASELINE || wanted.contains(&strategy.name));
    run.sort_by_key(|strategy| strategy.name != BASELINE);
    Ok((wanted, run))
}

/// Returns whether a strategy uses the quality of pages.
fn uses_quality(strategy: &str) -> bool {
    !matches!(strategy, BASELINE | "performance")
}

/// Number of connections in the paper's experiment.
const PUBLISHED: u16 = 64;

/// Notes that every study of this experiment has.
const NOTES: [&str; 4] = [
    "As in the paper, quality, crawl-ability and best-prefix know the true quality of a page from its discovery on, \
     which no real crawler does; breadth-first and performance do not.",
    "The paper does not print its times: round trips of 30 ms and answers in 80 ms at the median, each log-normal \
     with a standard deviation of 1 in the logarithm, are a guess. Name lookup costs nothing, and the network has no bandwidth limit.",
    "Every server's home page is a seed, and robots.txt is asked for before the first page of a server.",
    "Times are shares of those that breadth-first took for the whole web in the same run.",
];

#[cfg(test)]
mod tests;
