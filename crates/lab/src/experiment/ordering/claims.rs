//! Claims of the paper about orderings (UO2) and about hot queues (UO3).
//!
//! Cho, Garcia-Molina & Page (1998), §5: ordering metrics outperform a random order, and IR′
//! outperforms IB′ even where importance is IB. Both are checked by P_ST with each of the paper's
//! targets G, and by P_CS. If importance is similarity to a query, it helps to fetch some URLs
//! first: those with words of the query in their anchor texts or in the URL (Algorithm 5.2), or
//! those near pages about the query (Algorithm 5.3).
//!
//! **Invariant:** a claim holds only if, at each of four points of the crawl, the 95 % confidence
//! interval of the differences per run is above zero. A single run has no interval, so its
//! difference decides. Points at which both policies have found everything are left out.

use super::contestants::{
    HOT_QUEUES, OrderingContestants, PLAIN, RANDOM, is_informed, with_hot_queue,
};
use super::measured::TARGETS;
use crate::experiment::PublishedClaim;
use crate::findings::{Measured, Param};
use crate::measure::Truth;
use crate::statistics::Mean;

/// Shares of the crawl at which claims are checked.
pub(super) const POINTS: [f64; 4] = [0.10, 0.25, 0.50, 0.75];

/// Least number of hot pages (pages that meet the target), so that each contributes at most a
/// thirtieth of the measure.
const ENOUGH: usize = 30;

/// Value above which nothing is left to find. A start page without backlinks may be missing.
const COMPLETE: f64 = 0.999;

/// Least similarity of a page that Algorithm 5.3 calls hot: one query word in the title, which
/// counts ten, or ten in the text.
const HOT_SIMILARITY: f64 = 10.0;

/// For each target (least number of backlinks), how many pages meet it; the minimum over runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hot([usize; TARGETS.len()]);

impl Default for Hot {
    fn default() -> Self {
        Self([usize::MAX; TARGETS.len()])
    }
}

impl Hot {
    /// Adds the true backlink counts of one run.
    pub fn count(&mut self, truth: &Truth) {
        for (least, target) in self.0.iter_mut().zip(TARGETS) {
            *least = truth.hot(target).min(*least);
        }
    }

    /// Returns the highest target that at least [`ENOUGH`] pages meet, and how many do. If there
    /// is none, returns the lowest target, or `None` if no page meets that.
    pub fn target(self) -> Option<(f64, usize)> {
        let mut rarest = TARGETS.into_iter().zip(self.0).rev();
        let usual = (TARGETS[0], self.0[0]);
        rarest
            .find(|&(_, hot)| hot >= ENOUGH)
            .or((usual.1 > 0).then_some(usual))
    }
}

/// Checks claims UO2 and UO3.
pub(super) fn claims(
    runs: &[Vec<Measured>],
    contestants: &OrderingContestants,
    hot: Hot,
) -> Vec<PublishedClaim> {
    let targets = TARGETS.into_iter().zip(hot.0).filter(|(_, hot)| *hot > 0);
    let mut measures: Vec<Compared<'_>> = targets
        .map(|(target, hot)| Compared {
            runs,
            importance: "backlink",
            metric: format!("p_st@{target}"),
            what: match hot < ENOUGH {
                true => format!("P_ST, G = {target}, only {hot} hot pages or more"),
                false => format!("P_ST, G = {target}, {hot} hot pages or more"),
            },
        })
        .collect();
    measures.push(Compared {
        runs,
        importance: "backlink",
        metric: "p_cs".to_owned(),
        what: "P_CS".to_owned(),
    });
    let names = &contestants.names;
    let informed = names.iter().filter(|name| is_informed(name));
    // An ordering that looks for a query is not meant to find pages with many backlinks.
    let informed = informed.filter(|name| !contestants.about_query.contains(name));
    let informed: Vec<&str> = informed.map(String::as_str).collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    let mut claims = Vec::new();
    if has(RANDOM) && !informed.is_empty() {
        claims.extend(measures.iter().map(|by| by.all_beat_random(&informed)));
    }
    if has("pagerank") && has("backlink") {
        claims.extend(measures.iter().map(Compared::duel));
    }
    let similar = Compared {
        runs,
        importance: "similarity",
        metric: format!("p_st@{HOT_SIMILARITY}"),
        what: "P_ST by similarity to the query".to_owned(),
    };
    for (hot, algorithm) in HOT_QUEUES.into_iter().zip(["5.2", "5.3"]) {
        let pairs = PLAIN.map(|plain| (with_hot_queue(hot, plain), plain));
        let pairs = pairs.iter().filter(|(hot, plain)| has(hot) && has(plain));
        claims.extend(pairs.filter_map(|(hot, plain)| similar.hot_queue(algorithm, hot, plain)));
    }
    claims
}

/// A measure by which orderings are compared.
struct Compared<'a> {
    runs: &'a [Vec<Measured>],
    importance: &'a str,
    metric: String,
    /// Description of the measure, for the reader.
    what: String,
}

impl Compared<'_> {
    fn all_beat_random(&self, informed: &[&str]) -> PublishedClaim {
        let mut holds = true;
        // If even a random order has found everything, which ties can cause, no ordering can be
        // above it.
        let open = POINTS.into_iter().filter(|&x| !self.is_complete(RANDOM, x));
        let found = open.map(|x| {
            let gains = informed
                .iter()
                .map(|name| (self.difference(name, RANDOM, x), *name));
            let mut gains: Vec<(Mean, &str)> =
                gains.filter(|(gain, _)| !gain.value.is_nan()).collect();
            gains.sort_by(|(a, _), (b, _)| a.value.total_cmp(&b.value));
            let above = gains.iter().filter(|(gain, _)| is_above(gain)).count();
            holds &= !gains.is_empty() && above == gains.len();
            let named = |place: Option<&(Mean, &str)>| {
                place.map_or(String::new(), |(gain, name)| {
                    format!("{name} {}", with_interval(gain))
                })
            };
            format!(
                "{above} of {} above random at {}, from {} to {}",
                gains.len(),
                percent(x),
                named(gains.first()),
                named(gains.last())
            )
        });
        PublishedClaim {
            id: "UO2",
            says: format!(
                "every ordering is above a random one at 10, 25, 50 and 75 % of the crawl ({})",
                self.what
            ),
            published: "all orderings outperform random".into(),
            found: found.collect::<Vec<_>>().join("; "),
            holds,
        }
    }

    fn duel(&self) -> PublishedClaim {
        let (found, holds) = self.above("pagerank", "backlink");
        PublishedClaim {
            id: "UO2",
            says: format!(
                "IR' is above IB' at 10, 25, 50 and 75 % of the crawl ({})",
                self.what
            ),
            published: "IR' outperforms IB', also where importance is IB".into(),
            found,
            holds,
        }
    }

    /// Compares an ordering that has a hot queue with the same one without; `None` if nothing was
    /// measured by similarity.
    fn hot_queue(&self, algorithm: &str, hot: &str, plain: &str) -> Option<PublishedClaim> {
        self.values(hot, POINTS[0])?;
        let (found, holds) = self.above(hot, plain);
        Some(PublishedClaim {
            id: "UO3",
            says: format!(
                "{plain} with the hot queue of Algorithm {algorithm} is above {plain} without it at 10, 25, 50 and 75 % of the crawl ({})",
                self.what
            ),
            published: "effective where similarity is important".into(),
            found,
            holds,
        })
    }

    /// Describes the values of two policies at each point, and returns whether the first is above
    /// at all of them.
    fn above(&self, one: &str, other: &str) -> (String, bool) {
        let number = |name: &str, x: f64| {
            let values = self.values(name, x);
            let mean = values.map(|values| Mean::of(&values).value);
            mean.map_or("not measured".to_owned(), |mean| format!("{mean:.3}"))
        };
        let mut holds = true;
        // If both have found everything, neither can be above the other.
        let complete = |x| self.is_complete(one, x) && self.is_complete(other, x);
        let found = POINTS.into_iter().filter(|&x| !complete(x)).map(|x| {
            let gain = self.difference(one, other, x);
            holds &= is_above(&gain);
            format!(
                "{} and {} at {}: {}",
                number(one, x),
                number(other, x),
                percent(x),
                with_interval(&gain)
            )
        });
        let found: Vec<String> = found.collect();
        holds &= !found.is_empty();
        (found.join("; "), holds)
    }

    /// Returns whether a policy has almost the greatest possible value in every run.
    fn is_complete(&self, policy: &str, x: f64) -> bool {
        let values = self.values(policy, x);
        values.is_some_and(|values| values.iter().all(|&value| value > COMPLETE))
    }

    /// Returns the mean difference between two policies, paired by run.
    fn difference(&self, one: &str, other: &str, x: f64) -> Mean {
        let pairs = self.values(one, x).zip(self.values(other, x));
        let differences = pairs.map(|(one, other)| {
            let pairs = one.iter().zip(&other);
            pairs.map(|(one, other)| one - other).collect::<Vec<_>>()
        });
        Mean::of(&differences.unwrap_or_default())
    }

    /// Returns the value of each run; `None` if any run lacks it.
    fn values(&self, policy: &str, x: f64) -> Option<Vec<f64>> {
        let by = Param::from(self.importance);
        let is_it = |number: &&Measured| {
            number.policy == policy
                && number.metric == self.metric
                && number.x == x
                && number.params.get("importance") == Some(&by)
        };
        let value = |run: &Vec<Measured>| run.iter().find(is_it).map(|number| number.value);
        self.runs.iter().map(value).collect()
    }
}

fn is_above(gain: &Mean) -> bool {
    gain.interval.map_or(gain.value, |(low, _)| low) > 0.0
}

fn with_interval(gain: &Mean) -> String {
    match gain.interval {
        Some((low, high)) => format!("{:+.3} ({low:+.3} to {high:+.3})", gain.value),
        None => format!("{:+.3}", gain.value),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Params;

    /// Returns one run: each policy's lead over the diagonal, by backlinks and by similarity. The
    /// lead is missing at 75 % if `late` is set.
    fn run(leads: &[(&str, f64)], late: bool) -> Vec<Measured> {
        let metrics = ["p_st@3", "p_st@10", "p_cs"].map(|metric| ("backlink", metric));
        let metrics = metrics.into_iter().chain([("similarity", "p_st@10")]);
        let mut found = Vec::new();
        for (importance, metric) in metrics {
            for (&(policy, lead), x) in leads.iter().flat_map(|one| POINTS.map(|x| (one, x))) {
                let lead = if late && x > 0.7 { 0.0 } else { lead };
                found.push(Measured {
                    policy: policy.to_owned(),
                    params: Params::from([("importance".to_owned(), importance.into())]),
                    metric: metric.to_owned(),
                    x,
                    value: x + lead,
                });
            }
        }
        found
    }

    fn judged(late: bool) -> Vec<PublishedClaim> {
        let leads = [
            (RANDOM, 0.0),
            ("breadth-first", 0.01),
            ("backlink", 0.02),
            ("pagerank", 0.03),
            ("hot-anchor", 0.04),
        ];
        let contestants = OrderingContestants {
            names: leads.map(|(name, _)| name.to_owned()).into(),
            about_query: vec!["hot-anchor".to_owned()],
            notes: Vec::new(),
        };
        // No page has a hundred backlinks.
        claims(&[run(&leads, late)], &contestants, Hot([90, 40, 0]))
    }

    #[test]
    fn orderings_are_judged_by_each_target_with_hot_pages_by_p_cs_and_by_similarity() {
        let claims = judged(false);
        let ids: Vec<&str> = claims.iter().map(|claim| claim.id).collect();
        assert_eq!(
            ids,
            ["UO2"; 6].into_iter().chain(["UO3"]).collect::<Vec<_>>()
        );
        assert!(claims.iter().all(|claim| claim.holds), "{claims:#?}");
        for (claim, measure) in claims.iter().zip(["G = 3,", "G = 10,", "P_CS"]) {
            assert!(claim.says.contains(measure), "{claim:?}");
            assert!(
                claim.found.starts_with("3 of 3 above random at 10 %"),
                "{claim:?}"
            );
        }
        assert!(claims[6].says.contains("Algorithm 5.2"), "{:?}", claims[6]);
        assert!(
            claims[6]
                .found
                .starts_with("0.140 and 0.110 at 10 %: +0.030")
        );
    }

    #[test]
    fn a_claim_must_hold_at_every_point() {
        let claims = judged(true);
        assert!(claims.iter().all(|claim| !claim.holds), "{claims:#?}");
        assert!(claims[0].found.contains("0 of 3 above random at 75 %"));
    }
}
