//! Clusters of pages by how interest in them develops over their first two weeks.
//!
//! Lefortier et al. (2013), §3.1, figure 3. A page is a vector of its daily visits during the
//! two weeks after its appearance, scaled to a maximum of 1. The clusters are those of Lloyd's
//! k-means algorithm with k-means++ starts (Arthur & Vassilvitskii 2007), the best of several
//! starts by the sum of squares.
//!
//! **Invariant:** equal random draws give equal clusters, in order of falling size.

use rand::Rng;
use rand::RngExt;

/// Number of days of a curve.
pub const DAYS: usize = 14;

/// A page's interest by day, scaled to a maximum of 1.
pub type Interest = [f32; DAYS];

/// Pages with similar curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Their mean curve.
    pub centre: Interest,
    /// Number of pages.
    pub pages: usize,
}

/// Number of sets of starting centres that are tried.
const STARTS: usize = 5;

/// Maximum number of iterations, for clusters that do not converge earlier.
const ROUNDS: usize = 60;

impl Cluster {
    /// Returns whether interest fades: the second week has less than half of the interest of the
    /// first.
    pub fn is_ephemeral(&self) -> bool {
        let (first, second) = self.centre.split_at(DAYS / 2);
        second.iter().sum::<f32>() < first.iter().sum::<f32>() / 2.0
    }
}

/// Scales daily counts to a maximum of 1; `None` if all are 0.
pub fn scaled(counts: [u32; DAYS]) -> Option<Interest> {
    let most = counts.into_iter().max().filter(|&most| most > 0)?;
    Some(counts.map(|count| count as f32 / most as f32))
}

/// Finds up to `clusters` clusters; fewer if there are fewer distinct curves.
pub fn k_means(curves: &[Interest], clusters: usize, rng: &mut impl Rng) -> Vec<Cluster> {
    let mut best: Option<(f64, Vec<Cluster>)> = None;
    for _ in 0..STARTS {
        let (squares, found) = lloyd(curves, starts(curves, clusters, rng));
        if best.as_ref().is_none_or(|(least, _)| squares < *least) {
            best = Some((squares, found));
        }
    }
    let mut found = best.map_or(Vec::new(), |(_, found)| found);
    found.retain(|cluster| cluster.pages > 0);
    found.sort_by_key(|cluster| std::cmp::Reverse(cluster.pages));
    found
}

/// Returns k-means++ starts: each is drawn with a probability proportional to its squared distance
/// from the nearest earlier start.
fn starts(curves: &[Interest], clusters: usize, rng: &mut impl Rng) -> Vec<Interest> {
    let mut centres: Vec<Interest> = Vec::new();
    let mut far = vec![1.0; curves.len()];
    while centres.len() < clusters {
        let total: f64 = far.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut lot = rng.random::<f64>() * total;
        let drawn = far.iter().position(|share| {
            lot -= share;
            lot < 0.0
        });
        // If no curve is drawn because of rounding errors, the last one with a positive weight is
        // taken.
        let drawn = drawn.or_else(|| far.iter().rposition(|share| *share > 0.0));
        let Some(drawn) = drawn else { break };
        centres.push(curves[drawn]);
        let first = centres.len() == 1;
        for (far, curve) in far.iter_mut().zip(curves) {
            let away = distance(curve, &curves[drawn]);
            *far = if first { away } else { far.min(away) };
        }
    }
    centres
}

/// Runs Lloyd's algorithm from these centres; also returns the sum of squared distances.
fn lloyd(curves: &[Interest], mut centres: Vec<Interest>) -> (f64, Vec<Cluster>) {
    let mut own: Vec<usize> = vec![usize::MAX; curves.len()];
    let mut squares = 0.0;
    for _ in 0..ROUNDS {
        let (mut moved, mut sum) = (false, 0.0);
        for (own, curve) in own.iter_mut().zip(curves) {
            let mut nearest = (f64::INFINITY, 0);
            for (place, centre) in centres.iter().enumerate() {
                let away = distance(curve, centre);
                if away < nearest.0 {
                    nearest = (away, place);
                }
            }
            moved |= *own != nearest.1;
            *own = nearest.1;
            sum += nearest.0;
        }
        squares = sum;
        if !moved {
            break;
        }
        for (place, centre) in centres.iter_mut().enumerate() {
            let members = curves.iter().zip(&own).filter(|(_, own)| **own == place);
            *centre = mean(members.map(|(curve, _)| curve)).unwrap_or(*centre);
        }
    }
    let pages = |place| own.iter().filter(|own| **own == place).count();
    let clusters = centres.iter().enumerate().map(|(place, &centre)| Cluster {
        centre,
        pages: pages(place),
    });
    (squares, clusters.collect())
}

fn mean<'c>(curves: impl Iterator<Item = &'c Interest>) -> Option<Interest> {
    let (mut sum, mut count) = ([0.0_f64; DAYS], 0.0);
    for curve in curves {
        count += 1.0;
        for (sum, &day) in sum.iter_mut().zip(curve) {
            *sum += f64::from(day);
        }
    }
    (count > 0.0).then(|| sum.map(|sum| (sum / count) as f32))
}

fn distance(one: &Interest, other: &Interest) -> f64 {
    let days = one.iter().zip(other);
    f64::from(days.map(|(one, other)| (one - other).powi(2)).sum::<f32>())
}

#[cfg(test)]
mod tests {
    use testweb::chance::{For, stream};

    use super::*;

    #[test]
    fn different_curves_form_different_clusters_by_falling_size() {
        let mut falls = [0; DAYS];
        (falls[0], falls[1]) = (8, 2);
        let falls = scaled(falls).unwrap();
        let late = scaled(std::array::from_fn(|day| u32::from(day == 2))).unwrap();
        let lasts = scaled([3; DAYS]).unwrap();
        assert_eq!(falls[..3], [1.0, 0.25, 0.0]);
        assert_eq!(scaled([0; DAYS]), None);
        let curves = [vec![falls; 30], vec![late; 10], vec![lasts; 5]].concat();
        for seed in 0..5 {
            let found = k_means(&curves, 3, &mut stream(seed, For::Looks, 0, 0));
            let pages: Vec<usize> = found.iter().map(|cluster| cluster.pages).collect();
            assert_eq!(pages, [30, 10, 5]);
            let short: Vec<bool> = found.iter().map(Cluster::is_ephemeral).collect();
            assert_eq!(short, [true, true, false]);
            assert_eq!(found[0].centre, falls);
        }
        let few = k_means(&curves, 6, &mut stream(1, For::Looks, 0, 0));
        assert_eq!(few.len(), 3, "there are no more different curves");
        assert!(k_means(&[], 6, &mut stream(1, For::Looks, 0, 0)).is_empty());
    }
}
