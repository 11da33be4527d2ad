//! Pages with a word of the query in an anchor or in their URL first.
//!
//! Algorithm 5.2 of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998):
//! a hot queue is served before the other queue. (The printed loop stops when one queue is
//! empty. It must go on until both are empty.) Within each queue pages come in the order of
//! discovery. The paper's variant with reordered queues is `hot-anchor*1000 + pagerank`.
//!
//! The paper decides once, when a URL is enqueued. Here a waiting URL becomes hot as soon as an
//! anchor with the word is seen.

use crate::estimate::Column;
use crate::query::Query;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Read, Report, Term, Worth};

/// Returns the worth of a page in the hot queue or in the other one.
pub(super) fn heat(hot: bool) -> Worth {
    Worth::new(if hot { 2.0 } else { 1.0 })
}

/// Worth is 2 for hot pages and 1 for others.
#[derive(Debug, Clone)]
pub struct HotAnchor {
    query: Query,
    pages: Column<HotAnchorState>,
}

#[derive(Debug, Clone, Copy, Default)]
struct HotAnchorState {
    hot: bool,
    read: bool,
}

impl HotAnchor {
    /// Creates an ordering for this query.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            pages: Column::default(),
        }
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        if let Some(page) = self.pages.get_mut(read.page) {
            page.read = true;
        }
        for link in read.links {
            let found = self.query.look(link.anchor).words != 0;
            let Some(page) = self.pages.get_mut(link.to) else {
                continue;
            };
            if found && !page.hot {
                page.hot = true;
                if !page.read {
                    moves.push(link.to, heat(true));
                }
            }
        }
    }
}

impl Policy for HotAnchor {
    fn needs(&self) -> Needs {
        Needs {
            links: true,
            words: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => {
                let hot = self.query.look_at_url(discovered.url).words != 0;
                self.pages
                    .add(discovered.page, HotAnchorState { hot, read: false });
            }
            Fact::Read(read) => self.read(read, moves),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        heat(self.pages.get(page.number).unwrap_or_default().hot)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let hot = self.pages.get(page.number).unwrap_or_default().hot;
        vec![Term::new(
            "query in anchor or url",
            f64::from(u8::from(hot)),
        )]
    }

    fn report(&self) -> Report {
        self.query.report()
    }
}
