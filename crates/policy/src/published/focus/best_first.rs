//! One queue, the best link first: what all methods share that value a link once, by the page that has it.
//!
//! **Invariant:** a page is worth what the best link to it is: a better parent raises it, and what was said
//! is not taken back.

use crate::estimate::Column;
use crate::focus::focused::{self, Focus};
use crate::focus::judge::Judge;
use crate::focus::topic::Topic;
use crate::focus::word_counts::Spoken;
use crate::{Discovered, Link, Moves, Number, Read, Term, Worth};

/// A link, as a method sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// The page that has it.
    pub from: Number,
    /// How likely that page is of the topic.
    pub relevance: f32,
    /// How likely the page behind it is of the topic, by anchor, words around it and URL.
    pub anchor: f32,
    /// How many links of the page come before it.
    pub place: usize,
    /// The link.
    pub link: Link<'a>,
    /// Its words.
    pub spoken: &'a Spoken,
}

/// What a link is worth.
///
/// Not a [`Focus`]: it values one link once and keeps no queue, which [`BestFirst`] does for all of them.
pub trait Method: Send {
    /// What its worth is called, for people.
    const TERM: &'static str;
    /// Whether links that it finds worth nothing are dropped; else they come last.
    const DROPS: bool = false;

    /// Takes in a page that was heard of, before any link to it.
    fn hear(&mut self, _discovered: &Discovered<'_>) {}

    /// Takes in a page that was read, before its links.
    fn learn(&mut self, _read: &Read<'_>, _relevance: f32) {}

    /// The worth of a link, from 0 up; a seed is worth [`Method::seed`].
    fn value(&mut self, sighting: &Sighting<'_>) -> f32;

    /// What a seed is worth.
    fn seed(&self) -> f32 {
        1.0
    }
}

/// An ordering by a method.
#[derive(Debug, Clone)]
pub struct BestFirst<M> {
    judge: Judge,
    method: M,
    worths: Column<f32>,
}

impl<M: Method> BestFirst<M> {
    /// For this topic.
    pub fn new(topic: &Topic, method: M) -> Self {
        Self {
            judge: Judge::new(topic),
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
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        self.method.hear(discovered);
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
            let spoken = Spoken::of(link.anchor, link.around);
            let anchor = self.judge.hear(link, &spoken);
            let value = self.method.value(&Sighting {
                from: read.page,
                relevance,
                anchor,
                place,
                link: *link,
                spoken: &spoken,
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
            "{dropped} pages were dropped, since only pages off the topic lead to them; another --focus takes them up"
        )]
    }
}
