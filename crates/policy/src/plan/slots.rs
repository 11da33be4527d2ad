//! Which pages are visited in which step, if only so many visits fit into each?
//!
//! Wolf, Squillante, Yu, Sethuraman & Ozsen, "Optimal crawling strategies for web search engines" (WWW 2002): first
//! how often each page is visited, in whole visits, by the greatest marginal gain; then when, as near as possible
//! to evenly spaced times: a transportation problem. **Invariant:** no step has more visits than fit, none of a
//! page twice, and all that fit are used.

mod improve;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::allocation::Demand;
use super::freshness;

/// Steps to plan for, and how many visits fit into each.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// How many steps were before the first: times are spaced evenly across plans.
    before: u64,
    rooms: Vec<u32>,
}

impl Steps {
    /// So many steps, after so many others, with room for `budget` visits in each of them on average: a fraction of
    /// a visit is one every few steps. More visits than pages do not fit.
    pub fn new(before: u64, steps: u32, budget: f64, pages: usize) -> Self {
        let most = u32::try_from(pages).unwrap_or(u32::MAX);
        // A float to an integer saturates, and what is not a number is 0.
        let until = |step: u64| ((before + step) as f64 * budget).floor() as u64;
        let room = |step: u64| until(step + 1).saturating_sub(until(step));
        let rooms = (0..u64::from(steps)).map(|step| room(step).min(u64::from(most)) as u32);
        Self {
            before,
            rooms: rooms.collect(),
        }
    }

    /// How many visits fit into each.
    pub fn rooms(&self) -> &[u32] {
        &self.rooms
    }

    /// How many visits fit into all.
    fn total(&self) -> u64 {
        self.rooms.iter().map(|&room| u64::from(room)).sum()
    }

    fn len(&self) -> f64 {
        self.rooms.len() as f64
    }

    /// When a page would be visited if there were room, in steps: evenly, and pages one after another and not all at
    /// once (by multiples of the golden ratio, which fill a circle evenly).
    fn ideal(&self, page: usize, visits: u32) -> impl Iterator<Item = f64> + use<> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let period = self.len() / f64::from(visits.max(1));
        let phase = ((page + 1) as f64 * GOLDEN).fract() * period;
        let first = (phase - self.before as f64).rem_euclid(period);
        (0..visits).map(move |visit| first + f64::from(visit) * period)
    }

    /// How far these steps of a page are from its ideal times.
    fn deviation(&self, page: usize, steps: &[u32]) -> f64 {
        let ideal = self.ideal(page, steps.len() as u32);
        let each = ideal.zip(steps);
        each.map(|(ideal, &step)| (f64::from(step) + 0.5 - ideal).abs())
            .sum()
    }
}

/// How often each page is visited, for the greatest freshness by weight. Rates are in changes a step.
///
/// Freshness is concave in visits, so taking the greatest gain again and again is exact. What is left when nothing
/// is to be gained goes to the first pages that have room.
pub fn visits(pages: &[Demand], steps: &Steps) -> Vec<u32> {
    let most = steps.rooms.len() as u32;
    let fresh = |page: &Demand, visits: u32| {
        page.weight * freshness::at_frequency(page.rate, f64::from(visits) / steps.len())
    };
    let next = |number: usize, visits: u32| Next {
        gain: fresh(&pages[number], visits + 1) - fresh(&pages[number], visits),
        number,
    };
    let mut visits = vec![0; pages.len()];
    let first = (0..pages.len()).map(|number| next(number, 0));
    let mut heap: BinaryHeap<Next> = first.filter(|_| most > 0).collect();
    for _ in 0..steps.total() {
        let Some(Next { number, .. }) = heap.pop() else {
            break;
        };
        visits[number] += 1;
        if visits[number] < most {
            heap.push(next(number, visits[number]));
        }
    }
    visits
}

/// In which steps each page is visited, so that all are as near to evenly spaced times as can be.
///
/// Without the rule that no page comes twice in a step, visits in the order of their ideal times are the optimum:
/// distances on a line. Where that breaks the rule the plan is mended, and then improved until it is the best.
/// The visits must be as many as fit.
pub fn schedule(visits: &[u32], steps: &Steps) -> Vec<Vec<u32>> {
    let mut wanted: Vec<(f64, usize)> = Vec::new();
    for (page, &often) in visits.iter().enumerate() {
        wanted.extend(steps.ideal(page, often).map(|time| (time, page)));
    }
    wanted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut plan: Vec<Vec<u32>> = vec![Vec::new(); visits.len()];
    let (mut coming, mut waiting) = (wanted.into_iter(), Vec::new());
    let mut crowded = false;
    for (step, &room) in (0..).zip(&steps.rooms) {
        let (mut taken, mut still) = (0, Vec::new());
        let mut early = std::mem::take(&mut waiting).into_iter();
        while taken < room
            && let Some((time, page)) = early.next().or_else(|| coming.next())
        {
            if plan[page].last() == Some(&step) {
                crowded = true;
                still.push((time, page));
            } else {
                plan[page].push(step);
                taken += 1;
            }
        }
        still.extend(early);
        waiting = still;
    }
    let late = waiting.into_iter().chain(coming).map(|(_, page)| page);
    for page in late {
        improve::squeeze(&mut plan, page, steps);
    }
    if crowded {
        improve::improve(&mut plan, steps);
    }
    plan
}

/// A visit more to a page, and what it gains.
#[derive(Debug, PartialEq)]
struct Next {
    gain: f64,
    number: usize,
}

impl Eq for Next {}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        let gain = self.gain.total_cmp(&other.gain);
        gain.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
