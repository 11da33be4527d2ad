//! Compares URL orderings on a recorded graph.
//!
//! `cargo run --release -p lab --example orderings -- ../shared/data/cs-stanford ["ORDER" …]`
//!
//! From five starts that reach at least half of the pages: the share of the reachable PageRank that the
//! first pages hold, and of the hot pages (one in a hundred has as many in-links), each after 5, 10, 25
//! and 50 % of the reachable pages. Means over the starts.

use std::path::Path;

use lab::measure::{Truth, p_st, pagerank};
use lab::run::order_of_visits;
use lab::world::Graph;
use policy::catalog::{Catalog, Wishes};

const STARTS: usize = 5;
const SHARES: [f64; 4] = [0.05, 0.10, 0.25, 0.50];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else {
        return Err("which graph? A directory with nodes.tsv.gz and edges.tsv.gz".into());
    };
    let mut orders: Vec<String> = arguments.collect();
    if orders.is_empty() {
        let usual = [
            "random(1)",
            "breadth-first",
            "backlink",
            "pagerank",
            "rankmass",
            "opic",
        ];
        orders.extend(usual.map(str::to_owned));
        orders.extend(["forward-links", "pagerank + breadth-first"].map(str::to_owned));
    }
    let graph = Graph::read(Path::new(&directory))?;
    let webs = webs(&graph);
    println!(
        "{directory}: {} pages, {} starts",
        graph.pages(),
        webs.len()
    );
    println!(
        "{:28} PageRank held after 5, 10, 25, 50 %   hot pages found",
        "ordering"
    );
    for order in &orders {
        let (mut mass, mut hot) = ([0.0; SHARES.len()], [0.0; SHARES.len()]);
        for web in &webs {
            let policy = Catalog::standard().order(order, &Wishes::default())?;
            let visits = order_of_visits(web, policy, &[0]);
            for (place, share) in SHARES.iter().enumerate() {
                let (held, found) = held(web, &visits, *share);
                mass[place] += held / webs.len() as f64;
                hot[place] += found / webs.len() as f64;
            }
        }
        println!("{order:28} {}              {}", row(&mass), row(&hot));
    }
    Ok(())
}

/// What can be reached from each start, the start first.
fn webs(graph: &Graph) -> Vec<Graph> {
    let step = (graph.pages() / 37).max(1);
    (0..graph.pages())
        .step_by(step)
        .map(|start| graph.reachable(start))
        .filter(|pages| pages.len() * 2 > graph.pages())
        .take(STARTS)
        .map(|pages| graph.among(&pages))
        .collect()
}

/// The shares of PageRank and of hot pages among the first visits.
fn held(web: &Graph, visits: &[usize], share: f64) -> (f64, f64) {
    let edges: Vec<_> = web.edges().collect();
    let degrees: Vec<u32> = (0..web.pages())
        .map(|page| web.links(page).len() as u32)
        .collect();
    let ranks = pagerank(&edges, &degrees, 0.9);
    let first = &visits[..(web.pages() as f64 * share) as usize];
    let mass: f64 = first.iter().map(|&page| ranks[page]).sum();
    let mut in_links = vec![0.0; web.pages()];
    edges.iter().for_each(|&(_, to)| in_links[to] += 1.0);
    let truth = Truth::new(in_links);
    let target = truth.of_place((web.pages() / 100).max(1)).unwrap_or(0.0);
    let found = p_st::curve(first, &truth, target);
    let found = found.and_then(|curve| curve.points.last().map(|point| point.value));
    (mass / ranks.iter().sum::<f64>(), found.unwrap_or(0.0))
}

fn row(values: &[f64]) -> String {
    let cells: Vec<String> = values.iter().map(|value| format!("{value:.3}")).collect();
    cells.join(" ")
}
