//! Predicts a value of a page from the pages that link to it and from its host.
//!
//! v̂ = (κ·m + Σ ρ·v(parent)) / (κ + k) over the k parents read so far. m is the mean value of
//! the pages that were read on the page's host, or of all pages read if there are none on that
//! host. So a mean of few parents is shrunk to m, with a pseudo-count of κ parents.
//!
//! **Invariant:** the estimate of a page that was never read changes only if
//! [`Inherited::read`] returns that page. Therefore m is not the current mean, but the mean at the
//! last report. A mean is checked after the first read and each time the number of pages read has
//! doubled. It is reported if it has changed by more than the share [`REPORT`]. After n pages of a
//! host were read, the host's mean was reported at most 1 + log₂ n times.

use super::{Column, Links};
use crate::{Number, Read, Worth};

/// κ: weight of the host's mean, as a pseudo-count of parents. Our choice: one parent alone
/// should not outweigh the host.
const KAPPA: f64 = 2.0;

/// ρ: the expected ratio of a page's value to its parent's. Our choice: links lead from better
/// pages to worse ones more often than back, because crawls start at the best.
const RHO: f64 = 0.8;

/// A mean that differs by at most this share from its last reported value is not reported again.
/// Our choice.
const REPORT: f64 = 0.05;

/// Marks the end of a list of pages.
const END: u32 = u32::MAX;

/// The estimates of all pages.
#[derive(Debug, Clone, Default)]
pub struct Inherited {
    predictions: Column<PagePrediction>,
    links: Links,
    hosts: Vec<HostPages>,
    all: ReportedMean,
}

#[derive(Debug, Clone, Copy, Default)]
struct PagePrediction {
    /// Sum of ρ·v over the parents.
    sum: f32,
    parents: u32,
    /// Its own value, if it was read.
    value: f32,
    host: u32,
    /// The previously discovered page of the same host, or [`END`].
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct HostPages {
    mean: ReportedMean,
    /// The last discovered page, or [`END`].
    last: u32,
}

/// A running mean, and its value at the last report.
#[derive(Debug, Clone, Copy, Default)]
struct ReportedMean {
    sum: f64,
    count: u32,
    /// The mean at the last report.
    reported: f64,
    /// The count at the last check.
    checked_at: u32,
}

impl ReportedMean {
    /// Adds a value, or replaces an earlier one. Returns whether the mean must be reported.
    fn take(&mut self, value: f32, instead_of: Option<f32>) -> bool {
        self.sum += f64::from(value) - f64::from(instead_of.unwrap_or(0.0));
        self.count += u32::from(instead_of.is_none());
        if self.count / 2 < self.checked_at {
            return false;
        }
        self.checked_at = self.count;
        let mean = self.sum / f64::from(self.count.max(1));
        let reports =
            self.count == 1 || (mean - self.reported).abs() > REPORT * self.reported.abs();
        if reports {
            self.reported = mean;
        }
        reports
    }
}

impl Inherited {
    /// Adds a page of this host.
    pub fn add(&mut self, page: Number, host: u32) {
        let unknown = HostPages {
            mean: ReportedMean::default(),
            last: END,
        };
        if self.hosts.len() <= host as usize {
            self.hosts.resize(host as usize + 1, unknown);
        }
        let last = &mut self.hosts[host as usize].last;
        let prediction = PagePrediction {
            host,
            next: *last,
            ..PagePrediction::default()
        };
        if self.predictions.add(page, prediction) {
            *last = page.0;
        }
    }

    /// Records the value of a page that was read. Returns the pages never read whose estimate
    /// may have changed, each once.
    pub fn read(&mut self, read: &Read<'_>, value: f32) -> Vec<Number> {
        let Some(prediction) = self.predictions.get_mut(read.page) else {
            return Vec::new();
        };
        let before = self.links.has(read.page).then_some(prediction.value);
        let host = prediction.host as usize;
        prediction.value = value;
        let mut moved = Vec::new();
        if let Some(before) = before {
            self.pass_to_links(read.page, before, false, &mut moved);
        }
        self.links.replace(read);
        self.pass_to_links(read.page, value, true, &mut moved);
        let known = self.hosts[host].mean.count > 0;
        if self.hosts[host].mean.take(value, before) || !known {
            moved.extend(self.pages_of(self.hosts[host]));
        }
        if self.all.take(value, before) {
            let unread = self.hosts.iter().filter(|host| host.mean.count == 0);
            moved.extend(unread.flat_map(|&host| self.pages_of(host)));
        }
        moved.sort_unstable();
        moved.dedup();
        moved.retain(|&page| !self.links.has(page));
        moved
    }

    /// Returns the estimate for a page.
    pub fn estimate(&self, page: Number) -> f64 {
        let Some(prediction) = self.predictions.get(page) else {
            return 0.0;
        };
        let host = self.hosts[prediction.host as usize].mean;
        let prior = if host.count > 0 { host } else { self.all }.reported;
        (KAPPA * prior + f64::from(prediction.sum)) / (KAPPA + f64::from(prediction.parents))
    }

    /// Returns the value of a page that was read; 0 before it is read.
    pub fn value(&self, page: Number) -> Worth {
        let value = self
            .predictions
            .get(page)
            .map_or(0.0, |prediction| prediction.value);
        Worth::new(f64::from(value))
    }

    /// Returns the worth of a page that was never read, at least [`Worth::LEAST`].
    pub fn worth(&self, page: Number) -> Worth {
        Worth::new(self.estimate(page)).max(Worth::LEAST)
    }

    /// Adds ρ·`value` to each page that this page links to, or subtracts it if `gives` is false.
    fn pass_to_links(&mut self, page: Number, value: f32, gives: bool, moved: &mut Vec<Number>) {
        let Some(outgoing) = self.links.of(page) else {
            return;
        };
        let share = RHO as f32 * value;
        for to in outgoing.links.iter().copied().map(Number) {
            let Some(prediction) = self.predictions.get_mut(to).filter(|_| to != page) else {
                continue;
            };
            if gives {
                prediction.parents += 1;
                prediction.sum += share;
            } else {
                prediction.parents = prediction.parents.saturating_sub(1);
                prediction.sum -= share;
            }
            if prediction.parents == 0 {
                // Without parents the sum is 0, whatever the rounding errors.
                prediction.sum = 0.0;
            }
            moved.push(to);
        }
    }

    fn pages_of(&self, host: HostPages) -> impl Iterator<Item = Number> + '_ {
        let mut next = host.last;
        std::iter::from_fn(move || {
            let page = Number(next);
            next = self.predictions.get(page)?.next;
            Some(page)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkFact, Part, Text};

    fn read(inherited: &mut Inherited, page: u32, to: &[u32], value: f32) -> Vec<u32> {
        let links: Vec<_> = to.iter().map(|&to| LinkFact::new(Number(to), "")).collect();
        let moved = inherited.read(
            &Read {
                page: Number(page),
                text: Text::Nothing,
                links: &links,
                out_links: 0,
                part: Part::WHOLE,
            },
            value,
        );
        moved.into_iter().map(|page| page.0).collect()
    }

    fn estimates(inherited: &Inherited) -> Vec<f64> {
        let rounded = |page| (inherited.estimate(Number(page)) * 1e4).round() / 1e4;
        (0..inherited.predictions.len() as u32)
            .map(rounded)
            .collect()
    }

    #[test]
    fn an_estimate_combines_the_means_of_host_and_parents() {
        let mut inherited = Inherited::default();
        for (page, host) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
            inherited.add(Number(page), host);
        }
        assert_eq!(estimates(&inherited), [0.0; 5], "nothing is known");
        // All pages changed: host 0 by its own mean, the others by the mean of all pages.
        assert_eq!(read(&mut inherited, 0, &[1, 2], 1.0), [1, 2, 3, 4]);
        let one_parent = (2.0 * 1.0 + 0.8) / 3.0;
        let rounded = (one_parent * 1e4_f64).round() / 1e4;
        assert_eq!(estimates(&inherited)[1..], [rounded, rounded, 1.0, 1.0]);
        // Host 1 now has its own mean, 0.5; the mean of all pages is 0.75.
        assert_eq!(read(&mut inherited, 2, &[3, 2], 0.5), [3, 4]);
        assert_eq!(
            estimates(&inherited)[3..],
            [(1.0 + 0.4) / 3.0, 0.75].map(|x: f64| (x * 1e4).round() / 1e4)
        );
        // Read again: the old links and the old value are subtracted.
        assert_eq!(read(&mut inherited, 0, &[4], 0.0), [1, 4]);
        assert_eq!(
            estimates(&inherited)[1],
            1.0,
            "reported once; with one read page there is no second check"
        );
        assert_eq!(estimates(&inherited)[4], 0.5, "(2·.75 + 0)/3");
    }

    #[test]
    fn a_parent_of_value_zero_counts_as_a_parent() {
        let mut inherited = Inherited::default();
        (0..3).for_each(|page| inherited.add(Number(page), page));
        read(&mut inherited, 0, &[2], 0.0);
        read(&mut inherited, 1, &[2], 0.6);
        read(&mut inherited, 0, &[], 0.0);
        let (prior, parent) = (0.3, 0.8 * 0.6);
        assert!((inherited.estimate(Number(2)) - (2.0 * prior + parent) / 3.0).abs() < 1e-6);
    }
}
