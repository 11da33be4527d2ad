//! Quality of each page of a web, computed from the whole web.
//!
//! These are the two quality functions of Cao, Jiang & Singh (2003), §5.3.
//!
//! **Invariant:** qualities are fixed before a crawl, and measured policies have no access to
//! them unless the experiment passes them on. They are in the order of page numbers, like
//! [`Web::urls`].

use rand::seq::SliceRandom;

use testweb::chance::{For, stream};
use testweb::site::Web;

use crate::measure::personalised_pagerank;

/// Probability that the random surfer does not follow a link.
const TELEPORT: f64 = 0.15;

/// Returns the PageRank of each of T pages at time 0, in the paper's convention: R(u) = d/T +
/// (1 − d)·Σ R(v)/C_v with d = .15.
///
/// Here d is the teleport probability; in [`measure::pagerank`](crate::measure::pagerank), d is
/// the complement. Pages of one server have similar ranks, since three of four links stay on
/// their server.
pub fn pagerank(web: &Web) -> Vec<f64> {
    let mut edges = Vec::new();
    let mut degrees = Vec::new();
    for page in web.pages() {
        let links = web.leads_to(page.number(), 0.0);
        degrees.push(links.len() as u32);
        let from = page.number().0 as usize;
        edges.extend(links.iter().map(|to| (from, to.0 as usize)));
    }
    pagerank_of(&edges, &degrees)
}

/// Returns qualities by Zipf's law: the i-th best page has quality 1/i, and the order of the pages
/// is random.
///
/// Unlike PageRank, the qualities of a server's pages are independent of each other.
pub fn zipf(web: &Web, seed: u64) -> Vec<f64> {
    zipf_of(web.pages().count(), seed)
}

/// Like [`pagerank`], for any links.
pub(super) fn pagerank_of(edges: &[(usize, usize)], out_degrees: &[u32]) -> Vec<f64> {
    let pages = out_degrees.len();
    let anywhere: Vec<(usize, f64)> = (0..pages).map(|page| (page, 1.0 / pages as f64)).collect();
    personalised_pagerank(edges, out_degrees, 1.0 - TELEPORT, &anywhere)
}

/// Like [`zipf`], for any number of pages.
pub(super) fn zipf_of(pages: usize, seed: u64) -> Vec<f64> {
    let mut qualities: Vec<f64> = (1..=pages).map(|i| 1.0 / i as f64).collect();
    qualities.shuffle(&mut stream(seed, For::Quality, 0, 0));
    qualities
}

#[cfg(test)]
mod tests {
    use testweb::site::{PageNumber, WebPlan};

    use super::*;

    #[test]
    fn pagerank_satisfies_the_equation_of_the_paper() {
        let web = WebPlan {
            servers: 20,
            pages: 1_000,
            ..WebPlan::two_level(2)
        }
        .invent();
        let ranks = pagerank(&web);
        assert_eq!(ranks.len(), 1_000);
        let mut given = vec![0.15 / 1_000.0; 1_000];
        for page in web.pages() {
            let links = web.leads_to(page.number(), 0.0);
            for to in &links {
                let share = ranks[page.number().0 as usize] / links.len() as f64;
                given[to.0 as usize] += 0.85 * share;
            }
        }
        for (rank, given) in ranks.iter().zip(given) {
            assert!((rank / given - 1.0).abs() < 1e-11, "{rank}, not {given}");
        }
        let total: f64 = ranks.iter().sum();
        assert!(total <= 1.0 + 1e-9 && total > 0.15, "{total}");
    }

    #[test]
    fn zipf_gives_every_rank_once_in_a_random_order_of_pages() {
        let web = WebPlan {
            servers: 20,
            pages: 1_000,
            ..WebPlan::two_level(3)
        }
        .invent();
        let qualities = zipf(&web, 1);
        let mut sorted = qualities.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let expected: Vec<f64> = (1..=1_000).map(|i| 1.0 / f64::from(i)).collect();
        assert_eq!(sorted, expected);
        assert_ne!(qualities, expected, "the pages are in order");
        assert_eq!(qualities, zipf(&web, 1));
        assert_ne!(qualities, zipf(&web, 2));
        let urls: Vec<String> = web.urls(80).collect();
        assert_eq!(urls.len(), qualities.len());
        assert_eq!(urls[5], web.url(PageNumber(5), 80));
    }
}
