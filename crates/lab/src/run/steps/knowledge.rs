//! What a policy knows about the pages at the start of a run.
//!
//! This knowledge comes from visits to every page at every step. With these visits the repository
//! equals the web, so gains are measured against the best repository.
//!
//! **Invariant:** except with [`Protocol::Whole`], the knowledge contains nothing that happens
//! after the start.

use policy::{History, Moment};

use super::SteppedWorld;
use super::repository::Repository;
use crate::measure::quality::Answers;

/// Which part of the time a policy learns from, and which part it is judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Learns from the first half and is judged on the second, where it also learns from its own
    /// visits.
    Halves,
    /// Learns from the whole time and is judged on all of it, as in Pandey & Olston (2005),
    /// §6.2. It learns no more during the run.
    ///
    /// This is an upper bound: no crawler knows the future.
    Whole,
    /// Starts with the first copies and learns from its own visits alone.
    Online,
}

impl Protocol {
    /// Returns the name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Halves => "halves",
            Self::Whole => "whole",
            Self::Online => "online",
        }
    }
}

/// The histories and searches that a policy starts with.
#[derive(Debug, Clone)]
pub struct InitialKnowledge {
    protocol: Protocol,
    /// The step at which the run starts.
    pub from: usize,
    histories: Vec<Option<History>>,
    /// Views of each page by searchers, in views per search, summed over the steps.
    pub(super) views: Vec<f64>,
}

impl InitialKnowledge {
    /// Learns from a world by a protocol.
    pub fn of_world(world: &SteppedWorld<'_>, protocol: Protocol) -> Self {
        let last = world.snapshots.moments().len() - 1;
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
        let pages = world.snapshots.pages();
        let mut repository = Repository::begin(world, &nothing);
        let mut histories: Vec<Option<History>> = vec![None; pages];
        let mut views = vec![0.0; pages];
        for (step, &now) in world.snapshots.moments()[..=until].iter().enumerate() {
            if step > 0 {
                repository.advance(step);
            }
            for page in world.known(step) {
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

    /// Returns whether the policy learns nothing during the run.
    pub(super) fn is_final(&self) -> bool {
        self.protocol == Protocol::Whole
    }

    /// Returns the initial history of a page that has its first copy at `now`. `None` if the policy
    /// starts without knowledge of the page.
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

    /// Returns the history after a visit from which the policy learns nothing but its time and
    /// outcome.
    pub(super) fn without_learning(before: &History, after: &History) -> History {
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
