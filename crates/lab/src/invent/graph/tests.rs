//! Tests of the distributions of the graph generator.

use std::collections::HashSet;

use frontier::Partition;

use super::*;

/// Returns the exponent of a power-law tail: Hill's estimator (1975) over the largest `top` values,
/// plus one for the density.
fn hill(mut values: Vec<usize>, top: usize) -> f64 {
    values.sort_unstable_by(|a, b| b.cmp(a));
    let least = values[top] as f64;
    let logs: f64 = values[..top].iter().map(|&v| (v as f64 / least).ln()).sum();
    1.0 + top as f64 / logs
}

fn in_links(graph: &kinds::Graph) -> Vec<usize> {
    let mut counts = vec![0; graph.pages()];
    graph.edges().for_each(|(_, to)| counts[to] += 1);
    counts
}

fn out_links(graph: &kinds::Graph) -> Vec<usize> {
    (0..graph.pages())
        .map(|page| graph.links(page).len())
        .collect()
}

#[test]
fn all_pages_are_reached_from_the_first_page() {
    for (pages, hosts, links) in [
        (1, 1, 10.0),
        (50, 200, 10.0),
        (3_000, 40, 1.0),
        (5_000, 5_000, 4.0),
    ] {
        let plan = GraphPlan {
            pages,
            hosts,
            links,
            ..GraphPlan::default()
        };
        let graph = plan.invent(1);
        assert_eq!(graph.pages(), pages as usize);
        assert_eq!(graph.reachable(&[0]).len(), pages as usize, "{plan:?}");
    }
}

#[test]
fn the_number_of_links_and_the_share_of_local_links_are_as_set() {
    for (links, local) in [(10.0, 0.75), (4.0, 0.5), (15.0, 0.9)] {
        let plan = GraphPlan {
            pages: 8_000,
            hosts: 80,
            links,
            local,
            ..GraphPlan::default()
        };
        let graph = plan.invent(2);
        let mean = graph.edges().count() as f64 / graph.pages() as f64;
        assert!(
            (mean / links - 1.0).abs() < 0.06,
            "{mean} instead of {links}"
        );
        let stays = graph
            .edges()
            .filter(|&(from, to)| graph.url(from).host() == graph.url(to).host());
        let share = stays.count() as f64 / graph.edges().count() as f64;
        assert!((share - local).abs() < 0.05, "{share} instead of {local}");
    }
}

#[test]
fn in_links_and_out_links_have_about_the_exponents_that_are_set() {
    let plan = GraphPlan {
        pages: 15_000,
        hosts: 150,
        ..GraphPlan::default()
    };
    // The exponent is estimated over the largest twentieth. The very largest values are below the
    // law, since a host with a thousand pages cannot give a page two thousand local in-links.
    let inward = |plan: &GraphPlan| hill(in_links(&plan.invent(3)), 750);
    let usual = inward(&plan);
    assert!((1.95..2.4).contains(&usual), "{usual}");
    let steep = inward(&GraphPlan {
        in_exponent: 3.5,
        ..plan.clone()
    });
    assert!((2.8..4.2).contains(&steep), "{steep}");
    // A single host has enough targets for pages with many links. Every page is a directory, so
    // most pages have few tree links.
    let one_host = GraphPlan {
        hosts: 1,
        local: 1.0,
        late: 0.0,
        directories: 1.0,
        ..plan
    };
    let graph = one_host.invent(3);
    let (inward, outward) = (hill(in_links(&graph), 750), hill(out_links(&graph), 300));
    assert!((1.7..2.2).contains(&inward), "{inward}");
    assert!((2.4..3.0).contains(&outward), "{outward}");
}

#[test]
fn host_sizes_follow_zipf_and_hosts_spread_over_the_partitions() {
    let graph = GraphPlan {
        pages: 50_000,
        links: 1.0,
        ..GraphPlan::default()
    }
    .invent(4);
    let mut sizes = vec![0.0; 200];
    let mut partitions = HashSet::new();
    for page in 0..graph.pages() {
        let url = graph.url(page);
        let host = url
            .host_name()
            .trim_start_matches("www.site")
            .trim_end_matches(".example");
        sizes[host.parse::<usize>().unwrap()] += 1.0;
        partitions.insert(Partition::of(url));
    }
    // The harmonic number of 200 is 5.878. Each host has a home page, and there are 49,800
    // others.
    for rank in [1, 2, 5, 20, 100] {
        let expected = 1.0 + 49_800.0 / 5.878 / rank as f64;
        let found = sizes[rank - 1];
        assert!(
            (found - expected).abs() < 4.0 * expected.sqrt(),
            "{rank}: {found}, {expected}"
        );
    }
    // 200 domains in 256 partitions fill 256·(1 − e^(−200/256)) = 139 of them.
    assert!(
        (120..160).contains(&partitions.len()),
        "{}",
        partitions.len()
    );
}

#[test]
fn a_smaller_web_is_the_beginning_of_a_larger() {
    let of = |pages| {
        GraphPlan {
            pages,
            hosts: 20,
            ..GraphPlan::default()
        }
        .invent(5)
    };
    let (small, large) = (of(500), of(2_000));
    for page in 0..500 {
        assert_eq!(small.url(page), large.url(page));
        assert!(large.links(page).starts_with(small.links(page)), "{page}");
    }
    let pages: Vec<String> = (0..500).map(|page| small.url(page).to_string()).collect();
    assert!(
        pages.iter().any(|url| url.matches('/').count() > 4),
        "directories lie in directories"
    );
}

#[test]
fn young_pages_are_linked_to_by_older_ones() {
    let share = |late| {
        let graph = GraphPlan {
            pages: 5_000,
            hosts: 50,
            late,
            ..GraphPlan::default()
        }
        .invent(6);
        graph.edges().filter(|(from, to)| from < to).count() as f64 / graph.edges().count() as f64
    };
    // One of ten links is a tree link. A few links that found no target at first are added later.
    let (never, half) = (share(0.0), share(0.5));
    assert!(
        (0.1..0.14).contains(&never) && half > 0.2,
        "{never}, {half}"
    );
}
