//! Pages with many in-links first.
//!
//! Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998), Algorithm 5.1
//! with IB′: the number of links to a page seen so far. Each page counts once, and links to
//! itself do not count. When a page is read again with other links, its old links no longer
//! count. A seed starts with one in-link, because a seed to which no page links would otherwise
//! come last.

use crate::estimate::{Column, Links};
use crate::{Fact, Moment, Moves, Needs, Number, Page, Policy, Read, Term, Worth};

/// Worth is the number of in-links.
#[derive(Debug, Clone, Default)]
pub struct Backlink {
    in_links: Column<u32>,
    links: Links,
}

impl Backlink {
    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let mut lost = self.links.replace(read);
        let mut gained: Vec<u32> = read.links.iter().map(|link| link.to.0).collect();
        lost.sort_unstable();
        gained.sort_unstable();
        // Pages that the old and the new copy both link to keep their count.
        let only = |page: &&u32, other: &[u32]| other.binary_search(page).is_err();
        for &page in lost.iter().filter(|page| only(page, &gained)) {
            self.count_link(read.page, Number(page), u32::saturating_sub, moves);
        }
        for &page in gained.iter().filter(|page| only(page, &lost)) {
            self.count_link(read.page, Number(page), u32::saturating_add, moves);
        }
    }

    fn count_link(
        &mut self,
        from: Number,
        to: Number,
        changed: fn(u32, u32) -> u32,
        moves: &mut Moves,
    ) {
        if let Some(in_links) = self.in_links.get_mut(to).filter(|_| to != from) {
            *in_links = changed(*in_links, 1);
            if !self.links.has(to) {
                moves.push(to, self.value(to));
            }
        }
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
            Fact::Read(read) => self.read(read, moves),
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
