//! Texts that change, and what is asked of them.
//!
//! For the experiments of Pandey & Olston, "User-centric web crawling" (WWW 2005). Their two collections are 48 weeks of
//! 16,000 pages of one site and of 19,000 pages of 15 sites on different topics, asked the queries of a search log that
//! have to do with them. What they report of them is what can be set here:
//!
//! - Sites have topics, and a page is on the topic of its site (`focus`) or on any other. Some topics are asked for
//!   far more than others (Zipf, `topic_popularity`), so some pages matter and most do not.
//! - A page is a block of advertisements (`ads` of its words, from words that nobody asks for: their example 1, where "none of
//!   the terms match frequently issued queries") and paragraphs of content. A change replaces the whole block, or the share `edit` of
//!   the paragraphs. Which of the two is drawn with the page's own share of changes that matter.
//! - That share is Beta over the pages with mean `matter` and concentration `mixed`: near 0 a page's changes either all matter
//!   or never do, so that what a refresh gained foretells what the next will (their figure 3); large, all pages are alike.
//! - New paragraphs are on the page's topic, or, in the share `drift`, on any other (their example 2: announcements that come and go).
//! - Changes are Poisson with a Weibull mean lifetime, as in [`pages`](super::pages); no page dies, as they kept only those that stayed.
//! - Texts are a mixture of a topic's words and a shared background with Zipf's law.
//! - Queries have 1 + Poisson(`terms` - 1) terms, at most five, each of the query's topic in the share `topical` and else any word. They are
//!   asked as often as Zipf's law says (`query_sizes`).
//!
//! **Invariant:** moments are whole seconds; a page and a query draw from streams of their own. Every version differs from
//! the last by what its change replaced and by nothing else.

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

/// Words of a paragraph.
const PARAGRAPH: usize = 40;

/// Terms of a query at most.
const TERMS: u64 = 5;

/// How often a query that there is already is drawn anew.
const REDRAWS: u64 = 20;

plan! {
    /// Changing texts and queries to invent.
    {
        /// Pages.
        pages: u32 = 2_000, 1 to 1_000_000;
        /// Sites, each with a registrable domain and a topic of its own.
        sites: u32 = 15, 1 to 100_000;
        /// How long it is watched, in weeks.
        weeks: f64 = 48.0, 0.01 to 5_000;
        /// Shape of the Weibull distribution of mean lifetimes.
        shape: f64 = 1.4, 0.1 to 50;
        /// Scale of the Weibull distribution of mean lifetimes, in days.
        scale: f64 = 60.0, 0.001 to 1_000_000;
        /// The least mean lifetime, in days.
        shortest: f64 = 1.0, 0.01 to 1_000_000;
        /// Topics.
        topics: u32 = 15, 1 to 10_000;
        /// Words of the vocabulary.
        words: u32 = 20_000, 100 to 10_000_000;
        /// Words of content on a page, the median.
        size: f64 = 200.0, 1 to 100_000;
        /// Deviation of the logarithm of the words on a page.
        size_sigma: f64 = 0.7, 0 to 3;
        /// The share of a page's words that are advertisements.
        ads: f64 = 0.3, 0 to 0.95;
        /// The share of words that are of the topic, in texts and in queries.
        topical: f64 = 0.6, 0 to 1;
        /// The share of pages that are on the topic of their site.
        focus: f64 = 0.8, 0 to 1;
        /// The share of changes that are of content, the mean over the pages.
        matter: f64 = 0.3, 0 to 1;
        /// How far pages have changes of both kinds: near 0 a page has one kind, large all have the same share.
        mixed: f64 = 0.5, 0.001 to 1_000;
        /// The share of the paragraphs that a change of content replaces; at least one is.
        edit: f64 = 0.3, 0 to 1;
        /// The share of new paragraphs that are on another topic.
        drift: f64 = 0.1, 0 to 1;
        /// Different queries.
        queries: u32 = 1_000, 1 to 1_000_000;
        /// How often queries are asked, in all.
        asked: u32 = 100_000, 1 to 1_000_000_000;
        /// Exponent of Zipf's law for how often each is asked.
        query_sizes: f64 = 0.8, 0 to 3;
        /// Exponent of Zipf's law for how often each topic is asked for.
        topic_popularity: f64 = 1.0, 0 to 3;
        /// Terms of a query, the mean; none has more than five.
        terms: f64 = 2.0, 1 to 5;
    }
}

/// A page as it is now.
struct Page {
    topic: u32,
    ads: String,
    paragraphs: Vec<String>,
}

impl Plan {
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

    /// Shows the versions of a page, by time.
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
            // A change in the second of the one before it is seen with the next.
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

    fn page(&self, number: u32, language: &Language, rng: &mut ChaCha8Rng) -> Page {
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
        Page {
            topic,
            ads: self.advertise(count, language, rng),
            paragraphs,
        }
    }

    /// The share of a page's changes that matter.
    fn matters(&self, rng: &mut ChaCha8Rng) -> f64 {
        let (content, other) = (self.matter * self.mixed, (1.0 - self.matter) * self.mixed);
        // Where all matter or none does, there is no such distribution and nothing to draw.
        Beta::new(content, other).map_or(self.matter, |beta| beta.sample(rng))
    }

    fn edit(&self, page: &mut Page, language: &Language, rng: &mut ChaCha8Rng) {
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

    /// A block of advertisements for a page with so many paragraphs.
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
            // A language of few words has only so many queries.
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

impl Page {
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
