//! Generates the pages and links that the crawl of a benchmark discovers.
//!
//! **Invariant:** the work of the crate `page` (resolve and hash a URL) is done here, before the
//! measurement. Equal numbers give equal pages.

use anyhow::Result;
use frontier::{Frontier, FrontierLink, Reading};
use page::{PageId, PageUrl};
use policy::{Crawl, Moment, Number, Text};

use crate::urls::{Urls, popular, scramble};

/// Links per page, and new links among them: one in five, as in `bench frontier`.
const LINKS: u64 = 20;
const NEW: u64 = 4;

/// The text of every page: as long as a short article, with a word of the query.
const TITLE: &str = "A page";
const SENTENCE: &str = "In summer the important pages are fetched early and in a good order. ";

/// The pages, in the order of their discovery.
pub struct OrderWorld {
    urls: Urls,
    known: u64,
    drawn: u64,
    body: String,
}

/// The links of a page to read.
pub struct PreparedPage {
    new: Vec<(PageUrl, String, u16)>,
    known: Vec<(Number, String)>,
}

impl OrderWorld {
    /// Creates a world of which no page is known.
    pub fn new(servers: u64) -> Self {
        Self {
            urls: Urls { servers },
            known: 0,
            drawn: 0,
            body: SENTENCE.repeat(20),
        }
    }

    /// Admits `pages` pages to the frontier: one seed, and the rest as if linked from it.
    pub fn fill(&mut self, frontier: &mut Frontier<Crawl>, pages: u64, now: Moment) -> Result<()> {
        let seed = self.urls.url(0)?.id();
        while self.known < pages {
            let url = self.urls.url(self.known)?;
            let source = (self.known > 0).then_some(seed);
            admit(frontier, (&url, depth(self.known)), source, now);
            self.known += 1;
        }
        Ok(())
    }

    /// Returns the links of the next page: [`NEW`] to new pages, the others to known ones.
    ///
    /// The n-th most popular page is drawn with a probability of about 1/n.
    pub fn prepare(&mut self) -> Result<PreparedPage> {
        let mut known = Vec::new();
        for _ in NEW..LINKS {
            self.drawn += 1;
            let number = popular(self.drawn, self.known) % self.known;
            known.push((Number(number as u32), Urls::anchor(number)));
        }
        let mut new = Vec::new();
        for number in self.known..self.known + NEW {
            new.push((self.urls.url(number)?, Urls::anchor(number), depth(number)));
        }
        self.known += NEW;
        Ok(PreparedPage { new, known })
    }

    /// Passes the content of a page to the frontier, as the engine does.
    pub fn read(
        &self,
        frontier: &mut Frontier<Crawl>,
        page: PageId,
        content: &PreparedPage,
        now: Moment,
    ) {
        let mut links = Vec::with_capacity(LINKS as usize);
        for (url, anchor, depth) in &content.new {
            let to = admit(frontier, (url, *depth), Some(page), now);
            links.push(policy::LinkFact::new(to, anchor));
        }
        let known = content.known.iter();
        links.extend(known.map(|(to, anchor)| policy::LinkFact::new(*to, anchor)));
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
}

fn admit(
    frontier: &mut Frontier<Crawl>,
    (url, depth): (&PageUrl, u16),
    source: Option<PageId>,
    now: Moment,
) -> Number {
    let link = FrontierLink {
        url,
        depth: if source.is_some() { depth } else { 0 },
        hops: 0,
        source,
        absent: None,
    };
    let (number, entry) = frontier.hear(link, now);
    // The entry counts as committed at once: nothing is written here.
    frontier.committed(&[entry]);
    number
}

/// Returns the depth of a page, in links from a seed: 1 to 8.
fn depth(number: u64) -> u16 {
    1 + (scramble(!number) % 8) as u16
}
