//! What does a policy know of the pages when it begins?
//!
//! Learned from visits to every page at every step: with these the repository equals the web, so that gains are measured against
//! the best there is. **Invariant:** except by [`Protocol::Whole`], nothing is known that happens after the beginning.

use policy::{History, Moment};

use super::Course;
use super::repository::Repository;
use crate::measure::quality::Answers;

/// What is learned before a policy is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// From the first half of the time; judged on the second, in which it goes on to learn from its own visits.
    Halves,
    /// From all of the time, and judged on all of it, as in Pandey & Olston (2005), §6.2. A bound: no crawler knows what is
    /// to come. Nothing more is learned.
    Whole,
    /// Nothing: a policy learns from its own visits alone.
    Online,
}

impl Protocol {
    /// As users know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Halves => "halves",
            Self::Whole => "whole",
            Self::Online => "online",
        }
    }
}

/// What is known.
#[derive(Debug, Clone)]
pub struct Knowledge {
    protocol: Protocol,
    /// The step that a policy begins at.
    pub from: usize,
    histories: Vec<Option<History>>,
    /// What searchers saw of each page.
    pub(super) views: Vec<f64>,
}

impl Knowledge {
    /// Learns from a world.
    pub fn of_course(course: &Course<'_>, protocol: Protocol) -> Self {
        let last = course.snapshots.moments().len() - 1;
        let (until, from) = match protocol {
            Protocol::Halves => (last / 2, last / 2),
            Protocol::Whole => (last, 0),
            Protocol::Online => (0, 0),
        };
        let nothing = Self {
            protocol: Protocol::Online,
            from: 0,
            histories: Vec::new(),
            views: Vec::new(),
        };
        let pages = course.snapshots.pages();
        let mut repository = Repository::begin(course, &nothing);
        let mut histories: Vec<Option<History>> = vec![None; pages];
        let mut views = vec![0.0; pages];
        for (step, &now) in course.snapshots.moments()[..=until].iter().enumerate() {
            if step > 0 {
                repository.turn(step);
            }
            for page in course.known(step) {
                let history = &mut histories[page as usize];
                let before = history.unwrap_or_else(|| History::discovered(now, 0));
                *history = Some(repository.visit(page, &before, now));
            }
            let seen = repository.answers.as_ref().filter(|_| step > 0);
            let seen = seen.map(Answers::views).into_iter().flatten();
            views
                .iter_mut()
                .zip(seen)
                .for_each(|(sum, seen)| *sum += seen);
        }
        Self {
            protocol,
            from,
            histories,
            views,
        }
    }

    /// Whether nothing is learned any more.
    pub(super) fn is_final(&self) -> bool {
        self.protocol == Protocol::Whole
    }

    /// What is known of a page when its first copy is had.
    pub(super) fn of(&self, page: u32, now: Moment) -> Option<History> {
        let history = *self.histories.get(page as usize)?;
        match self.protocol {
            Protocol::Online => None,
            Protocol::Halves => history,
            Protocol::Whole => history.map(|history| History {
                discovered: now,
                asked: Some(now),
                fresh: Some(now),
                outcome: Some(policy::Outcome::Unchanged),
                failures: 0,
                gone: 0,
                ..history
            }),
        }
    }

    /// The history of a page that was visited and of which nothing is learned but that it was.
    pub(super) fn only_seen(before: &History, after: &History) -> History {
        History {
            asked: after.asked,
            fresh: after.fresh,
            outcome: after.outcome,
            failures: after.failures,
            gone: after.gone,
            ..*before
        }
    }
}
