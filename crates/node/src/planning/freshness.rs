//! How likely is a copy still as its page, by what visits found?
//!
//! Pages differ by orders of magnitude in how often they change, and they are not visited at random: a home page is polled a hundred times before a comment is looked at
//! twice, and most visits follow the word of a sitemap or feed. So the changes of all pages together, over the time that they were watched, say next to nothing of a page that was never visited again. What is learned
//! is how *pages* are spread over rates, each page counting once however often it was visited: the likeliest spread over a grid of rates (Laird, "Nonparametric maximum likelihood estimation of a mixing
//! distribution", JASA 1978), by expectation and maximization. And what share of the changes is signalled on a host: where others speak, their silence is evidence. Seeds, which are mostly home pages, are
//! polled from the first minute on and speak for no other page.
//!
//! It is too high, by up to a sixth in worlds of ours, where half of the changes are not signalled and hardly a page was visited without a signal.
//!
//! **Invariant:** facts of this store alone, so that before a page was visited again there is no answer.

use std::collections::HashMap;

use policy::{History, Moment};

/// Rates that a page can have, from such that nobody would have noticed a change to such that nobody would have missed one.
const RATES: usize = 24;
/// What all pages are like counts as much as so many pages of a host.
const OTHERS: f64 = 3.0;
/// Before a false signal was seen, so many are thought to have been.
const ALARMS: f64 = 0.5;
/// The share of changes that were signalled, as counted, counts as much as so many changes: that is too high a share, since visits follow signals, but where nobody
/// visits in silence there is no other.
const COUNTED: f64 = 5.0;
/// Rounds of learning.
const ROUNDS: usize = 40;

/// How pages change, as far as some of them tell.
#[derive(Debug)]
pub struct Freshness {
    /// Changes a second.
    rates: Vec<f64>,
    /// How many of all pages change at each rate; and of all seeds.
    all: [Vec<f64>; 2],
    hosts: HashMap<Group, Host>,
}

/// A host, and whether its seeds are meant or its other pages.
type Group = (u32, bool);

/// How the pages of a host change, or its seeds.
#[derive(Debug, Clone)]
struct Host {
    /// How many of them change at each rate.
    spread: Vec<f64>,
    /// The share of the changes that others signal.
    recall: f64,
    /// Signals that are not true, a page and second.
    noise: f64,
    /// Recall as it would be if all changes had been found.
    counted: f64,
}

/// What visits found of one page.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// The time after which nothing had changed, in seconds.
    quiet: f64,
    /// The mean time after which something had.
    gap: f64,
    /// Changes that followed a signal, and that did not.
    hits: f64,
    misses: f64,
    /// Signals that were not true.
    alarms: f64,
    /// The age of the copy.
    age: f64,
    /// Signals since.
    since: u16,
}

impl Freshness {
    /// Learns from pages with a copy, and their hosts; `None`: none was visited again.
    pub fn learned<'a>(
        pages: impl Iterator<Item = (u32, &'a History)>,
        now: Moment,
    ) -> Option<Self> {
        // Pages visited again, and others.
        let mut counts = [[0_usize; 2]; 2];
        let found = |(host, history): (u32, &History)| {
            let group = (host, history.depth == 0);
            counts[usize::from(group.1)][usize::from(history.revisits == 0)] += 1;
            (group, Found::of(history, now))
        };
        let pages: Vec<(Group, Found)> = pages.map(found).collect();
        let [[others, unknown], [seeds, _]] = counts;
        if others == 0 && (unknown > 0 || seeds == 0) {
            return None;
        }
        let mut freshness = Self {
            rates: rates(&pages),
            all: [any(), any()],
            hosts: hosts(&pages),
        };
        for _ in 0..ROUNDS {
            freshness.learn(&pages);
        }
        Some(freshness)
    }

    /// How likely the copy of a page is as the page now.
    pub fn of(&self, host: u32, history: &History, now: Moment) -> f64 {
        let found = Found::of(history, now);
        let group = (host, history.depth == 0);
        match self.hosts.get(&group) {
            Some(host) => self.likely(host, &found).0,
            None => {
                self.likely(&Host::new(self.all[usize::from(group.1)].clone()), &found)
                    .0
            }
        }
    }

    /// How likely a copy is fresh, and its page to change at each rate.
    fn likely(&self, host: &Host, found: &Found) -> (f64, Vec<f64>) {
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
        // What others said is in the weights. The copy is fresh if they were wrong and nothing changed that they did not speak of.
        let wrong = |rate: f64| host.noise / (host.noise + host.recall * rate);
        let unsaid = (1.0 - host.recall) * found.age;
        let fresh = self.rates.iter().zip(&weights).map(|(rate, weight)| {
            weight * (-rate * unsaid).exp() * wrong(*rate).powi(found.since.into())
        });
        (fresh.sum(), weights)
    }

    /// One round: what each page is likely to be like, and from that what pages are like.
    fn learn(&mut self, pages: &[(Group, Found)]) {
        // One page's worth of nothing known, so that no rate is ruled out.
        let mut all = [any(), any()];
        let mut hosts: HashMap<Group, (Vec<f64>, f64, f64)> = HashMap::new();
        for (group, found) in pages {
            let host = &self.hosts[group];
            let (_, weights) = self.likely(host, found);
            let seeds = usize::from(group.1);
            let others = || self.all[seeds].iter().map(|share| OTHERS * share).collect();
            let (spread, said, unsaid) =
                (hosts.entry(*group)).or_insert_with(|| (others(), 0.0, 0.0));
            for (place, weight) in weights.into_iter().enumerate() {
                let rate = self.rates[place];
                let changes = found.changes(rate, host);
                *said += weight * changes.0;
                *unsaid += weight * changes.1;
                all[seeds][place] += weight;
                spread[place] += weight;
            }
        }
        self.all = all.map(shares);
        for (group, (spread, said, unsaid)) in hosts {
            if let Some(host) = self.hosts.get_mut(&group) {
                host.spread = shares(spread);
                // Where nobody spoke, silence says nothing.
                host.recall = (said + COUNTED * host.counted) / (said + unsaid + COUNTED);
            }
        }
    }
}

impl Host {
    fn new(spread: Vec<f64>) -> Self {
        Self {
            spread,
            recall: 0.0,
            noise: 0.0,
            counted: 0.0,
        }
    }
}

impl Found {
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

    /// The logarithm of the likelihood of what was found, and of what others said since, of a page of this host that changes at a rate.
    fn likelihood(&self, rate: f64, host: &Host) -> f64 {
        let (said, unsaid) = (host.recall * rate, (1.0 - host.recall) * rate);
        let told = self.gap * (self.hits + self.misses) + self.age;
        let mut sum = -rate * self.quiet - said * told;
        if self.misses > 0.0 {
            sum += self.misses * some(unsaid * self.gap);
        }
        // A visit follows a signal soon, so that the gap says when it came.
        if self.hits > 0.0 {
            let signals = said + self.by_chance(rate, host);
            sum += self.hits * signals.max(f64::MIN_POSITIVE).ln();
        }
        if self.since > 0 {
            let signals = said + host.noise;
            sum += f64::from(self.since) * signals.max(f64::MIN_POSITIVE).ln();
        }
        sum
    }

    /// False signals a second where something has changed that nobody spoke of.
    fn by_chance(&self, rate: f64, host: &Host) -> f64 {
        host.noise * some((1.0 - host.recall) * rate * self.gap).exp()
    }

    /// Changes that were signalled, and that were not, as far as is to be expected: the latter also where a signal led to the page, and since.
    fn changes(&self, rate: f64, host: &Host) -> (f64, f64) {
        let (said, unsaid) = (host.recall * rate, (1.0 - host.recall) * rate);
        let found = unsaid * self.gap;
        let found = match found > 1e-9 {
            true => found / -(-found).exp_m1(),
            false => 1.0,
        };
        let never = self.misses * found + unsaid * (self.hits * self.gap + self.age);
        if said <= 0.0 {
            return (0.0, never);
        }
        let waits = f64::from(self.since) / (said + host.noise);
        let hits = self.hits / (said + self.by_chance(rate, host));
        (said * (hits + waits), never)
    }
}

/// The logarithm of the probability that something happens of which so much is expected.
fn some(expected: f64) -> f64 {
    (-(-expected).exp_m1()).max(f64::MIN_POSITIVE).ln()
}

/// A grid of rates: at the least, a change in the longest time is not to be expected; at the greatest, it is in the shortest.
fn rates(pages: &[(Group, Found)]) -> Vec<f64> {
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

/// The hosts, before anything was learned of their rates.
fn hosts(pages: &[(Group, Found)]) -> HashMap<Group, Host> {
    let mut counts: HashMap<Group, [f64; 4]> = HashMap::new();
    for (group, found) in pages {
        let signals = found.hits + f64::from(found.since);
        // A signal is seen to be false only where the copy was fresh: half of the time in which a page changed, as far as is known, and in silence.
        let silence = if found.since == 0 { found.age } else { 0.0 };
        let fresh = found.quiet + found.gap * (found.hits + found.misses) / 2.0 + silence;
        let new = [signals, found.misses, found.alarms, fresh];
        let sums = counts.entry(*group).or_default();
        sums.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
    }
    let host = |[signals, misses, alarms, fresh]: [f64; 4]| Host {
        recall: signals / (signals + misses + 1.0),
        counted: signals / (signals + misses + 1.0),
        noise: (alarms + ALARMS) / fresh.max(1e-6),
        ..Host::new(any())
    };
    let hosts = counts.into_iter();
    hosts.map(|(group, counts)| (group, host(counts))).collect()
}

/// Every rate alike.
fn any() -> Vec<f64> {
    vec![1.0 / RATES as f64; RATES]
}

fn shares(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests;
