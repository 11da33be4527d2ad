//! Links under tags that led to the topic before.
//!
//! Ours, after the sleeping bandits of crawlers that look for files of a kind: an arm is a tag path, parted by whether
//! parent and anchor speak for the topic; it sleeps while no link of it waits. Auer, Cesa-Bianchi & Fischer (2002): an arm
//! is valued by its mean reward and √(2 ln t/n) for what n fetches of it have not shown yet, here times [`BOLD`].
//! An arm begins with what it is expected to give, and within it the likelier link comes first.
//!
//! **Invariant:** the pages of an arm are valued anew when its value has moved by [`STEP`], and all of them when the crawl
//! has grown by a tenth: not at every fetch.

use std::collections::HashMap;

use super::focused::{Focus, worth as worth_of};
use super::judge::Judge;
use super::rates::Rate;
use super::topic::Topic;
use crate::estimate::Column;
use crate::words::hash;
use crate::{Discovered, Link, Moves, Number, Read, Term, Worth};

/// What the unknown weighs. One is for rewards of which nothing is known beforehand.
const BOLD: f32 = 0.1;
/// Fetches that what is expected of an arm is worth.
const EXPECTED: f32 = 2.0;
/// Changes of an arm's value that are not told.
const STEP: f32 = 0.01;
/// Where probabilities of parents and anchors are parted.
const PARTS: [f32; 3] = [0.1, 0.4, 0.7];

/// Worth is the value of the best arm that a link to the page is in.
#[derive(Debug, Clone)]
pub struct Bandit {
    judge: Judge,
    pages: Column<Place>,
    arms: Vec<Arm>,
    named: HashMap<(u64, usize, usize), u32>,
    fetches: f32,
    sweep: f32,
}

/// Where a page waits.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    arm: Option<u32>,
    /// How likely it is of the topic, by parent and anchor.
    likely: f32,
    worth: f32,
    seed: bool,
}

#[derive(Debug, Clone, Default)]
struct Arm {
    reward: Rate,
    /// The mean of what was expected of its pages.
    expected: Rate,
    /// The value that its pages were told.
    told: f32,
    pages: Vec<Number>,
}

impl Arm {
    fn value(&self, fetches: f32) -> f32 {
        let expected = self.expected.towards(0.0, 0.1);
        let mean = self.reward.towards(expected, EXPECTED);
        let unknown = 2.0 * (2.0 + fetches).ln() / (self.reward.count + EXPECTED);
        mean + BOLD * unknown.sqrt()
    }
}

impl Bandit {
    /// For this topic.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: Judge::new(topic),
            pages: Column::default(),
            arms: Vec::new(),
            named: HashMap::new(),
            fetches: 0.0,
            sweep: 10.0,
        }
    }

    /// Puts a page into the arm of a link, if that is better than the one it is in. Returns whether it moved.
    fn place(&mut self, relevance: f32, anchor: f32, link: &Link<'_>) -> bool {
        let part = |probability: f32| PARTS.iter().filter(|part| probability >= **part).count();
        let key = (hash(link.path), part(relevance), part(anchor));
        let next = self.arms.len() as u32;
        let number = *self.named.entry(key).or_insert(next);
        if number == next {
            self.arms.push(Arm::default());
        }
        let likely = 0.5 * (relevance + anchor);
        let arm = &mut self.arms[number as usize];
        arm.expected.add(likely);
        if arm.pages.is_empty() && arm.reward.count == 0.0 {
            arm.told = arm.value(self.fetches);
        }
        let told = arm.told;
        let Some(place) = self.pages.get_mut(link.to) else {
            return false;
        };
        let known = place.arm.map(|arm| self.arms[arm as usize].told);
        if place.seed || known.is_some_and(|known| (known, place.likely) >= (told, likely)) {
            return false;
        }
        let new = place.arm != Some(number);
        (place.arm, place.likely) = (Some(number), likely);
        if new {
            self.arms[number as usize].pages.push(link.to);
        }
        true
    }

    fn value_anew(&mut self, page: Number, moves: &mut Moves) {
        let Some(place) = self.pages.get_mut(page) else {
            return;
        };
        let Some(arm) = place.arm.filter(|_| !place.seed) else {
            return;
        };
        let value = self.arms[arm as usize].told + 0.1 * place.likely;
        if value != place.worth {
            place.worth = value;
            moves.push(page, worth_of(value));
        }
    }
}

impl Focus for Bandit {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let place = Place {
            seed: discovered.seed,
            worth: if discovered.seed { 2.0 } else { 0.0 },
            ..Place::default()
        };
        self.pages.add(discovered.page, place);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let relevance = self.judge.read(read);
        let mut told: Vec<u32> = Vec::new();
        if !again {
            self.fetches += 1.0;
            let place = self.pages.get(read.page).unwrap_or_default();
            if let Some(arm) = place.arm {
                self.arms[arm as usize].reward.add(relevance);
                told.push(arm);
            }
        }
        let mut moved: Vec<Number> = Vec::new();
        for link in read.links {
            let anchor = self.judge.follow(link);
            if !self.judge.is_read(link.to) && self.place(relevance, anchor, link) {
                moved.push(link.to);
            }
        }
        if self.fetches >= self.sweep {
            self.sweep = self.fetches * 1.1;
            told = (0..self.arms.len() as u32).collect();
        }
        for arm in told {
            let fetches = self.fetches;
            let arm = &mut self.arms[arm as usize];
            let value = arm.value(fetches);
            if (value - arm.told).abs() >= STEP {
                arm.told = value;
                arm.pages.retain(|page| !self.judge.is_read(*page));
                moved.extend_from_slice(&arm.pages);
            }
        }
        moved.sort_unstable();
        moved.dedup();
        for page in moved {
            self.value_anew(page, moves);
        }
    }

    fn worth(&self, page: Number) -> Worth {
        let place = self.pages.get(page).unwrap_or_default();
        worth_of(place.worth)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let place = self.pages.get(page).unwrap_or_default();
        let mut terms = vec![Term::new("parent and anchor", f64::from(place.likely))];
        if let Some(arm) = place.arm.map(|arm| &self.arms[arm as usize]) {
            let mean = arm.reward.towards(0.0, 1e-6);
            terms.push(Term::new(
                "links of this kind fetched",
                f64::from(arm.reward.count),
            ));
            terms.push(Term::new("of them on the topic", f64::from(mean)));
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_less_is_worth_more_and_more_so_with_time() {
        let arm = |count: f32| Arm {
            reward: Rate {
                sum: 0.5 * count,
                count,
            },
            expected: Rate {
                sum: 50.0,
                count: 100.0,
            },
            ..Arm::default()
        };
        assert!(arm(2.0).value(100.0) > arm(20.0).value(100.0) + 0.01);
        assert!(arm(2.0).value(1e6) > arm(2.0).value(100.0));
    }
}
