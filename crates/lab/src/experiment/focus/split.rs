//! Split of a labelled web into training pages and targets.
//!
//! If at least two sites (registrable domains) are large enough (see [`sites`]), a run crawls one
//! of them and trains on the pages of all other sites. If not, the whole web is crawled and a
//! random half of its pages is the training set. In that case training pages are fetched and
//! counted like others, but they are no targets.
//!
//! **Invariant:** no page is both a training page and a target, and the start pages do not count
//! as found.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use policy::focus::Topic;
use testweb::chance::{For, stream};

use super::LEAST_TARGETS;
use crate::LabError;
use crate::kinds::{Graph, Labels, Linked, ReachSearch};

/// Minimum share of all pages that a site needs to be crawled on its own.
const SITE: f64 = 0.05;
/// Minimum number of pages that such a site needs.
const SITE_PAGES: f64 = 200.0;

/// The split of one run for one target.
#[derive(Debug, Clone)]
pub(super) struct TopicSplit {
    /// Start pages of the crawl.
    pub starts: Vec<usize>,
    /// Whether a page belongs to the part of the web that is crawled.
    pub ground: Vec<bool>,
    /// Number of pages that can be reached from the starts, including the starts.
    pub reached: usize,
    /// Whether a page is a target: a page of the topic that can be reached, without training and
    /// start pages.
    pub targets: Vec<bool>,
    /// Whether a page belongs to the training set.
    pub training: Vec<bool>,
    site: Option<String>,
}

impl TopicSplit {
    /// Draws the split of a run with up to `starts` start pages, determined by seed, run and
    /// target.
    ///
    /// # Errors
    /// If fewer targets than half of [`LEAST_TARGETS`] can be reached.
    pub fn draw(
        world: &Linked,
        labels: &Labels,
        target: &str,
        starts: u32,
        seed: u64,
        run: u64,
    ) -> Result<Self, LabError> {
        let graph = world.graph();
        let is_target = |page: usize| has(labels, page, target);
        let sites = sites(graph, &is_target);
        let (site, ground, training) = match sites.len() {
            0 | 1 => {
                let mut chance = stream(seed, For::HeldOut, run, 0);
                let training: Vec<bool> = (0..graph.pages()).map(|_| chance.random()).collect();
                (None, vec![true; graph.pages()], training)
            }
            count => {
                let site = &sites[run as usize % count];
                let inside = |page: usize| graph.url(page).registrable_domain() == site;
                let ground: Vec<bool> = (0..graph.pages()).map(inside).collect();
                let training: Vec<bool> = ground.iter().map(|inside| !inside).collect();
                (Some(site.clone()), ground, training)
            }
        };
        let within = within(graph, &ground);
        let starts = begin(
            &within,
            &is_target,
            starts,
            &mut stream(seed, For::Starts, run, 1),
        );
        let mut reach = ReachSearch::new(&within);
        let reached = reach.of(&starts).to_vec();
        let mut targets = vec![false; graph.pages()];
        for &page in &reached {
            targets[page] = is_target(page) && !training[page] && !starts.contains(&page);
        }
        if targets.iter().filter(|target| **target).count() < LEAST_TARGETS / 2 {
            return Err(too_few(target));
        }
        Ok(Self {
            starts,
            ground,
            reached: reached.len(),
            targets,
            training,
            site,
        })
    }

    /// Creates a split in which the whole web is crawled and these pages are the targets.
    #[cfg(test)]
    pub fn by_hand(start: usize, targets: &[bool]) -> Self {
        Self {
            starts: vec![start],
            ground: vec![true; targets.len()],
            reached: targets.len(),
            targets: targets.to_vec(),
            training: vec![false; targets.len()],
            site: None,
        }
    }

    /// Returns whether the training pages lie outside the crawled part, so that a policy may have
    /// crawled them before.
    pub fn is_apart(&self) -> bool {
        self.site.is_some()
    }

    /// Returns the number of targets that can be reached.
    pub fn wanted(&self) -> usize {
        self.targets.iter().filter(|target| **target).count()
    }

    pub fn describe(&self, run: u64, target: &str, topic: &Topic, graph: &Graph) -> String {
        let learned = match &topic.known {
            policy::focus::TopicDefinition::Examples(bayes) => bayes.learned().examples,
            policy::focus::TopicDefinition::Words(_) | policy::focus::TopicDefinition::Where(_) => {
                [0, 0]
            }
        };
        let from = match &self.site {
            Some(site) => format!("{site} alone; learned from all other sites"),
            None => "the whole web; learned from a random half of its pages, which are no targets"
                .to_owned(),
        };
        let first = self
            .starts
            .first()
            .map_or("", |&page| graph.url(page).as_str());
        let others = match self.starts.len() {
            0 | 1 => String::new(),
            starts => format!(" and {} others", starts - 1),
        };
        format!(
            "run {}, {target}: {from} ({} pages of the topic, {} others); from {first}{others}, {} pages with {} targets can be reached",
            run + 1,
            learned[1],
            learned[0],
            self.reached,
            self.wanted()
        )
    }
}

/// Returns whether a page has this label.
pub(super) fn has(labels: &Labels, page: usize, target: &str) -> bool {
    let mut names = labels
        .of(page)
        .iter()
        .map(|&label| &labels.names()[label as usize]);
    names.any(|name| name == target)
}

/// Returns the subgraph of the links within `ground`; pages keep their indices.
fn within(graph: &Graph, ground: &[bool]) -> Graph {
    let urls: Vec<&str> = (0..graph.pages())
        .map(|page| graph.url(page).as_str())
        .collect();
    let edges = graph
        .edges()
        .filter(|(from, to)| ground[*from] && ground[*to]);
    Graph::new(urls.into_iter(), edges)
}

/// Returns the sites that can be crawled on their own, largest first.
///
/// Each has at least the share [`SITE`] of all pages, [`SITE_PAGES`] pages and [`LEAST_TARGETS`]
/// pages of the topic. Empty if the largest of them holds more than half of the web.
fn sites(graph: &Graph, is_target: &impl Fn(usize) -> bool) -> Vec<String> {
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for page in 0..graph.pages() {
        let size = sizes
            .entry(graph.url(page).registrable_domain())
            .or_default();
        size.0 += 1;
        size.1 += usize::from(is_target(page));
    }
    let least = (SITE * graph.pages() as f64).max(SITE_PAGES);
    let mut large: Vec<(&str, usize)> = sizes
        .into_iter()
        .filter(|(_, (pages, targets))| *pages as f64 >= least && *targets >= LEAST_TARGETS)
        .map(|(site, (pages, _))| (site, pages))
        .collect();
    large.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
    if large
        .first()
        .is_some_and(|(_, pages)| pages * 2 > graph.pages())
    {
        return Vec::new();
    }
    large.into_iter().map(|(site, _)| site.to_owned()).collect()
}

/// Draws up to `wanted` start pages: topic pages that reach at least half as many pages as the
/// page that reaches most.
///
/// As in the papers, a crawl starts from topic pages. If no topic page reaches that many, the
/// start is one page off the topic that does.
fn begin(
    within: &Graph,
    is_target: &impl Fn(usize) -> bool,
    wanted: u32,
    chance: &mut impl Rng,
) -> Vec<usize> {
    let mut pages: Vec<usize> = (0..within.pages()).collect();
    pages.shuffle(chance);
    let mut reach = ReachSearch::new(within);
    let sizes = pages.iter().map(|page| reach.of(&[*page]).len());
    let sizes: Vec<usize> = sizes.collect();
    let most = sizes.iter().max().copied().unwrap_or(0);
    let far = pages.iter().zip(sizes).filter(|(_, size)| size * 2 >= most);
    let far: Vec<usize> = far.map(|(page, _)| *page).collect();
    let of_topic = far.iter().copied().filter(|page| is_target(*page));
    let of_topic: Vec<usize> = of_topic.take(wanted as usize).collect();
    match of_topic.is_empty() {
        true => far.into_iter().take(1).collect(),
        false => of_topic,
    }
}

fn too_few(target: &str) -> LabError {
    LabError::Wish(format!(
        "the label {target:?} has too few pages for both training and targets: take another --target, or fewer --starts"
    ))
}
