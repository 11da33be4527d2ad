//! Intelligent crawling: learns which features predict that a page satisfies a predicate.
//!
//! Aggarwal, Al-Garawi & Yu, "Intelligent crawling on the World Wide Web with arbitrary
//! predicates" (WWW 2001). The method needs no examples. A page satisfies if the predicate holds
//! for it, or if it is of the topic. The crawler learns from the pages it reads which features such
//! pages have. The interest ratio of a feature is P(satisfied | feature)/P(satisfied).
//!
//! The features are the words of the URL, of anchors and around them, whether the parents satisfy,
//! and how many siblings do. The ratios of the three kinds are multiplied. The log ratios of words
//! are divided by the square root of their number, because words are not independent.
//!
//! **Invariant:** a ratio from few pages is shrunk towards 1. After a read, the pages that the page
//! links to are revalued at once. All unread pages are revalued each time the crawl has grown by a
//! twentieth, at least by 8 pages.

use crate::estimate::Column;
use crate::focus::focused::{Focus, worth as worth_of};
use crate::focus::judge::{ON_TOPIC, TopicJudge};
use crate::focus::logistic::WORDS;
use crate::focus::rates::{RelevanceRate, RelevanceRates, rate};
use crate::focus::topic::Topic;
use crate::focus::unread::{Origin, Parent, UnreadPage};
use crate::focus::word_counts::LinkWords;
use crate::{Discovered, Moves, Number, Read, Term, Worth};

/// Pseudo-count of pages by which a rate is shrunk towards the rate of all pages.
const PRIOR_PAGES: f32 = 3.0;

/// An ordering by P(satisfied) times the interest ratios, at most 1. Seeds come first.
#[derive(Debug, Clone)]
pub struct Intelligent {
    judge: TopicJudge,
    pages: Vec<UnreadPage>,
    worths: Column<f32>,
    all: RelevanceRate,
    words: Vec<RelevanceRate>,
    /// Rates of pages with a parent that does not satisfy, and with one that does.
    parents: [RelevanceRate; 2],
    siblings: RelevanceRates<u32>,
    reads: u32,
    sweep: u32,
}

impl Intelligent {
    /// Creates the method for this topic or predicate.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: TopicJudge::new(topic),
            pages: Vec::new(),
            worths: Column::default(),
            all: RelevanceRate::default(),
            words: vec![RelevanceRate::default(); WORDS],
            parents: [RelevanceRate::default(); 2],
            siblings: RelevanceRates::default(),
            reads: 0,
            sweep: 8,
        }
    }

    /// Updates the rates of all features of a page.
    fn count(&mut self, page: Number, satisfied: bool) {
        let Some(known) = self.pages.get(page.index()) else {
            return;
        };
        let reward = if satisfied { 1.0 } else { 0.0 };
        self.all.add(reward);
        for &word in &known.words {
            self.words[word as usize].add(reward);
        }
        for parent in &known.parents {
            let satisfies = usize::from(self.satisfies(parent));
            self.parents[satisfies].add(reward);
            self.siblings.entry(parent.page).or_default().add(reward);
        }
    }

    fn satisfies(&self, parent: &Parent) -> bool {
        let found = self.judge.relevance(Number(parent.page));
        found.is_some_and(|relevance| relevance >= ON_TOPIC)
    }

    fn value(&self, page: Number) -> f32 {
        match self.pages.get(page.index()) {
            Some(known) if known.seed => 2.0,
            Some(known) => {
                let base = self.base();
                let ratios: f32 = self.ratios(known).iter().sum();
                (base * ratios.exp()).min(1.0)
            }
            None => 0.0,
        }
    }

    /// Returns the share of read pages that satisfy, shrunk towards 0.1 by a pseudo-count of two
    /// pages.
    fn base(&self) -> f32 {
        self.all.towards(0.1, 2.0)
    }

    /// Returns the logarithms of the interest ratios of words, parents and siblings.
    fn ratios(&self, known: &UnreadPage) -> [f32; 3] {
        let base = self.base();
        let ratio = |rate: f32| (rate / base).ln();
        let words = known.words.iter().map(|&word| {
            let seen = self.words[word as usize];
            ratio(seen.towards(base, PRIOR_PAGES))
        });
        let root = (known.words.len().max(1) as f32).sqrt();
        let parents = known.mean(|parent| {
            let seen = self.parents[usize::from(self.satisfies(parent))];
            ratio(seen.towards(base, PRIOR_PAGES))
        });
        let siblings = known.mean(|parent| ratio(rate(&self.siblings, &parent.page, base)));
        [words.sum::<f32>() / root, parents, siblings]
    }
}

impl Focus for Intelligent {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let index = discovered.page.index();
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, UnreadPage::default);
        }
        self.pages[index] = UnreadPage::of(discovered);
        let worth = self.value(discovered.page);
        self.worths.add(discovered.page, worth);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let relevance = self.judge.read(read);
        if !again {
            self.reads += 1;
            self.count(read.page, relevance >= ON_TOPIC);
        }
        let mut moved: Vec<Number> = Vec::new();
        let from = Origin {
            page: read.page,
            relevance,
            near: 0.0,
        };
        for link in read.links {
            let link_words = LinkWords::of(link.anchor, link.around);
            let anchor = self.judge.follow_counted(link, &link_words);
            if let Some(known) = self.pages.get_mut(link.to.index()).filter(|_| !again) {
                known.follow(&from, anchor, link, &link_words);
            }
            moved.push(link.to);
        }
        if self.reads >= self.sweep {
            self.sweep = self.reads + (self.reads / 20).max(8);
            moved = self.worths.iter().map(|(page, _)| page).collect();
        }
        moved.sort_unstable();
        moved.dedup();
        for page in moved.into_iter().filter(|page| !self.judge.is_read(*page)) {
            let value = self.value(page);
            if let Some(worth) = self.worths.get_mut(page)
                && value != *worth
            {
                *worth = value;
                moves.push(page, worth_of(value));
            }
        }
    }

    fn worth(&self, page: Number) -> Worth {
        let worth = self.worths.get(page).unwrap_or(0.0);
        worth_of(worth)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let Some(known) = self.pages.get(page.index()) else {
            return Vec::new();
        };
        let names = [
            "interest ratio of its words",
            "interest ratio of its parents",
            "interest ratio of its siblings",
        ];
        let ratios = self.ratios(known).map(|ratio| f64::from(ratio.exp()));
        let ratios = names.iter().zip(ratios);
        let mut terms = vec![Term::new(
            "share of pages that satisfy",
            f64::from(self.base()),
        )];
        terms.extend(ratios.map(|(name, ratio)| Term::new(*name, ratio)));
        terms
    }
}
