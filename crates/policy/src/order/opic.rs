//! The OPIC ordering: pages that hold most cash come first.
//!
//! Abiteboul, Preda & Cobena, "Adaptive on-line page importance computation" (WWW 2003). A page
//! holds cash C and a history H. When it is fetched, H grows by C, each of its links gets an
//! equal share of C, and C becomes 0. Its importance is estimated as (H + C)/(G + all cash),
//! where G is all cash ever spent.
//!
//! The paper's crawler fetches pages again and again. Most of our pages are fetched once, so
//! cash that reaches a page already read would be lost. It therefore counts as spent there (H
//! grows) and goes to a virtual root. The shares of links that leave the crawl, and the cash of
//! pages without links, also go to the root. The root pays all known pages equally at the first
//! read. If n pages were known at a payment, the next payment is n reads later. A payment iterates
//! over all pages, and this rule spreads its cost over the reads.
//!
//! In the paper the seeds share a cash of 1. All cash is proportional to that, so here each
//! seed brings 1.
//!
//! **Invariant:** the cash of all pages and of the root together is the number of seeds.

use crate::estimate::Column;
use crate::{Discovered, Fact, Moment, Moves, Needs, Number, Page, Policy, Read, Term, Worth};

/// Worth is the cash of a page, at least [`Worth::LEAST`].
#[derive(Debug, Clone, Default)]
pub struct Opic {
    purses: Column<Purse>,
    root: f64,
    /// G.
    spent: f64,
    /// All cash of the pages and the root: 1 for each seed.
    cash: f64,
    reads: usize,
    next_payment: usize,
    /// The cash that each link of the page being read gets.
    share: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Purse {
    cash: f64,
    /// H.
    spent: f32,
    read: bool,
}

impl Purse {
    fn worth(&self) -> Worth {
        Worth::new(self.cash).max(Worth::LEAST)
    }
}

impl Opic {
    fn discover(&mut self, discovered: &Discovered<'_>) {
        let cash = f64::from(u8::from(discovered.seed));
        let purse = Purse {
            cash,
            ..Purse::default()
        };
        if self.purses.add(discovered.page, purse) {
            self.cash += cash;
        }
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let Some(purse) = self.purses.get_mut(read.page) else {
            return;
        };
        // The rest after the links were paid, including rounding errors, goes to the root.
        let mut left = 0.0;
        if read.part.is_first() {
            let cash = std::mem::take(&mut purse.cash);
            purse.spent += cash as f32;
            purse.read = true;
            self.spent += cash;
            left = cash;
            let links = f64::from(read.out_links).max(read.known_links() as f64);
            self.share = cash / links.max(1.0);
        }
        let share = self.share;
        for to in read.links.iter().map(|link| link.to) {
            let Some(purse) = self.purses.get_mut(to) else {
                continue;
            };
            if purse.read {
                purse.spent += share as f32;
                self.spent += share;
            } else {
                purse.cash += share;
                left -= share;
                moves.push(to, purse.worth());
            }
        }
        self.root += left;
        self.reads += usize::from(read.part.is_last());
    }

    /// Distributes the cash of the root equally to all known pages.
    fn pay(&mut self, moves: &mut Moves) {
        let share = self.root / self.purses.len() as f64;
        for (page, purse) in self.purses.iter_mut() {
            purse.cash += share;
            if !purse.read {
                moves.push(page, purse.worth());
            }
        }
        self.spent += self.root;
        self.root = 0.0;
        self.next_payment = self.reads + self.purses.len();
    }

    /// Returns (H + C)/(G + all cash): the estimated importance of a page.
    pub fn estimate(&self, page: Number) -> f64 {
        let Some(purse) = self.purses.get(page) else {
            return 0.0;
        };
        (f64::from(purse.spent) + purse.cash) / (self.spent + self.cash).max(f64::MIN_POSITIVE)
    }
}

impl Policy for Opic {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.discover(discovered),
            Fact::Read(read) if self.purses.get(read.page).is_none() => {}
            Fact::Read(read) if read.part.is_last() && self.reads + 1 >= self.next_payment => {
                // The payment reports every page that was not read, so the moves of the read
                // are not needed.
                self.read(read, &mut Moves::default());
                self.pay(moves);
            }
            Fact::Read(read) => self.read(read, moves),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.purses
            .get(page.number)
            .map_or(Worth::LEAST, |purse| purse.worth())
    }

    /// Returns H + C. The estimate divides this by a total that is the same for all pages and
    /// grows; H + C itself never falls.
    fn importance(&self, page: Page<'_>) -> Worth {
        let purse = self.purses.get(page.number).unwrap_or_default();
        Worth::new(f64::from(purse.spent) + purse.cash)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let cash = self.purses.get(page.number).map_or(0.0, |purse| purse.cash);
        vec![
            Term::new("cash", cash),
            Term::new("importance", self.estimate(page.number)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{LinkFact, Part, Text};

    fn opic(pages: u32, seeds: u32) -> Opic {
        let mut opic = Opic::default();
        for page in 0..pages {
            let seed = page < seeds;
            let (page, url) = (Number(page), "");
            opic.discover(&Discovered {
                page,
                url,
                host: 0,
                depth: 0,
                seed,
                at: crate::Moment::START,
                appeared: None,
            });
        }
        opic
    }

    fn read(opic: &mut Opic, page: u32, to: &[u32], outside: u32) {
        let links: Vec<_> = to.iter().map(|&to| LinkFact::new(Number(to), "")).collect();
        let out_links = to.len() as u32 + outside;
        let read = Read {
            page: Number(page),
            text: Text::Nothing,
            links: &links,
            out_links,
            part: Part::WHOLE,
        };
        opic.observe(&Fact::Read(read), &mut Moves::default());
    }

    fn all(opic: &Opic, value: impl Fn(Purse) -> f64) -> f64 {
        let pages = (0..opic.purses.len() as u32).map(Number);
        pages
            .filter_map(|page| opic.purses.get(page))
            .map(value)
            .sum()
    }

    proptest! {
        #[test]
        fn no_cash_is_made_or_lost(
            seeds in 0u32..5,
            readings in prop::collection::vec((0u32..30, prop::collection::btree_set(0u32..32, 0..8), 0u32..5), 0..200)
        ) {
            let mut opic = opic(30, seeds);
            for (page, links, outside) in readings {
                read(&mut opic, page, &links.into_iter().collect::<Vec<_>>(), outside);
                let cash = all(&opic, |purse| purse.cash) + opic.root;
                prop_assert!((cash - f64::from(seeds)).abs() < 1e-9, "{} of {}", cash, seeds);
                prop_assert!((0..30).all(|page| opic.estimate(Number(page)) >= 0.0));
            }
        }
    }

    /// Uses random webs with Zipf-distributed links, of which every page is read ten times.
    #[test]
    fn estimates_have_a_rank_correlation_with_pagerank_above_0_8() {
        const PAGES: u32 = 300;
        for start in 1..=5u64 {
            let mut state = start;
            let mut even = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let mut graph = Vec::new();
            for _ in 0..PAGES {
                let zipf = |even: f64| (f64::from(PAGES).powf(even) as u32 - 1) * 101 % PAGES;
                let mut links: Vec<_> = (0..8).map(|_| zipf(even())).collect();
                links.sort_unstable();
                links.dedup();
                graph.push(links);
            }
            let mut opic = opic(PAGES, 3);
            for _ in 0..10 {
                for (page, links) in (0..).zip(&graph) {
                    read(&mut opic, page, links, 0);
                }
            }
            let mut rank = vec![1.0; PAGES as usize];
            for _ in 0..200 {
                let mut next = vec![0.1; PAGES as usize];
                for (page, links) in graph.iter().enumerate() {
                    for &to in links {
                        next[to as usize] += 0.9 * rank[page] / links.len() as f64;
                    }
                }
                rank = next;
            }
            let estimates: Vec<_> = (0..PAGES).map(|page| opic.estimate(Number(page))).collect();
            let rho = spearman(&estimates, &rank);
            eprintln!("web {start}: Spearman {rho:.3}");
            assert!(rho > 0.8, "web {start}: {rho}");
        }
    }

    /// Returns Spearman's rank correlation. Ties are too few here to matter.
    fn spearman(one: &[f64], other: &[f64]) -> f64 {
        let ranks = |values: &[f64]| {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            let mut ranks = vec![0.0; values.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(rank, &page)| ranks[page] = rank as f64);
            ranks
        };
        let (one, other) = (ranks(one), ranks(other));
        let squares: f64 = one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum();
        let count = one.len() as f64;
        1.0 - 6.0 * squares / (count * (count * count - 1.0))
    }
}
