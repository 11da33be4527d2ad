//! Which published claims held?
//!
//! Cao, Jiang & Singh (2003), §5.3, one by one, and the one that is ours. **Invariant:** a claim is judged
//! by medians over the runs, with the numbers that the paper prints and no slack.

use xtask::cli::Judge;

use super::report::{Experiment, Figure};

/// A claim and what became of it.
pub struct Claim {
    /// What was claimed.
    pub says: &'static str,
    /// What was measured.
    pub found: String,
    /// Whether it held.
    pub holds: bool,
}

const THIRD: f64 = 1.0 / 3.0;

/// The claims about this quality.
pub fn claims(experiment: &Experiment) -> Vec<Claim> {
    let mut claims = match experiment.judge {
        Judge::Pagerank => pagerank(experiment),
        Judge::Zipf => zipf(experiment),
    };
    claims.push(speed(experiment));
    claims.push(ours(experiment));
    claims
}

fn pagerank(of: &Experiment) -> Vec<Claim> {
    let at_half = [pages(of, "quality", 0.5), pages(of, "crawl-ability", 0.5)];
    let at_third = [time(of, "quality", THIRD), time(of, "crawl-ability", THIRD)];
    let means = [
        mean(of, "crawl-ability"),
        mean(of, "quality"),
        mean(of, "performance"),
        mean(of, "breadth-first"),
    ];
    let mid = time(of, "performance", 0.5) / time(of, "breadth-first", 0.5);
    vec![
        Claim {
            says: "quality and crawl-ability have > 80 % of quality before 50 % of the pages",
            found: beside(&at_half, pages(of, "breadth-first", 0.5)),
            holds: at_half.iter().all(|&share| share > 0.8),
        },
        Claim {
            says: "quality and crawl-ability have > 80 % of quality in < 1/3 of the time",
            found: beside(&at_third, time(of, "breadth-first", THIRD)),
            holds: at_third.iter().all(|&share| share > 0.8),
        },
        Claim {
            says: "crawl-ability gains quality fastest of the four (mean over the time), quality next",
            found: format!(
                "crawl-ability {}, quality {}, performance {}, breadth-first {}",
                percent(means[0]),
                percent(means[1]),
                percent(means[2]),
                percent(means[3])
            ),
            holds: means[0] >= means[1] && means[1] >= means[2].max(means[3]),
        },
        Claim {
            says: "performance has gained about 1.5 times breadth-first's quality at the midpoint",
            found: format!("{mid:.2} times"),
            holds: mid >= 1.5,
        },
    ]
}

fn zipf(of: &Experiment) -> Vec<Claim> {
    let at_third = time(of, "crawl-ability", THIRD);
    let at_half = time(of, "crawl-ability", 0.5);
    let by_pages = [pages(of, "crawl-ability", 0.5), pages(of, "quality", 0.5)];
    let means = [
        mean(of, "crawl-ability"),
        mean(of, "quality"),
        mean(of, "performance"),
        mean(of, "breadth-first"),
    ];
    let all = format!(
        "crawl-ability {}, quality {}, performance {}, breadth-first {}",
        percent(means[0]),
        percent(means[1]),
        percent(means[2]),
        percent(means[3])
    );
    vec![
        Claim {
            says: "crawl-ability has > 60 % of quality in < 1/3 of the time",
            found: beside(&[at_third], time(of, "breadth-first", THIRD)),
            holds: at_third > 0.6,
        },
        Claim {
            says: "crawl-ability has 80 % of quality before the midpoint",
            found: beside(&[at_half], time(of, "breadth-first", 0.5)),
            holds: at_half >= 0.8,
        },
        Claim {
            says: "crawl-ability beats quality over pages as well (at 50 % of the pages)",
            found: format!("{} and {}", percent(by_pages[0]), percent(by_pages[1])),
            holds: by_pages[0] > by_pages[1],
        },
        Claim {
            says: "crawl-ability gains quality fastest of the four (mean over the time)",
            found: all.clone(),
            holds: means[0] >= means[1].max(means[2]).max(means[3]),
        },
        Claim {
            says: "performance and quality alone beat breadth-first, performance by more",
            found: all,
            holds: means[1] > means[3] && means[2] > means[1],
        },
    ]
}

fn speed(of: &Experiment) -> Claim {
    let figure: Figure<'_> = &|own, base| {
        let middle = base.curve.total() / 2.0;
        own.curve.pages_at_time(middle) / base.curve.pages_at_time(middle)
    };
    let ratio = of.median("performance", figure);
    Claim {
        says: "performance has ≥ 1.5 times breadth-first's pages at the midpoint",
        found: format!("{ratio:.2} times"),
        holds: ratio >= 1.5,
    }
}

fn ours(of: &Experiment) -> Claim {
    let paper = ["breadth-first", "performance", "quality", "crawl-ability"];
    let best = paper
        .iter()
        .map(|strategy| mean(of, strategy))
        .fold(0.0, f64::max);
    let own = mean(of, "best-prefix");
    Claim {
        says: "(ours) best-prefix gains quality faster than the best of the four (mean over the time)",
        found: format!("{} and {}", percent(own), percent(best)),
        holds: own >= best,
    }
}

fn pages(of: &Experiment, strategy: &str, share: f64) -> f64 {
    of.median(strategy, &|own, _| own.curve.at_pages(share))
}

fn time(of: &Experiment, strategy: &str, share: f64) -> f64 {
    of.median(strategy, &|own, base| {
        own.curve.at_time(share * base.curve.total())
    })
}

fn mean(of: &Experiment, strategy: &str) -> f64 {
    of.median(strategy, &|own, base| {
        own.curve.mean_by_time(base.curve.total())
    })
}

/// Shares, and what the baseline has: a claim that it meets as well says little.
fn beside(shares: &[f64], baseline: f64) -> String {
    let shares: Vec<String> = shares.iter().copied().map(percent).collect();
    format!(
        "{} (breadth-first {})",
        shares.join(" and "),
        percent(baseline)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::curve::Curve;
    use super::super::{Crawled, STRATEGIES};
    use super::*;

    /// A strategy that has the better of two pages after `first` seconds of 90.
    fn experiment(judge: Judge, first: &[f64; 5]) -> Experiment {
        let mut experiment = Experiment::new(judge);
        for ((strategy, _), &first) in STRATEGIES.iter().zip(first) {
            experiment.crawled.push(Crawled {
                strategy,
                run: 1,
                curve: Curve::new(vec![(1, first), (0, 90.0)], &[1.0, 9.0]),
                connections: 2,
                cpu: Duration::ZERO,
            });
        }
        experiment
    }

    #[test]
    fn claims_hold_where_the_numbers_say_so_and_nowhere_else() {
        let verdicts = |judge: Judge, first: [f64; 5]| {
            let claims = claims(&experiment(judge, &first));
            claims.iter().map(|claim| claim.holds).collect::<Vec<_>>()
        };
        let paper = [80.0, 40.0, 20.0, 10.0, 5.0];
        assert_eq!(verdicts(Judge::Pagerank, paper), [true; 6]);
        // Nothing told apart: equal is not faster, and a third of the time has passed.
        let alike = [40.0; 5];
        assert_eq!(
            verdicts(Judge::Pagerank, alike),
            [true, false, true, false, false, true]
        );
        assert_eq!(
            verdicts(Judge::Zipf, alike),
            [false, true, false, true, false, false, true]
        );
        let zipf = [80.0, 20.0, 30.0, 10.0, 50.0];
        assert_eq!(
            verdicts(Judge::Zipf, zipf),
            [true, true, false, true, true, true, false]
        );
    }
}
