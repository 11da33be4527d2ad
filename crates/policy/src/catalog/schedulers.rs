//! By which names does the user know the schedulers of content sources?

use super::expression::{SCHEDULER, parse_name};
use super::{Catalog, CatalogError, Row, table};
use crate::published::source::{Bfs, Greedy, NewPages, Schedule};
use crate::source::{Priced, Scheduler};

/// A scheduler, by name.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerName {
    /// What the user writes.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What a poll is worth to it.
    pub scale: &'static str,
    /// Whether it plans polls ahead, for so many fetches a second.
    pub plans: bool,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Makes one.
    pub build: fn() -> Box<dyn Scheduler>,
}

/// The schedulers: ours, then those of the paper from the worst in its Table 1 to the best.
pub const SCHEDULERS: &[SchedulerName] = &[
    SchedulerName {
        name: "priced",
        summary: "polls and pages by what they gain, against one price",
        scale: "clicks gained, net of fetches",
        plans: false,
        published: false,
        build: || Box::new(Priced),
    },
    SchedulerName {
        name: "frequency",
        summary: "as echo-schedule, without clicks",
        scale: "2e12 times waiting over interval, once due",
        plans: true,
        published: true,
        build: || Box::new(Schedule::frequency()),
    },
    SchedulerName {
        name: "bfs",
        summary: "every source in turn, and all that is new on it",
        scale: "seconds since the last poll",
        plans: false,
        published: true,
        build: || Box::new(Bfs),
    },
    SchedulerName {
        name: "fixed-quota",
        summary: "as echo-schedule, with half of the fetches for polls",
        scale: "2e12 times waiting over interval, once due",
        plans: true,
        published: true,
        build: || Box::new(Schedule::fixed_quota()),
    },
    SchedulerName {
        name: "echo-greedy",
        summary: "the source with most expected clicks, and all that is new on it",
        scale: "clicks on what is new",
        plans: false,
        published: true,
        build: || Box::new(Greedy),
    },
    SchedulerName {
        name: "echo-schedule",
        summary: "sources at the best intervals; new pages when there is room",
        scale: "2e12 times waiting over interval, once due",
        plans: true,
        published: true,
        build: || Box::new(Schedule::echo()),
    },
    SchedulerName {
        name: "echo-newpages",
        summary: "new pages at once; then the source most behind the best intervals",
        scale: "waiting over interval",
        plans: true,
        published: true,
        build: || Box::new(NewPages::default()),
    },
];

impl Catalog {
    /// The schedulers.
    pub fn schedulers(&self) -> &'static [SchedulerName] {
        SCHEDULERS
    }

    /// The scheduler of this name.
    ///
    /// # Errors
    ///
    /// If there is none. The message says what there is.
    pub fn scheduler(&self, name: &str) -> Result<Box<dyn Scheduler>, CatalogError> {
        let (name, argument) = parse_name(SCHEDULER, name)?;
        let names = SCHEDULERS.iter().map(|scheduler| scheduler.name);
        let found = SCHEDULERS.iter().find(|scheduler| scheduler.name == name);
        let found = found.ok_or_else(|| CatalogError::unknown(SCHEDULER, name, names))?;
        if argument.is_some() {
            return Err(CatalogError::Argument {
                kind: SCHEDULER,
                name: found.name,
                takes: None,
            });
        }
        Ok((found.build)())
    }

    /// The table of schedulers for `--help`.
    pub fn scheduler_help(&self) -> String {
        let rows = SCHEDULERS.iter().map(|scheduler| Row {
            name: scheduler.name.to_owned(),
            summary: scheduler.summary,
            scale: scheduler.scale.to_owned(),
            published: scheduler.published,
        });
        format!(
            "Schedulers of sources, and what a poll is worth to them:\n{}",
            table(rows.collect())
        )
    }
}
