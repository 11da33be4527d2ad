//! Focused crawling by a multi-armed bandit over kinds of links (our own method).
//!
//! The idea is from crawlers that use a sleeping bandit to find files of one type. An arm is a tag
//! path together with a class of parent relevance and a class of anchor relevance. An arm sleeps
//! while none of its links waits.
//!
//! Auer, Cesa-Bianchi & Fischer (2002), UCB1: after t fetches, n of them from this arm, the value
//! of the arm is its mean reward plus `√(2 ln t / n)`. Here the second term is multiplied by
//! [`EXPLORATION`], and 2 is added to both t and n. The relevance expected from parent and anchor
//! is the prior of an arm. Within an arm, the link with the higher expected relevance comes first.
//!
//! **Invariant:** the pages of an arm are revalued when a check finds that the arm's value has
//! moved by [`STEP`]. The arm of a page is checked when the page is first read. All arms are
//! checked after 10 fetches, and then each time the crawl has grown by a tenth.

use std::collections::HashMap;

use super::focused::{Focus, worth as worth_of};
use super::judge::TopicJudge;
use super::rates::RelevanceRate;
use super::topic::Topic;
use crate::estimate::Column;
use crate::words::hash;
use crate::{Discovered, LinkFact, Moves, Number, Read, Term, Worth};

/// Factor of the exploration term. UCB1 has 1, but its arms have no prior.
const EXPLORATION: f32 = 0.1;
/// Weight of an arm's prior, as a pseudo-count of fetches.
const EXPECTED: f32 = 2.0;
/// Minimum change of an arm's value that is passed on to its pages.
const STEP: f32 = 0.01;
/// Class boundaries of parent and anchor relevance.
const PARTS: [f32; 3] = [0.1, 0.4, 0.7];

/// An ordering by the value of the best arm that a link to the page belongs to.
#[derive(Debug, Clone)]
pub struct Bandit {
    judge: TopicJudge,
    pages: Column<WaitingPage>,
    arms: Vec<Arm>,
    arm_numbers: HashMap<(u64, usize, usize), u32>,
    fetches: f32,
    /// Number of fetches at which all arms are checked next.
    sweep: f32,
}

/// A page and the arm it waits in.
#[derive(Debug, Clone, Copy, Default)]
struct WaitingPage {
    arm: Option<u32>,
    /// Expected relevance, the mean of parent and anchor.
    likely: f32,
    worth: f32,
    seed: bool,
}

#[derive(Debug, Clone, Default)]
struct Arm {
    reward: RelevanceRate,
    /// Mean of the expected relevance of its links.
    expected: RelevanceRate,
    /// The value that its pages were last valued with.
    announced: f32,
    pages: Vec<Number>,
}

impl Arm {
    fn value(&self, fetches: f32) -> f32 {
        let expected = self.expected.towards(0.0, 0.1);
        let mean = self.reward.towards(expected, EXPECTED);
        let unknown = 2.0 * (2.0 + fetches).ln() / (self.reward.count + EXPECTED);
        mean + EXPLORATION * unknown.sqrt()
    }
}

impl Bandit {
    /// Creates the method for this topic.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: TopicJudge::new(topic),
            pages: Column::default(),
            arms: Vec::new(),
            arm_numbers: HashMap::new(),
            fetches: 0.0,
            sweep: 10.0,
        }
    }

    /// Puts a page into the arm of a link if that arm has a higher value, or the same value and a
    /// higher expected relevance.
    ///
    /// Returns whether the arm or the expected relevance of the page changed.
    fn place(&mut self, relevance: f32, anchor: f32, link: &LinkFact<'_>) -> bool {
        let part = |probability: f32| PARTS.iter().filter(|part| probability >= **part).count();
        let key = (hash(link.path), part(relevance), part(anchor));
        let next = self.arms.len() as u32;
        let number = *self.arm_numbers.entry(key).or_insert(next);
        if number == next {
            self.arms.push(Arm::default());
        }
        let likely = 0.5 * (relevance + anchor);
        let arm = &mut self.arms[number as usize];
        arm.expected.add(likely);
        if arm.pages.is_empty() && arm.reward.count == 0.0 {
            arm.announced = arm.value(self.fetches);
        }
        let announced = arm.announced;
        let Some(place) = self.pages.get_mut(link.to) else {
            return false;
        };
        let known = place.arm.map(|arm| self.arms[arm as usize].announced);
        if place.seed || known.is_some_and(|known| (known, place.likely) >= (announced, likely)) {
            return false;
        }
        let new = place.arm != Some(number);
        (place.arm, place.likely) = (Some(number), likely);
        if new {
            self.arms[number as usize].pages.push(link.to);
        }
        true
    }

    fn revalue(&mut self, page: Number, moves: &mut Moves) {
        let Some(place) = self.pages.get_mut(page) else {
            return;
        };
        let Some(arm) = place.arm.filter(|_| !place.seed) else {
            return;
        };
        let value = self.arms[arm as usize].announced + 0.1 * place.likely;
        if value != place.worth {
            place.worth = value;
            moves.push(page, worth_of(value));
        }
    }
}

impl Focus for Bandit {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let place = WaitingPage {
            seed: discovered.seed,
            worth: if discovered.seed { 2.0 } else { 0.0 },
            ..WaitingPage::default()
        };
        self.pages.add(discovered.page, place);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let relevance = self.judge.read(read);
        let mut changed: Vec<u32> = Vec::new();
        if !again {
            self.fetches += 1.0;
            let place = self.pages.get(read.page).unwrap_or_default();
            if let Some(arm) = place.arm {
                self.arms[arm as usize].reward.add(relevance);
                changed.push(arm);
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
            changed = (0..self.arms.len() as u32).collect();
        }
        for arm in changed {
            let fetches = self.fetches;
            let arm = &mut self.arms[arm as usize];
            let value = arm.value(fetches);
            if (value - arm.announced).abs() >= STEP {
                arm.announced = value;
                arm.pages.retain(|page| !self.judge.is_read(*page));
                moved.extend_from_slice(&arm.pages);
            }
        }
        moved.sort_unstable();
        moved.dedup();
        for page in moved {
            self.revalue(page, moves);
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
            terms.push(Term::new("share of them on the topic", f64::from(mean)));
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_with_fewer_fetches_has_a_higher_value_which_grows_with_time() {
        let arm = |count: f32| Arm {
            reward: RelevanceRate {
                sum: 0.5 * count,
                count,
            },
            expected: RelevanceRate {
                sum: 50.0,
                count: 100.0,
            },
            ..Arm::default()
        };
        assert!(arm(2.0).value(100.0) > arm(20.0).value(100.0) + 0.01);
        assert!(arm(2.0).value(1e6) > arm(2.0).value(100.0));
    }
}
