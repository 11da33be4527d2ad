//! Generator of a web graph of hosts, pages and links, grown page by page.
//!
//! - **Hosts.** The first pages are home pages, one per host. Every later page joins a host by
//!   Zipf's law, so pages per host fall as `rank^-host_sizes` (Huberman & Adamic, Nature 1999,
//!   found power laws).
//! - **Tree.** Every page is a child of an older directory of its host. A home page is a child of
//!   an older home page. The parent links to it, so the whole web can be reached from page 0.
//! - **Out-links.** Besides tree links, every page wants a number of links from a power law with
//!   `out_exponent` (2.72 in Broder et al., "Graph structure in the web", 2000), cut at
//!   `most_links`. A share `late` of them is added to existing pages instead; otherwise only tree
//!   links would lead to younger pages. A link that finds no new target, because the host is too
//!   small, is given to another page later.
//! - **In-links.** A link copies the target of a random earlier link (Kumar et al., "Stochastic
//!   models for the web graph", FOCS 2000), or goes to a random page. If a share β of all links,
//!   tree included, is copied, in-links have the exponent `1 + 1/β`. β is chosen so that this is
//!   `in_exponent` (2.09 in Broder et al.). Tree links are never copies, so the least exponent
//!   is `1 + links/(links - 1)`.
//! - **Limit of the law.** The law allows repeated links, but the graph has at most one link from
//!   a page to another. A host of a thousand pages can give none of its pages more than a
//!   thousand local in-links. In-links of the most linked pages therefore fall more steeply than
//!   set: 325,000 pages on 3,000 hosts have exponent 2.10 over the most linked tenth and 2.32
//!   over the most linked hundredth (Hill's estimator).
//! - **Locality.** A share `local` of the links, tree included, stays on its own host (three of
//!   four: Bharat et al., "Who links to whom", ICDM 2001).
//!
//! **Invariant:** a page draws from its own stream. With the same number of hosts, a web of fewer
//! pages is the beginning of a larger one: its pages are the first of the larger web, and the links
//! of each page are the first of that page's links there.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use testweb::chance::{For, stream};

use super::draw::{Power, Zipf, chance};
use super::knob::plan;
use crate::kinds;

/// Maximum number of attempts to draw a target that is new to the page and on the right host.
const REDRAWS: u32 = 12;

/// Maximum number of links without a target that are retried with each new page. It applies
/// separately to links that stay on their host and to links that leave it.
const RETRIES: usize = 16;

/// Words used in paths.
const WORDS: [&str; 12] = [
    "news", "notes", "docs", "people", "archive", "events", "projects", "guide", "topics", "help",
    "shop", "data",
];

plan! {
    /// A graph to invent.
    GraphPlan {
        /// Pages in all.
        pages: u32 = 20_000, 1 to 20_000_000;
        /// Hosts, each with a registrable domain of its own; never more than pages.
        hosts: u32 = 200, 1 to 5_000_000;
        /// Exponent of Zipf's law for the pages of hosts; 0 makes all hosts equally large.
        host_sizes: f64 = 1.0, 0 to 3;
        /// The share of pages that are directories, which other pages can be children of.
        directories: f64 = 0.1, 0 to 1;
        /// Mean number of links on a page, tree links included.
        links: f64 = 10.0, 1 to 500;
        /// Exponent of the power law of links on a page, without tree links.
        out_exponent: f64 = 2.7, 1.1 to 10;
        /// Greatest number of links that are drawn for a page, without tree links.
        most_links: u32 = 1_000, 500 to 100_000;
        /// Exponent of the power law of links to a page; a value below 1 + links/(links - 1) counts
        /// as that number.
        in_exponent: f64 = 2.1, 2 to 10;
        /// The share of links that stay on their host.
        local: f64 = 0.75, 0 to 1;
        /// The share of links, without tree links, that are added to existing pages.
        late: f64 = 0.5, 0 to 1;
    }
}

impl GraphPlan {
    /// Invents the graph. Page `h` is the home page of host `h`, and host 0 is expected to have the
    /// most pages.
    pub fn invent(&self, seed: u64) -> kinds::Graph {
        let mut growth = GraphGrowth::new(self, seed);
        for page in 0..self.pages.max(1) {
            growth.add(page);
        }
        growth.finish()
    }

    /// Returns the probability with which a drawn link must be a copy, so that in-links have the
    /// set exponent.
    fn copied(&self) -> f64 {
        let of_all = (self.in_exponent - 1.0).recip();
        (of_all * self.links / (self.links - 1.0)).min(1.0)
    }

    /// Returns the probability with which a drawn link must be local, so that the set share of all
    /// links is local. Tree links count as local; the few between home pages are neglected.
    fn drawn_local(&self) -> f64 {
        ((self.local * self.links - 1.0) / (self.links - 1.0)).clamp(0.0, 1.0)
    }
}

/// A web during growth.
struct GraphGrowth<'a> {
    plan: &'a GraphPlan,
    seed: u64,
    sizes: Zipf,
    wanted: Power,
    copied: f64,
    local: f64,
    hosts: Vec<InventedHost>,
    host_of: Vec<u32>,
    urls: Vec<Box<str>>,
    links: Vec<Vec<u32>>,
    /// The target of each link so far; a copied link draws from it.
    targets: Vec<u32>,
    /// Each page once for every link that it wanted at its birth.
    wants: Vec<u32>,
    /// Number of links that found no target yet: those that leave their host, and those that stay.
    owed: [usize; 2],
}

/// The pages, directories and link targets of one host.
#[derive(Default)]
struct InventedHost {
    pages: Vec<u32>,
    directories: Vec<u32>,
    targets: Vec<u32>,
}

impl<'a> GraphGrowth<'a> {
    fn new(plan: &'a GraphPlan, seed: u64) -> Self {
        let hosts = plan.hosts.clamp(1, plan.pages.max(1)) as usize;
        let (pages, drawn) = (plan.pages as usize, plan.links - 1.0);
        Self {
            plan,
            seed,
            sizes: Zipf::new(hosts, plan.host_sizes),
            wanted: Power::with_mean(drawn, plan.out_exponent, f64::from(plan.most_links)),
            copied: plan.copied(),
            // A single host has only local links.
            local: if hosts == 1 { 1.0 } else { plan.drawn_local() },
            hosts: (0..hosts).map(|_| InventedHost::default()).collect(),
            host_of: Vec::with_capacity(pages),
            urls: Vec::with_capacity(pages),
            links: Vec::with_capacity(pages),
            targets: Vec::with_capacity((pages as f64 * plan.links) as usize),
            wants: Vec::with_capacity((pages as f64 * drawn) as usize),
            owed: [0; 2],
        }
    }

    fn add(&mut self, page: u32) {
        let mut rng = stream(self.seed, For::Hosts, u64::from(page), 0);
        let host = match self.hosts.get(page as usize) {
            Some(_) => page as usize,
            None => self.sizes.draw(&mut rng),
        };
        let url = self.add_to_tree(page, host, &mut rng);
        self.urls.push(url.into());
        self.host_of.push(host as u32);
        self.links.push(Vec::new());
        self.hosts[host].pages.push(page);
        let mut rng = stream(self.seed, For::Links, u64::from(page), 0);
        let wanted = self.wanted.draw(&mut rng);
        self.wants.extend((0..wanted).map(|_| page));
        for _ in 0..wanted {
            let late = chance(&mut rng, self.plan.late);
            let from = if late { self.linker(&mut rng) } else { page };
            let local = chance(&mut rng, self.local);
            self.link(from, local, &mut rng);
        }
        for local in [false, true] {
            for _ in 0..self.owed[usize::from(local)].min(RETRIES) {
                self.owed[usize::from(local)] -= 1;
                let from = self.linker(&mut rng);
                self.link(from, local, &mut rng);
            }
        }
    }

    /// Links the page from its parent and returns its URL.
    fn add_to_tree(&mut self, page: u32, host: usize, rng: &mut ChaCha8Rng) -> String {
        let word = WORDS[rng.random_range(0..WORDS.len())];
        let here = &self.hosts[host];
        if here.pages.is_empty() {
            if page > 0 {
                // Until all hosts exist, all pages are home pages.
                self.join(rng.random_range(0..page), page, host);
            }
            self.hosts[host].directories.push(page);
            return format!("http://www.site{host}.example/");
        }
        let parent = here.directories[rng.random_range(0..here.directories.len())];
        let number = here.pages.len();
        let above = &self.urls[parent as usize];
        let directory = chance(rng, self.plan.directories);
        let url = match directory {
            true => format!("{above}{word}{number}/"),
            false => format!("{above}{word}-{number}.html"),
        };
        if directory {
            self.hosts[host].directories.push(page);
        }
        self.join(parent, page, host);
        url
    }

    /// Draws a page in proportion to the number of links it wanted.
    fn linker(&self, rng: &mut impl Rng) -> u32 {
        // Never empty here: a link is drawn or owed only after a page wanted one.
        self.wants[rng.random_range(0..self.wants.len())]
    }

    /// Adds a link from a page, or counts it as owed if no new target is found.
    fn link(&mut self, from: u32, local: bool, rng: &mut impl Rng) {
        let here = self.host_of[from as usize];
        for _ in 0..REDRAWS {
            let to = self.target(here, local, rng);
            let there = self.host_of[to as usize];
            let right = local == (there == here);
            if to != from && right && !self.links[from as usize].contains(&to) {
                self.join(from, to, there as usize);
                return;
            }
        }
        self.owed[usize::from(local)] += 1;
    }

    fn target(&self, here: u32, local: bool, rng: &mut impl Rng) -> u32 {
        let copied = chance(rng, self.copied);
        let host = &self.hosts[here as usize];
        let among = match (copied, local) {
            (true, true) if !host.targets.is_empty() => &host.targets,
            (_, true) => &host.pages,
            (true, false) if !self.targets.is_empty() => &self.targets,
            (_, false) => return rng.random_range(0..self.host_of.len() as u32),
        };
        among[rng.random_range(0..among.len())]
    }

    fn join(&mut self, from: u32, to: u32, host: usize) {
        self.links[from as usize].push(to);
        self.targets.push(to);
        self.hosts[host].targets.push(to);
    }

    fn finish(self) -> kinds::Graph {
        let edges = self.links.iter().enumerate();
        let edges =
            edges.flat_map(|(from, links)| links.iter().map(move |&to| (from, to as usize)));
        kinds::Graph::new(self.urls.iter().map(AsRef::as_ref), edges)
    }
}

#[cfg(test)]
mod tests;
