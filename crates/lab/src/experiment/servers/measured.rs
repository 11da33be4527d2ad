//! Metrics of one simulated or live crawl.
//!
//! **Invariant:** times are relative to breadth-first's time for the whole web in the same run.
//! Runs on different webs can therefore be averaged.

use super::judge::Judge;
use crate::experiment::Metric;
use crate::findings::{Measured, Params};
use crate::measure::QualityGain;

/// Metrics of this experiment.
pub const METRICS: &[Metric] = &[
    (
        SPEED,
        "share of all pages that are fetched; x is the time, as a share of breadth-first's time for all pages",
    ),
    (
        QUALITY,
        "share of all quality that the fetched pages hold; x is the share of pages fetched",
    ),
    (
        EFFICIENCY,
        "share of all quality that the fetched pages hold; x is the time, as for speed_by_time",
    ),
    (
        SPEED_TIMES,
        "pages fetched, divided by those of breadth-first at the same time; x is the time, as for speed_by_time",
    ),
    (
        SPEED_AT_HALF,
        "pages fetched when breadth-first has half of all pages, divided by those of breadth-first; unlike speed_times_by_time it does not depend on how long the slowest server takes",
    ),
    (
        EFFICIENCY_TIMES,
        "quality of the pages fetched, divided by that of breadth-first at the same time; x is the time, as for speed_by_time",
    ),
    (
        MEAN_EFFICIENCY,
        "share of all quality that the fetched pages hold, averaged over the time that breadth-first takes for all pages",
    ),
    (SECONDS, "seconds from the start to the last page"),
    (CONNECTIONS, "connections opened in the whole crawl"),
    (
        PAGES_PER_SECOND,
        "pages per second over the first sixth of the pages; x is the number of connections open at once",
    ),
    (
        FAST_PAGES_PER_SECOND,
        "the same for the 20 largest servers that answer within 100 ms and serve 100 requests a connection",
    ),
    (
        FAST_ANSWERS,
        "share of the time that the processor spends on answers in these crawls",
    ),
    (
        FAST_CONNECTIONS,
        "share of the time that the processor spends on connections in these crawls",
    ),
];

pub(super) const SPEED: &str = "speed_by_time";
pub(super) const QUALITY: &str = "quality_by_pages";
pub(super) const EFFICIENCY: &str = "efficiency_by_time";
pub(super) const SPEED_TIMES: &str = "speed_times_by_time";
pub(super) const SPEED_AT_HALF: &str = "speed_times_at_half";
pub(super) const EFFICIENCY_TIMES: &str = "efficiency_times_by_time";
pub(super) const MEAN_EFFICIENCY: &str = "mean_efficiency";
pub(super) const SECONDS: &str = "seconds";
pub(super) const CONNECTIONS: &str = "connections";
pub(super) const PAGES_PER_SECOND: &str = "pages_per_second";
pub(super) const FAST_PAGES_PER_SECOND: &str = "fast_pages_per_second";
pub(super) const FAST_ANSWERS: &str = "fast_cpu_answers";
pub(super) const FAST_CONNECTIONS: &str = "fast_cpu_connections";

/// The strategy that others are compared with; times are relative to its time.
pub const BASELINE: &str = "breadth-first";

/// Share of the time at which the paper reads its curves, besides one half.
pub(super) const THIRD: f64 = 1.0 / 3.0;

/// Returns the numbers of one crawl that opened `dials` connections. `base` is the crawl of
/// [`BASELINE`] in the same run.
pub fn measured(
    strategy: &str,
    judge: Judge,
    own: &QualityGain,
    dials: u64,
    base: &QualityGain,
) -> Vec<Measured> {
    let params = Params::from([("quality".to_owned(), judge.to_string().as_str().into())]);
    let mut found = Vec::new();
    let mut add = |metric: &str, x: f64, value: f64| {
        found.push(Measured {
            policy: strategy.to_owned(),
            params: params.clone(),
            metric: metric.to_owned(),
            x,
            value,
        });
    };
    let all = base.total();
    for x in shares() {
        let (pages, quality) = (own.pages_at_time(x * all), own.at_time(x * all));
        add(SPEED, x, pages);
        add(QUALITY, x, own.at_pages(x));
        add(EFFICIENCY, x, quality);
        // Not finite before breadth-first has fetched a page; the report omits such values.
        add(SPEED_TIMES, x, pages / base.pages_at_time(x * all));
        add(EFFICIENCY_TIMES, x, quality / base.at_time(x * all));
    }
    let half = base.time_of_pages(0.5);
    let times = own.pages_at_time(half) / base.pages_at_time(half);
    add(SPEED_AT_HALF, 0.5, times);
    add(MEAN_EFFICIENCY, 1.0, own.mean_by_time(all));
    add(SECONDS, 1.0, own.total());
    add(CONNECTIONS, 1.0, dials as f64);
    found
}

/// Returns the values of x: multiples of .05 up to 1, and one third, in rising order.
fn shares() -> impl Iterator<Item = f64> {
    let twentieths = |from: u32, to: u32| (from..=to).map(|n| f64::from(n) / 20.0);
    twentieths(1, 6).chain([THIRD]).chain(twentieths(7, 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shares_of_the_baseline() {
        // Qualities 3 and 1; breadth-first takes 10 and 20 seconds, the other 2 and 30.
        let base = QualityGain::new(vec![(1, 10.0), (0, 20.0)], &[3.0, 1.0]);
        let own = QualityGain::new(vec![(0, 2.0), (1, 30.0)], &[3.0, 1.0]);
        let numbers = measured("quality", Judge::Zipf, &own, 7, &base);
        let value = |metric: &str, x: f64| {
            let is_it = |number: &&Measured| number.metric == metric && number.x == x;
            numbers.iter().find(is_it).unwrap().value
        };
        for (metric, x, expected) in [
            (SPEED, 0.05, 0.0),
            (SPEED, 0.1, 0.5),
            (SPEED, 1.0, 0.5),
            (QUALITY, 0.5, 0.75),
            (QUALITY, 1.0, 1.0),
            (EFFICIENCY, THIRD, 0.75),
            (EFFICIENCY, 1.0, 0.75),
            (SPEED_TIMES, 0.5, 1.0),
            // Both have one page after ten seconds.
            (SPEED_AT_HALF, 0.5, 1.0),
            (EFFICIENCY_TIMES, 0.5, 3.0),
            (EFFICIENCY_TIMES, 1.0, 0.75),
            // 0 for two of twenty seconds, .75 for eighteen.
            (MEAN_EFFICIENCY, 1.0, 0.675),
            (SECONDS, 1.0, 30.0),
            (CONNECTIONS, 1.0, 7.0),
        ] {
            assert!((value(metric, x) - expected).abs() < 1e-12, "{metric} {x}");
        }
        assert!(
            value(SPEED_TIMES, THIRD).is_infinite(),
            "breadth-first has fetched no page yet"
        );
        assert!(shares().collect::<Vec<_>>().is_sorted_by(|a, b| a < b));
        let named = |number: &Measured| METRICS.iter().any(|(name, _)| *name == number.metric);
        assert!(numbers.iter().all(named));
    }
}
