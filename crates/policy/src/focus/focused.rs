//! How does a method of focused crawling become a policy?
//!
//! A method says what is particular to it: what it makes of a page that was heard of or read, and what a waiting page
//! is worth. **Invariant:** what a page was found to be is said by the judge, whatever the method, and a waiting page is worth
//! something unless the method drops it.

use super::judge::Judge;
use crate::{
    Discovered, Fact, Moment, Moves, Needs, Number, Page, Policy, Read, Report, Term, Worth,
};

/// A way to choose among links.
///
/// A [`Policy`] without what all methods must answer alike: needs, importance and report are the judge's,
/// and [`Focused`] adds them, so that no method can say otherwise.
pub trait Focus: Send {
    /// Who judges pages for it.
    fn judge(&self) -> &Judge;

    /// Takes in a page that was heard of.
    fn discover(&mut self, discovered: &Discovered<'_>);

    /// Takes in a page that was read, and says which waiting pages are worth something else now.
    fn read(&mut self, read: &Read<'_>, moves: &mut Moves);

    /// What a page is worth.
    fn worth(&self, page: Number) -> Worth;

    /// What its worth is made of, for people.
    fn terms(&self, page: Number) -> Vec<Term>;

    /// What else there is to say when a crawl ends.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A method as a policy.
#[derive(Debug, Clone)]
pub struct Focused<F>(pub F);

/// What a page of this value is worth: it comes last at worst, and is not dropped.
pub fn worth(value: f32) -> Worth {
    Worth::new(f64::from(value)).max(Worth::LEAST)
}

impl<F: Focus> Policy for Focused<F> {
    fn needs(&self) -> Needs {
        Judge::NEEDS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.0.discover(discovered),
            Fact::Read(read) => self.0.read(read, moves),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.0.worth(page.number)
    }

    /// What it was found to be: its text is known now.
    fn importance(&self, page: Page<'_>) -> Worth {
        self.0.judge().importance(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mut terms = self.0.terms(page.number);
        terms.extend(self.0.judge().term(page.number));
        terms
    }

    fn report(&self) -> Report {
        let mut report = self.0.judge().report();
        report.remarks.extend(self.0.remarks());
        report
    }
}
