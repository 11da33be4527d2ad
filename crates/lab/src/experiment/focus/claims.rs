//! Claims of Baldi, Frasconi & Smyth (2003), chapter 6, about focused crawling.
//!
//! BK7: the relevance of an unfocused crawl falls and that of a focused one stays level; hard
//! and soft focusing differ little. BK8: linked pages are similar, and anchor texts are most
//! similar to the pages they lead to.

use super::judged::{ALL, POINTS};
use super::locality::KINDS;
use crate::experiment::PublishedClaim;
use crate::findings::{Measured, Param};
use crate::statistics::Mean;

/// Hard and soft focusing count as equal if their areas differ by less than this.
const LITTLE: f64 = 0.05;
/// Last curve point of the first tenth of a crawl.
const EARLY: usize = POINTS / 10;
/// Last curve point of the first half of a crawl. Relevance is averaged over the first tenth, and
/// over the rest of the first half.
const LATE: usize = POINTS / 2;

/// Checks claim BK7, as far as the policies that it is about were run.
pub(super) fn of_crawls(runs: &[Vec<Measured>], names: &[String]) -> Vec<PublishedClaim> {
    let found = FocusFindings { runs };
    let has = |name: &str| names.iter().any(|known| known == name);
    let mut claims = Vec::new();
    if has("breadth-first") && has("soft") {
        claims.push(found.level());
    }
    if has("hard") && has("soft") {
        claims.push(found.alike());
    }
    claims
}

/// Checks claim BK8, as far as the world has texts and anchor texts.
pub(super) fn of_links(runs: &[Vec<Measured>]) -> Vec<PublishedClaim> {
    let found = FocusFindings { runs };
    let mean = |kind: usize| found.mean(|number| number.policy == KINDS[kind]);
    let mut claims = Vec::new();
    let linked: Vec<f64> = [mean(2), mean(3)].into_iter().flatten().collect();
    if let (Some(random), Some(siblings)) = (mean(0), mean(1)) {
        let least = linked.iter().copied().fold(f64::INFINITY, f64::min);
        let shown: Vec<String> = linked.iter().map(|value| format!("{value:.3}")).collect();
        claims.push(PublishedClaim {
            id: "BK8",
            says: "linked pages are more alike than random ones".into(),
            published: "significantly higher (Figure 6.2a)".into(),
            found: format!(
                "linked {}, siblings {siblings:.3}, random {random:.3}",
                shown.join(" and ")
            ),
            holds: least > random,
        });
    }
    if let (Some(random), Some(parent), Some(target)) = (mean(4), mean(6), mean(7)) {
        claims.push(PublishedClaim {
            id: "BK8",
            says: "an anchor text is most similar to the page that it leads to".into(),
            published: "most similar to the page it references (Figure 6.2b)".into(),
            found: format!("target {target:.3}, its own page {parent:.3}, random {random:.3}"),
            holds: target > parent && parent > random,
        });
    }
    claims
}

struct FocusFindings<'a> {
    runs: &'a [Vec<Measured>],
}

impl FocusFindings<'_> {
    fn level(&self) -> PublishedClaim {
        let kept = |policy: &str| {
            let [early, late] = [(0, EARLY), (EARLY, LATE)].map(|(from, to)| {
                let mean = self.mean(|number| {
                    let slice = (number.x * POINTS as f64).round() as usize;
                    is(number, policy, "relevance") && slice > from && slice <= to
                });
                mean.unwrap_or(0.0)
            });
            (early, late)
        };
        let ((wide_early, wide), (early, late)) = (kept("breadth-first"), kept("soft"));
        PublishedClaim {
            id: "BK7",
            says: "the relevance of a focused crawl stays above that of an unfocused one".into(),
            published: "unfocused falls steeply, focused stays almost level (Figure 6.3)".into(),
            found: format!(
                "first tenth, then to the half: breadth-first {wide_early:.3}, {wide:.3}; soft {early:.3}, {late:.3}"
            ),
            holds: early > wide_early && late > wide,
        }
    }

    fn alike(&self) -> PublishedClaim {
        let area = |run: &Vec<Measured>, policy: &str| {
            let found = run.iter().find(|number| is(number, policy, "area"));
            found.map(|number| number.value)
        };
        let pairs = self.runs.iter();
        let gaps: Vec<f64> = pairs
            .filter_map(|run| Some(area(run, "soft")? - area(run, "hard")?))
            .collect();
        let mean = Mean::of(&gaps);
        let interval = mean.interval.map_or(String::new(), |(low, high)| {
            format!(" (95 %: {low:.3} to {high:.3})")
        });
        PublishedClaim {
            id: "BK7",
            says: "hard and soft focusing differ little".into(),
            published: "no significant difference".into(),
            found: format!(
                "area of soft over that of hard: {:+.3}{interval}",
                mean.value
            ),
            holds: mean.value.abs() < LITTLE,
        }
    }

    fn mean(&self, wanted: impl Fn(&Measured) -> bool) -> Option<f64> {
        let numbers = self.runs.iter().flatten().filter(|number| wanted(number));
        let values: Vec<f64> = numbers.map(|number| number.value).collect();
        (!values.is_empty()).then(|| Mean::of(&values).value)
    }
}

/// Returns whether a number is the mean over all targets for this policy and metric.
fn is(number: &Measured, policy: &str, metric: &str) -> bool {
    number.policy == policy
        && number.metric == metric
        && number.params.get("target") == Some(&Param::from(ALL))
}
