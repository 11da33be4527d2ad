//! Pages with many in-links first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), Algorithm 5.1
//! with IB′: the number of links to a page seen so far. Each page counts once, and links to
//! itself do not count. When a page is read again with other links, its old links no longer
//! count. A seed starts with one in-link, because a seed to which no page links would otherwise
//! come last.

use crate::estimate::{Column, Links};
use crate::{Fact, Moment, Moves, Needs, Number, Page, Policy, Term, Worth};

/// Worth is the number of in-links.
#[derive(Debug, Clone, Default)]
pub struct Backlink {
    in_links: Column<u32>,
    links: Links,
}

impl Backlink {
    fn vote(&mut self, page: Number, gives: bool) -> Vec<u32> {
        let Some(outgoing) = self.links.of(page) else {
            return Vec::new();
        };
        for &to in outgoing.links.iter().filter(|&&to| to != page.0) {
            if let Some(votes) = self.in_links.get_mut(Number(to)) {
                *votes = if gives {
                    votes.saturating_add(1)
                } else {
                    votes.saturating_sub(1)
                };
            }
        }
        outgoing.links.to_vec()
    }

    fn count(&self, page: Number) -> u32 {
        self.in_links.get(page).unwrap_or(0)
    }

    fn value(&self, page: Number) -> Worth {
        Worth::new(f64::from(self.count(page))).max(Worth::LEAST)
    }
}

impl Policy for Backlink {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => {
                self.in_links
                    .add(discovered.page, u32::from(discovered.seed));
            }
            Fact::Read(read) => {
                let mut lost = self.vote(read.page, false);
                self.links.replace(read);
                let mut gained = self.vote(read.page, true);
                lost.sort_unstable();
                gained.sort_unstable();
                // Pages that the old and the new copy both link to have the same count as
                // before.
                let moved = gained
                    .iter()
                    .filter(|page| lost.binary_search(page).is_err())
                    .chain(
                        lost.iter()
                            .filter(|page| gained.binary_search(page).is_err()),
                    );
                for page in moved.map(|&page| Number(page)) {
                    if !self.links.has(page) && self.in_links.get(page).is_some() {
                        moves.push(page, self.value(page));
                    }
                }
            }
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.value(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        vec![Term::new("in-links", f64::from(self.count(page.number)))]
    }
}
