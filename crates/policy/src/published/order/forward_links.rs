//! Pages that are expected to have many links first.
//!
//! IF of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the number
//! of links on a page. This number is unknown before the page is read. Our addition: it is
//! predicted from the links of the page's parents and host (`estimate/inherited.rs`).

use crate::estimate::{Inherited, ReadParts};
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// Worth is the expected number of links.
#[derive(Debug, Clone, Default)]
pub struct ForwardLinks {
    links: Inherited,
    parts: ReadParts,
}

impl Policy for ForwardLinks {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.links.add(discovered.page, discovered.host),
            Fact::Read(read) => self.parts.join(read, |read| {
                for page in self.links.read(read, read.out_links as f32) {
                    moves.push(page, self.links.worth(page));
                }
            }),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.links.worth(page.number)
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        self.links.value(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        vec![Term::new(
            "links expected",
            self.links.estimate(page.number),
        )]
    }
}
