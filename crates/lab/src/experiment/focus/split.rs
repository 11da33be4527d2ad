//! What may a classifier learn from, and what is counted as found?
//!
//! Where a web has several sites (registrable domains) with a good part of its pages, a run is the crawl of one of
//! them, and everything else is to learn from: other universities for training than for crawling. Else the web is crawled
//! as a whole, and a random half of all pages is to learn from: those are fetched like others and count as fetches, but
//! are no targets. **Invariant:** no page is both learned from and a target, and where a crawl begins is no find.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use policy::focus::Topic;
use testweb::chance::{For, stream};

use super::LEAST_TARGETS;
use crate::LabError;
use crate::kinds::{Graph, Labels, Linked, Reach};

/// A site has at least this share of the pages, and so many: less is no web to crawl.
const SITE: f64 = 0.05;
const SITE_PAGES: f64 = 200.0;

/// A run of the experiment, for one target.
#[derive(Debug, Clone)]
pub(super) struct Split {
    /// Where the crawl begins.
    pub starts: Vec<usize>,
    /// Whether a page belongs to the web of the run.
    pub ground: Vec<bool>,
    /// The pages that can be reached, and so fetched.
    pub reached: usize,
    /// Whether a page is a target that can be reached.
    pub targets: Vec<bool>,
    /// Whether a page is to learn from.
    pub lessons: Vec<bool>,
    site: Option<String>,
}

impl Split {
    /// Draws a run that begins at so many pages: the same for a seed, a run and a target.
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
        let (site, ground, lessons) = match sites.len() {
            0 | 1 => {
                let mut chance = stream(seed, For::HeldOut, run, 0);
                let lessons: Vec<bool> = (0..graph.pages()).map(|_| chance.random()).collect();
                (None, vec![true; graph.pages()], lessons)
            }
            count => {
                let site = &sites[run as usize % count];
                let inside = |page: usize| graph.url(page).registrable_domain() == site;
                let ground: Vec<bool> = (0..graph.pages()).map(inside).collect();
                let lessons: Vec<bool> = ground.iter().map(|inside| !inside).collect();
                (Some(site.clone()), ground, lessons)
            }
        };
        let within = within(graph, &ground);
        let starts = begin(
            &within,
            &is_target,
            starts,
            &mut stream(seed, For::Starts, run, 1),
        );
        let mut reach = Reach::new(&within);
        let reached = reach.of(&starts).to_vec();
        let mut targets = vec![false; graph.pages()];
        for &page in &reached {
            targets[page] = is_target(page) && !lessons[page] && !starts.contains(&page);
        }
        if targets.iter().filter(|target| **target).count() < LEAST_TARGETS / 2 {
            return Err(too_few(target));
        }
        Ok(Self {
            starts,
            ground,
            reached: reached.len(),
            targets,
            lessons,
            site,
        })
    }

    /// A run on a whole web with these targets.
    #[cfg(test)]
    pub fn by_hand(start: usize, targets: &[bool]) -> Self {
        Self {
            starts: vec![start],
            ground: vec![true; targets.len()],
            reached: targets.len(),
            targets: targets.to_vec(),
            lessons: vec![false; targets.len()],
            site: None,
        }
    }

    /// Whether what is to learn from is no part of the web of the run, so that it may have been crawled before.
    pub fn is_apart(&self) -> bool {
        self.site.is_some()
    }

    /// How many pages there are to find.
    pub fn wanted(&self) -> usize {
        self.targets.iter().filter(|target| **target).count()
    }

    pub fn describe(&self, run: u64, target: &str, topic: &Topic, graph: &Graph) -> String {
        let learned = match &topic.known {
            policy::focus::Known::Examples(bayes) => bayes.learned().examples,
            policy::focus::Known::Words(_) | policy::focus::Known::Where(_) => [0, 0],
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

/// Whether a page has a label.
pub(super) fn has(labels: &Labels, page: usize, target: &str) -> bool {
    let mut names = labels
        .of(page)
        .iter()
        .map(|&label| &labels.names()[label as usize]);
    names.any(|name| name == target)
}

/// The links within a part of the web; all pages keep their places.
fn within(graph: &Graph, ground: &[bool]) -> Graph {
    let urls: Vec<&str> = (0..graph.pages())
        .map(|page| graph.url(page).as_str())
        .collect();
    let edges = graph
        .edges()
        .filter(|(from, to)| ground[*from] && ground[*to]);
    Graph::new(urls.into_iter(), edges)
}

/// The sites with enough pages and targets, the largest first; none if one has more than half of all.
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

/// Targets that reach at least half of what the best of the ground reaches, as many as are wanted and there are; as in the papers a crawl begins at
/// pages of the topic. Where no target does, any page.
fn begin(
    within: &Graph,
    is_target: &impl Fn(usize) -> bool,
    wanted: u32,
    chance: &mut impl Rng,
) -> Vec<usize> {
    let mut pages: Vec<usize> = (0..within.pages()).collect();
    pages.shuffle(chance);
    let mut reach = Reach::new(within);
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
        "the label {target:?} has too few pages to learn from some and to look for others: take another --target, or fewer --starts"
    ))
}
