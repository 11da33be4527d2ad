//! Generator of changing texts and of the queries that search them.
//!
//! It is made for the experiments of Pandey & Olston, "User-centric web crawling" (WWW 2005).
//! They used 48 weeks of 16,000 pages of one site and of 19,000 pages of 15 sites on different
//! topics, with the related queries of a search log. The properties that they report can be set
//! here:
//!
//! - Sites have topics. A page is on the topic of its site (`focus`) or on one drawn from all.
//!   Topics differ in popularity among queries (Zipf, `topic_popularity`), so few pages matter to
//!   users.
//! - A page has a block of advertisements (a share `ads` of its words) and paragraphs of content.
//!   Advertisements use words that no query contains, as in their example 1, where "none of the
//!   terms match frequently issued queries". A change replaces the whole block, or the share
//!   `edit` of the paragraphs. Each page has its own probability that a change is one of
//!   content.
//! - That probability has a Beta distribution over pages, with mean `matter` and concentration
//!   `mixed`. With a concentration near 0, either all changes of a page matter or none do, so
//!   that the gain of one refresh predicts the next (their figure 3). If the concentration is
//!   large, all pages are alike.
//! - New paragraphs are on the page's topic or, with probability `drift`, on one drawn from all.
//!   This models their example 2, announcements that come and go.
//! - Changes are Poisson with a Weibull mean lifetime, as in [`pages`](super::pages). No page
//!   dies, since the authors kept only pages that survived.
//! - Texts mix the words of a topic with a shared background, both by Zipf's law.
//! - Queries have 1 + Poisson(`terms` − 1) terms, at most five. Each term is from the query's
//!   topic with probability `topical`, and any word otherwise. Query frequencies follow Zipf's
//!   law (`query_sizes`).
//!
//! **Invariant:** times are whole seconds, and every page and query draws from its own stream. A
//! version differs from the previous one only by what the changes between them replaced.

use std::collections::HashSet;

use policy::Moment;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Exp1, StandardNormal};
use testweb::chance::{For, stream};

use super::draw::{Zipf, chance, exponential_of_normal, poisson};
use super::knob::plan;
use super::language::{self, Language};
use super::{BEGINNING, DAY};
use crate::kinds::{Bodies, Body, Corpus, Histories, Queries, Version};

/// Words per paragraph.
const PARAGRAPH: usize = 40;

/// Maximum number of terms in a query.
const TERMS: u64 = 5;

/// Maximum number of attempts to draw a query that differs from all earlier ones.
const REDRAWS: u64 = 20;

plan! {
    /// Changing texts and queries to invent.
    CorpusPlan {
        /// Pages.
        pages: u32 = 2_000, 1 to 1_000_000;
        /// Sites, each with a registrable domain of its own and one topic.
        sites: u32 = 15, 1 to 100_000;
        /// Length of the observation, in weeks.
        weeks: f64 = 48.0, 0.01 to 5_000;
        /// Shape of the Weibull distribution of the mean time between changes of a page.
        shape: f64 = 1.4, 0.1 to 50;
        /// Scale of the Weibull distribution of the mean time between changes of a page, in days.
        scale: f64 = 60.0, 0.001 to 1_000_000;
        /// The least mean time between changes of a page, in days.
        shortest: f64 = 1.0, 0.01 to 1_000_000;
        /// Topics.
        topics: u32 = 15, 1 to 10_000;
        /// Words in the vocabulary.
        words: u32 = 20_000, 100 to 10_000_000;
        /// Median number of words of content on a page.
        size: f64 = 200.0, 1 to 100_000;
        /// Standard deviation of the logarithm of the words on a page.
        size_sigma: f64 = 0.7, 0 to 3;
        /// The share of a page's words that are advertisements.
        ads: f64 = 0.3, 0 to 0.95;
        /// The share of words that belong to the topic, in texts and in queries.
        topical: f64 = 0.6, 0 to 1;
        /// The share of pages on the topic of their site; the others draw from all topics.
        focus: f64 = 0.8, 0 to 1;
        /// The share of changes that are of content, as a mean over the pages.
        matter: f64 = 0.3, 0 to 1;
        /// Concentration of that share over the pages. Near 0, all changes of a page are of one
        /// kind; if large, all pages have about the same share.
        mixed: f64 = 0.5, 0.001 to 1_000;
        /// The share of the paragraphs that a change of content replaces; at least one is replaced.
        edit: f64 = 0.3, 0 to 1;
        /// The share of new paragraphs whose topic is drawn from all topics.
        drift: f64 = 0.1, 0 to 1;
        /// Different queries.
        queries: u32 = 1_000, 1 to 1_000_000;
        /// Total number of searches.
        asked: u32 = 100_000, 1 to 1_000_000_000;
        /// Exponent of Zipf's law for how often each query is asked.
        query_sizes: f64 = 0.8, 0 to 3;
        /// Exponent of Zipf's law for the queries on each topic.
        topic_popularity: f64 = 1.0, 0 to 3;
        /// Mean number of terms in a query, before the limit of five.
        terms: f64 = 2.0, 1 to 5;
    }
}

/// The current state of a page.
struct CorpusPage {
    topic: u32,
    ads: String,
    paragraphs: Vec<String>,
}

impl CorpusPlan {
    /// Invents the texts and the queries.
    pub fn invent(&self, seed: u64) -> Corpus {
        let language = Language::new(self.words, self.topics, seed);
        let (mut versions, mut bodies, mut urls) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..self.pages {
            let site = number % self.sites;
            urls.push(format!("http://www.site{site}.example/page-{number}.html"));
            self.live(seed, number, &language, |at, body| {
                versions.push(Version {
                    page: number,
                    at,
                    body: Some(bodies.len() as u32),
                });
                bodies.push(body);
            });
        }
        let urls = urls.iter().map(String::as_str);
        Corpus {
            histories: Histories::new(urls, versions, Bodies::kept(bodies)),
            queries: self.queries(seed, &language),
        }
    }

    /// Generates the versions of a page in order of time and passes each to `show`.
    fn live(
        &self,
        seed: u64,
        number: u32,
        language: &Language,
        mut show: impl FnMut(Moment, Body),
    ) {
        let mut rng = stream(seed, For::Texts, u64::from(number), 0);
        let mut page = self.page(number, language, &mut rng);
        let score: f64 = StandardNormal.sample(&mut rng);
        let lifetime = self.scale * exponential_of_normal(score).powf(self.shape.recip());
        let matters = self.matters(&mut rng);
        let mut now = 0.0;
        let mut last = None;
        while now < self.weeks * 7.0 {
            let second = (now * DAY) as u64;
            // At most one version per second. A further change in the same second shows with the
            // next version.
            if last < Some(second) {
                last = Some(second);
                let micros = second * 1_000_000;
                show(
                    Moment::from_micros(BEGINNING.micros() + micros),
                    page.body(),
                );
            }
            let wait: f64 = Exp1.sample(&mut rng);
            now += wait * lifetime.max(self.shortest);
            match chance(&mut rng, matters) {
                true => self.edit(&mut page, language, &mut rng),
                false => page.ads = self.advertise(page.paragraphs.len(), language, &mut rng),
            }
        }
    }

    fn page(&self, number: u32, language: &Language, rng: &mut ChaCha8Rng) -> CorpusPage {
        let of_site = (number % self.sites) % self.topics;
        let any = rng.random_range(0..self.topics);
        let topic = if chance(rng, self.focus) {
            of_site
        } else {
            any
        };
        let normal: f64 = StandardNormal.sample(rng);
        let words = self.size * (self.size_sigma * normal).exp();
        let count = (words / PARAGRAPH as f64).round().max(1.0) as usize;
        let paragraphs = (0..count)
            .map(|_| self.paragraph(topic, language, rng))
            .collect();
        CorpusPage {
            topic,
            ads: self.advertise(count, language, rng),
            paragraphs,
        }
    }

    /// Draws the probability that a change of a page is one of content.
    fn matters(&self, rng: &mut ChaCha8Rng) -> f64 {
        let (content, other) = (self.matter * self.mixed, (1.0 - self.matter) * self.mixed);
        // At a mean of 0 or 1 the Beta distribution is undefined, and the mean is used.
        Beta::new(content, other).map_or(self.matter, |beta| beta.sample(rng))
    }

    fn edit(&self, page: &mut CorpusPage, language: &Language, rng: &mut ChaCha8Rng) {
        let count = page.paragraphs.len();
        let replaced = ((self.edit * count as f64).round() as usize).clamp(1, count);
        let first = rng.random_range(0..count);
        for n in 0..replaced {
            let any = rng.random_range(0..self.topics);
            let topic = if chance(rng, self.drift) {
                any
            } else {
                page.topic
            };
            page.paragraphs[(first + n) % count] = self.paragraph(topic, language, rng);
        }
    }

    fn paragraph(&self, topic: u32, language: &Language, rng: &mut ChaCha8Rng) -> String {
        let mut text = String::new();
        for _ in 0..PARAGRAPH {
            language::write(language.word(topic, self.topical, rng), &mut text);
        }
        text
    }

    /// Draws a block of advertisements for a page with this number of paragraphs.
    fn advertise(&self, paragraphs: usize, language: &Language, rng: &mut ChaCha8Rng) -> String {
        let content = (paragraphs * PARAGRAPH) as f64;
        let words = (content * self.ads / (1.0 - self.ads)).round() as usize;
        let mut text = String::new();
        for _ in 0..words {
            language::write(language.words() + language.any(rng), &mut text);
        }
        text
    }

    fn queries(&self, seed: u64, language: &Language) -> Queries {
        let popularity = Zipf::new(self.topics as usize, self.topic_popularity);
        let weight = |place: u32| f64::from(place).powf(-self.query_sizes);
        let all: f64 = (1..=self.queries).map(weight).sum();
        let mut known = HashSet::new();
        let mut queries = Vec::new();
        for place in 1..=self.queries {
            let draw = |attempt| {
                let mut rng = stream(seed, For::Queries, u64::from(place), attempt);
                self.query(&popularity, language, &mut rng)
            };
            let new = (0..REDRAWS)
                .map(draw)
                .find(|query| known.insert(query.clone()));
            let count = (f64::from(self.asked) * weight(place) / all)
                .round()
                .max(1.0);
            // If a small vocabulary has no further query, the attempts fail and the rank is
            // skipped.
            queries.extend(new.map(|query| (query, count as u32)));
        }
        Queries { queries }
    }

    fn query(&self, popularity: &Zipf, language: &Language, rng: &mut ChaCha8Rng) -> String {
        let topic = popularity.draw(rng) as u32;
        let terms = 1 + poisson(self.terms - 1.0, rng).min(TERMS - 1);
        let mut text = String::new();
        for _ in 0..terms {
            let term = match chance(rng, self.topical) {
                true => language.of_topic(topic, rng),
                false => language.any(rng),
            };
            language::write(term, &mut text);
        }
        text
    }
}

impl CorpusPage {
    fn body(&self) -> Body {
        let mut text = self.paragraphs.join("\n");
        if !self.ads.is_empty() {
            text.push('\n');
            text.push_str(&self.ads);
        }
        Body::text(text)
    }
}

#[cfg(test)]
mod tests;
