//! Throughput by HTTP version and number of connections.
//!
//! These are the breadth-first crawls of Cao, Jiang & Singh (2003), §5.2.1.
//!
//! **Invariant:** a crawl stops after a sixth of the pages. The few slow servers that delay the
//! end of a crawl therefore do not affect the figure.

use figure::{Figure, Series};

use super::measured::{BASELINE, PAGES_PER_SECOND};
use crate::experiment::PublishedClaim;
use crate::findings::{self, Measured, Param, Params, Row};
use crate::run::servers::{Crawled, Crawler, Dial, SimulatedDepth, SimulatedProtocol};

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

/// Returns the crawls to make of a web with this number of pages.
pub(super) fn crawlers(pages: usize, dial: Dial) -> impl Iterator<Item = Crawler> {
    let pages = Some(((pages as f64 * SHARE) as usize).max(1));
    VERSIONS.into_iter().flat_map(move |http| {
        CONNECTIONS.into_iter().map(move |connections| Crawler {
            connections,
            http,
            dial,
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

/// Draws pages per second over connections, as Figure 4; `None` if the crawls were not made.
pub(super) fn figure(rows: &[Row]) -> Option<Figure> {
    let line =
        |http: SimulatedProtocol| findings::series(format!("HTTP {http}"), of_version(rows, http));
    let series: Vec<Series> = VERSIONS.map(line).into();
    series
        .iter()
        .any(|line| !line.points.is_empty())
        .then(|| Figure {
            title: "Breadth-first crawls, by HTTP and connections (Figure 4)".into(),
            x_label: "connections open at once".into(),
            y_label: "pages a second".into(),
            series,
            ..Figure::default()
        })
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
        let numbers = crawlers(600, Dial::Network).map(|crawler| {
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
        assert!(verdicts(&[]).is_empty() && figure(&[]).is_none());
    }

    #[test]
    fn figure_4_has_a_line_for_each_http_version_with_intervals_if_there_are_several_runs() {
        let one = figure(&found(2.1, 2.2, 1.0)).unwrap();
        assert_eq!(one.series.len(), 3);
        assert!((one.series[1].points[0].1 - 16.8).abs() < 1e-9);
        assert!(one.series[1].intervals.is_empty());
        let runs = [run(2.1, 2.2, 1.0), run(2.3, 2.2, 1.0)];
        let two = figure(&rows(&runs, None)).unwrap();
        let (low, high) = two.series[1].intervals[0];
        assert!(low < 17.6 && 17.6 < high, "{low} to {high}");
    }
}
