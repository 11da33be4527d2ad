//! Links with signs that satisfied pages had, whatever these signs are.
//!
//! Aggarwal, Al-Garawi & Yu, "Intelligent crawling on the World Wide Web with arbitrary predicates" (WWW 2001): no examples; a predicate, or a
//! topic, says of each page that was read whether it satisfies, and the crawler learns which signs go with that. The
//! interest ratio of a sign is P(satisfied | sign)/P(satisfied); the signs are the words of URL and anchors, whether the
//! pages that lead there satisfy, and how many siblings do. Ratios of the three kinds are multiplied; of many words it is the
//! root of their number that counts, since they are anything but independent.
//!
//! **Invariant:** what was seen of few pages is drawn towards a ratio of one. Pages are valued anew as those of `learned`
//! are: children of a page at once, all each time that the crawl has grown by a twentieth.

use crate::estimate::Column;
use crate::focus::focused::{Focus, worth as worth_of};
use crate::focus::judge::{Judge, ON_TOPIC};
use crate::focus::linear::WORDS;
use crate::focus::rates::{Rate, Rates, rate};
use crate::focus::seen::{Known, Origin, Parent};
use crate::focus::topic::Topic;
use crate::focus::word_counts::Spoken;
use crate::{Discovered, Moves, Number, Read, Term, Worth};

/// Pages by which the rate of a word is drawn towards that of all.
const DOUBT: f32 = 3.0;

/// Worth is P(satisfied) times the interest ratios.
#[derive(Debug, Clone)]
pub struct Intelligent {
    judge: Judge,
    pages: Vec<Known>,
    worths: Column<f32>,
    all: Rate,
    words: Vec<Rate>,
    /// Of pages behind one that does not satisfy, and behind one that does.
    parents: [Rate; 2],
    siblings: Rates<u32>,
    reads: u32,
    sweep: u32,
}

impl Intelligent {
    /// For this topic or predicate.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: Judge::new(topic),
            pages: Vec::new(),
            worths: Column::default(),
            all: Rate::default(),
            words: vec![Rate::default(); WORDS],
            parents: [Rate::default(); 2],
            siblings: Rates::default(),
            reads: 0,
            sweep: 8,
        }
    }

    /// Takes note of whether a page satisfied, for all signs that it had.
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

    /// The share of pages that satisfy.
    fn base(&self) -> f32 {
        self.all.towards(0.1, 2.0)
    }

    /// The logarithms of the interest ratios: words, parents, siblings.
    fn ratios(&self, known: &Known) -> [f32; 3] {
        let base = self.base();
        let ratio = |rate: f32| (rate / base).ln();
        let words = known.words.iter().map(|&word| {
            let seen = self.words[word as usize];
            ratio(seen.towards(base, DOUBT))
        });
        let root = (known.words.len().max(1) as f32).sqrt();
        let parents = known.mean(|parent| {
            let seen = self.parents[usize::from(self.satisfies(parent))];
            ratio(seen.towards(base, DOUBT))
        });
        let siblings = known.mean(|parent| ratio(rate(&self.siblings, &parent.page, base)));
        [words.sum::<f32>() / root, parents, siblings]
    }
}

impl Focus for Intelligent {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let index = discovered.page.index();
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, Known::default);
        }
        self.pages[index] = Known::of(discovered);
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
            let spoken = Spoken::of(link.anchor, link.around);
            let anchor = self.judge.hear(link, &spoken);
            if let Some(known) = self.pages.get_mut(link.to.index()).filter(|_| !again) {
                known.follow(&from, anchor, link, &spoken);
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
            "of its parents",
            "of its siblings",
        ];
        let ratios = self.ratios(known).map(|ratio| f64::from(ratio.exp()));
        let ratios = names.iter().zip(ratios);
        let mut terms = vec![Term::new("pages that satisfy", f64::from(self.base()))];
        terms.extend(ratios.map(|(name, ratio)| Term::new(*name, ratio)));
        terms
    }
}
