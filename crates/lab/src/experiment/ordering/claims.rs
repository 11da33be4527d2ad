//! Claims of the paper about orderings (UO2).
//!
//! Cho, Garcia-Molina & Page (1998), §5: ordering metrics outperform a random order, and IR′
//! outperforms IB′ even where importance is IB. Each claim is checked at four points of the
//! crawl, by the share of pages with many backlinks that was fetched.
//!
//! **Invariant:** a claim holds only if the 95 % confidence interval of the differences per run
//! is above zero. A single run has no interval, so its difference decides.

use super::contestants::{RANDOM, is_informed};
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

/// Checks claim UO2.
pub(super) fn claims(runs: &[Vec<Measured>], names: &[String], hot: Hot) -> Vec<PublishedClaim> {
    let Some((target, hot)) = hot.target() else {
        return Vec::new();
    };
    let compared = Compared {
        runs,
        metric: format!("p_st@{target}"),
        what: format!("G = {target}, {hot} hot pages or more"),
    };
    let informed = names.iter().map(String::as_str);
    let informed: Vec<&str> = informed.filter(|name| is_informed(name)).collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    let mut claims = Vec::new();
    if has(RANDOM) && !informed.is_empty() {
        claims.extend(POINTS.map(|x| compared.all_beat_random(&informed, x)));
    }
    if has("pagerank") && has("backlink") {
        claims.extend(POINTS.map(|x| compared.duel(x)));
    }
    claims
}

struct Compared<'a> {
    runs: &'a [Vec<Measured>],
    metric: String,
    /// Description of the hot pages, for the reader.
    what: String,
}

impl Compared<'_> {
    fn all_beat_random(&self, informed: &[&str], x: f64) -> PublishedClaim {
        let mut gains: Vec<(Mean, &str)> = informed
            .iter()
            .map(|name| (self.difference(name, RANDOM, x), *name))
            .filter(|(gain, _)| !gain.value.is_nan())
            .collect();
        gains.sort_by(|(a, _), (b, _)| a.value.total_cmp(&b.value));
        let with_interval = |place: Option<&(Mean, &str)>| {
            place.map_or(String::new(), |(gain, name)| {
                format!("{name} {}", with_interval(gain))
            })
        };
        let above = gains.iter().filter(|(gain, _)| is_above(gain)).count();
        PublishedClaim {
            id: "UO2",
            says: format!(
                "after {} of the crawl every ordering has found more hot pages than a random one ({})",
                percent(x),
                self.what
            ),
            published: "all orderings outperform random".into(),
            found: format!(
                "{above} of {} are above random, with 95 % confidence if there are several runs; least {}, most {}",
                gains.len(),
                with_interval(gains.first()),
                with_interval(gains.last())
            ),
            holds: !gains.is_empty() && above == gains.len(),
        }
    }

    fn duel(&self, x: f64) -> PublishedClaim {
        let gain = self.difference("pagerank", "backlink", x);
        let of = |name| self.values(name, x).map(|values| Mean::of(&values).value);
        let number =
            |name| of(name).map_or("not measured".to_owned(), |value| format!("{value:.3}"));
        PublishedClaim {
            id: "UO2",
            says: format!(
                "after {} of the crawl IR' has found more hot pages than IB' ({})",
                percent(x),
                self.what
            ),
            published: "IR' outperforms IB', also where importance is IB".into(),
            found: format!(
                "IR' {}, IB' {}: {}",
                number("pagerank"),
                number("backlink"),
                with_interval(&gain)
            ),
            holds: is_above(&gain),
        }
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
        let by = Param::from("backlink");
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
