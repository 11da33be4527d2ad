//! Pages that will probably have many links first.
//!
//! IF of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): the links that a
//! page has. Those of a page not read are not known. Ours: they are foretold from the links of its
//! parents and of its host (`estimate/inherited.rs`).

use crate::estimate::Inherited;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// Worth is the number of links expected.
#[derive(Debug, Clone, Default)]
pub struct ForwardLinks {
    links: Inherited,
}

impl Policy for ForwardLinks {
    fn needs(&self) -> Needs {
        Needs::LINKS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.links.add(discovered.page, discovered.host),
            Fact::Read(read) => {
                for page in self.links.read(read, read.out_links as f32) {
                    moves.push(page, self.links.worth(page));
                }
            }
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
