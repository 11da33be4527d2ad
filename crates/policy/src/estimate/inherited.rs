//! What will a page have, judged by the pages that link to it and by its host?
//!
//! v̂ = (κ·m + Σ ρ·v(parent)) / (κ + k) over the k parents read so far; m is the mean of what was read
//! on its host, before that the mean of all. A mean of few parents is shrunk to m, as if κ more
//! parents had said m.
//!
//! **Invariant:** an estimate changes only when its page is among those returned. So m is the mean as
//! it was last told: it is looked at when the pages read have doubled, and told to the host's pages
//! if it has moved by [`TELL`]. Each page is told at most log₂ of the pages of its host times.

use super::{Column, Links};
use crate::{Number, Read, Worth};

/// κ: the host counts as much as two parents. Ours: one parent alone should not outweigh its host.
const KAPPA: f64 = 2.0;

/// ρ: a page is expected to have four fifths of what its parent has. Ours: links lead from better
/// pages to worse ones more often than back, as crawls start at the best.
const RHO: f64 = 0.8;

/// A mean that has moved by less than this share is not told. Ours.
const TELL: f64 = 0.05;

/// No page.
const END: u32 = u32::MAX;

/// The estimates of all pages.
#[derive(Debug, Clone, Default)]
pub struct Inherited {
    heirs: Column<Heir>,
    links: Links,
    hosts: Vec<Host>,
    all: Mean,
}

#[derive(Debug, Clone, Copy, Default)]
struct Heir {
    /// ρ·v, summed over the parents.
    sum: f32,
    parents: u32,
    /// What it has itself, if it was read.
    value: f32,
    host: u32,
    /// The page of the same host that was discovered before it, or [`END`].
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct Host {
    mean: Mean,
    /// The page discovered last, or [`END`].
    last: u32,
}

/// A mean, and what was told of it.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
    told: f64,
    told_at: u32,
}

impl Mean {
    /// A value was added, or took the place of another. Returns whether there is something to tell.
    fn take(&mut self, value: f32, instead_of: Option<f32>) -> bool {
        self.sum += f64::from(value) - f64::from(instead_of.unwrap_or(0.0));
        self.count += u32::from(instead_of.is_none());
        if self.count / 2 < self.told_at {
            return false;
        }
        self.told_at = self.count;
        let mean = self.sum / f64::from(self.count.max(1));
        let tells = self.count == 1 || (mean - self.told).abs() > TELL * self.told.abs();
        if tells {
            self.told = mean;
        }
        tells
    }
}

impl Inherited {
    /// A page of this host was heard of.
    pub fn add(&mut self, page: Number, host: u32) {
        let unknown = Host {
            mean: Mean::default(),
            last: END,
        };
        if self.hosts.len() <= host as usize {
            self.hosts.resize(host as usize + 1, unknown);
        }
        let last = &mut self.hosts[host as usize].last;
        let heir = Heir {
            host,
            next: *last,
            ..Heir::default()
        };
        if self.heirs.add(page, heir) {
            *last = page.0;
        }
    }

    /// A page was read and has this value. Returns the pages never read whose estimate changed, each
    /// once.
    pub fn read(&mut self, read: &Read<'_>, value: f32) -> Vec<Number> {
        let Some(heir) = self.heirs.get_mut(read.page) else {
            return Vec::new();
        };
        let before = self.links.has(read.page).then_some(heir.value);
        let host = heir.host as usize;
        heir.value = value;
        let mut moved = Vec::new();
        if let Some(before) = before {
            self.bequeath(read.page, before, false, &mut moved);
        }
        self.links.replace(read);
        self.bequeath(read.page, value, true, &mut moved);
        let known = self.hosts[host].mean.count > 0;
        if self.hosts[host].mean.take(value, before) || !known {
            moved.extend(self.pages_of(self.hosts[host]));
        }
        if self.all.take(value, before) {
            let strange = self.hosts.iter().filter(|host| host.mean.count == 0);
            moved.extend(strange.flat_map(|&host| self.pages_of(host)));
        }
        moved.sort_unstable();
        moved.dedup();
        moved.retain(|&page| !self.links.has(page));
        moved
    }

    /// The estimate for a page.
    pub fn estimate(&self, page: Number) -> f64 {
        let Some(heir) = self.heirs.get(page) else {
            return 0.0;
        };
        let host = self.hosts[heir.host as usize].mean;
        let prior = if host.count > 0 { host } else { self.all }.told;
        (KAPPA * prior + f64::from(heir.sum)) / (KAPPA + f64::from(heir.parents))
    }

    /// What a page that was read has itself.
    pub fn value(&self, page: Number) -> Worth {
        let value = self.heirs.get(page).map_or(0.0, |heir| heir.value);
        Worth::new(f64::from(value))
    }

    /// What a page never read is worth.
    pub fn worth(&self, page: Number) -> Worth {
        Worth::new(self.estimate(page)).max(Worth::LEAST)
    }

    /// Gives ρ·value to each page that this one links to, or takes it back.
    fn bequeath(&mut self, page: Number, value: f32, gives: bool, moved: &mut Vec<Number>) {
        let Some(outgoing) = self.links.of(page) else {
            return;
        };
        let share = RHO as f32 * value;
        for to in outgoing.links.iter().copied().map(Number) {
            let Some(heir) = self.heirs.get_mut(to).filter(|_| to != page) else {
                continue;
            };
            if gives {
                heir.parents += 1;
                heir.sum += share;
            } else {
                heir.parents = heir.parents.saturating_sub(1);
                heir.sum -= share;
            }
            if heir.parents == 0 {
                // Nothing is left when nobody is left, whatever was rounded on the way.
                heir.sum = 0.0;
            }
            moved.push(to);
        }
    }

    fn pages_of(&self, host: Host) -> impl Iterator<Item = Number> + '_ {
        let mut next = host.last;
        std::iter::from_fn(move || {
            let page = Number(next);
            next = self.heirs.get(page)?.next;
            Some(page)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Text};

    fn read(heirs: &mut Inherited, page: u32, to: &[u32], value: f32) -> Vec<u32> {
        let links: Vec<_> = to.iter().map(|&to| Link::new(Number(to), "")).collect();
        let moved = heirs.read(
            &Read {
                page: Number(page),
                text: Text::Nothing,
                links: &links,
                out_links: 0,
            },
            value,
        );
        moved.into_iter().map(|page| page.0).collect()
    }

    fn estimates(heirs: &Inherited) -> Vec<f64> {
        let rounded = |page| (heirs.estimate(Number(page)) * 1e4).round() / 1e4;
        (0..heirs.heirs.len() as u32).map(rounded).collect()
    }

    #[test]
    fn a_page_takes_after_its_host_and_its_parents() {
        let mut heirs = Inherited::default();
        for (page, host) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
            heirs.add(Number(page), host);
        }
        assert_eq!(estimates(&heirs), [0.0; 5], "nothing is known");
        // All moved: host 0 by its own mean and the others by the mean of all.
        assert_eq!(read(&mut heirs, 0, &[1, 2], 1.0), [1, 2, 3, 4]);
        let one_parent = (2.0 * 1.0 + 0.8) / 3.0;
        let rounded = (one_parent * 1e4_f64).round() / 1e4;
        assert_eq!(estimates(&heirs)[1..], [rounded, rounded, 1.0, 1.0]);
        // Host 1 has a mean of its own now, .5; the mean of all is .75.
        assert_eq!(read(&mut heirs, 2, &[3, 2], 0.5), [3, 4]);
        assert_eq!(
            estimates(&heirs)[3..],
            [(1.0 + 0.4) / 3.0, 0.75].map(|x: f64| (x * 1e4).round() / 1e4)
        );
        // Read again: the old links and the old value are taken back.
        assert_eq!(read(&mut heirs, 0, &[4], 0.0), [1, 4]);
        assert_eq!(
            estimates(&heirs)[1],
            1.0,
            "told once; one read page is too few to tell again"
        );
        assert_eq!(estimates(&heirs)[4], 0.5, "(2·.75 + 0)/3");
    }

    #[test]
    fn zero_is_a_value_like_others() {
        let mut heirs = Inherited::default();
        (0..3).for_each(|page| heirs.add(Number(page), page));
        read(&mut heirs, 0, &[2], 0.0);
        read(&mut heirs, 1, &[2], 0.6);
        read(&mut heirs, 0, &[], 0.0);
        let (prior, parent) = (0.3, 0.8 * 0.6);
        assert!((heirs.estimate(Number(2)) - (2.0 * prior + parent) / 3.0).abs() < 1e-6);
    }
}
