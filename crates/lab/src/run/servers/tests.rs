//! Tests of simulated connections: delays computed by hand, and laws of every crawl.

use std::sync::Arc;
use std::time::Duration;

use policy::catalog::{Catalog, Wishes};
use policy::order::Scores;
use proptest::prelude::*;
use testweb::site::{KeepAlive, Latency, Spread, WebPlan};

use super::*;
use crate::run::order_of_visits;
use crate::world::Graph;

const STRATEGIES: [&str; 5] = [
    "breadth-first",
    "performance",
    "quality",
    "crawl-ability",
    "best-prefix",
];

/// Returns a network in which all servers have a round trip of 30 ms and a response time of 80 ms.
fn network(urls: &[&str], edges: &[(usize, usize)], requests: u32) -> SimulatedNetwork {
    let graph = Graph::new(urls.iter().copied(), edges.iter().copied());
    let mut network = SimulatedNetwork::of_graph(&graph, 1, 1.0);
    network.set_habits(|server| SimulatedServer {
        round_trip: Duration::from_millis(30),
        response: Duration::from_millis(80),
        requests_per_connection: requests,
        ..*server
    });
    network
}

fn crawler(connections: u16, http: SimulatedProtocol) -> Crawler {
    Crawler {
        connections,
        http,
        dial: Dial::Network,
        costs: CrawlerCosts::NONE,
        pages: None,
    }
}

fn order(name: &str) -> Box<dyn Policy> {
    Catalog::standard().order(name, &Wishes::default()).unwrap()
}

fn go(network: &SimulatedNetwork, servers: &str, crawler: &Crawler) -> Crawled {
    let strategy = Catalog::standard().servers(servers).unwrap();
    crawl(network, order("breadth-first"), strategy, crawler)
}

/// Returns arrival times of the pages, in milliseconds.
fn times(crawled: &Crawled) -> Vec<u32> {
    let times = crawled.fetched.iter();
    times.map(|(_, at)| (at * 1e3).round() as u32).collect()
}

#[test]
fn times_of_one_server_agree_with_hand_calculation() {
    let urls = ["http://a.org/", "http://a.org/1", "http://a.org/2"];
    let edges = [(0, 1), (0, 2)];
    // Connect 30 ms, robots.txt 110 ms, then a page every 110 ms. Without a persistent
    // connection each request takes another 30 ms.
    let check = |requests: u32, http: SimulatedProtocol, dials: u64, expected: [u32; 3]| {
        let network = network(&urls, &edges, requests);
        for dial in [Dial::Network, Dial::Loopback] {
            let crawler = Crawler {
                dial,
                ..crawler(4, http)
            };
            let crawled = go(&network, "breadth-first", &crawler);
            assert_eq!(times(&crawled), expected, "{requests} {http} {dial:?}");
            assert_eq!((crawled.dials, crawled.most_open), (dials, 1));
        }
    };
    check(100, SimulatedProtocol::Http11, 1, [250, 360, 470]);
    check(1, SimulatedProtocol::Http11, 4, [280, 420, 560]);
    check(100, SimulatedProtocol::Http10, 4, [280, 420, 560]);
    // The third answer ends a connection: robots.txt and two pages.
    check(3, SimulatedProtocol::Http11, 2, [250, 360, 500]);
    // The first page comes alone, the others share a round trip.
    check(
        100,
        SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT),
        1,
        [250, 360, 440],
    );
    check(
        1,
        SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT),
        4,
        [280, 420, 560],
    );
    // The server closes the connection before the second of two pipelined requests, which is
    // repeated.
    check(
        3,
        SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT),
        2,
        [250, 360, 500],
    );
}

#[test]
fn closing_and_slow_start_cost_round_trips() {
    let urls = ["http://a.org/", "http://a.org/1", "http://a.org/2"];
    let check = |requests: u32, bytes: u32, connections: u16, expected: [u32; 3]| {
        let mut network = network(&urls, &[(0, 1), (0, 2)], requests);
        network.set_bytes(bytes);
        let crawler = Crawler {
            costs: CrawlerCosts {
                tcp: true,
                ..CrawlerCosts::NONE
            },
            ..crawler(connections, SimulatedProtocol::Http11)
        };
        let crawled = go(&network, "breadth-first", &crawler);
        assert_eq!(
            times(&crawled),
            expected,
            "{requests} {bytes} {connections}"
        );
    };
    // Without closing: 280, 420, 560. The robots.txt and each page close a connection, and the
    // next one waits 30 ms for its place.
    check(1, 0, 1, [310, 480, 650]);
    // With a second place, the next connection opens while the last one closes.
    check(1, 0, 2, [280, 420, 560]);
    // Pages of five segments: the first window carries two, the next round trip three. The window
    // of a persistent connection then has room for the whole next page.
    check(100, 5 * 1460, 1, [280, 390, 500]);
    check(1, 5 * 1460, 2, [310, 480, 650]);
}

#[test]
fn the_processor_does_one_answer_after_another() {
    let urls = ["http://a.org/", "http://b.org/", "http://c.org/"];
    let network = network(&urls, &[], 100);
    let crawler = Crawler {
        costs: CrawlerCosts {
            per_page: Duration::from_millis(200),
            per_connection: Duration::from_millis(10),
            ..CrawlerCosts::NONE
        },
        ..crawler(3, SimulatedProtocol::Http11)
    };
    let crawled = go(&network, "breadth-first", &crawler);
    // Connections open at 40, 50 and 60 ms. Their robots.txt files arrive 110 ms later and are
    // processed until 350, 550 and 750 ms. Pages arrive 110 ms after that, and wait for the files
    // that are processed first.
    assert_eq!(times(&crawled), [950, 1150, 1350]);
    assert!((crawled.answer_seconds - 1.2).abs() < 1e-9);
    assert!((crawled.connection_seconds - 0.03).abs() < 1e-9);
}

#[test]
fn fast_servers_are_the_largest_that_answer_in_time_and_keep_connections() {
    let urls = [
        "http://a.org/",
        "http://b.org/",
        "http://c.org/",
        "http://d.org/",
        "http://a.org/1",
        "http://c.org/1",
        "http://c.org/2",
    ];
    let mut network = network(&urls, &[(0, 4), (2, 5), (5, 6), (1, 6)], 100);
    network.set_one(network.server_of(3), Duration::from_secs(1));
    let limit = Duration::from_millis(120);
    let two = network.fast(2, limit, 100).unwrap();
    let names: Vec<&str> = (0..two.graph().pages())
        .map(|page| two.graph().url(page).as_str())
        .collect();
    let expected = [urls[0], urls[2], urls[4], urls[5], urls[6]];
    assert_eq!(names, expected);
    assert_eq!(two.servers().len(), 2);
    assert!(network.fast(4, limit, 100).is_none(), "d is slow");
    assert!(network.fast(1, limit, 101).is_none());
    assert!(network.fast(1, Duration::from_millis(110), 100).is_none());
}

#[test]
fn connections_are_kept_for_the_next_visit_as_long_as_there_is_room() {
    // Each home page links to the second page of the other host.
    let urls = [
        "http://a.org/",
        "http://b.org/",
        "http://a.org/1",
        "http://b.org/1",
    ];
    let edges = [(0, 3), (1, 2)];
    let check = |connections: u16, dials: u64, expected: [u32; 4]| {
        let network = network(&urls, &edges, 100);
        let crawled = go(
            &network,
            "breadth-first",
            &crawler(connections, SimulatedProtocol::Http11),
        );
        assert_eq!(times(&crawled), expected, "{connections}");
        let most = usize::from(connections);
        assert_eq!((crawled.dials, crawled.most_open), (dials, most));
    };
    check(2, 2, [250, 250, 360, 360]);
    // With one connection, the visit to b closes the connection to a. That visit fetches both
    // pages that b has by then.
    check(1, 3, [250, 500, 610, 750]);
}

#[test]
fn a_visit_leaves_for_a_server_that_waits_when_it_has_what_it_was_ranked_for() {
    let urls = ["http://a.org/", "http://b.org/", "http://a.org/1"];
    let network = network(&urls, &[(0, 2)], 100);
    let fetched = |connections: u16| {
        let crawled = go(
            &network,
            "breadth-first",
            &crawler(connections, SimulatedProtocol::Http11),
        );
        let pages: Vec<u32> = crawled.fetched.iter().map(|&(page, _)| page).collect();
        (pages, times(&crawled))
    };
    // The second page of a was unknown when the visit was ranked.
    assert_eq!(fetched(1), (vec![0, 1, 2], vec![250, 500, 640]));
    // No other server waits for a connection, so the visit continues.
    assert_eq!(fetched(2), (vec![0, 1, 2], vec![250, 250, 360]));
}

#[test]
fn a_connection_that_was_idle_for_half_a_minute_is_closed() {
    let urls = ["http://a.org/", "http://b.org/", "http://a.org/1"];
    let dials = |seconds: u64| {
        let mut network = network(&urls, &[(1, 2)], 100);
        // The first server's connection is idle until the second server has answered for
        // robots.txt and a page.
        network.set_habits(|server| SimulatedServer {
            response: Duration::from_secs(seconds),
            ..*server
        });
        network.set_one(network.server_of(0), Duration::ZERO);
        go(
            &network,
            "breadth-first",
            &crawler(2, SimulatedProtocol::Http11),
        )
        .dials
    };
    assert_eq!(dials(14), 2, "kept");
    assert_eq!(dials(16), 3, "dialled again");
}

#[test]
fn a_crawl_with_a_limit_is_the_beginning_of_the_one_without() {
    let plan = WebPlan {
        servers: 9,
        pages: 200,
        ..WebPlan::two_level(3)
    };
    let network = SimulatedNetwork::of_web(&plan.invent(), 1.0);
    let whole = go(
        &network,
        "performance",
        &crawler(4, SimulatedProtocol::Http11),
    );
    let limited = Crawler {
        pages: Some(50),
        ..crawler(4, SimulatedProtocol::Http11)
    };
    let part = go(&network, "performance", &limited);
    assert_eq!(part.fetched, whole.fetched[..50]);
}

#[test]
fn over_one_connection_for_each_page_the_best_page_anywhere_is_next() {
    for seed in 1..=3 {
        let plan = WebPlan {
            servers: 12,
            pages: 300,
            latency: Latency::None,
            ..WebPlan::two_level(seed)
        };
        let network = SimulatedNetwork::of_web(&plan.invent(), 1.0);
        let graph = network.graph();
        let mut scores = Scores::default();
        for page in 0..graph.pages() {
            let score = (page * 7919 % 1009) as f64;
            scores.insert(graph.url(page).as_str(), 1.0 + score);
        }
        let wishes = Wishes {
            scores: Some(Arc::new(scores)),
            ..Wishes::default()
        };
        for name in [
            "breadth-first",
            "given",
            "backlink",
            "pagerank",
            "random(5)",
        ] {
            let order = || Catalog::standard().order(name, &wishes).unwrap();
            let strategy = Catalog::standard().servers("quality").unwrap();
            let crawled = crawl(
                &network,
                order(),
                strategy,
                &crawler(1, SimulatedProtocol::Http10),
            );
            let pages = crawled.fetched.iter().map(|&(page, _)| page as usize);
            let expected = order_of_visits(graph, order(), network.homes());
            assert_eq!(pages.collect::<Vec<_>>(), expected, "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_crawl_is_repeatable_complete_and_within_the_limits_of_the_network(
        seed in 0..1000_u64,
        servers in 1..14_usize,
        pages in 1..160_usize,
        connections in 1..9_u16,
        http in prop::sample::select(vec![SimulatedProtocol::Http10, SimulatedProtocol::Http11, SimulatedProtocol::Pipelined(SimulatedDepth::new(3).unwrap()), SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT)]),
        loopback in any::<bool>(),
        costly in any::<bool>(),
        sigma in 0.0..2.0_f64,
    ) {
        let spread = |median| Spread { median, sigma };
        let latency = Latency::PerServer { connect: spread(0.03), response: spread(0.08) };
        let keep_alive = KeepAlive { one: 0.3, hundred: 0.2 };
        let plan = WebPlan { servers, pages, latency, keep_alive, ..WebPlan::two_level(seed) };
        let network = SimulatedNetwork::of_web(&plan.invent(), 1.0);
        let dial = if loopback { Dial::Loopback } else { Dial::Network };
        // Pipelined answers that wait for the processor arrive closer to each other than the
        // server sends them, which `check` does not allow.
        let costs = match (costly, http.width()) {
            (false, _) => CrawlerCosts::NONE,
            (true, 1) => CrawlerCosts::PUBLISHED,
            (true, _) => CrawlerCosts { tcp: true, ..CrawlerCosts::NONE },
        };
        let crawler = Crawler { dial, costs, ..crawler(connections, http) };
        for strategy in STRATEGIES {
            let crawled = go(&network, strategy, &crawler);
            prop_assert_eq!(&crawled, &go(&network, strategy, &crawler), "repeatable");
            check(&network, &crawler, &crawled);
        }
    }
}

fn check(network: &SimulatedNetwork, crawler: &Crawler, crawled: &Crawled) {
    let mut seen = vec![false; network.graph().pages()];
    for &(page, _) in &crawled.fetched {
        assert!(!std::mem::replace(&mut seen[page as usize], true), "twice");
    }
    assert!(seen.iter().all(|&seen| seen), "every page");

    // No page is requested before a page that links to it has arrived.
    let mut known_from = vec![f64::INFINITY; seen.len()];
    for &home in network.homes() {
        known_from[home] = 0.0;
    }
    for &(page, at) in &crawled.fetched {
        let page = page as usize;
        let server = &network.servers()[network.server_of(page)];
        assert!(at - server.response.as_secs_f64() > known_from[page] - 1e-9);
        for to in network.graph().links(page).iter().map(|&to| to as usize) {
            known_from[to] = known_from[to].min(at);
        }
    }

    // A server handles one request at a time, and its connection is busy for that time.
    let mut last = vec![0.0; network.servers().len()];
    let mut busy = Vec::new();
    for &(page, at) in &crawled.fetched {
        let place = network.server_of(page as usize);
        let server = &network.servers()[place];
        let trip = if crawler.http.width() == 1 {
            server.round_trip
        } else {
            Duration::ZERO
        };
        let began = at - (trip + server.response).as_secs_f64();
        assert!(began > last[place] - 1e-9, "two visits at a time");
        last[place] = at;
        busy.extend([(began + 1e-9, 1), (at, -1)]);
    }
    busy.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = busy.iter().scan(0, |open, (_, change)| {
        *open += change;
        Some(*open)
    });
    let connections = usize::from(crawler.connections);
    assert!(most.max().unwrap_or(0) <= i32::from(crawler.connections));
    assert!(crawled.most_open <= connections && crawled.most_open > 0);

    let (all, slowest) = network.least_seconds(crawler.http, crawler.connections);
    let total = crawled.fetched.last().unwrap().1;
    assert!(total >= all.max(slowest) - 1e-9, "{total} {all} {slowest}");
    let each = |server: &SimulatedServer| {
        (server.pages + 1).div_ceil(crawler.http.carries(server.requests_per_connection))
    };
    let dials: u32 = network.servers().iter().map(each).sum();
    assert!(crawled.dials >= u64::from(dials));
}
