//! Throughput by HTTP version and number of connections.
//!
//! These are the breadth-first crawls of Cao, Jiang & Singh (2003), §5.2: of all servers by HTTP
//! version (Figure 4), and of 20 fast servers (Figure 5), which show when the processor of the
//! crawler is the limit.
//!
//! **Invariant:** a crawl stops after a sixth of the pages. The few slow servers that delay the
//! end of a crawl therefore do not affect the figure.

use std::time::Duration;

use figure::{Figure, Series};

use super::measured::{
    BASELINE, FAST_ANSWERS, FAST_CONNECTIONS, FAST_PAGES_PER_SECOND, PAGES_PER_SECOND,
};
use crate::experiment::PublishedClaim;
use crate::findings::{self, Measured, Param, Params, Row};
use crate::run::servers::{
    Crawled, Crawler, CrawlerCosts, Dial, SimulatedDepth, SimulatedNetwork, SimulatedProtocol,
};

/// The paper's three HTTP variants, slowest first.
const VERSIONS: [SimulatedProtocol; 3] = [
    SimulatedProtocol::Http10,
    SimulatedProtocol::Http11,
    SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT),
];

/// Numbers of simultaneous connections. In the paper, more than 96 gained nothing.
const CONNECTIONS: [u16; 6] = [8, 16, 32, 64, 96, 128];

/// The largest of these numbers. With at most this many servers the claims are not judged, since
/// some connections would have no server.
pub(super) const MOST: usize = 128;

/// Share of the pages that is fetched: 5,000 of 30,000 in the paper.
const SHARE: f64 = 1.0 / 6.0;

/// Speed-up of 128 connections over 96 that still counts as none.
const NOTHING: f64 = 1.05;

/// The paper's fast servers: 20 that answer within 100 ms and serve 100 requests a connection.
const FAST_SERVERS: usize = 20;
const FAST_RESPONSE: Duration = Duration::from_millis(100);
const FAST_REQUESTS: u32 = 100;

/// Numbers of connections to the fast servers.
const FAST_STEPS: [u16; 8] = [2, 4, 8, 12, 14, 16, 18, 20];

/// Share of the highest throughput that counts as reached, and share of the time in which a
/// saturated processor works.
const FULL: f64 = 0.95;

/// Returns the network of the fast servers; `None` if there are too few.
pub(super) fn fast(network: &SimulatedNetwork) -> Option<SimulatedNetwork> {
    network.fast(FAST_SERVERS, FAST_RESPONSE, FAST_REQUESTS)
}

/// Returns the crawls to make of the fast servers, which have this number of pages.
pub(super) fn fast_crawlers(
    pages: usize,
    dial: Dial,
    costs: CrawlerCosts,
) -> impl Iterator<Item = Crawler> {
    let pages = Some(((pages as f64 * SHARE) as usize).max(1));
    FAST_STEPS.into_iter().map(move |connections| Crawler {
        connections,
        http: SimulatedProtocol::Http11,
        dial,
        costs,
        pages,
    })
}

/// Returns the throughput of one of these crawls and the share of its time that the processor
/// works.
pub(super) fn fast_measured(crawler: &Crawler, crawled: &Crawled) -> Vec<Measured> {
    let whole = measured(crawler, crawled);
    let seconds = crawled.fetched.len() as f64 / whole.value;
    let of = |metric: &str, value: f64| Measured {
        metric: metric.to_owned(),
        value,
        ..whole.clone()
    };
    vec![
        of(FAST_PAGES_PER_SECOND, whole.value),
        of(FAST_ANSWERS, crawled.answer_seconds / seconds),
        of(FAST_CONNECTIONS, crawled.connection_seconds / seconds),
    ]
}

/// Returns the crawls to make of a web with this number of pages.
pub(super) fn crawlers(
    pages: usize,
    dial: Dial,
    costs: CrawlerCosts,
) -> impl Iterator<Item = Crawler> {
    let pages = Some(((pages as f64 * SHARE) as usize).max(1));
    VERSIONS.into_iter().flat_map(move |http| {
        CONNECTIONS.into_iter().map(move |connections| Crawler {
            connections,
            http,
            dial,
            costs,
            pages,
        })
    })
}

/// Returns the throughput of one of these crawls.
pub(super) fn measured(crawler: &Crawler, crawled: &Crawled) -> Measured {
    let seconds = crawled.fetched.last().map_or(f64::NAN, |&(_, at)| at);
    Measured {
        policy: BASELINE.to_owned(),
        params: Params::from([("http".to_owned(), crawler.http.to_string().as_str().into())]),
        metric: PAGES_PER_SECOND.to_owned(),
        x: f64::from(crawler.connections),
        value: crawled.fetched.len() as f64 / seconds,
    }
}

/// Checks the claims of §5.2.1; empty if the crawls were not made.
pub(super) fn claims(rows: &[Row]) -> Vec<PublishedClaim> {
    let [plain, kept, pipelined] = VERSIONS.map(|http| rates(rows, http));
    if plain.is_empty() {
        return Vec::new();
    }
    let over = |better: &[(f64, f64)], worse: &[(f64, f64)]| -> Vec<f64> {
        let pairs = better.iter().zip(worse);
        pairs.map(|(better, worse)| better.1 / worse.1).collect()
    };
    let (persistent, sent_ahead) = (over(&kept, &plain), over(&pipelined, &kept));
    let steps = over(&kept[1..], &kept);
    let (last, rises) = steps
        .split_last()
        .map_or((f64::NAN, &[][..]), |(last, rises)| (*last, rises));
    let claim = |says: &str, published: &str, found: String, holds: bool| PublishedClaim {
        id: "2L3",
        says: says.to_owned(),
        published: published.to_owned(),
        found,
        holds,
    };
    let each = CONNECTIONS.map(|most| most.to_string()).join(", ");
    let each = format!("at {each} connections");
    vec![
        claim(
            "HTTP/1.1 is more than twice as fast as 1.0 at equal connections",
            "> 2 times",
            format!("{} {each}", times(&persistent)),
            persistent.iter().all(|&gain| gain > 2.0),
        ),
        claim(
            "pipelining is a little faster still",
            "> 1 times",
            format!("{} {each}", times(&sent_ahead)),
            sent_ahead.iter().all(|&gain| gain > 1.0),
        ),
        claim(
            "throughput rises with connections up to 96 (1.1, each step from 8)",
            "> 1 times",
            times(rises),
            rises.iter().all(|&step| step > 1.0),
        ),
        claim(
            "more than 96 connections bring nothing (1.1, 128 over 96 below 1.05 times)",
            "nothing",
            times(&[last]),
            last < NOTHING,
        ),
    ]
}

/// Checks the claims of §5.2.2 about fast servers; empty if these crawls were not made.
pub(super) fn fast_claims(rows: &[Row]) -> Vec<PublishedClaim> {
    let of = |metric: &'static str| rows.iter().filter(move |row| row.metric == metric);
    let most = of(FAST_PAGES_PER_SECOND).map(|row| row.value);
    let most = most.fold(0.0, f64::max);
    let enough = of(FAST_PAGES_PER_SECOND).find(|row| row.value >= FULL * most);
    let at_16 = |metric| of(metric).find(|row| row.x == 16.0).map(|row| row.value);
    let (Some(enough), Some(answers), Some(connections)) =
        (enough, at_16(FAST_ANSWERS), at_16(FAST_CONNECTIONS))
    else {
        return Vec::new();
    };
    let busy = answers + connections;
    vec![
        PublishedClaim {
            id: "2L3",
            says: "20 fast servers: the most throughput (95 % of it) is reached with 14 to 16 connections".into(),
            published: "14 connections".into(),
            found: format!(
                "{most:.0} pages a second at most; {} connections",
                enough.x
            ),
            holds: (14.0..=16.0).contains(&enough.x),
        },
        PublishedClaim {
            id: "2L3",
            says: "20 fast servers: with 16 connections the processor is saturated (works for 95 % of the time)".into(),
            published: "saturated".into(),
            found: format!("works for {:.0} % of the time", 100.0 * busy),
            holds: busy >= FULL,
        },
    ]
}

/// Draws Figures 4, 5(a) and 5(b), each with the stem of its file name. Crawls that were not made
/// are not drawn.
pub(super) fn figures(rows: &[Row]) -> Vec<(String, Figure)> {
    let version =
        |http: SimulatedProtocol| findings::series(format!("HTTP {http}"), of_version(rows, http));
    let line = |name: &str, metric: &str| {
        findings::series(name, rows.iter().filter(|row| row.metric == metric))
    };
    let figure = |title: &str, y_label: &str, series: Vec<Series>| Figure {
        title: title.into(),
        x_label: "connections open at once".into(),
        y_label: y_label.into(),
        series,
        ..Figure::default()
    };
    let figures = [
        (
            "servers-http",
            figure(
                "Breadth-first crawls, by HTTP and connections (Figure 4)",
                "pages a second",
                VERSIONS.map(version).into(),
            ),
        ),
        (
            "servers-fast",
            figure(
                "Breadth-first crawls of 20 fast servers (Figure 5a)",
                "pages a second",
                vec![line("HTTP 1.1", FAST_PAGES_PER_SECOND)],
            ),
        ),
        (
            "servers-fast-processor",
            figure(
                "Work of the processor, 20 fast servers (Figure 5b)",
                "share of the time",
                vec![
                    line("answers", FAST_ANSWERS),
                    line("connections", FAST_CONNECTIONS),
                ],
            ),
        ),
    ];
    let drawn = |figure: &Figure| figure.series.iter().any(|line| !line.points.is_empty());
    let figures = figures.into_iter().filter(|(_, figure)| drawn(figure));
    figures
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

fn rates(rows: &[Row], http: SimulatedProtocol) -> Vec<(f64, f64)> {
    let found = of_version(rows, http);
    found.map(|row| (row.x, row.value)).collect()
}

fn of_version(rows: &[Row], http: SimulatedProtocol) -> impl Iterator<Item = &Row> {
    let http = Param::from(http.to_string().as_str());
    rows.iter()
        .filter(move |row| row.metric == PAGES_PER_SECOND && row.params.get("http") == Some(&http))
}

fn times(gains: &[f64]) -> String {
    let gains: Vec<String> = gains.iter().map(|gain| format!("{gain:.2}")).collect();
    format!("{} times", gains.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rows;

    /// Returns throughputs that rise with connections up to 96. `kept` and `pipelined` are factors
    /// over HTTP/1.0, and `beyond` is the factor of 128 connections over 96.
    fn found(kept: f64, pipelined: f64, beyond: f64) -> Vec<Row> {
        rows(&[run(kept, pipelined, beyond)], None)
    }

    fn run(kept: f64, pipelined: f64, beyond: f64) -> Vec<Measured> {
        let numbers = crawlers(600, Dial::Network, CrawlerCosts::NONE).map(|crawler| {
            let most = f64::from(crawler.connections.min(96));
            let rise = if crawler.connections > 96 {
                beyond
            } else {
                1.0
            };
            let times = match crawler.http {
                SimulatedProtocol::Http10 => 1.0,
                SimulatedProtocol::Http11 => kept,
                SimulatedProtocol::Pipelined(_) => pipelined,
            };
            let crawled = Crawled {
                fetched: vec![(0, 1.0 / (most * rise * times))],
                ..Crawled::default()
            };
            assert_eq!(crawler.pages, Some(100));
            measured(&crawler, &crawled)
        });
        numbers.collect()
    }

    #[test]
    fn two_l3_claims_hold_where_the_numbers_say_so_and_nowhere_else() {
        let verdicts = |rows: &[Row]| {
            let claims = claims(rows);
            claims.iter().map(|claim| claim.holds).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&found(2.1, 2.2, 1.0)), [true; 4]);
        assert_eq!(verdicts(&found(2.0, 2.0, 1.1)), [false, false, true, false]);
        assert!(verdicts(&[]).is_empty() && figures(&[]).is_empty());
    }

    #[test]
    fn figure_4_has_a_line_for_each_http_version_with_intervals_if_there_are_several_runs() {
        let one = &figures(&found(2.1, 2.2, 1.0))[0].1;
        assert_eq!(one.series.len(), 3);
        assert!((one.series[1].points[0].1 - 16.8).abs() < 1e-9);
        assert!(one.series[1].intervals.is_empty());
        let runs = [run(2.1, 2.2, 1.0), run(2.3, 2.2, 1.0)];
        let two = &figures(&rows(&runs, None))[0].1;
        let (low, high) = two.series[1].intervals[0];
        assert!(low < 17.6 && 17.6 < high, "{low} to {high}");
    }

    /// A processor that takes 10 ms for an answer does a hundred a second, however many
    /// connections there are. Each connection alone would fetch seven pages a second.
    #[test]
    fn fast_servers_saturate_the_processor_at_15_connections() {
        let found = |cap: f64| {
            let crawlers = fast_crawlers(600, Dial::Network, CrawlerCosts::NONE);
            let numbers = crawlers.flat_map(|crawler| {
                let rate = (7.0 * f64::from(crawler.connections)).min(cap);
                let crawled = Crawled {
                    fetched: vec![(0, 1.0 / rate)],
                    answer_seconds: 0.009,
                    connection_seconds: 0.001,
                    ..Crawled::default()
                };
                fast_measured(&crawler, &crawled)
            });
            rows(&[numbers.collect()], None)
        };
        let holds = |rows: &[Row]| {
            let claims = fast_claims(rows);
            claims.iter().map(|claim| claim.holds).collect::<Vec<_>>()
        };
        assert_eq!(holds(&found(100.0)), [true, true]);
        assert_eq!(holds(&found(1e9)), [false, true], "20 are best");
        assert_eq!(holds(&found(50.0)), [false, false], "8 are enough");
        assert!(fast_claims(&[]).is_empty());
        let drawn = figures(&found(100.0));
        let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["servers-fast", "servers-fast-processor"]);
        assert_eq!(drawn[1].1.series.len(), 2);
    }
}
