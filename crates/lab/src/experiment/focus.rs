//! Experiment that compares focused-crawling methods by the fetches they need to find a topic.
//!
//! It repeats the experiments of Chakrabarti, van den Berg & Dom, "Focused crawling" (1999), as
//! Baldi, Frasconi & Smyth (2003) describe them in §6.2. The worlds have labelled pages: a label
//! is the topic, and the pages with that label are the targets. The methods of the catalog run
//! through the production frontier. Breadth-first, backlink and random order are the lower bound,
//! and an omniscient crawler is the upper bound. Between them are crawlers that know part of the
//! truth (`oracle`).
//!
//! **Invariant:** pages that a classifier was trained on never count as found (`split`). All
//! policies of a run see the same web from the same starts.

mod claims;
mod figures;
mod judged;
mod locality;
mod omniscient;
mod oracle;
mod ranks;
mod split;
#[cfg(test)]
mod tests;
mod training;

use policy::catalog::{Catalog, Wishes};

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{Measured, rows};
use crate::run::CrawlableWorld;
use crate::workers::{ExperimentProgress, each};
use crate::world::{Labels, WorldPart};

use judged::FocusJudge;
use omniscient::OMNISCIENT;
use split::TopicSplit;

/// Metrics of this experiment.
pub const METRICS: &[Metric] = &[
    (
        "harvest",
        "of the pages fetched so far, the share that are targets: pages of the topic without training and start pages; x is the share of the reachable pages fetched",
    ),
    (
        "recall",
        "of the targets that can be reached, the share that was fetched; x is the share of the reachable pages fetched",
    ),
    (
        "area",
        "the mean of recall over all numbers of fetches: about .5 for a random order, higher is better",
    ),
    (
        "relevance",
        "of the fetches in each twentieth of the crawl, the share that are targets (Figure 6.3 of Baldi, Frasconi & Smyth, 2003); x is the end of the twentieth",
    ),
    (
        "similarity",
        "the mean cosine of the TF-IDF vectors of two texts, for pairs of random, sibling and linked pages, and of anchor texts and pages (Figure 6.2 of that book); x numbers the kinds of pairs",
    ),
];

/// Lower bounds: orders that know nothing about topics.
const FLOOR: [&str; 3] = ["breadth-first", "backlink", "random"];
/// Upper bounds: crawlers that know facts which a real crawler cannot know.
const BOUNDS: [&str; 3] = [OMNISCIENT, oracle::AHEAD, oracle::LINKS];
/// Greatest number of labels used as topics when the user names none.
const MOST_TARGETS: usize = 5;
/// Least number of topic pages on a site that is crawled on its own. A label is a
/// topic by default if it has at least twice as many pages. A run fails if fewer than half as many
/// targets can be reached from the start pages.
const LEAST_TARGETS: usize = 10;

/// Options of this experiment.
#[derive(Debug, Clone)]
pub struct FocusExperimentOptions {
    /// Labels used as topics. Empty means the five most frequent ones except `other`, without
    /// labels of fewer than 20 pages.
    pub targets: Vec<String>,
    /// Number of topic pages that a crawl starts from. A start page must
    /// reach at least half as many pages as the one that reaches most. If too few topic pages do,
    /// fewer are used.
    pub starts: u32,
    /// Whether every policy first crawls the training pages and keeps what it learned there. If
    /// not, a policy knows only the classifiers that were trained on these pages.
    pub experienced: bool,
}

/// Runs the experiment.
///
/// # Errors
/// If the world cannot be opened or has no labels or texts, if a label or policy is unknown, if a
/// label has too few pages to train on and to search for, or if `experienced` is set for a web that
/// is crawled as a whole.
pub fn run(
    setting: &ExperimentSetup,
    options: &FocusExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let (mut world, mut labels) = setting.open(0, WorldPart::Links)?.topical()?;
    let names = contestants(setting)?;
    let runs = u64::from(setting.runs.max(1));
    let targets = options.targets(&labels)?;
    progress.begin("focus", runs as usize * targets.len() * names.len());
    let mut notes = Vec::new();
    let mut measured = Vec::new();
    let mut pairs = Vec::new();
    for run in 0..runs {
        if setting.is_invented() && run > 0 {
            (world, labels) = setting.open(run, WorldPart::Links)?.topical()?;
        }
        let web = CrawlableWorld::from(&world);
        let seed = setting.seed_of(run);
        if run == 0 || setting.is_invented() {
            pairs.push(locality::measured(&world, seed));
        }
        let mut found: Vec<Vec<Measured>> = Vec::new();
        for target in &targets {
            let split =
                TopicSplit::draw(&world, &labels, target, options.starts, setting.seed, run)?;
            if options.experienced && !split.is_apart() {
                let wrong = "--experienced does not apply: this web is crawled as a whole, so there is no other part that a policy could have crawled before";
                return Err(LabError::Wish(wrong.into()));
            }
            let topic = training::learn(&world, &labels, target, &split)?;
            notes.push(split.describe(run, target, &topic, world.graph()));
            let judge = FocusJudge {
                web,
                split: &split,
                topic: &topic,
                target,
                experienced: options.experienced,
            };
            let each = each(names.clone(), setting.threads, progress, |name| {
                judge.judge(&name)
            });
            found.push(each.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
        }
        found.push(judged::over_targets(&found));
        measured.push(found.concat());
    }
    let mut rows = rows(&measured, setting.against.as_deref());
    rows.extend(crate::findings::rows(&pairs, None));
    notes.extend(ranks::notes(&measured, &names));
    let mut claims = claims::of_crawls(&measured, &names);
    claims.extend(claims::of_links(&pairs));
    let figures = figures::figures(&rows, &names);
    Ok(Study {
        findings: setting.findings("focus", rows),
        claims,
        figures,
        notes,
    })
}

impl Default for FocusExperimentOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            starts: 1,
            experienced: false,
        }
    }
}

impl FocusExperimentOptions {
    fn targets(&self, labels: &Labels) -> Result<Vec<String>, LabError> {
        let names = labels.names();
        for target in &self.targets {
            if !names.contains(target) {
                let names = names.join(", ");
                let wrong = format!("no page has the label {target:?}; the labels are {names}");
                return Err(LabError::Wish(wrong));
            }
        }
        if !self.targets.is_empty() {
            return Ok(self.targets.clone());
        }
        let mut counts = vec![0usize; names.len()];
        for page in 0..labels.pages() {
            labels
                .of(page)
                .iter()
                .for_each(|&label| counts[label as usize] += 1);
        }
        let mut common: Vec<usize> = (0..names.len())
            .filter(|&label| counts[label] >= 2 * LEAST_TARGETS && names[label] != "other")
            .collect();
        common.sort_by_key(|&label| std::cmp::Reverse(counts[label]));
        common.truncate(MOST_TARGETS);
        Ok(common
            .into_iter()
            .map(|label| names[label].clone())
            .collect())
    }
}

/// Returns the policies that the user named, or else the bounds and all focused methods; also
/// the policy that the others are compared with. There are no duplicates.
fn contestants(setting: &ExperimentSetup) -> Result<Vec<String>, LabError> {
    let catalog = Catalog::standard();
    let mut names: Vec<String> = setting.policies.clone();
    if names.is_empty() {
        names.extend(BOUNDS.iter().map(|name| (*name).to_owned()));
        names.extend(FLOOR.iter().map(|name| (*name).to_owned()));
        names.extend(catalog.focuses().map(|order| order.name.to_owned()));
    }
    names.extend(setting.against.clone());
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    let topic = policy::focus::Topic::words("topic").map(std::sync::Arc::new);
    let wishes = Wishes {
        topic: topic.ok(),
        ..Wishes::default()
    };
    for name in once.iter().filter(|name| !BOUNDS.contains(&name.as_str())) {
        let made = catalog.order(name, &wishes);
        let bounds = BOUNDS.join("`, `");
        made.map_err(|error| LabError::Wish(format!("{error}; or `{bounds}`")))?;
    }
    Ok(once)
}
