//! Pages that will probably be about the query first.
//!
//! IS of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the similarity of
//! a page to a driving query. The text of a page not fetched is not known, so it is foretold from what
//! is: the words of its URL, of the anchors that lead to it, and the texts that these are in.
//!
//! Worth = ½ share of the query's words in an anchor + ¼ similarity of the text around it, for the best
//! parent, + ¼ share in the URL. The weights are ours: an anchor is written to say what is behind it.
//! A parent that takes its link back has said what it said: a worth never falls.

use crate::estimate::Column;
use crate::query::{Query, similarity};
use crate::{Discovered, Fact, Moment, Moves, Needs, Page, Policy, Read, Report, Term, Worth};

/// What an anchor that has all words is worth.
const ANCHOR: f32 = 0.5;
/// What a URL that has all words is worth.
const URL: f32 = 0.25;
/// What a link from a text that is about nothing else is worth.
const PARENT: f32 = 0.25;

/// Worth is the similarity expected, from 0 to 1.
#[derive(Debug, Clone)]
pub struct Similarity {
    query: Query,
    pages: Column<Signs>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    /// What the URL adds.
    url: f32,
    /// What the best parent adds; of a seed, what the user's word adds.
    parent: f32,
    /// How similar its own text is, if it was read.
    text: f32,
    read: bool,
}

impl Signs {
    fn worth(self) -> Worth {
        Worth::new(f64::from(self.url + self.parent)).max(Worth::LEAST)
    }
}

impl Similarity {
    /// An ordering for this query.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            pages: Column::default(),
        }
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        let found = self.query.look_at_url(discovered.url);
        let signs = Signs {
            url: URL * self.query.share(found),
            parent: if discovered.seed { PARENT } else { 0.0 },
            ..Signs::default()
        };
        self.pages.add(discovered.page, signs);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let text = similarity(self.query.look_at_text(read.text));
        if let Some(page) = self.pages.get_mut(read.page) {
            page.read = true;
            page.text = text;
        }
        let around = PARENT * text;
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
            .map_or(Worth::LEAST, Signs::worth)
    }

    /// IS itself: its text is known now.
    fn importance(&self, page: Page<'_>) -> Worth {
        let signs = self.pages.get(page.number).unwrap_or_default();
        Worth::new(f64::from(signs.text))
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let signs = self.pages.get(page.number).unwrap_or_default();
        vec![
            Term::new("query in url", f64::from(signs.url)),
            Term::new("query in anchor and parent", f64::from(signs.parent)),
        ]
    }

    fn report(&self) -> Report {
        self.query.report()
    }
}
