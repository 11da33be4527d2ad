//! Best-first ordering, shared by all methods that value a link when the page that has it is read.
//!
//! **Invariant:** the worth of a page is the highest value of a link to it so far, and for a seed
//! at least [`Method::seed`]. It never decreases.

use crate::estimate::Column;
use crate::focus::focused::{self, Focus};
use crate::focus::judge::TopicJudge;
use crate::focus::topic::Topic;
use crate::focus::word_counts::LinkWords;
use crate::{Discovered, LinkFact, Moves, Number, Read, Term, Worth};

/// A link as input of a method.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// The page that has the link.
    pub from: Number,
    /// The probability that this page is of the topic.
    pub relevance: f32,
    /// The probability that the target is of the topic, by anchor, words around it and URL.
    pub anchor: f32,
    /// Number of links of this page to targets with a lower page number. Targets that this page
    /// discovered are numbered in the order of their links.
    pub place: usize,
    /// The link.
    pub link: LinkFact<'a>,
    /// The word counts of the link.
    pub link_words: &'a LinkWords,
}

/// A valuation of links.
///
/// Unlike a [`Focus`], it values one link at a time and keeps no worths; [`BestFirst`] does
/// that.
pub trait Method: Send {
    /// Name of the value in explanations.
    const TERM: &'static str;
    /// Whether links of value 0 are dropped. Otherwise they come last.
    const DROPS: bool = false;

    /// Processes a discovered page, before any link to it.
    fn discover(&mut self, _discovered: &Discovered<'_>) {}

    /// Processes a page that was read, before its links.
    fn learn(&mut self, _read: &Read<'_>, _relevance: f32) {}

    /// Returns the value of a link, at least 0.
    fn value(&mut self, sighting: &Sighting<'_>) -> f32;

    /// Returns the value of a seed.
    fn seed(&self) -> f32 {
        1.0
    }
}

/// An ordering by a method.
#[derive(Debug, Clone)]
pub struct BestFirst<M> {
    judge: TopicJudge,
    method: M,
    worths: Column<f32>,
}

impl<M: Method> BestFirst<M> {
    /// Creates the ordering for this topic.
    pub fn new(topic: &Topic, method: M) -> Self {
        Self {
            judge: TopicJudge::new(topic),
            method,
            worths: Column::default(),
        }
    }
}

fn worth_of<M: Method>(value: f32) -> Worth {
    match value > 0.0 || !M::DROPS {
        true => focused::worth(value),
        false => Worth::NONE,
    }
}

impl<M: Method> Focus for BestFirst<M> {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        self.method.discover(discovered);
        let worth = if discovered.seed {
            self.method.seed()
        } else {
            0.0
        };
        self.worths.add(discovered.page, worth);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let relevance = self.judge.read(read);
        self.method.learn(read, relevance);
        for (place, link) in read.links.iter().enumerate() {
            let link_words = LinkWords::of(link.anchor, link.around);
            let anchor = self.judge.follow_counted(link, &link_words);
            let value = self.method.value(&Sighting {
                from: read.page,
                relevance,
                anchor,
                place,
                link: *link,
                link_words: &link_words,
            });
            let Some(worth) = self.worths.get_mut(link.to) else {
                continue;
            };
            if value > *worth {
                *worth = value;
                if !self.judge.is_read(link.to) {
                    moves.push(link.to, worth_of::<M>(value));
                }
            }
        }
    }

    fn worth(&self, page: Number) -> Worth {
        worth_of::<M>(self.worths.get(page).unwrap_or(0.0))
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let worth = self.worths.get(page).unwrap_or(0.0);
        vec![Term::new(M::TERM, f64::from(worth))]
    }

    fn remarks(&self) -> Vec<String> {
        if !M::DROPS {
            return Vec::new();
        }
        let dropped = |(page, worth): &(Number, f32)| *worth <= 0.0 && !self.judge.is_read(*page);
        let dropped = self.worths.iter().filter(dropped).count();
        vec![format!(
            "{dropped} pages were dropped, because only pages off the topic link to them; another --focus method fetches them"
        )]
    }
}
