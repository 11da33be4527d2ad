//! Exact PageRank, which incremental estimates are compared with.
//!
//! **Convention:** `d` is the probability of following a link, .9 in Cho, Garcia-Molina & Page
//! (1998; `docs/science/theory.md`, §2). A page without links passes no rank on, so the sum of
//! ranks is lower in a web with such pages.

/// Maximum error of a rank, relative to the smallest positive start value (1 − d)·trust of a page.
const PRECISION: f64 = 1e-12;

/// Returns IR(p) = (1 − d) + d·Σ IR(t)/c_t over the links from t to p, where t has c_t links in
/// all.
///
/// `edges` are pairs of from and to; two links from one page to another count twice.
/// `out_degrees` are the c_t. They may exceed the number of edges: links that leave the web take
/// their share of rank with them.
///
/// # Panics
/// If an edge refers to a page without an out-degree.
pub fn pagerank(edges: &[(usize, usize)], out_degrees: &[u32], d: f64) -> Vec<f64> {
    solve(edges, out_degrees, d, &vec![1.0; out_degrees.len()])
}

/// Returns R(p) = (1 − d)·trust(p) + d·Σ R(t)/c_t: the random surfer restarts at a trusted page.
///
/// `starts` gives pages with their trust.
///
/// # Panics
/// If an edge or a start refers to a page without an out-degree.
pub fn personalised_pagerank(
    edges: &[(usize, usize)],
    out_degrees: &[u32],
    d: f64,
    starts: &[(usize, f64)],
) -> Vec<f64> {
    let mut trust = vec![0.0; out_degrees.len()];
    for &(page, share) in starts {
        trust[page] += share;
    }
    solve(edges, out_degrees, d, &trust)
}

/// Solves the equations by power iteration. Each round reduces the total error at least by the
/// factor `d`, so the sufficient number of rounds is known in advance.
fn solve(edges: &[(usize, usize)], out_degrees: &[u32], d: f64, trust: &[f64]) -> Vec<f64> {
    let shares: Vec<f64> = out_degrees
        .iter()
        .map(|&links| d / f64::from(links.max(1)))
        .collect();
    let start: Vec<f64> = trust.iter().map(|trust| (1.0 - d) * trust).collect();
    let mut ranks = start.clone();
    // The error of the first guess is at most the sum of all ranks, which is at most the sum of
    // trust. The precision is relative to the least positive start value.
    let total: f64 = trust.iter().sum();
    let least = start.iter().copied().filter(|&rank| rank > 0.0);
    let least = least.fold(f64::INFINITY, f64::min);
    let rounds = ((PRECISION * least / total).ln() / d.ln()).ceil();
    for _ in 0..rounds.max(0.0) as u32 {
        let mut next = start.clone();
        for &(from, to) in edges {
            next[to] += ranks[from] * shares[from];
        }
        let settled = next == ranks;
        ranks = next;
        if settled {
            break;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn degrees(pages: usize, edges: &[(usize, usize)]) -> Vec<u32> {
        let mut degrees = vec![0; pages];
        for &(from, _) in edges {
            degrees[from] += 1;
        }
        degrees
    }

    fn assert_close(found: &[f64], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - expected).abs();
            assert!(
                off <= 2e-12 * expected.abs(),
                "{what}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn ranks_of_small_webs_agree_with_hand_calculation() {
        let check = |pages: usize, edges: &[(usize, usize)], d: f64, expected: &[f64]| {
            let found = pagerank(edges, &degrees(pages, edges), d);
            assert_close(&found, expected, &format!("{edges:?}"));
        };
        check(0, &[], 0.9, &[]);
        check(2, &[], 0.9, &[0.1, 0.1]);
        // Two pages that link to each other keep all rank: x = .1 + .9 x.
        check(2, &[(0, 1), (1, 0)], 0.9, &[1.0, 1.0]);
        // A link to itself gives the same.
        check(1, &[(0, 0)], 0.9, &[1.0]);
        // A chain: .1, .1 + .09, .1 + .9 · .19.
        check(3, &[(0, 1), (1, 2)], 0.9, &[0.1, 0.19, 0.271]);
        // Two links to one page and one to another.
        check(3, &[(0, 1), (0, 1), (0, 2)], 0.9, &[0.1, 0.16, 0.13]);
        // x = .5 + .5 y and y = z = .5 + .5 x/2.
        check(
            3,
            &[(0, 1), (0, 2), (1, 0)],
            0.5,
            &[6.0 / 7.0, 5.0 / 7.0, 5.0 / 7.0],
        );
        check(2, &[(0, 1)], 0.0, &[1.0, 1.0]);
    }

    #[test]
    fn links_out_of_the_web_take_their_share_of_rank() {
        let found = pagerank(&[(0, 1)], &[4, 0], 0.9);
        assert_close(&found, &[0.1, 0.1 + 0.9 * 0.1 / 4.0], "a quarter");
    }

    #[test]
    fn personalised_rank_flows_only_from_trusted_pages() {
        let edges = [(0, 1), (1, 2), (3, 2)];
        let found = personalised_pagerank(&edges, &degrees(4, &edges), 0.5, &[(0, 0.5), (0, 0.5)]);
        assert_close(&found, &[0.5, 0.25, 0.125, 0.0], "one seed");
        let found = personalised_pagerank(&edges, &degrees(4, &edges), 0.5, &[]);
        assert_eq!(found, [0.0; 4]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// The equations hold for each page, and PageRank is the sum of the PageRanks that are
        /// personalised to one page each.
        #[test]
        fn ranks_satisfy_their_equations(
            edges in prop::collection::vec((0..20_usize, 0..20_usize), 0..80),
            d in 0.05..0.95_f64,
        ) {
            let degrees = degrees(20, &edges);
            let found = pagerank(&edges, &degrees, d);
            let mut given = vec![1.0 - d; 20];
            for &(from, to) in &edges {
                given[to] += d * found[from] / f64::from(degrees[from]);
            }
            for (rank, given) in found.iter().zip(&given) {
                prop_assert!((rank - given).abs() <= 1e-12 * rank, "{} {}", rank, given);
            }
            let mut sum = [0.0; 20];
            for page in 0..20 {
                let own = personalised_pagerank(&edges, &degrees, d, &[(page, 1.0)]);
                let total: f64 = own.iter().sum();
                prop_assert!(total <= 1.0 + 1e-9, "{}", total);
                for (sum, own) in sum.iter_mut().zip(own) {
                    *sum += own;
                }
            }
            for (sum, rank) in sum.iter().zip(&found) {
                prop_assert!((sum - rank).abs() <= 1e-10 * rank, "{} {}", sum, rank);
            }
        }
    }
}
