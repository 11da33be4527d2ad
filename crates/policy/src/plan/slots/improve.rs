//! Repairs and improves a plan of visits by moving visits between steps.
//!
//! **Invariant:** no move visits a page twice in a step, and [`improve`] keeps the number of
//! visits of each step.
//!
//! The distance of a visit is the number of steps between it and its ideal time.

use super::Steps;

/// Tolerance for rounding errors in sums of distances.
const ROUNDING: f64 = 1e-9;
/// Maximum number of examined moves and paths, which takes about a second. Small plans reach the
/// least total distance. A crowded plan of 48 steps is improved by some dozens of cycles. It stays
/// valid, but its distance may stay slightly above the least.
const MOST_WORK: usize = 20_000_000;

/// The move of one visit of a page to another step, and the change of the page's total distance.
#[derive(Debug, Clone, Copy)]
struct VisitMove {
    page: usize,
    farther: f64,
}

/// Adds one more visit to a page. If the page is already in every step with free capacity, a
/// visit of another page moves to such a step and makes room.
pub fn squeeze(plan: &mut [Vec<u32>], page: usize, steps: &Steps) {
    let mut taken = vec![0_u32; steps.rooms().len()];
    for &step in plan.iter().flatten() {
        taken[step as usize] += 1;
    }
    let room = |step: u32| taken[step as usize] < steps.rooms()[step as usize];
    let all = 0..steps.rooms().len() as u32;
    let own = plan[page].clone();
    if let Some(step) = all.clone().find(|step| room(*step) && !own.contains(step)) {
        return insert(&mut plan[page], step);
    }
    let mut best: Option<(f64, usize, u32, u32)> = None;
    for free in all.filter(|&step| room(step)) {
        for (other, places) in plan.iter().enumerate() {
            if other == page || places.contains(&free) {
                continue;
            }
            for &from in places.iter().filter(|from| !own.contains(from)) {
                let farther = steps.deviation(other, &moved(places, from, free))
                    - steps.deviation(other, places);
                if best.is_none_or(|best| farther < best.0) {
                    best = Some((farther, other, from, free));
                }
            }
        }
    }
    if let Some((_, other, from, free)) = best {
        plan[other] = moved(&plan[other], from, free);
        insert(&mut plan[page], from);
    }
}

/// Moves visits in cycles as long as that reduces the total distance.
///
/// Shortest cycles come first, as in algorithms for the intersection of valuated matroids
/// (Murota, "Matrices and matroids for systems analysis", 2000).
pub fn improve(plan: &mut [Vec<u32>], steps: &Steps) {
    let count = steps.rooms().len();
    let each = plan.iter().map(|places| places.len() * places.len());
    let work = each.sum::<usize>().saturating_mul(count);
    let work = work.saturating_add(2 * count.saturating_pow(3));
    for _ in 0..MOST_WORK / work.max(1) {
        let Some(cycle) = shortest_cycle(&moves(plan, steps)) else {
            return;
        };
        let before = deviation(plan, steps);
        let mut changed = plan.to_vec();
        for (page, from, to) in cycle {
            changed[page] = moved(&changed[page], from, to);
        }
        let allowed = changed
            .iter()
            .all(|places| places.windows(2).all(|pair| pair[0] < pair[1]));
        if !allowed || deviation(&changed, steps) > before - ROUNDING {
            return;
        }
        plan.clone_from_slice(&changed);
    }
}

/// Returns the total distance of all visits from their ideal times, in steps.
pub fn deviation(plan: &[Vec<u32>], steps: &Steps) -> f64 {
    let each = plan.iter().enumerate();
    each.map(|(page, places)| steps.deviation(page, places))
        .sum()
}

/// Returns the cheapest move for each pair of steps.
fn moves(plan: &[Vec<u32>], steps: &Steps) -> Vec<Vec<Option<VisitMove>>> {
    let count = steps.rooms().len();
    let mut cheapest: Vec<Vec<Option<VisitMove>>> = vec![vec![None; count]; count];
    for (page, places) in plan.iter().enumerate() {
        let here = steps.deviation(page, places);
        for &from in places {
            for to in (0..count as u32).filter(|to| !places.contains(to)) {
                let farther = steps.deviation(page, &moved(places, from, to)) - here;
                let known = &mut cheapest[from as usize][to as usize];
                if known.is_none_or(|known| farther < known.farther) {
                    *known = Some(VisitMove { page, farther });
                }
            }
        }
    }
    cheapest
}

/// Returns the cycle with the fewest moves that reduces the distance, and among those the best,
/// as (page, from, to).
fn shortest_cycle(moves: &[Vec<Option<VisitMove>>]) -> Option<Vec<(usize, u32, u32)>> {
    let count = moves.len();
    let farther = |from: usize, to: usize| {
        let cheapest = moves[from][to];
        cheapest.map_or(f64::INFINITY, |cheapest| cheapest.farther)
    };
    // Computes shortest paths, with one more move in each round. Stores the predecessor of the last
    // step of each path.
    let mut walks: Vec<Vec<f64>> = (0..count)
        .map(|from| (0..count).map(|to| farther(from, to)).collect())
        .collect();
    let mut via: Vec<Vec<Vec<usize>>> = Vec::new();
    for _ in 1..count {
        let mut longer = vec![vec![f64::INFINITY; count]; count];
        let mut last = vec![vec![0; count]; count];
        for from in 0..count {
            for middle in (0..count).filter(|&middle| walks[from][middle].is_finite()) {
                for to in 0..count {
                    let length = walks[from][middle] + farther(middle, to);
                    if length < longer[from][to] {
                        (longer[from][to], last[from][to]) = (length, middle);
                    }
                }
            }
        }
        walks = longer;
        via.push(last);
        let best =
            (0..count).min_by(|&one, &other| walks[one][one].total_cmp(&walks[other][other]));
        if let Some(start) = best.filter(|&start| walks[start][start] < -ROUNDING) {
            let mut cycle = Vec::new();
            let mut to = start;
            let befores = via.iter().rev().map(Some).chain([None]);
            for before in befores {
                let from = before.map_or(start, |before| before[start][to]);
                let page = moves[from][to].map(|cheapest| cheapest.page)?;
                cycle.push((page, from as u32, to as u32));
                to = from;
            }
            return Some(cycle);
        }
    }
    None
}

/// Returns the steps of a page after one visit moved.
fn moved(places: &[u32], from: u32, to: u32) -> Vec<u32> {
    let mut places: Vec<u32> = places
        .iter()
        .copied()
        .filter(|&step| step != from)
        .collect();
    insert(&mut places, to);
    places
}

fn insert(places: &mut Vec<u32>, step: u32) {
    let place = places.partition_point(|&other| other < step);
    places.insert(place, step);
}
