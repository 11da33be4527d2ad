//! The catalog of schedulers for content sources.

use super::expression::{SCHEDULER, parse_name};
use super::{Catalog, CatalogError, HelpRow, table};
use crate::published::source::{Bfs, Greedy, NewPages, Schedule};
use crate::source::{Priced, Scheduler};

/// An entry of the catalog for a scheduler.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerName {
    /// The name that users write.
    pub name: &'static str,
    /// A description of at most a line.
    pub summary: &'static str,
    /// The formula for the worth of a poll.
    pub scale: &'static str,
    /// Whether it plans polls ahead for a budget of fetches per second.
    pub plans: bool,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Builds the scheduler.
    pub build: fn() -> Box<dyn Scheduler>,
}

/// Our scheduler, then those of Lefortier et al. (2013), from the worst in their Table 1 to the
/// best.
pub const SCHEDULERS: &[SchedulerName] = &[
    SchedulerName {
        name: "priced",
        summary: "polls and pages by expected gain, at one price",
        scale: "expected clicks gained, at most those on one page",
        plans: false,
        published: false,
        build: || Box::new(Priced),
    },
    SchedulerName {
        name: "frequency",
        summary: "like echo-schedule, but without clicks",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: || Box::new(Schedule::frequency()),
    },
    SchedulerName {
        name: "bfs",
        summary: "each source in turn, with all its new pages",
        scale: "seconds since the last poll",
        plans: false,
        published: true,
        build: || Box::new(Bfs),
    },
    SchedulerName {
        name: "fixed-quota",
        summary: "like echo-schedule, with half of the fetches for polls",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: || Box::new(Schedule::fixed_quota()),
    },
    SchedulerName {
        name: "echo-greedy",
        summary: "the source with most expected clicks, with all its new pages",
        scale: "expected clicks on new pages",
        plans: false,
        published: true,
        build: || Box::new(Greedy),
    },
    SchedulerName {
        name: "echo-schedule",
        summary: "sources at optimal intervals, new pages with what is left",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: || Box::new(Schedule::echo()),
    },
    SchedulerName {
        name: "echo-newpages",
        summary: "new pages at once, then the most overdue source",
        scale: "wait / interval",
        plans: true,
        published: true,
        build: || Box::new(NewPages::default()),
    },
];

impl Catalog {
    /// Returns the schedulers.
    pub fn schedulers(&self) -> &'static [SchedulerName] {
        SCHEDULERS
    }

    /// Builds the scheduler of this name.
    ///
    /// # Errors
    ///
    /// If no scheduler has this name, if the name is malformed, or if an argument follows it. The
    /// message says what to write instead.
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

    /// Returns the table of schedulers for `--help`.
    pub fn scheduler_help(&self) -> String {
        let rows = SCHEDULERS.iter().map(|scheduler| HelpRow {
            name: scheduler.name.to_owned(),
            summary: scheduler.summary,
            scale: scheduler.scale.to_owned(),
            published: scheduler.published,
        });
        format!(
            "Schedulers of sources and the worth of a poll:\n{}\n\
             wait: the time since the last poll; interval: the planned time between two polls. The factor 2e12 puts a poll that is\n\
             due before every page.\n",
            table(rows.collect())
        )
    }
}
