//! Fits the distribution of page lifetimes to the changes that a crawler observed.
//!
//! Brewington & Cybenko (2000); Baldi, Frasconi & Smyth (2003), (6.17) to (6.19). The lifetime of a
//! page is the mean time between two of its changes. A revisit after a gap τ detects a change with
//! probability `1 − e^{−τ/t}` if the lifetime is `t`; several changes in a gap look like one. The
//! lifetimes have a Weibull distribution, whose parameters are fitted by maximum likelihood. Pages
//! without an observed change count as well; without them the web would seem to change faster than
//! it does.

use super::Weibull;

/// A group of pages with the same number of revisits, gap and observed changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RevisitGroup {
    /// Number of pages.
    pub pages: u32,
    /// Revisits to each of them.
    pub revisits: u32,
    /// Number of these revisits that detected a change.
    pub changes: u32,
    /// The time between two visits, in the same unit for all groups.
    pub gap: f64,
}

/// Distance of two grid points, as a difference of logarithms of lifetimes. It is finer than
/// the width of the likelihood of a page with 500 changes.
const GRID: f64 = 0.04;
/// How far the grid extends beyond the shortest and the longest observed time, in powers of e.
const MARGIN: f64 = 12.0;
/// The range of shapes that is searched. At the upper end all pages are practically alike.
const SHAPES: (f64, f64) = (0.05, 20.0);

/// Returns the maximum-likelihood distribution of mean lifetimes, in the unit of the gaps.
///
/// Returns `None` if no revisit detected a change, or every revisit did: then the likelihood has
/// no maximum. Groups without pages, without revisits, or without a positive and finite gap are
/// ignored.
pub fn fit(watched: &[RevisitGroup]) -> Option<Weibull> {
    let informative: Vec<&RevisitGroup> = watched
        .iter()
        .filter(|group| is_informative(group))
        .collect();
    let sum =
        |of: fn(&RevisitGroup) -> f64| -> f64 { informative.iter().map(|group| of(group)).sum() };
    let revisits = sum(|group| f64::from(group.pages) * f64::from(group.revisits));
    let changes = sum(|group| f64::from(group.pages) * f64::from(group.changes));
    if changes == 0.0 || changes >= revisits {
        return None;
    }
    let time = sum(|group| f64::from(group.pages) * f64::from(group.revisits) * group.gap);
    let likelihood = Likelihood::of(&informative);
    let start = (0.0, (time / changes).ln());
    let (shape, scale) = climb(start, |(shape, scale)| {
        let tried = Weibull::new(shape.exp(), scale.exp());
        let tried = tried.filter(|one| (SHAPES.0..=SHAPES.1).contains(&one.shape()));
        tried.map_or(f64::NEG_INFINITY, |one| likelihood.log(&one))
    });
    Weibull::new(shape.exp(), scale.exp())
}

fn is_informative(group: &RevisitGroup) -> bool {
    group.pages > 0 && group.revisits > 0 && group.gap > 0.0 && group.gap.is_finite()
}

/// The likelihood of each group at each lifetime of a grid. It does not depend on the
/// distribution.
struct Likelihood {
    /// The boundaries between the cells of the grid.
    edges: Vec<f64>,
    groups: Vec<(f64, Vec<f64>)>,
}

impl Likelihood {
    fn of(watched: &[&RevisitGroup]) -> Self {
        let shortest = watched.iter().map(|group| group.gap);
        let longest = watched
            .iter()
            .map(|group| group.gap * f64::from(group.revisits));
        let low = shortest.fold(f64::INFINITY, f64::min).ln() - MARGIN;
        let high = longest.fold(0.0, f64::max).ln() + MARGIN;
        let cells = ((high - low) / GRID).ceil() as u32;
        let at = |n: f64| (low + n * GRID).exp();
        let centres: Vec<f64> = (0..cells).map(|n| at(f64::from(n) + 0.5)).collect();
        let group = |group: &&RevisitGroup| {
            let each = centres.iter().map(|&lifetime| relative(group, lifetime));
            (f64::from(group.pages), each.collect())
        };
        Self {
            edges: (1..cells).map(|n| at(f64::from(n))).collect(),
            groups: watched.iter().map(group).collect(),
        }
    }

    /// Returns the log-likelihood of all observations, up to a constant.
    fn log(&self, lifetimes: &Weibull) -> f64 {
        let mut masses = Vec::with_capacity(self.edges.len() + 1);
        let mut below = 0.0;
        for edge in self.edges.iter().map(|&edge| lifetimes.distribution(edge)) {
            masses.push(edge - below);
            below = edge;
        }
        masses.push(1.0 - below);
        let each = self.groups.iter().map(|(pages, likely)| {
            let terms = likely.iter().zip(&masses);
            pages * terms.map(|(likely, mass)| likely * mass).sum::<f64>().ln()
        });
        each.sum()
    }
}

/// Returns the likelihood of the group's observations at this lifetime, divided by its maximum
/// over all lifetimes.
fn relative(group: &RevisitGroup, lifetime: f64) -> f64 {
    let (revisits, changes) = (f64::from(group.revisits), f64::from(group.changes));
    let quiet = revisits - changes;
    let times = |count: f64, log: f64| if count == 0.0 { 0.0 } else { count * log };
    let x = group.gap / lifetime;
    let log = times(changes, (-(-x).exp_m1()).ln()) - times(quiet, x);
    let best = times(changes, (changes / revisits).ln()) + times(quiet, (quiet / revisits).ln());
    (log - best).exp()
}

/// Maximises a smooth function by pattern search: it steps along both axes and diagonals, and
/// halves the step when none improves.
fn climb(start: (f64, f64), height: impl Fn((f64, f64)) -> f64) -> (f64, f64) {
    let (mut at, mut top) = (start, height(start));
    let mut step = 0.5;
    while step > 1e-5 {
        let ways = [
            (1.0, 0.0),
            (-1.0, 0.0),
            (0.0, 1.0),
            (0.0, -1.0),
            (1.0, 1.0),
            (-1.0, -1.0),
            (1.0, -1.0),
            (-1.0, 1.0),
        ];
        let higher = ways.iter().find_map(|way| {
            let next = (at.0 + step * way.0, at.1 + step * way.1);
            let found = height(next);
            (found > top).then_some((next, found))
        });
        match higher {
            Some((next, found)) => (at, top) = (next, found),
            None => step /= 2.0,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the expected observations of 400 pages, spread evenly over the quantiles of
    /// their lifetimes. Each page contributes every number of changes by its probability, in
    /// thousandths.
    fn expected_groups(lifetimes: &Weibull, revisits: u32, gap: f64) -> Vec<RevisitGroup> {
        let mut pages = vec![0.0; revisits as usize + 1];
        for n in 0..400 {
            let lifetime = lifetimes.quantile((f64::from(n) + 0.5) / 400.0);
            let seen = -(-gap / lifetime).exp_m1();
            let mut ways = 1.0;
            for changes in 0..=revisits {
                let quiet = f64::from(revisits - changes);
                pages[changes as usize] +=
                    1_000.0 * ways * seen.powf(f64::from(changes)) * (1.0 - seen).powf(quiet);
                ways *= quiet / f64::from(changes + 1);
            }
        }
        let group = |(changes, pages): (u32, f64)| RevisitGroup {
            pages: pages.round() as u32,
            revisits,
            changes,
            gap,
        };
        (0..).zip(pages).map(group).collect()
    }

    #[test]
    fn fit_recovers_shape_and_scale_from_expected_observations() {
        for (shape, scale, revisits, gap) in [
            (1.4, 152.2, 20, 18.0),
            (1.4, 152.2, 6, 60.0),
            (0.7, 30.0, 40, 5.0),
            (3.0, 10.0, 30, 4.0),
        ] {
            let truth = Weibull::new(shape, scale).unwrap();
            let found = fit(&expected_groups(&truth, revisits, gap)).unwrap();
            let close = |found: f64, truth: f64| (found / truth - 1.0).abs() < 0.02;
            assert!(close(found.shape(), shape), "{found:?}, not {truth:?}");
            assert!(close(found.scale(), scale), "{found:?}, not {truth:?}");
        }
    }

    #[test]
    fn fit_needs_revisits_with_a_change_and_without() {
        let group = |pages, revisits, changes| RevisitGroup {
            pages,
            revisits,
            changes,
            gap: 1.0,
        };
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[group(9, 0, 0)]), None);
        assert_eq!(fit(&[group(9, 5, 0)]), None);
        assert_eq!(fit(&[group(9, 5, 5)]), None);
        assert!(fit(&[group(9, 5, 5), group(9, 5, 0)]).is_some());
        // The likelihood does not underflow with two thousand revisits.
        assert!(fit(&[group(9, 2_000, 900), group(9, 2_000, 300)]).is_some());
    }
}
