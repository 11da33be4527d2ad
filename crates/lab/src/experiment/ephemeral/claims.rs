//! The claims of Lefortier et al. (2013), §3 and §5.3 (E1 to E5), and our own (E6), judged by the
//! findings.
//!
//! Where the paper shows a curve and prints no number, the claim states the threshold that we
//! use.

use super::crawls::SWEPT;
use crate::experiment::PublishedClaim;
use crate::findings::{Findings, Measured, Param, Row};

/// Table 1: profit in clicks per second at N = .05, .1 and .2 fetches per second.
const TABLE: [(&str, [f64; 3]); 6] = [
    ("frequency", [0.014, 0.39, 0.61]),
    ("bfs", [0.24, 0.46, 0.62]),
    ("fixed-quota", [0.43, 0.59, 0.69]),
    ("echo-greedy", [0.60, 0.68, 0.69]),
    ("echo-schedule", [0.52, 0.69, 0.71]),
    ("echo-newpages", [0.62, 0.69, 0.71]),
];
/// The bound on profit in Table 1, in clicks per second.
const PUBLISHED_BOUND: f64 = 0.72;

/// Maximum accepted difference from a published ratio of profit to bound.
const NEAR: f64 = 0.05;

const OURS: &str = "priced";

/// Returns all claims that the findings can judge. `runs` holds the same numbers for each run.
pub(super) fn all(
    findings: &Findings,
    runs: &[Vec<Measured>],
    rates: &[f64],
) -> Vec<PublishedClaim> {
    let found = EphemeralClaims {
        findings,
        runs,
        rates,
    };
    let mut claims: Vec<PublishedClaim> = [found.e1(), found.e2()].into_iter().flatten().collect();
    claims.extend(found.e3());
    claims.extend(found.e4());
    claims.extend(found.e5());
    claims.extend(found.e6());
    claims
}

struct EphemeralClaims<'f> {
    findings: &'f Findings,
    runs: &'f [Vec<Measured>],
    rates: &'f [f64],
}

impl EphemeralClaims<'_> {
    /// Returns a value with the settings of Table 1.
    fn value(&self, policy: &str, metric: &str, x: f64) -> Option<f64> {
        let mut rows = self
            .findings
            .rows
            .iter()
            .filter(|row| row.params.is_empty());
        let is_it = |row: &&Row| row.policy == policy && row.metric == metric && row.x == x;
        rows.find(is_it).map(|row| row.value)
    }

    fn bound(&self) -> f64 {
        self.value("", "bound", 0.0).unwrap_or(f64::NAN)
    }

    fn e1(&self) -> Option<PublishedClaim> {
        let share = self.value("", "ephemeral", 0.0)?;
        Some(PublishedClaim {
            id: "E1",
            says: "Nearly all new pages with clicks are ephemeral: 96 % (±3) of them are in clusters whose second week has less than half of the clicks of the first.".into(),
            published: "96 %".into(),
            found: format!("{:.1} %", share * 100.0),
            holds: (share - 0.96).abs() <= 0.03,
        })
    }

    fn e2(&self) -> Option<PublishedClaim> {
        let per_host = self.value("", "cover_at@0.8", 0.0)?;
        Some(PublishedClaim {
            id: "E2",
            says:
                "Few sources, chosen greedily, link to 80 % of the new pages: at most two a host."
                    .into(),
            published: "3,000 sources of 1,600 hosts, 1.9 a host".into(),
            found: format!("{per_host:.2} a host"),
            holds: per_host <= 2.0,
        })
    }

    /// Returns the tried rates that stand for the three published ones, with their index. Empty
    /// unless three were tried.
    fn printed_rates(&self) -> Vec<(usize, f64)> {
        match self.rates {
            [_, _, _] => self.rates.iter().copied().enumerate().collect(),
            _ => Vec::new(),
        }
    }

    fn ratio(&self, policy: &str, rate: f64) -> Option<f64> {
        self.value(policy, "of_bound", rate)
    }

    fn e3(&self) -> Vec<PublishedClaim> {
        let ran = TABLE.iter().all(|(name, _)| {
            let rates = self.printed_rates();
            !rates.is_empty()
                && rates
                    .iter()
                    .all(|(_, rate)| self.ratio(name, *rate).is_some())
        });
        if !ran {
            return Vec::new();
        }
        let (mut wrong, mut far, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (place, rate) in self.printed_rates() {
            let row = |(name, published): &(&'static str, [f64; 3])| {
                let ours = self.ratio(name, rate).unwrap_or(f64::NAN);
                (*name, published[place] / PUBLISHED_BOUND, ours)
            };
            let rows: Vec<(&str, f64, f64)> = TABLE.iter().map(row).collect();
            for (name, published, ours) in &rows {
                if (ours - published).abs() > NEAR {
                    far.push(format!("{name} at {rate}"));
                }
                for (other, more, others) in &rows {
                    // Rows with equal published values have no order.
                    if more > published && others <= ours {
                        wrong.push(format!("{other} is not above {name} at {rate}"));
                    }
                }
            }
            let each = rows
                .iter()
                .map(|(name, published, ours)| format!("{name} {ours:.2} ({published:.2})"));
            words.push(format!(
                "at {rate}: {}",
                each.collect::<Vec<_>>().join(", ")
            ));
        }
        let table = words.join("; ");
        let order = match wrong.is_empty() {
            true => "as published".to_owned(),
            false => wrong.join("; "),
        };
        let ratios = match far.is_empty() {
            true => format!("all within; {table}"),
            false => format!("{table}; not within: {}", far.join(", ")),
        };
        vec![
            PublishedClaim {
                id: "E3",
                says: "Table 1: the order of the schedulers at each rate; equal published values have no order.".into(),
                published: "frequency < bfs < fixed-quota < echo-schedule < echo-greedy < echo-newpages at .05; schedule above greedy at .1 and .2".into(),
                found: order,
                holds: wrong.is_empty(),
            },
            PublishedClaim {
                id: "E3",
                says: "Table 1: profit over the bound is within .05 of the published value (in brackets).".into(),
                published: "bound .72".into(),
                found: format!("bound {:.3}; {ratios}", self.bound()),
                holds: far.is_empty(),
            },
        ]
    }

    fn e4(&self) -> Option<PublishedClaim> {
        let rate = |name| self.value(name, "rate_at_bound@0.99", 0.0);
        let echo = rate("echo-newpages");
        if self.rates.len() < 2 {
            return None;
        }
        self.ratio("bfs", self.rates[0])?;
        self.ratio("echo-newpages", self.rates[0])?;
        let word = |rate: Option<f64>| rate.map_or("never".to_owned(), |rate| format!("{rate:.3}"));
        let bfs = rate("bfs");
        Some(PublishedClaim {
            id: "E4",
            says: "For 99 % of the bound, bfs needs at least five times the rate of echo-newpages."
                .into(),
            published: "1 a second against .2".into(),
            found: format!(
                "bfs {}, echo-newpages {}, priced {}",
                word(bfs),
                word(echo),
                word(rate(OURS))
            ),
            holds: match (bfs, echo) {
                (Some(bfs), Some(echo)) => bfs >= 5.0 * echo,
                (None, Some(_)) => true,
                (_, None) => false,
            },
        })
    }

    /// Returns the profit of each ECHO scheduler by history or by push period.
    fn swept(&self, by: &str) -> Vec<(&str, Vec<(f64, f64)>)> {
        let echo = SWEPT.iter().filter(|name| **name != OURS);
        let points = |name: &&'static str| {
            let rows = self.findings.rows.iter();
            let own = rows.filter(|row| {
                row.policy == **name
                    && row.metric == "profit"
                    && row.params.get("by") == Some(&by.into())
            });
            (*name, own.map(|row| (row.x, row.value)).collect::<Vec<_>>())
        };
        echo.map(points)
            .filter(|(_, points)| points.len() > 1)
            .collect()
    }

    fn e5(&self) -> Vec<PublishedClaim> {
        let mut claims = Vec::new();
        let bound = self.bound();
        for (by, what) in [
            ("history", "T, the number of polls in the estimate of λ,"),
            ("push", "L, the push period of logs (hours),"),
        ] {
            let swept = self.swept(by);
            if swept.is_empty() {
                continue;
            }
            let spread = |points: &[(f64, f64)]| {
                let values = points.iter().map(|point| point.1 / bound);
                values.clone().fold(0.0, f64::max) - values.fold(f64::INFINITY, f64::min)
            };
            let words = swept.iter().map(|(name, points)| {
                let each = points.iter().map(|(x, value)| format!("{value:.3} at {x}"));
                format!("{name} {}", each.collect::<Vec<_>>().join(", "))
            });
            claims.push(PublishedClaim {
                id: "E5",
                says: format!("{what} does not matter after the warm-up: profit over the bound differs by less than .03."),
                published: "no difference".into(),
                found: words.collect::<Vec<_>>().join("; "),
                holds: swept.iter().all(|(_, points)| spread(points) < 0.03),
            });
        }
        claims.extend(self.warm_up());
        claims.extend(self.left_alone());
        claims
    }

    /// Compares the dynamic profits of the shortest and the longest push period after a third of
    /// the time.
    fn warm_up(&self) -> Option<PublishedClaim> {
        let name = SWEPT[0];
        let rows = self.findings.rows.iter();
        let rows: Vec<(f64, &Row)> = rows
            .filter(|row| row.policy == name && row.metric == "dynamic@week")
            .filter_map(|row| match row.params.get("push") {
                Some(Param::Number(hours)) => Some((*hours, row)),
                _ => None,
            })
            .collect();
        let end = rows.iter().map(|(_, row)| row.x).fold(0.0, f64::max);
        let at = |push: f64| {
            let mut own = rows
                .iter()
                .filter(|(hours, row)| *hours == push && row.x <= end / 3.0 + 1e-9);
            own.next_back().map(|(_, row)| row.value)
        };
        let pushes = || rows.iter().map(|(hours, _)| *hours);
        let (short, long) = (
            pushes().fold(f64::INFINITY, f64::min),
            pushes().fold(0.0, f64::max),
        );
        if short >= long {
            return None;
        }
        let (soon, late) = (at(short)?, at(long)?);
        Some(PublishedClaim {
            id: "E5",
            says: "During the warm-up L matters: after a third of the time the shortest push period earns more than the longest, by at least a tenth of the bound.".into(),
            published: "a really big influence (figure 8, no number)".into(),
            found: format!("{name} {soon:.3} with L = {short} h, {late:.3} with {long} h"),
            holds: soon - late >= 0.1 * self.bound(),
        })
    }

    fn left_alone(&self) -> Option<PublishedClaim> {
        let name = SWEPT[0];
        let shares = self
            .rates
            .iter()
            .filter_map(|&rate| Some((rate, self.value(name, "polls_of_least@0.7", rate)?)));
        let shares: Vec<(f64, f64)> = shares.collect();
        let words = shares
            .iter()
            .map(|(rate, share)| format!("{:.1} % at {rate}", share * 100.0));
        (!shares.is_empty()).then(|| PublishedClaim {
            id: "E5",
            says: format!("{name} almost never polls 70 % of the sources: they get less than 5 % of the polls in the last week."),
            published: "almost does not recrawl 70 % (no number)".into(),
            found: words.collect::<Vec<_>>().join(", "),
            holds: shares.iter().all(|(_, share)| *share < 0.05),
        })
    }

    fn e6(&self) -> Vec<PublishedClaim> {
        let printed: Vec<&str> = TABLE.iter().map(|(name, _)| *name).collect();
        let best = |rate: f64| {
            let each = printed
                .iter()
                .filter_map(|name| Some((*name, self.value(name, "profit", rate)?)));
            each.max_by(|one, other| one.1.total_cmp(&other.1))
        };
        let mut times = Vec::new();
        for &rate in self.rates {
            if let (Some(own), Some((name, theirs))) =
                (self.value(OURS, "profit", rate), best(rate))
            {
                times.push((rate, own / theirs, name, self.runs_above(rate, name)));
            }
        }
        let Some(smallest) = times.iter().min_by(|one, other| one.0.total_cmp(&other.0)) else {
            return Vec::new();
        };
        let words = |(rate, times, name, above): &(f64, f64, &str, usize)| {
            format!(
                "at {rate} times {times:.3} of {name}, above it in {above} of {} runs",
                self.runs.len()
            )
        };
        vec![
            PublishedClaim {
                id: "E6",
                says: "At every rate, priced earns at least as much as every published scheduler."
                    .into(),
                published: "ours".into(),
                found: times.iter().map(words).collect::<Vec<_>>().join("; "),
                holds: times.iter().all(|(_, times, ..)| *times >= 1.0),
            },
            PublishedClaim {
                id: "E6",
                says: "At the smallest rate, priced earns at least 1.05 times as much as the best published scheduler."
                    .into(),
                published: "ours: +11 % in a fluid model".into(),
                found: words(smallest),
                holds: smallest.1 >= 1.05,
            },
        ]
    }

    /// Returns the number of runs in which our scheduler earned at least as much as another.
    fn runs_above(&self, rate: f64, other: &str) -> usize {
        let value = |run: &[Measured], policy: &str| {
            let mut rows = run
                .iter()
                .filter(|row| row.params.is_empty() && row.metric == "profit");
            rows.find(|row| row.policy == policy && row.x == rate)
                .map(|row| row.value)
        };
        let above = |run: &&Vec<Measured>| value(run, OURS) >= value(run, other);
        self.runs.iter().filter(above).count()
    }
}
