//! What does the crawl of a benchmark hear?
//!
//! **Invariant:** all that `page` would do (resolve and hash a URL) is done here, before anything is
//! measured, and the same numbers make the same pages.

use anyhow::Result;
use frontier::{Frontier, Link, Reading};
use page::{PageId, PageUrl};
use policy::{Crawl, Moment, Number, Text};

use crate::urls::{Urls, scramble};

/// Links of a page, and how many of them are new: one in five, as in `bench frontier`.
const LINKS: u64 = 20;
const NEW: u64 = 4;

/// The text of every page: as long as a short article, with a word of the query in it.
const TITLE: &str = "A page";
const SENTENCE: &str = "In summer the important pages are fetched early and in a good order. ";

/// Pages to hear of, in the order of their numbers.
pub struct World {
    urls: Urls,
    known: u64,
    drawn: u64,
    body: String,
}

/// What a page will say.
pub struct Prepared {
    new: Vec<(PageUrl, String, u16)>,
    known: Vec<(Number, String)>,
}

impl World {
    /// Nothing was heard of.
    pub fn new(servers: u64) -> Self {
        Self {
            urls: Urls { servers },
            known: 0,
            drawn: 0,
            body: SENTENCE.repeat(20),
        }
    }

    /// Makes the frontier hear of so many pages: one seed, and the rest as if found on it.
    pub fn fill(&mut self, frontier: &mut Frontier<Crawl>, pages: u64, now: Moment) -> Result<()> {
        let seed = self.urls.url(0)?.id();
        while self.known < pages {
            let url = self.urls.url(self.known)?;
            let source = (self.known > 0).then_some(seed);
            hear(frontier, (&url, depth(self.known)), source, now);
            self.known += 1;
        }
        Ok(())
    }

    /// What the next page says: a few links to pages that are new, the others to known ones, the n-th
    /// most popular with a probability of about 1/n.
    pub fn prepare(&mut self) -> Result<Prepared> {
        let mut known = Vec::new();
        for _ in NEW..LINKS {
            let number = self.popular();
            known.push((Number(number as u32), Urls::anchor(number)));
        }
        let mut new = Vec::new();
        for number in self.known..self.known + NEW {
            new.push((self.urls.url(number)?, Urls::anchor(number), depth(number)));
        }
        self.known += NEW;
        Ok(Prepared { new, known })
    }

    /// Makes the frontier read a page, as the engine does.
    pub fn read(&self, frontier: &mut Frontier<Crawl>, page: PageId, says: &Prepared, now: Moment) {
        let mut links = Vec::with_capacity(LINKS as usize);
        for (url, anchor, depth) in &says.new {
            let to = hear(frontier, (url, *depth), Some(page), now);
            links.push(policy::Link::new(to, anchor));
        }
        let known = says.known.iter();
        links.extend(known.map(|(to, anchor)| policy::Link::new(*to, anchor)));
        links.sort_by_key(|link| link.to);
        links.dedup_by_key(|link| link.to);
        let reading = Reading {
            text: Text::Whole {
                title: TITLE,
                body: &self.body,
                about: policy::About::default(),
            },
            links: &links,
            out_links: LINKS as u32,
            again: false,
        };
        frontier.read(page, reading);
    }

    /// How popular a page is has nothing to do with when it was discovered.
    fn popular(&mut self) -> u64 {
        self.drawn += 1;
        let even = (scramble(self.drawn) >> 11) as f64 / (1u64 << 53) as f64;
        let rank = (self.known as f64).powf(even) as u64;
        scramble(rank) % self.known
    }
}

fn hear(
    frontier: &mut Frontier<Crawl>,
    (url, depth): (&PageUrl, u16),
    source: Option<PageId>,
    now: Moment,
) -> Number {
    let link = Link {
        url,
        depth: if source.is_some() { depth } else { 0 },
        hops: 0,
        source,
        absent: None,
    };
    let (number, entry) = frontier.hear(link, now);
    // As the committer says when it has written it.
    frontier.committed(&[entry]);
    number
}

/// Links from a seed: 1 to 8.
fn depth(number: u64) -> u16 {
    1 + (scramble(!number) % 8) as u16
}
