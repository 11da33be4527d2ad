//! Experiment that compares URL orderings by how early they fetch the important pages.
//!
//! It repeats the experiments of Cho, Garcia-Molina & Page, "Efficient crawling through URL
//! ordering" (1998), on any world that has links. In a recorded world each run has another start
//! page; in an invented one each run has another world. The web of a run is what can be reached
//! from its start. The orderings of the catalog run through the production frontier. The curves
//! of the ideal and the random crawler are computed in closed form.
//!
//! **Invariant:** all policies of a run see the same web from the same start.

mod claims;
mod contestants;
mod exact;
mod figures;
mod ground;
mod importance;
mod measured;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use policy::catalog::Wishes;
use policy::order::Scores;
use policy::query::Query;

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::rows;
use crate::run::CrawlableWorld;
use crate::workers::{ExperimentProgress, each};
use crate::world::WorldPart;

pub(crate) use importance::ranks;

use contestants::OrderingContestants;
use ground::{ReachableWeb, draw};

/// Metrics of this experiment.
pub const METRICS: &[Metric] = &[
    (
        "p_cs",
        "Crawl & Stop: of the K pages fetched, the share that is at least as important as the K-th best page; for all metrics x is the share of the web fetched",
    ),
    (
        "p_st@G",
        "Crawl & Stop with Threshold: of the pages with importance G or more, the share fetched; G = 3, 10, 100",
    ),
    (
        "p_bc",
        "Limited Buffer: of the B pages kept (--buffer, a share of the web), the share that is at least as important as the B-th best; the policy drops the page that it rates lowest",
    ),
    (
        "efficiency",
        "r_t/t: of the t pages fetched, the share that is at least as important as the t-th best; P_CS under the name of Baldi, Frasconi & Smyth (2003)",
    ),
    (
        "efficiency@G",
        "q_t(G)/t: of the t pages fetched, the share with importance G or more (Baldi, Frasconi & Smyth, 2003)",
    ),
    (
        "pagerank_mass",
        "the share of all PageRank that the pages fetched hold",
    ),
];

/// Options of this experiment.
#[derive(Debug, Clone)]
pub struct OrderingExperimentOptions {
    /// The query of the crawl, for similarity orderings and measures.
    pub query: Option<String>,
    /// Rules of the ordering `location`, such as `host:.edu=2`.
    pub location: Vec<String>,
    /// Scores of the ordering `given`.
    pub scores: Option<Arc<Scores>>,
    /// Start pages as ids or URLs, one per run. If empty, starts are drawn from the pages that
    /// reach at least half of the web; if none does, the page that reaches most is the start.
    pub starts: Vec<String>,
    /// Size of the limited buffer, as a share of the web.
    pub buffer: f64,
}

impl Default for OrderingExperimentOptions {
    fn default() -> Self {
        Self {
            query: None,
            location: Vec::new(),
            scores: None,
            starts: Vec::new(),
            buffer: 0.1,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// If the world cannot be opened or has no pages or links, if a policy or start is unknown, if
/// the query has no words, or if the buffer is not above 0 and at most 1.
pub fn run(
    setting: &ExperimentSetup,
    options: &OrderingExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    options.check()?;
    let invented = setting.is_invented();
    let mut world = setting.open(0, WorldPart::Links)?.linked()?;
    let wishes = options.wishes();
    let has_texts = CrawlableWorld::from(&world).has_texts();
    let mut contestants = OrderingContestants::of(setting, &wishes, has_texts)?;
    let mut notes = std::mem::take(&mut contestants.notes);
    let runs = setting.runs.max(1) as usize;
    let wanted = if invented { 1 } else { runs };
    let mut starts = options.starts(&CrawlableWorld::from(&world), setting.seed, wanted)?;
    let runs = if invented { runs } else { starts.len() };
    notes.extend(options.notes(setting, runs, has_texts));
    progress.begin("ordering", runs * contestants.names.len());
    let mut measured = Vec::new();
    let mut exact = exact::Exact::default();
    let mut hot = claims::Hot::default();
    for run in 0..runs {
        if invented && run > 0 {
            world = setting.open(run as u64, WorldPart::Links)?.linked()?;
            let seed = setting.seed_of(run as u64);
            starts = options.starts(&CrawlableWorld::from(&world), seed, 1)?;
        }
        let web = CrawlableWorld::from(&world);
        let ground = ReachableWeb::from(web.graph(), starts[run % starts.len()]);
        notes.push(ground.describe(run, web.graph()));
        let judged = measured::OrderingJudge {
            web,
            truths: importance::truths(&web, &ground, options.query.as_deref())?,
            ground: &ground,
            buffer: options.buffer,
            wishes: &wishes,
        };
        hot.count(&judged.truths[0].1);
        if run == 0 {
            exact = exact::Exact::of(&judged, setting.seed);
        }
        let names = contestants.names.clone();
        let found = each(names, setting.threads, progress, |name| judged.judge(&name));
        measured.push(found.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
    }
    let rows = rows(&measured, setting.against.as_deref());
    let mut claims = exact.claims();
    claims.extend(claims::claims(&measured, &contestants, hot));
    let target = hot
        .target()
        .map_or(measured::TARGETS[0], |(target, _)| target);
    let figures = figures::figures(&rows, &contestants.names, target);
    let mut findings = setting.findings("ordering", rows);
    findings.runs = runs as u32;
    Ok(Study {
        findings,
        claims,
        figures,
        notes,
    })
}

impl OrderingExperimentOptions {
    fn check(&self) -> Result<(), LabError> {
        if !(self.buffer > 0.0 && self.buffer <= 1.0) {
            let wrong = format!(
                "a buffer of {} is not a share of the web: use a number above 0 and at most 1",
                self.buffer
            );
            return Err(LabError::Wish(wrong));
        }
        match self.query.as_deref().map(Query::new) {
            Some(Err(error)) => Err(LabError::Wish(error.to_string())),
            _ => Ok(()),
        }
    }

    fn wishes(&self) -> Wishes {
        Wishes {
            query: self.query.clone(),
            location: self.location.clone(),
            scores: self.scores.clone(),
            topic: None,
        }
    }

    fn starts(
        &self,
        web: &CrawlableWorld<'_>,
        seed: u64,
        runs: usize,
    ) -> Result<Vec<usize>, LabError> {
        if web.graph().pages() == 0 {
            return Err(LabError::Wish("this world has no page to start at".into()));
        }
        if self.starts.is_empty() {
            return Ok(draw(web.graph(), seed, runs));
        }
        ground::named(web.graph(), &self.starts)
    }

    fn notes(&self, setting: &ExperimentSetup, runs: usize, has_texts: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if runs != setting.runs as usize {
            let why = match self.starts.is_empty() {
                true => {
                    "only this many starts reach enough of this web; a further run would repeat one of them"
                }
                false => "one for each start that was named",
            };
            notes.push(format!("{runs} runs instead of {}: {why}", setting.runs));
        }
        if self.query.is_some() && !has_texts {
            notes.push("this world has no texts, so nothing is measured by similarity".into());
        }
        notes
    }
}
