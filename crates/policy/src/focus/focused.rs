//! The adapter that makes a method of focused crawling a [`Policy`].
//!
//! A method implements only what is specific to it: how it uses discovered and read pages, and
//! the worth of a waiting page.
//!
//! **Invariant:** for every method, the [`TopicJudge`] alone decides the relevance of a read page.
//! A waiting page has a worth above 0 unless the method drops it.

use super::judge::TopicJudge;
use crate::estimate::ReadParts;
use crate::{
    Discovered, Fact, Moment, Moves, Needs, Number, Page, Policy, Read, Report, Term, Worth,
};

/// A method that orders links.
///
/// This is a [`Policy`] without the parts that all methods share. Needs, importance and report
/// come from the judge; [`Focused`] adds them.
pub trait Focus: Send {
    /// Returns the judge that the method uses.
    fn judge(&self) -> &TopicJudge;

    /// Processes a discovered page.
    fn discover(&mut self, discovered: &Discovered<'_>);

    /// Processes a page that was read, and reports the waiting pages whose worth changed.
    fn read(&mut self, read: &Read<'_>, moves: &mut Moves);

    /// Returns the worth of a page.
    fn worth(&self, page: Number) -> Worth;

    /// Returns the terms of its worth, for explanations.
    fn terms(&self, page: Number) -> Vec<Term>;

    /// Returns remarks for the report at the end of a crawl.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A method as a policy.
#[derive(Debug, Clone)]
pub struct Focused<F> {
    /// The method.
    pub method: F,
    parts: ReadParts,
}

impl<F> Focused<F> {
    /// Makes a method a policy.
    pub fn new(method: F) -> Self {
        Self {
            method,
            parts: ReadParts::default(),
        }
    }
}

/// Returns the worth for a value, at least [`Worth::LEAST`]: the page comes last but is not
/// dropped.
pub fn worth(value: f32) -> Worth {
    Worth::new(f64::from(value)).max(Worth::LEAST)
}

impl<F: Focus> Policy for Focused<F> {
    fn needs(&self) -> Needs {
        TopicJudge::NEEDS
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.method.discover(discovered),
            Fact::Read(read) => (self.parts).join(read, |read| self.method.read(read, moves)),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.method.worth(page.number)
    }

    /// Returns the relevance of the page; 0 before it is read.
    fn importance(&self, page: Page<'_>) -> Worth {
        self.method.judge().importance(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let mut terms = self.method.terms(page.number);
        terms.extend(self.method.judge().term(page.number));
        terms
    }

    fn report(&self) -> Report {
        let mut report = self.method.judge().report();
        report.remarks.extend(self.method.remarks());
        report
    }
}
