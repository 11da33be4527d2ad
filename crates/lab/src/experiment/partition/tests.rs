//! Tests of the laws of confinement for teams of crawlers.

use proptest::prelude::*;

use super::*;
use crate::findings::Measured;
use crate::run::{Confinement, Coordination, Division, TeamPlan, TeamWork, team};
use crate::workers::Silent;

/// Returns the links of a recorded web without its texts, which teams do not use; `None`, with a
/// message, if the data is missing.
fn links_of(name: &str) -> Option<tempfile::TempDir> {
    let from = format!("{}/../../../shared/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().unwrap();
    for table in ["nodes.tsv.gz", "edges.tsv.gz"] {
        let file = format!("{from}/{table}");
        if let Err(error) = std::fs::copy(&file, directory.path().join(table)) {
            eprintln!("skipped: {file}: {error}");
            return None;
        }
    }
    Some(directory)
}

fn web(hosts: &[u8], edges: &[(usize, usize)]) -> Graph {
    let urls: Vec<String> = (0..)
        .zip(hosts)
        .map(|(page, host): (usize, _)| format!("http://h{host}.org/{page}"))
        .collect();
    Graph::new(urls.iter().map(String::as_str), edges.iter().copied())
}

fn work(
    graph: &Graph,
    division: &Division,
    coordination: Coordination,
    crawlers: usize,
    batch: usize,
    seeds: &[usize],
) -> TeamWork {
    let plan = TeamPlan {
        coordination,
        batch,
        budget: usize::MAX,
    };
    team(
        graph,
        division,
        orders("backlink", crawlers),
        plan,
        &dealt(seeds, crawlers),
    )
}

/// Deals seeds to the crawlers in turn.
fn dealt(seeds: &[usize], crawlers: usize) -> Vec<(usize, usize)> {
    (0..crawlers).cycle().zip(seeds.iter().copied()).collect()
}

fn orders(name: &str, crawlers: usize) -> Vec<Box<dyn policy::Policy>> {
    let order = || Catalog::standard().order(name, &Wishes::default());
    (0..crawlers).map(|_| order().unwrap()).collect()
}

/// Returns the pages fetched, sorted, one entry per fetch.
fn pages(work: &TeamWork) -> Vec<usize> {
    let mut pages: Vec<usize> = work.fetches.iter().map(|&(_, page)| page).collect();
    pages.sort_unstable();
    pages
}

fn reach(graph: &Graph, seeds: &[usize]) -> Vec<usize> {
    let mut all = graph.reachable(seeds);
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Checks the claims of Baldi, Frasconi & Smyth (2003), chapter 6, for static and dynamic
    /// teams.
    #[test]
    fn bk6_confinement_modes_keep_their_laws(
        hosts in prop::collection::vec(0..8_u8, 30),
        edges in prop::collection::vec((0..30_usize, 0..30_usize), 0..90),
        seeds in prop::collection::vec(0..30_usize, 1..6),
        crawlers in 1..6_usize,
        batch in 1..4_usize,
    ) {
        let graph = web(&hosts, &edges);
        let division = DividedWeb::of(&graph, 1.0, 1).division;
        let all = reach(&graph, &seeds);
        for kind in [Coordination::Static, Coordination::Dynamic] {
            let of = |confinement| {
                work(&graph, &division, kind(confinement), crawlers, batch, &seeds)
            };
            let once = |pages: &[usize]| pages.windows(2).all(|pair| pair[0] != pair[1]);
            let firewall = pages(&of(Confinement::Firewall));
            prop_assert!(once(&firewall), "firewall: nothing twice");
            prop_assert!(firewall.iter().all(|page| all.contains(page)));

            let exchange = of(Confinement::Exchange);
            prop_assert_eq!(&pages(&exchange), &all, "exchange: everything, once");

            let crossover = of(Confinement::Crossover);
            let mut covered = pages(&crossover);
            covered.dedup();
            prop_assert_eq!(&covered, &all, "crossover: everything in the end");
            for crawler in 0..crawlers as u32 {
                let own = crossover.fetches.iter().filter(|fetch| fetch.0 == crawler);
                let mut own: Vec<usize> = own.map(|fetch| fetch.1).collect();
                own.sort_unstable();
                prop_assert!(once(&own), "a crawler fetches nothing twice itself");
            }
            if kind(Confinement::Firewall) == Coordination::Static(Confinement::Firewall) {
                prop_assert_eq!(of(Confinement::Firewall).messages + crossover.messages, 0);
            }
            // In a static team, each crawler fetches only its own pages.
            let owner = |page: usize| division.shares[page] as usize % crawlers;
            if let Coordination::Static(_) = kind(Confinement::Exchange) {
                for &(crawler, page) in &exchange.fetches {
                    prop_assert_eq!(crawler as usize, owner(page));
                }
            }
        }
        // A team of one crawler behaves the same in every mode.
        let alone = work(&graph, &division, Coordination::Independent, 1, batch, &seeds);
        let order = |coordination| work(&graph, &division, coordination, 1, batch, &seeds).fetches;
        prop_assert_eq!(&alone.fetches, &order(Coordination::Static(Confinement::Exchange)));
        prop_assert_eq!(&alone.fetches, &order(Coordination::Dynamic(Confinement::Firewall)));
    }
}

/// Returns a web of two hosts, one per crawler. Pages 0 and 2 are on one, 1 and 3 on the other.
/// The links are 0 → 1, 1 → 2, 1 → 3 and 3 → 2.
fn two() -> (Graph, Division) {
    let graph = web(&[0, 1, 0, 1], &[(0, 1), (1, 2), (1, 3), (3, 2)]);
    let division = Division {
        shares: vec![0, 1, 0, 1],
        hosts: vec![0, 1, 0, 1],
    };
    (graph, division)
}

/// A link that the order rejects does not stop the crawler from following later ones.
#[test]
fn crossover_continues_after_a_page_that_the_ordering_rejects() {
    // 0 links to the foreign pages 1 and 2. The crawler reaches 4, which is too deep, through 1
    // and 3, before it reaches 5 through 2.
    let graph = web(
        &[0, 1, 1, 0, 1, 1],
        &[(0, 1), (0, 2), (1, 3), (3, 4), (2, 5)],
    );
    let division = Division {
        shares: vec![0, 1, 1, 0, 1, 1],
        hosts: vec![0, 1, 1, 0, 1, 1],
    };
    let plan = TeamPlan {
        coordination: Coordination::Static(Confinement::Crossover),
        batch: 1,
        budget: usize::MAX,
    };
    let work = team(
        &graph,
        &division,
        orders("depth-limited(2)", 2),
        plan,
        &[(0, 0)],
    );
    assert_eq!(work.fetches, [(0, 0), (0, 1), (0, 3), (0, 2), (0, 5)]);
}

#[test]
fn bk6_fetches_and_messages_agree_with_hand_calculation() {
    let (graph, division) = two();
    let of = |coordination, batch| work(&graph, &division, coordination, 2, batch, &[0]);
    let by_hash = |confinement, batch| of(Coordination::Static(confinement), batch);
    assert_eq!(by_hash(Confinement::Firewall, 1).fetches, [(0, 0)]);
    // The first crawler follows foreign links when it has no others left.
    let crossed = by_hash(Confinement::Crossover, 1);
    assert_eq!(crossed.fetches, [(0, 0), (0, 1), (0, 2), (0, 3)]);
    assert_eq!(crossed.messages, 0);
    let exchanged = by_hash(Confinement::Exchange, 1);
    assert_eq!(exchanged.fetches, [(0, 0), (1, 1), (0, 2), (1, 3)]);
    assert_eq!(exchanged.messages, 3, "0 to 1, 1 to 2, and 3 to 2 again");
    let batched = by_hash(Confinement::Exchange, 9);
    assert_eq!(batched.messages, 2, "2 is sent once a batch");
    let url = "http://h0.org/0".len() as u64;
    assert_eq!(batched.message_bytes, 2 * url, "all URLs are equally long");
    assert_eq!(pages(&batched), [0, 1, 2, 3]);
    // The supervisor receives the second host and assigns it to the idle crawler: two messages.
    let given = of(Coordination::Dynamic(Confinement::Firewall), 1);
    assert_eq!(given.fetches, [(0, 0), (1, 1), (1, 3)]);
    assert_eq!(given.messages, 2);
    let alone = work(&graph, &division, Coordination::Independent, 2, 1, &[0, 1]);
    assert_eq!(pages(&alone), [0, 1, 1, 2, 2, 3, 3]);
}

fn setting(world: &str, threads: usize) -> ExperimentSetup {
    ExperimentSetup {
        world: world.into(),
        knobs: Vec::new(),
        policies: Vec::new(),
        against: None,
        seed: 7,
        runs: 2,
        threads,
        command: String::new(),
    }
}

#[test]
fn invalid_options_are_refused_with_the_reason() {
    let (mut wrong, options) = (setting("nowhere", 1), PartitionExperimentOptions::default());
    wrong.policies = vec!["static-fire".into()];
    let error = run(&wrong, &options, &Silent).unwrap_err().to_string();
    assert!(
        error.contains("static-fire") && error.contains("static-firewall"),
        "{error}"
    );
    for (options, word) in [
        (
            PartitionExperimentOptions {
                crawlers: vec![],
                ..PartitionExperimentOptions::default()
            },
            "crawlers",
        ),
        (
            PartitionExperimentOptions {
                crawlers: vec![0],
                ..PartitionExperimentOptions::default()
            },
            "crawlers",
        ),
        (
            PartitionExperimentOptions {
                hosts_per_address: 0.5,
                ..PartitionExperimentOptions::default()
            },
            "address",
        ),
        (
            PartitionExperimentOptions {
                kilobytes: 0.0,
                ..PartitionExperimentOptions::default()
            },
            "kilobytes",
        ),
        (
            PartitionExperimentOptions {
                batch: 0,
                ..PartitionExperimentOptions::default()
            },
            "fetch",
        ),
        (
            PartitionExperimentOptions {
                budget: Some(-1.0),
                ..PartitionExperimentOptions::default()
            },
            "budget",
        ),
        (
            PartitionExperimentOptions {
                order: "pagerang".into(),
                ..PartitionExperimentOptions::default()
            },
            "pagerank",
        ),
    ] {
        let error = run(&setting("nowhere", 1), &options, &Silent).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn bk6_holds_on_a_real_web() {
    let Some(links) = links_of("webkb") else {
        return;
    };
    let world = links.path().to_str().unwrap();
    let options = PartitionExperimentOptions {
        crawlers: vec![1, 4],
        ..PartitionExperimentOptions::default()
    };
    let study = run(&setting(world, 2), &options, &Silent).unwrap();
    let held = study.claims.iter().filter(|claim| claim.holds).count();
    assert_eq!((study.claims.len(), held), (8, 8), "{:?}", study.claims);
    let again = run(&setting(world, 1), &options, &Silent).unwrap();
    assert_eq!(
        study.findings.rows, again.findings.rows,
        "threads change nothing"
    );
    let at = |team: &str, metric, k| study.findings.value(team, metric, k).unwrap();
    for team in teams::TEAMS.map(|team| team.name) {
        let alone = (at(team, "overlap", 1.0), at(team, "coverage", 1.0));
        assert_eq!(alone, (0.0, 1.0), "{team}");
    }
    assert!(at("independent", "overlap", 4.0) > 0.0);
    let budget = PartitionExperimentOptions {
        budget: Some(0.5),
        ..options
    };
    let study = run(&setting(world, 2), &budget, &Silent).unwrap();
    assert!(study.claims.is_empty() && study.notes.iter().any(|note| note.contains("BK6")));
}

/// Most hosts belong to one domain, so the web is divided by host.
#[test]
fn bk6_a_web_of_one_domain_is_divided_by_host() {
    let Some(links) = links_of("cs-stanford") else {
        return;
    };
    let study = run(
        &setting(links.path().to_str().unwrap(), 2),
        &PartitionExperimentOptions {
            crawlers: vec![16],
            ..PartitionExperimentOptions::default()
        },
        &Silent,
    );
    let study = study.unwrap();
    assert!(
        study.notes[0].contains("one registrable domain"),
        "{:?}",
        study.notes
    );
    // Exact statements hold for any distribution of the hosts.
    let at = |team: &str, metric| study.findings.value(team, metric, 16.0).unwrap();
    assert_eq!(at("static-firewall", "overlap"), 0.0);
    assert_eq!(
        (
            at("static-exchange", "overlap"),
            at("static-exchange", "coverage")
        ),
        (0.0, 1.0)
    );
    assert!(at("static-firewall", "coverage") < 1.0);
}

#[test]
fn a_budget_is_kept_and_batches_save_messages() {
    let (graph, division) = two();
    let mut divided = DividedWeb::of(&graph, 1.0, 1);
    divided.division = division;
    let seeds = [0];
    let options = |budget, batch| PartitionExperimentOptions {
        budget,
        batch,
        crawlers: vec![2],
        ..PartitionExperimentOptions::default()
    };
    let found = |budget, batch, metric: &str| {
        let options = options(budget, batch);
        let judge = TeamJudge::new(CrawlableWorld::from(&graph), &divided, &seeds, &options);
        let teams = teams::TEAMS.iter();
        let team = teams.copied().find(|team| team.name == "static-exchange");
        let measured = judge.judge(team.unwrap(), 2).unwrap();
        let number = measured.iter().find(|number| number.metric == metric);
        number.unwrap().value
    };
    assert_eq!(found(None, 1, "coverage"), 1.0);
    assert_eq!(found(Some(0.5), 1, "coverage"), 0.5);
    assert_eq!(
        (found(None, 1, "messages"), found(None, 9, "messages")),
        (0.75, 0.5)
    );
    assert_eq!(
        (found(None, 1, "balance"), found(None, 1, "overlap")),
        (1.0, 0.0)
    );
    // The first page fetched is 0; the best page is 2, which all paths lead to.
    assert_eq!(found(None, 1, "quality"), 0.0);
}

#[test]
fn a_web_of_one_host_or_one_domain_has_a_note() {
    let one = DividedWeb::of(&web(&[0, 0], &[(0, 1)]), 1.0, 1);
    assert!(one.note().unwrap().contains("one host"));
    let domain = Graph::new(
        ["http://a.e.org/", "http://b.e.org/"].into_iter(),
        [(0, 1)].into_iter(),
    );
    let domain = DividedWeb::of(&domain, 1.0, 1);
    assert!(domain.note().unwrap().contains("one registrable domain"));
    assert_eq!(domain.parts, 2, "by host");
    assert!(DividedWeb::of(&web(&[0, 1], &[]), 1.0, 1).note().is_none());
    let most = DividedWeb::of(&web(&[0, 1, 1], &[]), 1.0, 1);
    assert!(most.note().is_some(), "two pages of three");
    let none: Vec<Vec<Measured>> = Vec::new();
    assert!(claims::claims(&none, &[1]).is_empty());
}
