//! Tests of the invented web: it serves what its model says, and its log contains all requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::net::SocketAddr;

use proptest::prelude::*;
use testweb::site::{
    Changes, Coding, Faults, InventedRobots, Latency, PageAnswer, PageNumber, RobotsShares,
    ServedWeb, ServerNumber, Spread, TruthScope, WebClock, WebPlan,
};

use crate::client::{ByteClient, TestAnswer, links};

pub fn address_of(serving: &ServedWeb, server: ServerNumber) -> SocketAddr {
    SocketAddr::from((serving.web().address(server), serving.port()))
}

pub async fn start(plan: &WebPlan) -> ServedWeb {
    ServedWeb::start(plan.invent(), WebClock::Still, None)
        .await
        .unwrap()
}

/// Returns a latency that is the same on every server, in seconds.
pub fn fixed_latency(connect: f64, response: f64) -> Latency {
    let spread = |median| Spread { median, sigma: 0.0 };
    Latency::PerServer {
        connect: spread(connect),
        response: spread(response),
    }
}

/// Returns a plan in which every page is ordinary and never changes, and everything is allowed.
fn calm(seed: u64) -> WebPlan {
    let small = WebPlan::small(seed);
    WebPlan {
        robots: RobotsShares::default(),
        faults: Faults::default(),
        changes: Changes {
            share: 0.0,
            ..small.changes
        },
        compressed: 0.0,
        duplicates: 0.0,
        ..small
    }
}

/// Requests one page on a connection of its own.
async fn get(serving: &ServedWeb, page: PageNumber, headers: &str) -> TestAnswer {
    let page = serving.web().page(page);
    let mut client = ByteClient::connect(address_of(serving, page.server())).await;
    client.get(page.path(), headers).await.unwrap()
}

/// Crawls without the model, using only sockets, the links in the HTML, and robots.txt as text.
async fn walk(serving: &ServedWeb, seed: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([seed.to_owned()]);
    let mut waiting = vec![seed.to_owned()];
    let mut fetched = BTreeSet::new();
    let mut rules: HashMap<String, Option<String>> = HashMap::new();
    while let Some(url) = waiting.pop() {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let address: SocketAddr = host.parse().unwrap();
        if !rules.contains_key(host) {
            let robots = ByteClient::get_once(address, "/robots.txt").await;
            let forbidden = match robots.status {
                200 => robots
                    .text()
                    .lines()
                    .find_map(|line| line.strip_prefix("Disallow:")),
                404 => None,
                _ => Some("/"),
            };
            let forbidden = forbidden.map(str::trim).filter(|rule| !rule.is_empty());
            rules.insert(host.to_owned(), forbidden.map(str::to_owned));
        }
        if rules[host]
            .as_ref()
            .is_some_and(|rule| path.starts_with(rule))
        {
            continue;
        }
        let mut got = ByteClient::get_once(address, path).await;
        if got.status == 503 {
            got = ByteClient::get_once(address, path).await;
        }
        fetched.insert(url.clone());
        let found: Vec<&str> = match got.header("location") {
            Some(target) => vec![target],
            None => links(got.text()).collect(),
        };
        for link in found {
            let link = match link.starts_with('/') {
                true => format!("http://{host}{link}"),
                false => link.to_owned(),
            };
            if seen.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    assert!(serving.log().requests() >= fetched.len());
    fetched
}

#[tokio::test]
async fn a_walk_over_sockets_reaches_exactly_the_truth() {
    for seed in 1..=6 {
        let serving = start(&WebPlan::small(seed)).await;
        let home = PageNumber(0);
        for advance in [0.0, 200_000.0] {
            serving.advance(advance);
            let truth = serving
                .web()
                .reachable(&[home], TruthScope::Any, serving.now());
            let truth: BTreeSet<String> = truth.into_iter().map(|n| serving.url(n)).collect();
            assert!(
                truth.len() > 20,
                "seed {seed} reaches {} pages only",
                truth.len()
            );
            assert_eq!(
                walk(&serving, &serving.url(home)).await,
                truth,
                "seed {seed}"
            );
        }
        for (server, _) in serving.web().servers() {
            let most = serving.log().most_at_once(server);
            assert!(
                most <= 1,
                "a walk of one step at a time was seen with {most} at once"
            );
        }
    }
}

#[test]
fn without_rules_and_faults_all_pages_born_are_reached() {
    let web = calm(3).invent();
    let all = |at: f64| {
        web.pages()
            .filter(move |page| page.exists(at))
            .map(|page| page.number())
    };
    for at in [0.0, 1_000.0, 86_400.0] {
        let reached = web.reachable(&[PageNumber(0)], TruthScope::Any, at);
        assert_eq!(reached, all(at).collect(), "at {at}");
    }
    assert!(all(0.0).count() < all(86_400.0).count(), "nothing was born");
    let own = web.reachable(&[PageNumber(0)], TruthScope::SeedServers, 86_400.0);
    assert!(own.iter().all(|&n| web.page(n).server() == ServerNumber(0)));
    assert_eq!(
        own.len(),
        web.pages()
            .filter(|page| page.server() == ServerNumber(0))
            .count()
    );
}

#[test]
fn shares_of_pages_and_servers_are_those_of_the_plan() {
    let plan = WebPlan {
        servers: 200,
        pages: 4_000,
        calendars: 0.2,
        ..WebPlan::small(11)
    };
    let web = plan.invent();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for page in web.pages() {
        let kind = match page.kind() {
            PageAnswer::Ordinary => "ordinary",
            PageAnswer::Copy(_) => "copy",
            PageAnswer::Redirect(..) => "redirect",
            PageAnswer::Error(404 | 410) => "gone",
            PageAnswer::Error(_) => "broken",
            PageAnswer::Busy => "busy",
        };
        *counts.entry(kind).or_default() += 1;
    }
    for (_, server) in web.servers() {
        let robots = match server.robots {
            InventedRobots::Open => "open",
            InventedRobots::Rules { .. } => "rules",
            InventedRobots::Missing => "missing",
            InventedRobots::Broken => "forbids all",
        };
        let requests = match server.requests_per_connection {
            1 => "one",
            100 => "hundred",
            n => {
                assert!((2..100).contains(&n));
                "some"
            }
        };
        for name in [robots, requests] {
            *counts.entry(name).or_default() += 1;
        }
        *counts.entry("calendar").or_default() += usize::from(server.calendar);
    }
    // Shares of the plan, within five standard deviations.
    for (name, expected, of) in [
        ("copy", 0.05, 3_800.0),
        ("redirect", 0.05, 3_800.0),
        ("gone", 0.04, 3_800.0),
        ("broken", 0.02, 3_800.0),
        ("busy", 0.01, 3_800.0),
        ("rules", 0.4, 200.0),
        ("missing", 0.3, 200.0),
        ("forbids all", 0.1, 200.0),
        ("open", 0.2, 200.0),
        ("one", 0.24, 200.0),
        ("hundred", 0.66, 200.0),
        ("some", 0.1, 200.0),
        ("calendar", 0.2, 200.0),
    ] {
        let deviation = f64::sqrt(of * expected * (1.0 - expected));
        let off = (counts[name] as f64 - of * expected).abs();
        assert!(off < 5.0 * deviation, "{name}: {} of {of}", counts[name]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_same_plan_is_the_same_web_to_the_byte(seed: u64, at in 0.0..1e6) {
        let plan = WebPlan { pages: 60, ..WebPlan::small(seed) };
        let (one, two) = (plan.invent(), plan.invent());
        prop_assert!(one.pages().eq(two.pages()) && one.servers().eq(two.servers()));
        let other = WebPlan { seed: seed ^ 1, ..plan }.invent();
        let mut differ = 0;
        for page in one.pages() {
            let html = one.html(page.number(), at, 80);
            prop_assert_eq!(&html, &two.html(page.number(), at, 80));
            differ += usize::from(html != other.html(page.number(), at, 80));
        }
        prop_assert!(differ > 30, "another seed is another web");
    }

    #[test]
    fn urls_are_distinct_and_in_normal_form(seed: u64) {
        let web = WebPlan { servers: 600, pages: 1_200, ..WebPlan::small(seed) }.invent();
        let mut urls = BTreeSet::new();
        for page in web.pages() {
            let url = web.url(page.number(), 8_080);
            let normal = page::PageUrl::parse(&url).unwrap();
            prop_assert_eq!(normal.as_str(), url.as_str());
            prop_assert!(web.address(page.server()).is_loopback());
            prop_assert!(urls.insert(url));
        }
    }
}

#[tokio::test]
async fn a_server_closes_after_its_number_of_requests() {
    let serving = start(&WebPlan {
        servers: 40,
        ..calm(5)
    })
    .await;
    for (server, habits) in serving.web().servers() {
        let mut client = ByteClient::connect(address_of(&serving, server)).await;
        for n in 1..=habits.requests_per_connection {
            let got = client.get("/", "").await.unwrap();
            let last = n == habits.requests_per_connection;
            assert_eq!(
                got.header("connection") == Some("close"),
                last,
                "request {n}"
            );
        }
        assert!(client.is_closed().await);
        assert_eq!(serving.log().connections(server), 1);
        assert_eq!(
            serving.log().gaps(server).len() as u32 + 1,
            habits.requests_per_connection
        );
    }
}

#[tokio::test]
async fn the_log_has_every_request_with_its_path_status_and_connection() {
    let serving = start(&calm(6)).await;
    let server = ServerNumber(2);
    let address = address_of(&serving, server);
    for path in ["/", "/robots.txt", "/", "/nowhere?a=b"] {
        let got = ByteClient::get_once(address, path).await;
        assert_eq!(got.status == 404, path.starts_with("/nowhere"));
    }
    let expected = [("/", 2), ("/nowhere?a=b", 1), ("/robots.txt", 1)];
    let expected = expected.map(|(path, n)| (format!("http://{address}{path}"), n));
    assert_eq!(serving.log().counts(), BTreeMap::from(expected));
    let visits = serving.log().visits(server);
    let paths: Vec<(&str, u16)> = visits.iter().map(|v| (&*v.path, v.status)).collect();
    assert_eq!(
        paths,
        [
            ("/", 200),
            ("/robots.txt", 200),
            ("/", 200),
            ("/nowhere?a=b", 404)
        ]
    );
    let connections: Vec<u32> = visits.iter().map(|v| v.connection).collect();
    assert_eq!(connections, [0, 1, 2, 3]);
    for two in visits.windows(2) {
        assert!(two[0].answered.unwrap() <= two[1].arrived, "{two:?}");
    }
    assert_eq!(serving.log().most_at_once(server), 1);
    assert_eq!(serving.log().requests(), 4);
}

#[tokio::test]
async fn the_log_counts_concurrent_requests_and_connections() {
    // The server takes an hour, so both requests are under way for as long as the test needs.
    let latency = fixed_latency(0.0, 3_600.0);
    let serving = start(&WebPlan { latency, ..calm(7) }).await;
    let server = ServerNumber(1);
    let mut clients = Vec::new();
    for _ in 0..2 {
        let mut client = ByteClient::connect(address_of(&serving, server)).await;
        client.send("/", "").await;
        clients.push(client);
    }
    while serving.log().most_at_once(server) < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(serving.log().most_connections(server), 2);
    assert_eq!(serving.log().most_at_once(ServerNumber(0)), 0);
    assert!(
        serving
            .log()
            .visits(server)
            .iter()
            .all(|visit| visit.answered.is_none())
    );
}

#[tokio::test]
async fn pages_change_with_the_webs_time_and_validators_follow() {
    let changes = Changes {
        share: 1.0,
        interval: Spread {
            median: 100.0,
            sigma: 0.0,
        },
    };
    let serving = start(&WebPlan {
        changes,
        etags: 1.0,
        last_modified: 1.0,
        ..calm(8)
    })
    .await;
    let home = PageNumber(0);
    let mut versions = BTreeSet::new();
    for _ in 0..20 {
        let first = get(&serving, home, "").await;
        versions.insert(first.body.clone());
        let tag = format!("If-None-Match: {}\r\n", first.header("etag").unwrap());
        let date = format!(
            "If-Modified-Since: {}\r\n",
            first.header("last-modified").unwrap()
        );
        for condition in [&tag, &date] {
            let again = get(&serving, home, condition).await;
            assert_eq!((again.status, again.body.len()), (304, 0), "{condition}");
        }
        serving.advance(2_000.0);
        for condition in [&tag, &date] {
            let changed = get(&serving, home, condition).await;
            assert_eq!(changed.status, 200, "{condition}");
            assert_ne!(changed.body, first.body);
        }
    }
    assert_eq!(versions.len(), 20, "a text appeared twice");
}

#[tokio::test]
async fn a_clock_that_runs_moves_the_web() {
    let serving = ServedWeb::start(calm(8).invent(), WebClock::Running(1e6), None)
        .await
        .unwrap();
    let before = serving.now();
    while serving.now() <= before {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn each_kind_of_page_gives_its_own_answer() {
    let serving = start(&WebPlan {
        pages: 800,
        compressed: 1.0,
        ..WebPlan::small(9)
    })
    .await;
    serving.advance(86_400.0);
    let web = serving.web();
    let mut codings = [0, 0];
    for page in web.pages() {
        let number = page.number();
        let got = get(&serving, number, "").await;
        match page.kind() {
            PageAnswer::Ordinary => {
                let html = web.html(number, serving.now(), serving.port());
                assert_eq!((got.status, got.text()), (200, &*html));
                assert_eq!(got.header("content-encoding"), None);
                let coded = get(&serving, number, "Accept-Encoding: br, gzip, deflate\r\n").await;
                let mut decoded = String::new();
                let coding = web.server(page.server()).coding.unwrap();
                let (name, length) = match coding {
                    Coding::Gzip => {
                        codings[0] += 1;
                        let mut decoder = flate2::read::GzDecoder::new(&coded.body[..]);
                        ("gzip", decoder.read_to_string(&mut decoded))
                    }
                    Coding::Deflate => {
                        codings[1] += 1;
                        let mut decoder = flate2::read::ZlibDecoder::new(&coded.body[..]);
                        ("deflate", decoder.read_to_string(&mut decoded))
                    }
                };
                assert_eq!(
                    (coded.header("content-encoding"), length.unwrap()),
                    (Some(name), html.len())
                );
                assert_eq!(decoded, html);
            }
            PageAnswer::Copy(of) => {
                assert_eq!(web.page(of).server(), page.server());
                assert_eq!(got.body, get(&serving, of, "").await.body);
            }
            PageAnswer::Redirect(to, status) => {
                assert_eq!(
                    (got.status, got.header("location")),
                    (status, Some(&*serving.url(to)))
                );
                assert!(to < number, "a redirect to a newer page could loop");
            }
            PageAnswer::Error(status) => assert_eq!(got.status, status),
            PageAnswer::Busy => {
                assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
                assert_eq!(get(&serving, number, "").await.status, 200);
            }
        }
    }
    assert!(codings.iter().all(|&n| n > 50), "{codings:?}");
}

#[tokio::test]
async fn pages_are_not_found_before_birth_and_gone_after_death() {
    let mut plan = calm(10);
    plan.population.born_later = 1.0;
    plan.population.lifetime = Some(1_000.0);
    let serving = start(&plan).await;
    let mut statuses = BTreeMap::new();
    for _ in 0..3 {
        for page in serving.web().pages() {
            let status = get(&serving, page.number(), "").await.status;
            let exists = page.exists(serving.now());
            assert_eq!(status == 200, exists, "{}", page.path());
            *statuses.entry(status).or_insert(0) += 1;
        }
        serving.advance(43_200.0);
    }
    assert_eq!(
        statuses.keys().copied().collect::<Vec<_>>(),
        [200, 404, 410]
    );
}

#[tokio::test]
async fn robots_files_are_those_of_the_plan() {
    let none = RobotsShares::default();
    for (robots, status, text) in [
        (none, 200, "User-agent: *\nDisallow:\n"),
        (
            RobotsShares { rules: 1.0, ..none },
            200,
            "User-agent: *\nDisallow: /private/\n",
        ),
        (
            RobotsShares { delay: 1.0, ..none },
            200,
            "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.5\n",
        ),
        (
            RobotsShares {
                missing: 1.0,
                ..none
            },
            404,
            "not found\n",
        ),
        (
            RobotsShares {
                broken: 1.0,
                ..none
            },
            503,
            "try again\n",
        ),
    ] {
        let serving = start(&WebPlan {
            robots,
            crawl_delay: 0.5,
            ..calm(16)
        })
        .await;
        for (server, _) in serving.web().servers().skip(1) {
            let got = ByteClient::get_once(address_of(&serving, server), "/robots.txt").await;
            assert_eq!((got.status, got.text()), (status, text));
        }
        // The first server can be crawled under any plan.
        let first = address_of(&serving, ServerNumber(0));
        let got = ByteClient::get_once(first, "/robots.txt").await;
        assert_eq!(got.status, 404);
    }
}

#[tokio::test]
async fn a_calendar_never_ends() {
    let serving = start(&WebPlan {
        calendars: 1.0,
        ..calm(12)
    })
    .await;
    let address = address_of(&serving, ServerNumber(0));
    let home = ByteClient::get_once(address, "/").await;
    let mut path = links(home.text())
        .find(|link| link.contains("calendar"))
        .unwrap()
        .to_owned();
    let mut seen = BTreeSet::new();
    for _ in 0..60 {
        let month = ByteClient::get_once(address, &path).await;
        assert_eq!(month.status, 200, "{path}");
        assert!(seen.insert(path), "a month appeared twice");
        path = links(month.text()).last().unwrap().to_owned();
    }
    assert_eq!(path, "/calendar/2031/1");
    let none = ByteClient::get_once(address, "/calendar/2026/13").await;
    assert_eq!(none.status, 404);
}

#[tokio::test]
async fn a_dropped_web_closes_its_listeners() {
    let serving = start(&calm(13)).await;
    let address = address_of(&serving, ServerNumber(3));
    let mut client = ByteClient::connect(address).await;
    assert_eq!(client.get("/robots.txt", "").await.unwrap().status, 200);
    drop(serving);
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_it() {
    let first = start(&calm(14)).await;
    let second = ServedWeb::start(calm(14).invent(), WebClock::Still, Some(first.port())).await;
    let message = second.unwrap_err().to_string();
    assert_eq!(
        message,
        format!("cannot listen on {}", address_of(&first, ServerNumber(0)))
    );
}

#[tokio::test]
async fn five_hundred_servers_have_their_own_latency() {
    let spread = |median| Spread { median, sigma: 1.0 };
    let latency = Latency::PerServer {
        connect: spread(1e-4),
        response: spread(1e-3),
    };
    let serving = start(&WebPlan {
        servers: 500,
        pages: 500,
        latency,
        ..calm(15)
    })
    .await;
    let latencies: BTreeSet<_> = serving
        .web()
        .servers()
        .map(|(_, s)| s.response_latency)
        .collect();
    assert!(latencies.len() > 490, "{}", latencies.len());
    for (server, habits) in serving.web().servers() {
        let got = ByteClient::get_once(address_of(&serving, server), "/").await;
        assert_eq!(got.status, 200);
        let visit = &serving.log().visits(server)[0];
        assert!(visit.answered.unwrap() - visit.arrived >= habits.response_latency);
    }
    assert_eq!(serving.homes().len(), 500);
}

#[test]
fn the_two_level_web_has_the_sizes_and_shares_of_the_paper() {
    let web = WebPlan::two_level(1).invent();
    assert_eq!((web.servers().count(), web.pages().count()), (500, 30_000));
    assert!(web.pages().all(|page| page.kind() == PageAnswer::Ordinary));
    let all = web.reachable(&[PageNumber(0)], TruthScope::Any, 0.0);
    assert_eq!(all.len(), 30_000, "some page cannot be found");
    let (mut trips, mut answers, mut one, mut hundred) = (Vec::new(), Vec::new(), 0, 0);
    for (_, server) in web.servers() {
        let open = matches!(
            server.robots,
            InventedRobots::Open | InventedRobots::Missing
        );
        assert!(open && !server.calendar && server.coding.is_none());
        trips.push(server.round_trip.as_secs_f64());
        answers.push(server.response_latency.as_secs_f64());
        one += u32::from(server.requests_per_connection == 1);
        hundred += u32::from(server.requests_per_connection == 100);
    }
    // Binomial counts of 500, within four standard deviations.
    assert!(
        (82..=158).contains(&one) && (288..=372).contains(&hundred),
        "{one}, {hundred}"
    );
    for (mut times, median) in [(trips, 0.03), (answers, 0.08)] {
        times.sort_unstable_by(f64::total_cmp);
        // The median of 500 draws has a standard deviation of 5.6%. The upper sixth begins at e
        // times the median.
        assert!((times[250] / median - 1.0).abs() < 0.25, "{}", times[250]);
        assert!((times[420] / median - 2.72).abs() < 0.8, "{}", times[420]);
    }
}
