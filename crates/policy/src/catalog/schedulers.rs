//! The catalog of schedulers for content sources.

use super::argument::{explained, numbers};
use super::expression::{SCHEDULER, parse_name};
use super::{Catalog, CatalogError, HelpRow, PolicyArgument, named, table};
use crate::published::source::{Bfs, Greedy, NewPages, Schedule};
use crate::source::{Priced, Scheduler};

/// Builds a scheduler from the argument in parentheses after its name.
pub type BuildScheduler = fn(Option<&str>) -> Result<Box<dyn Scheduler>, CatalogError>;

/// An entry of the catalog for a scheduler.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerName {
    /// The name that users write.
    pub name: &'static str,
    /// The argument in parentheses after the name. `None` if the scheduler takes none.
    pub argument: Option<PolicyArgument>,
    /// A description of at most a line.
    pub summary: &'static str,
    /// The formula for the worth of a poll.
    pub scale: &'static str,
    /// Whether it plans polls ahead for a budget of fetches per second.
    pub plans: bool,
    /// Whether it is a [published baseline](crate::published).
    pub published: bool,
    /// Builds the scheduler.
    pub build: BuildScheduler,
}

const FIXED_QUOTA: PolicyArgument = PolicyArgument::optional(
    "SHARE",
    "the share of all fetches that polls get, above 0 and below 1 (0.5): fixed-quota(0.3)",
    "0.3",
);

/// Our scheduler, then those of Lefortier et al. (2013), from the worst in their Table 1 to the
/// best.
pub const SCHEDULERS: &[SchedulerName] = &[
    SchedulerName {
        name: "priced",
        argument: None,
        summary: "polls and pages by expected gain, at one price",
        scale: "expected clicks gained, at most those on one page",
        plans: false,
        published: false,
        build: |_| Ok(Box::new(Priced)),
    },
    SchedulerName {
        name: "frequency",
        argument: None,
        summary: "like echo-schedule, but without clicks",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: |_| Ok(Box::new(Schedule::frequency())),
    },
    SchedulerName {
        name: "bfs",
        argument: None,
        summary: "each source in turn, with all its new pages",
        scale: "seconds since the last poll",
        plans: false,
        published: true,
        build: |_| Ok(Box::new(Bfs)),
    },
    SchedulerName {
        name: "fixed-quota",
        argument: Some(FIXED_QUOTA),
        summary: "like echo-schedule, with a fixed share of the fetches for polls",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: |argument| {
            let allowed = |share| share > 0.0 && share < 1.0;
            let found = numbers(argument, [Schedule::HALF], [allowed]);
            let [share] = found.ok_or_else(|| FIXED_QUOTA.wrong(SCHEDULER, "fixed-quota"))?;
            Ok(Box::new(Schedule::fixed_quota(share)))
        },
    },
    SchedulerName {
        name: "echo-greedy",
        argument: None,
        summary: "the source with most expected clicks, with all its new pages",
        scale: "expected clicks on new pages",
        plans: false,
        published: true,
        build: |_| Ok(Box::new(Greedy)),
    },
    SchedulerName {
        name: "echo-schedule",
        argument: None,
        summary: "sources at optimal intervals, new pages with what is left",
        scale: "0 until due, then 2e12 × wait / interval",
        plans: true,
        published: true,
        build: |_| Ok(Box::new(Schedule::echo())),
    },
    SchedulerName {
        name: "echo-newpages",
        argument: None,
        summary: "new pages at once, then the most overdue source",
        scale: "wait / interval",
        plans: true,
        published: true,
        build: |_| Ok(Box::new(NewPages::default())),
    },
];

impl SchedulerName {
    /// Returns the expressions by which tests build the scheduler.
    #[cfg(test)]
    pub(crate) fn examples(&self) -> Vec<String> {
        super::argument::examples(self.name, self.argument.as_ref())
    }
}

impl Catalog {
    /// Returns the schedulers.
    pub fn schedulers(&self) -> &'static [SchedulerName] {
        SCHEDULERS
    }

    /// Builds the scheduler of this name.
    ///
    /// # Errors
    ///
    /// If no scheduler has this name, if the name is malformed, or if the scheduler does not take
    /// the argument that follows it. The message says what to write instead.
    pub fn scheduler(&self, name: &str) -> Result<Box<dyn Scheduler>, CatalogError> {
        let (name, argument) = parse_name(SCHEDULER, name)?;
        let names = SCHEDULERS.iter().map(|scheduler| scheduler.name);
        let found = SCHEDULERS.iter().find(|scheduler| scheduler.name == name);
        let found = found.ok_or_else(|| CatalogError::unknown(SCHEDULER, name, names))?;
        if found.argument.is_none() && argument.is_some() {
            return Err(CatalogError::Argument {
                kind: SCHEDULER,
                name: found.name,
                takes: None,
            });
        }
        (found.build)(argument)
    }

    /// Returns the table of schedulers for `--help`.
    pub fn scheduler_help(&self) -> String {
        let rows = SCHEDULERS.iter().map(|scheduler| HelpRow {
            name: named(
                scheduler.name,
                scheduler.argument.map(|argument| argument.form),
            ),
            summary: scheduler.summary,
            scale: scheduler.scale.to_owned(),
            published: scheduler.published,
        });
        format!(
            "Schedulers of sources and the worth of a poll:\n{}\n\
             wait: the time since the last poll; interval: the planned time between two polls. The factor 2e12 puts a poll that is\n\
             due before every page.\n\n\
             Arguments of schedulers:\n{}",
            table(rows.collect()),
            explained(
                SCHEDULERS
                    .iter()
                    .map(|scheduler| (scheduler.name, scheduler.argument))
            )
        )
    }
}
