//! Which visits change places, so that a plan is nearer to its ideal times?
//!
//! **Invariant:** a change never puts a page into a step twice, and steps have as many visits as before.

use super::Steps;

/// Distances are sums of some steps; this is rounding.
const ROUNDING: f64 = 1e-9;
/// Looks at moves and walks, at most: about a second. A plan of 48 steps in which pages crowd is improved by some
/// dozen circles and then left as it is, which is allowed and near to the best; small ones are the best.
const MOST_WORK: usize = 20_000_000;

/// A visit of a page goes from one step to another, and how much farther it is there.
#[derive(Debug, Clone, Copy)]
struct Move {
    page: usize,
    farther: f64,
}

/// Finds room for one more visit to a page, all of whose steps with room it is in: another page moves there.
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

/// Moves visits around in circles as long as that brings them nearer to their ideal times: shortest circles first,
/// as for the intersection of valuated matroids (Murota, "Matrices and matroids for systems analysis", 2000).
pub fn improve(plan: &mut [Vec<u32>], steps: &Steps) {
    let count = steps.rooms().len();
    let each = plan.iter().map(|places| places.len() * places.len());
    let work = each.sum::<usize>().saturating_mul(count);
    let work = work.saturating_add(2 * count.saturating_pow(3));
    for _ in 0..MOST_WORK / work.max(1) {
        let Some(circle) = shortest_circle(&moves(plan, steps)) else {
            return;
        };
        let before = deviation(plan, steps);
        let mut changed = plan.to_vec();
        for (page, from, to) in circle {
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

/// How far all visits are from their ideal times, in steps.
pub fn deviation(plan: &[Vec<u32>], steps: &Steps) -> f64 {
    let each = plan.iter().enumerate();
    each.map(|(page, places)| steps.deviation(page, places))
        .sum()
}

/// The cheapest move from each step to each other.
fn moves(plan: &[Vec<u32>], steps: &Steps) -> Vec<Vec<Option<Move>>> {
    let count = steps.rooms().len();
    let mut cheapest: Vec<Vec<Option<Move>>> = vec![vec![None; count]; count];
    for (page, places) in plan.iter().enumerate() {
        let here = steps.deviation(page, places);
        for &from in places {
            for to in (0..count as u32).filter(|to| !places.contains(to)) {
                let farther = steps.deviation(page, &moved(places, from, to)) - here;
                let known = &mut cheapest[from as usize][to as usize];
                if known.is_none_or(|known| farther < known.farther) {
                    *known = Some(Move { page, farther });
                }
            }
        }
    }
    cheapest
}

/// The circle of fewest moves, and of these the best, that shortens distances: page, from and to.
fn shortest_circle(moves: &[Vec<Option<Move>>]) -> Option<Vec<(usize, u32, u32)>> {
    let count = moves.len();
    let farther = |from: usize, to: usize| {
        let cheapest = moves[from][to];
        cheapest.map_or(f64::INFINITY, |cheapest| cheapest.farther)
    };
    // The shortest walks of one move more each round, and the step before the last on each.
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
            let mut circle = Vec::new();
            let mut to = start;
            let befores = via.iter().rev().map(Some).chain([None]);
            for before in befores {
                let from = before.map_or(start, |before| before[start][to]);
                let page = moves[from][to].map(|cheapest| cheapest.page)?;
                circle.push((page, from as u32, to as u32));
                to = from;
            }
            return Some(circle);
        }
    }
    None
}

/// The steps of a page after one visit moved.
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
