//! Experiment on what k parallel crawlers lose compared with a single one.
//!
//! It uses the framework of Cho & Garcia-Molina, "Parallel crawlers" (WWW 2002), as described by
//! Baldi, Frasconi & Smyth, "Modeling the Internet and the Web" (2003), §6.3. The framework says
//! which crawler is responsible for a page, and what a crawler does with links to pages of
//! others. A *team* is the k crawlers that work together in one of these ways. Each run has its
//! own seeds, and its own world if the world is invented.
//!
//! **Invariant:** in a run all teams start from the same seeds and have the same fetch budget,
//! summed over their crawlers.

mod claims;
mod division;
mod figures;
mod judged;
mod seeds;
mod teams;
#[cfg(test)]
mod tests;

use rand::seq::index::sample;

use policy::catalog::{Catalog, Wishes};
use testweb::chance::{For, stream};

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::rows;
use crate::run::CrawlableWorld;
use crate::workers::{ExperimentProgress, each};
use crate::world::{Graph, WorldPart};

use division::DividedWeb;
use judged::TeamJudge;

pub use teams::help;

/// Metrics of this experiment; x is the number of crawlers.
pub const METRICS: &[Metric] = &[
    (
        "overlap",
        "the share of all fetches that brought a page which the team had already: (N - U)/N for N fetches of U different pages; Cho & Garcia-Molina print (N - U)/U",
    ),
    (
        "coverage",
        "of the pages that can be reached from the seeds, the share that was fetched; for all metrics x is the number of crawlers",
    ),
    (
        "messages",
        "URLs sent from one crawler to another, per page fetched",
    ),
    (
        "communication",
        "bytes of these URLs, divided by the bytes of the different pages fetched (--kilobytes each)",
    ),
    (
        "quality",
        "after N fetches, where N is a quarter of the reachable pages: of the PageRank of the N best pages, the share that was fetched",
    ),
    (
        "balance",
        "fetches of the busiest crawler, in multiples of the mean; 1 if all made equally many",
    ),
];

/// Seeds per crawler of the largest team. Smaller teams start from the same seeds.
const SEEDS: usize = 4;

/// Largest team: the number of partitions in production.
const MOST: u32 = 256;

/// Options of this experiment.
#[derive(Debug, Clone)]
pub struct PartitionExperimentOptions {
    /// Team sizes to try.
    pub crawlers: Vec<u32>,
    /// Ordering that every crawler uses, an expression of the catalog.
    pub order: String,
    /// Fetches of all crawlers together, as a share of the reachable pages. `None` means until
    /// all queues are empty, which takes more fetches than there are pages if pages are fetched
    /// twice.
    pub budget: Option<f64>,
    /// Number of fetches of a crawler after which it sends its collected links.
    pub batch: usize,
    /// Mean number of hosts that share an IP address. No world has addresses, so they are drawn.
    pub hosts_per_address: f64,
    /// Kilobytes of a page, for the share of the bandwidth that messages take.
    pub kilobytes: f64,
}

impl Default for PartitionExperimentOptions {
    fn default() -> Self {
        Self {
            crawlers: vec![1, 2, 4, 8, 16],
            order: "breadth-first".into(),
            budget: None,
            batch: 1,
            hosts_per_address: 1.0,
            kilobytes: 10.0,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// If the world cannot be opened or has no links, if a team or ordering is unknown, or if a team
/// size, budget or batch is out of range.
pub fn run(
    setting: &ExperimentSetup,
    options: &PartitionExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    options.check()?;
    let teams = teams::chosen(setting)?;
    let mut world = setting.open(0, WorldPart::Links)?.linked()?;
    if world.graph().pages() == 0 {
        return Err(LabError::Wish(format!("{} has no pages", setting.world)));
    }
    let divide =
        |graph: &Graph, run| DividedWeb::of(graph, options.hosts_per_address, setting.seed_of(run));
    let mut divided = divide(world.graph(), 0);
    let mut notes: Vec<String> = divided.note().into_iter().collect();
    let runs = setting.runs.max(1);
    progress.begin(
        "partition",
        runs as usize * teams.len() * options.crawlers.len(),
    );
    let mut measured = Vec::new();
    let mut apart = true;
    for run in 0..u64::from(runs) {
        if setting.is_invented() && run > 0 {
            world = setting.open(run, WorldPart::Links)?.linked()?;
        }
        divided = divide(world.graph(), run);
        apart &= divided.parts > 1;
        let seeds = options.seeds(world.graph(), setting.seed, run);
        let judge = TeamJudge::new(CrawlableWorld::from(&world), &divided, &seeds, options);
        notes.push(judge.describe(run));
        let pieces: Vec<_> = teams
            .iter()
            .flat_map(|&team| {
                options
                    .crawlers
                    .iter()
                    .map(move |&crawlers| (team, crawlers))
            })
            .collect();
        let found = each(pieces, setting.threads, progress, |(team, crawlers)| {
            judge.judge(team, crawlers)
        });
        measured.push(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
    }
    let claims = match (apart, options.budget) {
        (true, None) => claims::claims(&measured, &options.crawlers),
        (false, None) => Vec::new(),
        (_, Some(_)) => {
            notes.push("claim BK6 is not judged: it is about crawls without a budget".into());
            Vec::new()
        }
    };
    let rows = rows(&measured, setting.against.as_deref());
    let figures = figures::figures(&rows);
    Ok(Study {
        findings: setting.findings("partition", rows),
        claims,
        figures,
        notes,
    })
}

impl PartitionExperimentOptions {
    fn check(&self) -> Result<(), LabError> {
        let wish = |wrong: String| Err(LabError::Wish(wrong));
        if self.crawlers.is_empty() || !self.crawlers.iter().all(|k| (1..=MOST).contains(k)) {
            return wish(format!(
                "a team size is out of range; it must be from 1 to {MOST} crawlers, such as 1,2,4"
            ));
        }
        if self.batch == 0 {
            return wish("the batch is 0; it must be at least 1 fetch".into());
        }
        if !(self.hosts_per_address >= 1.0 && self.hosts_per_address.is_finite()) {
            return wish(format!(
                "{} hosts per address are out of range; there must be at least 1",
                self.hosts_per_address
            ));
        }
        if !(self.kilobytes > 0.0 && self.kilobytes.is_finite()) {
            return wish(format!(
                "pages of {} kilobytes are out of range; the size must be above 0",
                self.kilobytes
            ));
        }
        if let Some(share) = self
            .budget
            .filter(|share| !(share.is_finite() && *share > 0.0))
        {
            return wish(format!(
                "the budget is {share}; it must be above 0, such as 0.5 of the reachable pages"
            ));
        }
        let order = Catalog::standard().order(&self.order, &Wishes::default());
        order.map_or_else(|error| wish(error.to_string()), |_| Ok(()))
    }

    /// Draws the seeds of a run uniformly from all pages, without repetition.
    fn seeds(&self, graph: &Graph, seed: u64, run: u64) -> Vec<usize> {
        let largest = self.crawlers.iter().max().map_or(1, |&most| most as usize);
        let count = (SEEDS * largest).min(graph.pages());
        let mut chance = stream(seed, For::Seeds, run, 0);
        sample(&mut chance, graph.pages(), count).into_vec()
    }
}
