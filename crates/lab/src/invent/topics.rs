//! Generator of a web of pages on topics, in which pages link mostly within their topic.
//!
//! - **Topics.** A page's topic is drawn by Zipf's law (`topic_sizes`) and is its label. The
//!   pages of a topic lie on `islands`, each on hosts of its own. Links within a topic stay on
//!   their island, with one exception: if the island from which the parent of a new page is drawn
//!   is still empty, the parent is any older page. So a
//!   crawler that wants all pages of a topic must mostly pass through other topics. Tunnelling
//!   (Bergmark, Lagoze & Sbityakov, ECDL 2002) does that, and context graphs (Diligenti et al.,
//!   VLDB 2000) learn such paths.
//! - **Links.** A share `same` of the links stays on the island of its page, as linked pages on
//!   the web are mostly on one topic (Davison, "Topical locality in the web", SIGIR 2000). Of
//!   the others, a share `near` goes to one of the two neighbouring topics in a ring, and the
//!   rest to any other topic. The path from topic to topic can therefore be learned.
//! - **Growth.** Every page is linked by an older page, so all pages can be reached from the
//!   first one. The number of further links is Poisson. On the chosen island, such a link goes to a
//!   page or copies the target of an older link (Kumar et al., FOCS 2000), which gives in-links a
//!   heavy tail. As in [`graph`](super::graph), half of these links are added to existing pages.
//! - **Texts.** Pages are HTML. They have a title of topic words, a text that mixes topic words
//!   with a shared background, and links with words of their target's title as anchor text.
//!
//! **Invariant:** a page's topic, title and text have streams of their own. A web of fewer pages
//! is the beginning of a larger one.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use testweb::chance::{For, stream};

use super::draw::{Zipf, chance, poisson};
use super::knob::plan;
use super::language::{self, Language};
use crate::kinds::{Body, Graph, LabelledWorld, Labels};

/// Words per title.
const TITLE: u64 = 4;

/// Maximum number of attempts to draw a target that is new to the page.
const REDRAWS: u32 = 8;

/// Maximum number of links without a target that are retried with each new page. It applies
/// separately to links that stay on their island and to links that leave it.
const RETRIES: usize = 16;

/// The share of links that are added to a page drawn from all pages so far, not to the newest page.
const LATE: f64 = 0.5;

plan! {
    /// A topical web to invent.
    TopicsPlan {
        /// Pages.
        pages: u32 = 5_000, 1 to 5_000_000;
        /// Topics.
        topics: u32 = 12, 1 to 10_000;
        /// Exponent of Zipf's law for the pages on each topic; 0 makes all topics equally large.
        topic_sizes: f64 = 0.5, 0 to 3;
        /// Islands of each topic: groups of its pages. Paths between them lead mostly through other
        /// topics.
        islands: u32 = 4, 1 to 1_000;
        /// Hosts of each island, each with a registrable domain of its own.
        hosts: u32 = 3, 1 to 1_000;
        /// Mean number of links on a page.
        links: f64 = 8.0, 1 to 200;
        /// The share of links that stay on the island, and so on the topic, of their page.
        same: f64 = 0.7, 0 to 1;
        /// The share of the other links that go to one of the two neighbouring topics.
        near: f64 = 0.6, 0 to 1;
        /// Words in the vocabulary.
        words: u32 = 20_000, 100 to 10_000_000;
        /// Median number of words of text on a page.
        size: f64 = 150.0, 1 to 100_000;
        /// Standard deviation of the logarithm of the number of words on a page.
        size_sigma: f64 = 0.7, 0 to 3;
        /// The share of words that belong to the page's topic.
        topical: f64 = 0.4, 0 to 1;
        /// Words of the target's title in an anchor text; a title has four words.
        anchor: u32 = 2, 0 to 4;
    }
}

impl TopicsPlan {
    /// Invents the pages, their links and texts.
    pub fn invent(&self, seed: u64) -> LabelledWorld {
        let mut growth = TopicGrowth::new(self, seed);
        for page in 0..self.pages {
            growth.add(page);
        }
        let language = Language::new(self.words, self.topics, seed);
        let text = PageWriter {
            plan: self,
            seed,
            language,
        };
        let titles: Vec<Vec<u32>> = (0..)
            .zip(&growth.island_of)
            .map(|(page, &island)| text.title(page, island))
            .collect();
        let bodies = (0..self.pages)
            .map(|page| text.body(page, &growth, &titles))
            .collect();
        let names: Vec<String> = (0..self.topics)
            .map(|topic| format!("topic-{topic:03}"))
            .collect();
        let label =
            |(page, &island): (usize, &u32)| (page, names[self.topic(island) as usize].as_str());
        let labels = Labels::new(
            growth.island_of.len(),
            growth.island_of.iter().enumerate().map(label),
        );
        let links = growth.links.iter().enumerate();
        let edges =
            links.flat_map(|(from, links)| links.iter().map(move |&to| (from, to as usize)));
        LabelledWorld::new(
            Graph::new(growth.urls.iter().map(String::as_str), edges),
            bodies,
            labels,
        )
    }

    /// Returns the number of a host of an island, as `u64`: the largest plan has more than 2³²
    /// hosts.
    fn host(&self, island: u32, within: u32) -> u64 {
        u64::from(island) * u64::from(self.hosts) + u64::from(within)
    }

    /// Returns the topic of an island.
    fn topic(&self, island: u32) -> u32 {
        island / self.islands
    }

    /// Draws an island of a topic.
    fn island(&self, topic: u32, rng: &mut impl Rng) -> u32 {
        topic * self.islands + rng.random_range(0..self.islands)
    }
}

/// A web during growth.
struct TopicGrowth<'a> {
    plan: &'a TopicsPlan,
    seed: u64,
    sizes: Zipf,
    island_of: Vec<u32>,
    urls: Vec<String>,
    links: Vec<Vec<u32>>,
    /// For each island its pages, and each page again for every link to it, except for the first
    /// link, with which the page was added.
    targets: Vec<Vec<u32>>,
    /// Number of links that found no target yet, since young islands are small: those that leave
    /// their island, and those that stay.
    owed: [usize; 2],
}

impl<'a> TopicGrowth<'a> {
    fn new(plan: &'a TopicsPlan, seed: u64) -> Self {
        let islands = plan.topics as usize * plan.islands as usize;
        Self {
            plan,
            seed,
            sizes: Zipf::new(plan.topics as usize, plan.topic_sizes),
            island_of: Vec::new(),
            urls: Vec::new(),
            links: Vec::new(),
            targets: vec![Vec::new(); islands],
            owed: [0; 2],
        }
    }

    fn add(&mut self, page: u32) {
        let mut rng = stream(self.seed, For::Islands, u64::from(page), 0);
        let topic = self.sizes.draw(&mut rng) as u32;
        let island = self.plan.island(topic, &mut rng);
        let host = self.plan.host(island, rng.random_range(0..self.plan.hosts));
        self.urls
            .push(format!("http://www.site{host}.example/page-{page}.html"));
        self.island_of.push(island);
        self.links.push(Vec::new());
        let mut rng = stream(self.seed, For::Islands, u64::from(page), 1);
        if page > 0 {
            let parent = self.parent(island, page, &mut rng);
            self.links[parent as usize].push(page);
        }
        self.targets[island as usize].push(page);
        for _ in 0..poisson(self.plan.links - 1.0, &mut rng) {
            let late = chance(&mut rng, LATE);
            let older = rng.random_range(0..=page);
            let stays = chance(&mut rng, self.plan.same);
            self.link(if late { older } else { page }, stays, &mut rng);
        }
        for stays in [false, true] {
            for _ in 0..self.owed[usize::from(stays)].min(RETRIES) {
                self.owed[usize::from(stays)] -= 1;
                self.link(rng.random_range(0..=page), stays, &mut rng);
            }
        }
    }

    /// Draws the older page that links to a new page, in the way targets of links are drawn. If
    /// the drawn island is empty, draws from all older pages.
    fn parent(&self, island: u32, page: u32, rng: &mut ChaCha8Rng) -> u32 {
        let (stays, any) = (chance(rng, self.plan.same), rng.random_range(0..page));
        let island = if stays {
            island
        } else {
            self.abroad(island, rng)
        };
        let there = &self.targets[island as usize];
        match there.is_empty() {
            true => any,
            false => there[rng.random_range(0..there.len())],
        }
    }

    /// Adds a link from a page, or counts it as owed if no new target is found.
    fn link(&mut self, from: u32, stays: bool, rng: &mut ChaCha8Rng) {
        let home = self.island_of[from as usize];
        for _ in 0..REDRAWS {
            let island = if stays { home } else { self.abroad(home, rng) };
            let there = &self.targets[island as usize];
            if there.is_empty() {
                continue;
            }
            let to = there[rng.random_range(0..there.len())];
            if to != from && !self.links[from as usize].contains(&to) {
                self.links[from as usize].push(to);
                self.targets[island as usize].push(to);
                return;
            }
        }
        self.owed[usize::from(stays)] += 1;
    }

    /// Draws an island of another topic: with probability `near` of a neighbouring one, else of any
    /// other. If there is only one topic, draws from all islands.
    fn abroad(&self, home: u32, rng: &mut ChaCha8Rng) -> u32 {
        let (topics, topic) = (self.plan.topics, self.plan.topic(home));
        let step = match chance(rng, self.plan.near) {
            true if rng.random() => 1,
            true => topics - 1,
            false => rng.random_range(1..topics.max(2)),
        };
        self.plan.island((topic + step) % topics, rng)
    }
}

/// Writes the texts of the pages.
struct PageWriter<'a> {
    plan: &'a TopicsPlan,
    seed: u64,
    language: Language,
}

impl PageWriter<'_> {
    fn title(&self, page: u32, island: u32) -> Vec<u32> {
        let mut rng = stream(self.seed, For::Prose, u64::from(page), 0);
        let topic = self.plan.topic(island);
        (0..TITLE)
            .map(|_| self.language.of_topic(topic, &mut rng))
            .collect()
    }

    fn body(&self, page: u32, growth: &TopicGrowth<'_>, titles: &[Vec<u32>]) -> Body {
        let mut rng = stream(self.seed, For::Prose, u64::from(page), 1);
        let topic = self.plan.topic(growth.island_of[page as usize]);
        let normal: f64 = StandardNormal.sample(&mut rng);
        let words = (self.plan.size * (self.plan.size_sigma * normal).exp()).round() as u64;
        let mut html = String::from("<!doctype html>\n<html><head><title>");
        write_all(&titles[page as usize], &mut html);
        html.push_str("</title></head>\n<body><p>");
        for _ in 0..words {
            let word = self.language.word(topic, self.plan.topical, &mut rng);
            language::write(word, &mut html);
        }
        html.push_str("</p>\n<ul>\n");
        for &to in &growth.links[page as usize] {
            html.push_str("<li><a href=\"");
            html.push_str(&growth.urls[to as usize]);
            html.push_str("\">");
            write_all(&titles[to as usize][..self.plan.anchor as usize], &mut html);
            html.push_str("</a></li>\n");
        }
        html.push_str("</ul></body></html>\n");
        Body::html(html)
    }
}

fn write_all(words: &[u32], text: &mut String) {
    words.iter().for_each(|&word| language::write(word, text));
}

#[cfg(test)]
mod tests;
