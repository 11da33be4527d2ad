//! The relevance of pages and links to a topic.
//!
//! The basis depends on how the topic is defined:
//!
//! - Examples: a trained classifier judges the text, title and URL of a page and the anchors of
//!   links to it.
//! - A query: pages are first judged by their similarity to the query. They also become training
//!   examples: pages that are hot by Algorithm 5.3 of Cho, Garcia-Molina & Page (1998) against
//!   pages that are not. With [`ENOUGH`] of each, a classifier replaces the similarity. It is
//!   retrained each time both numbers have doubled, up to [`MOST`] of each.
//! - A predicate: a page matches or does not. Unread pages all have the same probability.
//!
//! **Invariant:** an unread page is judged only by its URL and the links to it seen so far: their
//! anchors and the words around these.

use std::collections::HashMap;

use super::bayes::{Bayes, Evidence};
use super::predicate::{Candidate, Predicate};
use super::topic::{Topic, TopicDefinition};
use super::trainer::{Trainer, TrainingDocument};
use super::word_counts::{Field, LinkWords, PageWords};
use crate::estimate::Column;
use crate::query::{Query, is_hot, similarity};
use crate::{Discovered, LinkFact, Needs, Number, Read, Report, Term, Text, Worth};

/// Minimum probability at which a page counts as on the topic.
pub const ON_TOPIC: f32 = 0.5;
/// Number of examples of each class at which a classifier replaces the similarity to a query.
const ENOUGH: usize = 20;
/// Maximum number of examples of each class that a query collects.
const MOST: usize = 640;

/// Probability of an unread page under a predicate.
const UNREAD: f32 = 0.2;

/// Judges how relevant pages and links are to a topic.
#[derive(Debug, Clone)]
pub struct TopicJudge {
    basis: Basis,
    pages: Column<PageEvidence>,
    /// Number of read pages with a probability of at least [`ON_TOPIC`].
    found: u64,
}

#[derive(Debug, Clone)]
enum Basis {
    Examples(Box<ClassifierBasis>),
    Words(Box<QueryBasis>),
    Where(Box<PredicateBasis>),
}

/// The classifier of the topic and those of its parent topics.
#[derive(Debug, Clone)]
struct ClassifierBasis {
    bayes: Bayes,
    above: Vec<Bayes>,
}

impl ClassifierBasis {
    /// Judges a page by the classifiers of the topic and of its parent topics.
    ///
    /// Without a text only the topic's own classifier is used: links that lead to the topic also
    /// lead to its parent topics.
    fn page(&self, text: Text<'_>, page_words: &PageWords, evidence: PageEvidence) -> f32 {
        let own = judged(&self.bayes, text, page_words, evidence);
        if !matches!(text, Text::Whole { .. }) {
            return own;
        }
        let above = self.above.iter();
        own * above
            .map(|bayes| bayes.judge_words(page_words) as f32)
            .product::<f32>()
    }
}

/// A predicate, and the URLs of all discovered pages, which it tests.
#[derive(Debug, Clone)]
struct PredicateBasis {
    predicate: Predicate,
    urls: HashMap<Number, Box<str>>,
}

/// A query that collects examples.
#[derive(Debug, Clone)]
struct QueryBasis {
    query: Query,
    trainer: Trainer,
    /// Number of examples of each class at which the classifier is trained next.
    next: usize,
    bayes: Option<Bayes>,
}

/// The evidence about a page.
#[derive(Debug, Clone, Copy, Default)]
struct PageEvidence {
    url: Evidence,
    anchors: Evidence,
    relevance: f32,
    read: bool,
}

impl TopicJudge {
    /// The facts that a judge needs.
    pub const NEEDS: Needs = Needs {
        links: true,
        words: true,
        places: true,
        text: true,
        visits: false,
        searches: false,
    };

    /// Creates a judge for this topic.
    pub fn new(topic: &Topic) -> Self {
        let basis = match &topic.known {
            TopicDefinition::Examples(bayes) => Basis::Examples(Box::new(ClassifierBasis {
                bayes: (**bayes).clone(),
                above: topic.above.clone(),
            })),
            TopicDefinition::Where(predicate) => Basis::Where(Box::new(PredicateBasis {
                predicate: (**predicate).clone(),
                urls: HashMap::new(),
            })),
            TopicDefinition::Words(words) => match Query::new(words) {
                Ok(query) => Basis::Words(Box::new(QueryBasis {
                    query,
                    trainer: Trainer::default(),
                    next: ENOUGH,
                    bayes: None,
                })),
                // `Topic::words` rejects such a query. A damaged file gets a classifier without
                // words.
                Err(_) => Basis::Examples(Box::new(ClassifierBasis {
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

    /// Registers a discovered page.
    pub fn discover(&mut self, discovered: &Discovered<'_>) {
        let url = match &mut self.basis {
            Basis::Examples(basis) => basis.bayes.evidence(discovered.url, Field::Url),
            Basis::Words(basis) => {
                let found = basis.query.look_at_url(discovered.url);
                shared(basis.query.share(found))
            }
            Basis::Where(basis) => {
                basis.urls.insert(discovered.page, discovered.url.into());
                Evidence::default()
            }
        };
        let evidence = PageEvidence {
            url,
            ..PageEvidence::default()
        };
        self.pages.add(discovered.page, evidence);
    }

    /// Judges a page that was read: returns the probability that it is of the topic.
    ///
    /// A page without text but with links, such as a redirect, is judged by its URL and anchors.
    /// A page without text and links has probability 0.
    pub fn read(&mut self, read: &Read<'_>) -> f32 {
        self.read_counted(read, &PageWords::of(read.text))
    }

    /// Judges a page whose words were already counted.
    pub fn read_counted(&mut self, read: &Read<'_>, page_words: &PageWords) -> f32 {
        let evidence = self.pages.get(read.page).unwrap_or_default();
        let relevance = match read.text {
            Text::Nothing if read.links.is_empty() => 0.0,
            Text::Nothing => self.expected(read.page),
            text => self.basis.page(read.page, text, page_words, evidence),
        };
        if let Some(evidence) = self.pages.get_mut(read.page) {
            self.found += u64::from(relevance >= ON_TOPIC);
            self.found -= u64::from(evidence.read && evidence.relevance >= ON_TOPIC);
            evidence.relevance = relevance;
            evidence.read = true;
        }
        relevance
    }

    /// Adds a link to the evidence about its target.
    ///
    /// Returns the probability that the target is of the topic, by this link and the URL of the
    /// target; 0 if the target is unknown.
    pub fn follow(&mut self, link: &LinkFact<'_>) -> f32 {
        self.follow_counted(link, &LinkWords::of(link.anchor, link.around))
    }

    /// Does the same as [`follow`](Self::follow), for a link whose words were already counted.
    pub fn follow_counted(&mut self, link: &LinkFact<'_>, link_words: &LinkWords) -> f32 {
        let Some(evidence) = self.pages.get_mut(link.to) else {
            return 0.0;
        };
        let (anchors, words) = match &mut self.basis {
            Basis::Examples(basis) => {
                let bayes = &basis.bayes;
                let anchor = bayes.counted(&link_words.anchor, Field::Text);
                let around = bayes.counted(&link_words.around, Field::Text);
                (anchor, anchor.and(around))
            }
            Basis::Words(basis) => {
                let found = basis.query.look(link.anchor);
                let around = basis.query.look(link.around);
                let anchor = basis.query.share(found);
                let both = anchor.max(0.5 * basis.query.share(around));
                (shared(anchor), shared(both))
            }
            Basis::Where(_) => (Evidence::default(), Evidence::default()),
        };
        evidence.anchors = self.basis.joined(evidence.anchors, anchors);
        self.basis.link(words, evidence.url)
    }

    /// Returns the probability that an unread page is of the topic, by its URL and all anchors
    /// seen.
    pub fn expected(&self, page: Number) -> f32 {
        let evidence = self.pages.get(page).unwrap_or_default();
        self.basis.link(evidence.anchors, evidence.url)
    }

    /// Returns whether the page was read.
    pub fn is_read(&self, page: Number) -> bool {
        self.pages.get(page).is_some_and(|evidence| evidence.read)
    }

    /// Returns the probability that a page is of the topic, if it was read.
    pub fn relevance(&self, page: Number) -> Option<f32> {
        let evidence = self.pages.get(page).filter(|evidence| evidence.read);
        evidence.map(|evidence| evidence.relevance)
    }

    /// Returns the relevance of a page as its importance; 0 before it is read.
    pub fn importance(&self, page: Number) -> Worth {
        Worth::new(f64::from(self.relevance(page).unwrap_or(0.0)))
    }

    /// Returns the relevance of a page as a term of an explanation, if it was read.
    pub fn term(&self, page: Number) -> Option<Term> {
        let found = self.relevance(page);
        found.map(|found| Term::new("P(topic | page)", f64::from(found)))
    }

    /// Returns the report on the topic.
    pub fn report(&self) -> Report {
        let mut report = self.basis_report();
        report.found = Some(self.found);
        report
    }

    fn basis_report(&self) -> Report {
        match &self.basis {
            Basis::Examples(_) | Basis::Where(_) => Report::default(),
            Basis::Words(basis) => {
                let mut report = basis.query.report();
                if basis.bayes.is_some() {
                    let [off, on] = basis.trainer.examples();
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
    fn page(
        &mut self,
        page: Number,
        text: Text<'_>,
        page_words: &PageWords,
        evidence: PageEvidence,
    ) -> f32 {
        match self {
            Self::Examples(basis) => basis.page(text, page_words, evidence),
            Self::Words(basis) => basis.page(text, page_words),
            Self::Where(basis) => basis.page(page, text),
        }
    }

    fn link(&self, words: Evidence, url: Evidence) -> f32 {
        match self {
            Self::Examples(basis) => basis.bayes.link(words, url) as f32,
            // The anchor counts more, because its words are written to describe the target.
            Self::Words(_) => 0.75 * words.log_odds + 0.25 * url.log_odds,
            Self::Where(_) => UNREAD,
        }
    }

    fn joined(&self, known: Evidence, more: Evidence) -> Evidence {
        match self {
            Self::Examples(_) | Self::Where(_) => known.and(more),
            Self::Words(_) => shared(known.log_odds.max(more.log_odds)),
        }
    }
}

impl PredicateBasis {
    fn page(&mut self, page: Number, text: Text<'_>) -> f32 {
        let Text::Whole { title, body, about } = text else {
            return 0.0;
        };
        let candidate = Candidate {
            about,
            ..Candidate::of(TrainingDocument {
                url: self.urls.get(&page).map_or("", AsRef::as_ref),
                title,
                text: body,
                anchors: "",
            })
        };
        f32::from(u8::from(self.predicate.holds(&candidate)))
    }
}

impl QueryBasis {
    fn page(&mut self, text: Text<'_>, page_words: &PageWords) -> f32 {
        let found = self.query.look_at_text(text);
        if let Text::Whole { title, body, .. } = text {
            let on = is_hot(found);
            let page = TrainingDocument {
                title,
                text: body,
                ..TrainingDocument::default()
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
                return judged(bayes, text, page_words, PageEvidence::default());
            }
        }
        similarity(found)
    }
}

/// Stores the share of a query's words in the `log_odds` field of [`Evidence`].
fn shared(share: f32) -> Evidence {
    Evidence {
        log_odds: share,
        words: 0.0,
    }
}

fn judged(bayes: &Bayes, text: Text<'_>, page_words: &PageWords, evidence: PageEvidence) -> f32 {
    if !matches!(text, Text::Whole { .. }) {
        return bayes.link(evidence.anchors, evidence.url) as f32;
    }
    let body = bayes
        .counted(&page_words.body, Field::Text)
        .and(evidence.anchors);
    let title = bayes.counted(&page_words.title, Field::Title);
    bayes.page([body, title, evidence.url]) as f32
}

/// Returns a classifier without words.
fn nothing() -> Bayes {
    Bayes::from(super::bayes::BayesParameters {
        examples: [1, 1],
        words: [Vec::new(), Vec::new(), Vec::new()],
        page: super::calibration::LogisticCurve::default(),
        link: super::calibration::LogisticCurve::default(),
    })
}
