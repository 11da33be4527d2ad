//! An ordering by the predicted similarity of a page to the query.
//!
//! IS of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the
//! similarity of a page to a driving query. The text of an unfetched page is unknown. Its
//! similarity is predicted from the words of its URL, the anchor texts of links to it, and the
//! texts of the pages with these links.
//!
//! Worth = ¼ share of the query's words in the URL + the maximum over the parents of (½ share of
//! the query's words in the anchor text + ¼ similarity of the parent's text). For a seed this
//! maximum is at least ¼. The weights are ours: an anchor text is written to describe its target.
//! A worth never falls, even if a parent later removes its link.

use crate::estimate::Column;
use crate::query::{Query, similarity};
use crate::{Discovered, Fact, Moment, Moves, Needs, Page, Policy, Read, Report, Term, Worth};

/// The worth of an anchor text that contains all words of the query.
const ANCHOR: f32 = 0.5;
/// The worth of a URL that contains all words of the query.
const URL: f32 = 0.25;
/// The worth of a link from a text of similarity 1.
const PARENT: f32 = 0.25;

/// Worth is the expected similarity, from 0 to 1.
#[derive(Debug, Clone)]
pub struct Similarity {
    query: Query,
    pages: Column<SimilarityParts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SimilarityParts {
    /// The part from the URL.
    url: f32,
    /// The part from the best parent. For a seed at least [`PARENT`], because the user named
    /// it.
    parent: f32,
    /// The similarity of its own text, if it was read.
    text: f32,
    read: bool,
}

impl SimilarityParts {
    fn worth(self) -> Worth {
        Worth::new(f64::from(self.url + self.parent)).max(Worth::LEAST)
    }
}

impl Similarity {
    /// Creates an ordering for this query.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            pages: Column::default(),
        }
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        let found = self.query.look_at_url(discovered.url);
        let parts = SimilarityParts {
            url: URL * self.query.share(found),
            parent: if discovered.seed { PARENT } else { 0.0 },
            ..SimilarityParts::default()
        };
        self.pages.add(discovered.page, parts);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        if let Some(page) = self
            .pages
            .get_mut(read.page)
            .filter(|_| read.part.is_first())
        {
            page.read = true;
            page.text = similarity(self.query.look_at_text(read.text));
        }
        let around = PARENT * self.pages.get(read.page).unwrap_or_default().text;
        for link in read.links {
            let found = self.query.look(link.anchor);
            let parent = around + ANCHOR * self.query.share(found);
            let Some(page) = self.pages.get_mut(link.to) else {
                continue;
            };
            if parent > page.parent {
                page.parent = parent;
                if !page.read {
                    moves.push(link.to, page.worth());
                }
            }
        }
    }
}

impl Policy for Similarity {
    fn needs(&self) -> Needs {
        Needs {
            links: true,
            words: true,
            text: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.discover(discovered),
            Fact::Read(read) => self.read(read, moves),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.pages
            .get(page.number)
            .map_or(Worth::LEAST, SimilarityParts::worth)
    }

    /// Returns IS: the similarity of the page's own text to the query; 0 before the page is read.
    fn importance(&self, page: Page<'_>) -> Worth {
        let parts = self.pages.get(page.number).unwrap_or_default();
        Worth::new(f64::from(parts.text))
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let parts = self.pages.get(page.number).unwrap_or_default();
        vec![
            Term::new("query in url", f64::from(parts.url)),
            Term::new("query in anchor and parent", f64::from(parts.parent)),
        ]
    }

    fn report(&self) -> Report {
        self.query.report()
    }
}
