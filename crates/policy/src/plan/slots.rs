//! A plan of visits for discrete time steps with limited capacity.
//!
//! Wolf, Squillante, Yu, Sethuraman & Ozsen, "Optimal crawling strategies for web search
//! engines" (WWW 2002). First the number of visits to each page is chosen, greedily by marginal
//! gain. Then the visits are placed as near as possible to evenly spaced times, which is a
//! transportation problem.
//!
//! **Invariant:** no step exceeds its capacity, no page is visited twice in a step, and all
//! capacity is used.

mod improve;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::allocation::Demand;
use super::freshness;

/// The steps of a plan, and their capacities.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// Number of steps of earlier plans. Ideal times are spaced evenly across consecutive plans.
    before: u64,
    /// Capacity of each step, in visits.
    rooms: Vec<u32>,
}

impl Steps {
    /// Creates `steps` steps after `before` others, with a mean capacity of `budget` visits per
    /// step.
    ///
    /// A fractional budget gives one more visit every few steps. The capacity of a step is at
    /// most the number of pages.
    pub fn new(before: u64, steps: u32, budget: f64, pages: usize) -> Self {
        let most = u32::try_from(pages).unwrap_or(u32::MAX);
        // A cast from float to integer saturates, and NaN becomes 0.
        let until = |step: u64| ((before + step) as f64 * budget).floor() as u64;
        let room = |step: u64| until(step + 1).saturating_sub(until(step));
        let rooms = (0..u64::from(steps)).map(|step| room(step).min(u64::from(most)) as u32);
        Self {
            before,
            rooms: rooms.collect(),
        }
    }

    /// Returns the capacity of each step.
    pub fn rooms(&self) -> &[u32] {
        &self.rooms
    }

    /// Returns the total capacity.
    fn total(&self) -> u64 {
        self.rooms.iter().map(|&room| u64::from(room)).sum()
    }

    fn len(&self) -> f64 {
        self.rooms.len() as f64
    }

    /// Returns the ideal times of a page's visits, in steps: evenly spaced.
    ///
    /// The phases of pages differ by multiples of the golden ratio, which fill a circle evenly,
    /// so that pages do not all come at once.
    fn ideal(&self, page: usize, visits: u32) -> impl Iterator<Item = f64> + use<> {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let period = self.len() / f64::from(visits.max(1));
        let phase = ((page + 1) as f64 * GOLDEN).fract() * period;
        let first = (phase - self.before as f64).rem_euclid(period);
        (0..visits).map(move |visit| first + f64::from(visit) * period)
    }

    /// Returns the total distance of a page's visits from its ideal times, in steps.
    fn deviation(&self, page: usize, steps: &[u32]) -> f64 {
        let ideal = self.ideal(page, steps.len() as u32);
        let each = ideal.zip(steps);
        each.map(|(ideal, &step)| (f64::from(step) + 0.5 - ideal).abs())
            .sum()
    }
}

/// Returns the number of visits to each page that maximises the weighted freshness. Rates are
/// in changes per step.
///
/// Freshness is concave in the number of visits, so the greedy choice by marginal gain is
/// exact. Visits without gain go to the first pages with room.
pub fn visits(pages: &[Demand], steps: &Steps) -> Vec<u32> {
    let most = steps.rooms.len() as u32;
    let fresh = |page: &Demand, visits: u32| {
        page.weight * freshness::at_frequency(page.rate, f64::from(visits) / steps.len())
    };
    let next = |number: usize, visits: u32| MarginalVisit {
        gain: fresh(&pages[number], visits + 1) - fresh(&pages[number], visits),
        number,
    };
    let mut visits = vec![0; pages.len()];
    let first = (0..pages.len()).map(|number| next(number, 0));
    let mut heap: BinaryHeap<MarginalVisit> = first.filter(|_| most > 0).collect();
    for _ in 0..steps.total() {
        let Some(MarginalVisit { number, .. }) = heap.pop() else {
            break;
        };
        visits[number] += 1;
        if visits[number] < most {
            heap.push(next(number, visits[number]));
        }
    }
    visits
}

/// Returns the steps in which each page is visited, with the least total distance from the
/// ideal times. A large plan may stay slightly above the least distance (`slots/improve.rs`).
///
/// Without the rule of one visit per page and step, the visits in the order of their ideal
/// times are optimal (assignment on a line). Where that breaks the rule, the plan is repaired
/// and then improved. `visits` must sum to the total capacity.
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

/// One more visit to a page, and its marginal gain.
#[derive(Debug, PartialEq)]
struct MarginalVisit {
    gain: f64,
    number: usize,
}

impl Eq for MarginalVisit {}

impl Ord for MarginalVisit {
    fn cmp(&self, other: &Self) -> Ordering {
        let gain = self.gain.total_cmp(&other.gain);
        gain.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for MarginalVisit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
