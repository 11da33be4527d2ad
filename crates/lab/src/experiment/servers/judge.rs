//! The two quality functions of Cao, Jiang & Singh (2003), §5.3.
//!
//! **Invariant:** qualities are fixed before a crawl. For an invented web they equal those of
//! [`quality`](super::quality), which the live experiment uses.

use std::fmt;

use super::quality::{pagerank_of, zipf_of};
use crate::world::Graph;

/// A function that assigns each page its quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// PageRank over the whole web: pages of one server have similar quality.
    Pagerank,
    /// Zipf's law in random order: the i-th best page has quality 1/i and may be on any server.
    Zipf,
}

impl Judge {
    /// All quality functions.
    pub const ALL: [Self; 2] = [Self::Pagerank, Self::Zipf];

    /// Returns the quality of each page. Only that of [`Self::Zipf`] depends on the seed.
    pub fn qualities(self, graph: &Graph, seed: u64) -> Vec<f64> {
        match self {
            Self::Pagerank => {
                let links = (0..graph.pages()).map(|page| graph.links(page).len() as u32);
                let edges: Vec<(usize, usize)> = graph.edges().collect();
                pagerank_of(&edges, &links.collect::<Vec<_>>())
            }
            Self::Zipf => zipf_of(graph.pages(), seed),
        }
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pagerank => "pagerank",
            Self::Zipf => "zipf",
        })
    }
}

#[cfg(test)]
mod tests {
    use testweb::site::WebPlan;

    use super::super::quality;
    use super::*;
    use crate::run::servers::SimulatedNetwork;

    #[test]
    fn qualities_are_those_of_the_live_experiment() {
        let plan = WebPlan {
            servers: 7,
            pages: 150,
            ..WebPlan::two_level(4)
        };
        let web = plan.invent();
        let network = SimulatedNetwork::of_web(&web, 1.0);
        let ours = Judge::Pagerank.qualities(network.graph(), 4);
        assert_eq!(ours, quality::pagerank(&web));
        let ours = Judge::Zipf.qualities(network.graph(), 4);
        assert_eq!(ours, quality::zipf(&web, 4));
        assert_ne!(ours, quality::zipf(&web, 5));
    }
}
