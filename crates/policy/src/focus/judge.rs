//! Is this page of the topic, and what do links say of pages that nobody has read?
//!
//! A topic that is known by examples is judged by its classifier: over text, title and URL of a page and over
//! the anchors that lead to it. One that is known by a query is judged by similarity first, and grows examples of its
//! own: pages that are hot by Algorithm 5.3 of Cho, Garcia-Molina & Page (1998) against pages that are not. As soon as
//! there are [`ENOUGH`] of each it learns from them, and again each time that they have doubled. Of a topic that is known by a
//! predicate a page is or is not, and nothing is known before it was read.
//!
//! **Invariant:** a page that is not read is judged by its URL and by the anchors seen so far, and by nothing else.

use std::collections::HashMap;

use super::bayes::{Bayes, Evidence};
use super::predicate::{Candidate, Predicate};
use super::topic::{Known, Topic};
use super::trainer::{Document, Trainer};
use super::word_counts::{Field, Spoken, Written};
use crate::estimate::Column;
use crate::query::{Query, is_hot, similarity};
use crate::{Discovered, Link, Needs, Number, Read, Report, Term, Text, Worth};

/// From here on a page counts as one of the topic.
pub const ON_TOPIC: f32 = 0.5;
/// Examples of each kind after which a query has taught enough to be replaced.
const ENOUGH: usize = 20;
/// Examples of each kind that are learned from, at most.
const MOST: usize = 640;

/// What a predicate says of a page that nobody has read.
const UNTOLD: f32 = 0.2;

/// Judges pages and links.
#[derive(Debug, Clone)]
pub struct Judge {
    basis: Basis,
    pages: Column<Signs>,
    /// Pages that were read and are of the topic.
    found: u64,
}

#[derive(Debug, Clone)]
enum Basis {
    Examples(Box<Taught>),
    Words(Box<Growing>),
    Where(Box<Asked>),
}

/// A classifier, and those of the topics above.
#[derive(Debug, Clone)]
struct Taught {
    bayes: Bayes,
    above: Vec<Bayes>,
}

impl Taught {
    /// Links are judged by the topic itself: what leads to a page of it leads to one of those above.
    fn page(&self, text: Text<'_>, written: &Written, signs: Signs) -> f32 {
        let own = judged(&self.bayes, text, written, signs);
        if !matches!(text, Text::Whole { .. }) {
            return own;
        }
        let above = self.above.iter();
        own * above
            .map(|bayes| bayes.written(written) as f32)
            .product::<f32>()
    }
}

/// A predicate, and the pages that it has not judged yet.
#[derive(Debug, Clone)]
struct Asked {
    predicate: Predicate,
    urls: HashMap<Number, Box<str>>,
}

/// A query that gathers examples.
#[derive(Debug, Clone)]
struct Growing {
    query: Query,
    trainer: Trainer,
    /// Examples of each kind at which it learns next.
    next: usize,
    bayes: Option<Bayes>,
}

/// What is known of a page.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    url: Evidence,
    anchors: Evidence,
    relevance: f32,
    read: bool,
}

impl Judge {
    /// What it must be told.
    pub const NEEDS: Needs = Needs {
        links: true,
        words: true,
        places: true,
        text: true,
        visits: false,
        searches: false,
    };

    /// For this topic.
    pub fn new(topic: &Topic) -> Self {
        let basis = match &topic.known {
            Known::Examples(bayes) => Basis::Examples(Box::new(Taught {
                bayes: (**bayes).clone(),
                above: topic.above.clone(),
            })),
            Known::Where(predicate) => Basis::Where(Box::new(Asked {
                predicate: (**predicate).clone(),
                urls: HashMap::new(),
            })),
            Known::Words(words) => match Query::new(words) {
                Ok(query) => Basis::Words(Box::new(Growing {
                    query,
                    trainer: Trainer::default(),
                    next: ENOUGH,
                    bayes: None,
                })),
                // Topic::words refuses these; a file that was tampered with is about nothing.
                Err(_) => Basis::Examples(Box::new(Taught {
                    bayes: nothing(),
                    above: Vec::new(),
                })),
            },
        };
        Self {
            basis,
            pages: Column::default(),
            found: 0,
        }
    }

    /// Takes in a page that was heard of.
    pub fn discover(&mut self, discovered: &Discovered<'_>) {
        let url = match &mut self.basis {
            Basis::Examples(taught) => taught.bayes.evidence(discovered.url, Field::Url),
            Basis::Words(growing) => {
                let found = growing.query.look_at_url(discovered.url);
                shared(growing.query.share(found))
            }
            Basis::Where(asked) => {
                asked.urls.insert(discovered.page, discovered.url.into());
                Evidence::default()
            }
        };
        let signs = Signs {
            url,
            ..Signs::default()
        };
        self.pages.add(discovered.page, signs);
    }

    /// Judges a page that was read: the probability that it is of the topic. What says nothing and leads on, as a
    /// redirect does, is judged by what was said of it.
    pub fn read(&mut self, read: &Read<'_>) -> f32 {
        self.weigh(read, &Written::of(read.text))
    }

    /// The same of a page whose words were counted.
    pub fn weigh(&mut self, read: &Read<'_>, written: &Written) -> f32 {
        let signs = self.pages.get(read.page).unwrap_or_default();
        let relevance = match read.text {
            Text::Nothing if read.links.is_empty() => 0.0,
            Text::Nothing => self.expected(read.page),
            text => self.basis.page(read.page, text, written, signs),
        };
        if let Some(signs) = self.pages.get_mut(read.page) {
            self.found += u64::from(relevance >= ON_TOPIC);
            self.found -= u64::from(signs.read && signs.relevance >= ON_TOPIC);
            signs.relevance = relevance;
            signs.read = true;
        }
        relevance
    }

    /// Takes in a link: its words count for the page behind it. Returns how likely that page is of the
    /// topic by this link and its URL.
    pub fn follow(&mut self, link: &Link<'_>) -> f32 {
        self.hear(link, &Spoken::of(link.anchor, link.around))
    }

    /// The same of a link whose words were counted.
    pub fn hear(&mut self, link: &Link<'_>, spoken: &Spoken) -> f32 {
        let Some(signs) = self.pages.get_mut(link.to) else {
            return 0.0;
        };
        let (anchors, words) = match &mut self.basis {
            Basis::Examples(taught) => {
                let bayes = &taught.bayes;
                let anchor = bayes.counted(&spoken.anchor, Field::Text);
                let around = bayes.counted(&spoken.around, Field::Text);
                (anchor, anchor.and(around))
            }
            Basis::Words(growing) => {
                let found = growing.query.look(link.anchor);
                let around = growing.query.look(link.around);
                let anchor = growing.query.share(found);
                let both = anchor.max(0.5 * growing.query.share(around));
                (shared(anchor), shared(both))
            }
            Basis::Where(_) => (Evidence::default(), Evidence::default()),
        };
        signs.anchors = self.basis.joined(signs.anchors, anchors);
        self.basis.link(words, signs.url)
    }

    /// How likely a page that nobody has read is of the topic, by its URL and all anchors seen.
    pub fn expected(&self, page: Number) -> f32 {
        let signs = self.pages.get(page).unwrap_or_default();
        self.basis.link(signs.anchors, signs.url)
    }

    /// Whether the page was read.
    pub fn is_read(&self, page: Number) -> bool {
        self.pages.get(page).is_some_and(|signs| signs.read)
    }

    /// How likely a page is of the topic, if it was read.
    pub fn relevance(&self, page: Number) -> Option<f32> {
        let signs = self.pages.get(page).filter(|signs| signs.read);
        signs.map(|signs| signs.relevance)
    }

    /// The same as what a page is worth now that its text is known; nothing before.
    pub fn importance(&self, page: Number) -> Worth {
        Worth::new(f64::from(self.relevance(page).unwrap_or(0.0)))
    }

    /// The same for people, if it was read.
    pub fn term(&self, page: Number) -> Option<Term> {
        let found = self.relevance(page);
        found.map(|found| Term::new("P(topic | page)", f64::from(found)))
    }

    /// What there is to say of the topic.
    pub fn report(&self) -> Report {
        let mut report = self.said();
        report.found = Some(self.found);
        report
    }

    fn said(&self) -> Report {
        match &self.basis {
            Basis::Examples(_) | Basis::Where(_) => Report::default(),
            Basis::Words(growing) => {
                let mut report = growing.query.report();
                if growing.bayes.is_some() {
                    let [off, on] = growing.trainer.examples();
                    report.remarks.push(format!(
                        "the topic was learned from {on} pages that have its words and {off} that have not"
                    ));
                }
                report
            }
        }
    }
}

impl Basis {
    fn page(&mut self, page: Number, text: Text<'_>, written: &Written, signs: Signs) -> f32 {
        match self {
            Self::Examples(taught) => taught.page(text, written, signs),
            Self::Words(growing) => growing.page(text, written),
            Self::Where(asked) => asked.page(page, text),
        }
    }

    fn link(&self, words: Evidence, url: Evidence) -> f32 {
        match self {
            Self::Examples(taught) => taught.bayes.link(words, url) as f32,
            // An anchor is written to say what is behind it.
            Self::Words(_) => 0.75 * words.log_odds + 0.25 * url.log_odds,
            Self::Where(_) => UNTOLD,
        }
    }

    fn joined(&self, known: Evidence, more: Evidence) -> Evidence {
        match self {
            Self::Examples(_) | Self::Where(_) => known.and(more),
            Self::Words(_) => shared(known.log_odds.max(more.log_odds)),
        }
    }
}

impl Asked {
    fn page(&mut self, page: Number, text: Text<'_>) -> f32 {
        let Text::Whole { title, body, about } = text else {
            return 0.0;
        };
        let candidate = Candidate {
            about,
            ..Candidate::of(Document {
                url: self.urls.get(&page).map_or("", AsRef::as_ref),
                title,
                text: body,
                anchors: "",
            })
        };
        f32::from(u8::from(self.predicate.holds(&candidate)))
    }
}

impl Growing {
    fn page(&mut self, text: Text<'_>, written: &Written) -> f32 {
        let found = self.query.look_at_text(text);
        if let Text::Whole { title, body, .. } = text {
            let on = is_hot(found);
            let page = Document {
                title,
                text: body,
                ..Document::default()
            };
            if self.trainer.examples()[usize::from(on)] < MOST {
                self.trainer.add(&page, on);
            }
            if self
                .trainer
                .examples()
                .iter()
                .all(|&kind| kind >= self.next)
            {
                self.next *= 2;
                self.bayes = self.trainer.train().ok().map(|trained| trained.bayes);
            }
            if let Some(bayes) = &self.bayes {
                return judged(bayes, text, written, Signs::default());
            }
        }
        similarity(found)
    }
}

/// A share of a query's words, where evidence is kept.
fn shared(share: f32) -> Evidence {
    Evidence {
        log_odds: share,
        words: 0.0,
    }
}

fn judged(bayes: &Bayes, text: Text<'_>, written: &Written, signs: Signs) -> f32 {
    if !matches!(text, Text::Whole { .. }) {
        return bayes.link(signs.anchors, signs.url) as f32;
    }
    let body = bayes.counted(&written.body, Field::Text).and(signs.anchors);
    let title = bayes.counted(&written.title, Field::Title);
    bayes.page([body, title, signs.url]) as f32
}

/// A classifier that knows no word.
fn nothing() -> Bayes {
    Bayes::from(super::bayes::Learned {
        examples: [1, 1],
        words: [Vec::new(), Vec::new(), Vec::new()],
        page: super::calibration::Curve::default(),
        link: super::calibration::Curve::default(),
    })
}
