//! Estimates the probability that a copy still equals its page, from visits and hints.
//!
//! Change rates differ between pages by orders of magnitude, and visits are not random. A home
//! page is polled a hundred times before another page is visited twice, and most visits follow a
//! hint of a sitemap or feed. So the pooled changes of all pages say little about a page that was
//! never revisited.
//!
//! The model therefore estimates how *pages* are distributed over change rates, where each page
//! counts once, however often it was visited. This is the nonparametric maximum likelihood
//! estimate on a grid of rates (Laird, "Nonparametric maximum likelihood estimation of a mixing
//! distribution", JASA 1978), computed by expectation maximization (EM).
//!
//! The model also estimates the recall of hints on each host: the share of changes that a hint
//! signals. On a host with a high recall, the absence of a hint is evidence that a page has not
//! changed. Seeds are mostly home pages, which are polled from the first minute on. They are
//! modelled separately and say nothing about other pages.
//!
//! **Bias:** the estimate is too high, by up to a sixth in our simulated worlds, where half of the
//! changes have no hint and almost no page was visited without a hint.
//!
//! **Invariant:** the model uses only facts of this store, so there is no estimate until a page
//! that is not a seed was revisited. If all pages are seeds, a revisit to any of them suffices.

use std::collections::HashMap;

use policy::{History, Moment};

/// The number of change rates in the grid.
const RATES: usize = 24;
/// Weight of the global distribution in a host's estimate, as a pseudo-count of pages.
const OTHERS: f64 = 3.0;
/// Pseudo-count of false hints in each group (the seeds or the other pages of a host).
const ALARMS: f64 = 0.5;
/// Weight of the counted recall in a host's estimate, as a pseudo-count of changes. The counted
/// recall is too high, because visits follow hints. It matters on a host where almost every visit
/// follows a hint, because there is no other evidence.
const COUNTED: f64 = 5.0;
/// The number of EM iterations.
const ROUNDS: usize = 40;

/// A model of change rates and hints, learned from the pages of a store.
#[derive(Debug)]
pub struct FreshnessModel {
    /// The grid of rates, in changes per second.
    rates: Vec<f64>,
    /// Two distributions over the grid: of all pages that are not seeds, and of all seeds.
    all: [Vec<f64>; 2],
    hosts: HashMap<Group, HostModel>,
}

/// A host, and whether the group has its seeds (`true`) or its other pages.
type Group = (u32, bool);

/// The model of one group: the seeds or the other pages of a host.
#[derive(Debug, Clone)]
struct HostModel {
    /// The distribution over the grid of rates.
    spread: Vec<f64>,
    /// The share of changes that a hint signals.
    recall: f64,
    /// False hints per page and second.
    noise: f64,
    /// The recall as counted at visits, without correction for changes that were not found.
    counted: f64,
}

/// The evidence of the visits to one page.
#[derive(Debug, Clone, Copy)]
struct VisitEvidence {
    /// The total length of the intervals between visits that had no change, in seconds.
    quiet: f64,
    /// The mean length of the intervals between visits that had a change, in seconds.
    gap: f64,
    /// Changes that were found after a hint.
    hits: f64,
    /// Changes that were found without a hint.
    misses: f64,
    /// Hints that proved false.
    alarms: f64,
    /// Time since the copy was last known to equal the page, in seconds.
    age: f64,
    /// Hints since the last visit.
    since: u16,
}

impl FreshnessModel {
    /// Learns from pages with a copy, each with the number of its host. Returns `None` if no page
    /// was revisited, or if only seeds were revisited and there are other pages.
    pub fn learned<'a>(
        pages: impl Iterator<Item = (u32, &'a History)>,
        now: Moment,
    ) -> Option<Self> {
        // Indexed by whether the pages are seeds, then by whether they were never revisited.
        let mut counts = [[0_usize; 2]; 2];
        let found = |(host, history): (u32, &History)| {
            let group = (host, history.depth == 0);
            counts[usize::from(group.1)][usize::from(history.revisits == 0)] += 1;
            (group, VisitEvidence::of(history, now))
        };
        let pages: Vec<(Group, VisitEvidence)> = pages.map(found).collect();
        let [[others, unknown], [seeds, _]] = counts;
        if others == 0 && (unknown > 0 || seeds == 0) {
            return None;
        }
        let mut freshness = Self {
            rates: rates(&pages),
            all: [uniform(), uniform()],
            hosts: hosts(&pages),
        };
        for _ in 0..ROUNDS {
            freshness.em_step(&pages);
        }
        Some(freshness)
    }

    /// Returns the probability that the copy of a page equals the page now.
    pub fn of(&self, host: u32, history: &History, now: Moment) -> f64 {
        let found = VisitEvidence::of(history, now);
        let group = (host, history.depth == 0);
        match self.hosts.get(&group) {
            Some(host) => self.posterior(host, &found).0,
            None => {
                self.posterior(
                    &HostModel::new(self.all[usize::from(group.1)].clone()),
                    &found,
                )
                .0
            }
        }
    }

    /// Returns the probability that a copy is fresh, and the posterior distribution of its rate.
    fn posterior(&self, host: &HostModel, found: &VisitEvidence) -> (f64, Vec<f64>) {
        let likelihoods = self.rates.iter().map(|rate| found.likelihood(*rate, host));
        let likelihoods: Vec<f64> = likelihoods.collect();
        let best = likelihoods
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let weigh = |(likelihood, share): (&f64, &f64)| share * (likelihood - best).exp();
        let weights: Vec<f64> = likelihoods.iter().zip(&host.spread).map(weigh).collect();
        let sum: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.into_iter().map(|weight| weight / sum).collect();
        // The weights already include the hints. The copy is fresh if all hints since the visit are
        // false and there was no change without a hint.
        let is_false = |rate: f64| host.noise / (host.noise + host.recall * rate);
        let unsignalled = (1.0 - host.recall) * found.age;
        let fresh = self.rates.iter().zip(&weights).map(|(rate, weight)| {
            weight * (-rate * unsignalled).exp() * is_false(*rate).powi(found.since.into())
        });
        (fresh.sum(), weights)
    }

    /// Runs one EM iteration: computes the posterior of each page, and from these the distributions
    /// and the recall of each group.
    fn em_step(&mut self, pages: &[(Group, VisitEvidence)]) {
        // A uniform pseudo-count of one page, so that no rate gets the probability zero.
        let mut all = [uniform(), uniform()];
        let mut hosts: HashMap<Group, (Vec<f64>, f64, f64)> = HashMap::new();
        for (group, found) in pages {
            let host = &self.hosts[group];
            let (_, weights) = self.posterior(host, found);
            let seeds = usize::from(group.1);
            let others = || self.all[seeds].iter().map(|share| OTHERS * share).collect();
            let (spread, signalled, unsignalled) =
                (hosts.entry(*group)).or_insert_with(|| (others(), 0.0, 0.0));
            for (place, weight) in weights.into_iter().enumerate() {
                let rate = self.rates[place];
                let changes = found.changes(rate, host);
                *signalled += weight * changes.0;
                *unsignalled += weight * changes.1;
                all[seeds][place] += weight;
                spread[place] += weight;
            }
        }
        self.all = all.map(normalized);
        for (group, (spread, signalled, unsignalled)) in hosts {
            if let Some(host) = self.hosts.get_mut(&group) {
                host.spread = normalized(spread);
                // Without any hints the recall stays zero, so that their absence is no evidence.
                host.recall =
                    (signalled + COUNTED * host.counted) / (signalled + unsignalled + COUNTED);
            }
        }
    }
}

impl HostModel {
    fn new(spread: Vec<f64>) -> Self {
        Self {
            spread,
            recall: 0.0,
            noise: 0.0,
            counted: 0.0,
        }
    }
}

impl VisitEvidence {
    fn of(history: &History, now: Moment) -> Self {
        let signals = &history.signals;
        let changed = history.watched.saturating_sub(history.quiet).as_secs_f64();
        Self {
            quiet: history.quiet.as_secs_f64(),
            gap: (changed / f64::from(history.changes.max(1))).max(1e-6),
            hits: signals.hits.into(),
            misses: signals.misses.into(),
            alarms: signals.false_alarms.into(),
            age: now.since(history.fresh.unwrap_or(now)).as_secs_f64(),
            since: signals.since,
        }
    }

    /// Returns the log-likelihood of the evidence, for a page of this group with this change rate.
    fn likelihood(&self, rate: f64, host: &HostModel) -> f64 {
        let (signalled, unsignalled) = (host.recall * rate, (1.0 - host.recall) * rate);
        let observed = self.gap * (self.hits + self.misses) + self.age;
        let mut sum = -rate * self.quiet - signalled * observed;
        if self.misses > 0.0 {
            sum += self.misses * ln_at_least_one(unsignalled * self.gap);
        }
        // A visit follows a hint soon, so the gap is about the time until the hint.
        if self.hits > 0.0 {
            let signals = signalled + self.accidental_hits(rate, host);
            sum += self.hits * signals.max(f64::MIN_POSITIVE).ln();
        }
        if self.since > 0 {
            let signals = signalled + host.noise;
            sum += f64::from(self.since) * signals.max(f64::MIN_POSITIVE).ln();
        }
        sum
    }

    /// Returns the rate of accidental hits per second: a false hint in an interval that has a
    /// change without a hint.
    fn accidental_hits(&self, rate: f64, host: &HostModel) -> f64 {
        host.noise * ln_at_least_one((1.0 - host.recall) * rate * self.gap).exp()
    }

    /// Returns the expected numbers of changes with and without a hint.
    ///
    /// Changes without a hint are also expected in intervals that ended after a hint, and since the
    /// last visit.
    fn changes(&self, rate: f64, host: &HostModel) -> (f64, f64) {
        let (signalled, unsignalled) = (host.recall * rate, (1.0 - host.recall) * rate);
        let found = unsignalled * self.gap;
        let found = match found > 1e-9 {
            true => found / -(-found).exp_m1(),
            false => 1.0,
        };
        let never = self.misses * found + unsignalled * (self.hits * self.gap + self.age);
        if signalled <= 0.0 {
            return (0.0, never);
        }
        let waits = f64::from(self.since) / (signalled + host.noise);
        let hits = self.hits / (signalled + self.accidental_hits(rate, host));
        (signalled * (hits + waits), never)
    }
}

/// Returns the logarithm of the probability of at least one event, for a Poisson process with this
/// expected number of events.
fn ln_at_least_one(expected: f64) -> f64 {
    (-(-expected).exp_m1()).max(f64::MIN_POSITIVE).ln()
}

/// Returns a logarithmic grid of rates. At the lowest rate, a change in the longest interval has
/// the probability 2 %. At the highest rate, three changes are expected in the shortest interval.
fn rates(pages: &[(Group, VisitEvidence)]) -> Vec<f64> {
    let longest = (pages.iter()).map(|(_, found)| found.quiet.max(found.gap).max(found.age));
    let longest = longest.fold(1e-6, f64::max);
    let changed = pages
        .iter()
        .filter(|(_, found)| found.hits + found.misses > 0.0);
    let shortest = changed.map(|(_, found)| found.gap).fold(longest, f64::min);
    let (least, greatest) = (0.02 / longest, 3.0 / shortest);
    let step = (greatest / least).ln() / (RATES - 1) as f64;
    (0..RATES)
        .map(|place| least * (step * place as f64).exp())
        .collect()
}

/// Returns the initial model of each group, from counts of hints and changes.
fn hosts(pages: &[(Group, VisitEvidence)]) -> HashMap<Group, HostModel> {
    let mut counts: HashMap<Group, [f64; 4]> = HashMap::new();
    for (group, found) in pages {
        let signals = found.hits + f64::from(found.since);
        // A hint can prove false only while the copy is fresh: in quiet intervals, in about half of
        // each interval with a change, and since the last visit if there was no hint.
        let silence = if found.since == 0 { found.age } else { 0.0 };
        let fresh = found.quiet + found.gap * (found.hits + found.misses) / 2.0 + silence;
        let new = [signals, found.misses, found.alarms, fresh];
        let sums = counts.entry(*group).or_default();
        sums.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
    }
    let host = |[signals, misses, alarms, fresh]: [f64; 4]| HostModel {
        recall: signals / (signals + misses + 1.0),
        counted: signals / (signals + misses + 1.0),
        noise: (alarms + ALARMS) / fresh.max(1e-6),
        ..HostModel::new(uniform())
    };
    let hosts = counts.into_iter();
    hosts.map(|(group, counts)| (group, host(counts))).collect()
}

/// Returns the uniform distribution over the grid.
fn uniform() -> Vec<f64> {
    vec![1.0 / RATES as f64; RATES]
}

fn normalized(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests;
