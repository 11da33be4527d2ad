//! By which names does the user know the schedulers of content sources?

use super::expression::{SCHEDULER, parse_name};
use super::{Catalog, CatalogError, table};
use crate::source::{Bfs, Scheduler};

/// A scheduler, by name.
#[derive(Debug, Clone, Copy)]
pub struct SchedulerName {
    /// What the user writes.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What a poll is worth to it.
    pub scale: &'static str,
    /// Makes one.
    pub build: fn() -> Box<dyn Scheduler>,
}

/// The schedulers, the plain ones first.
pub const SCHEDULERS: &[SchedulerName] = &[SchedulerName {
    name: "bfs",
    summary: "every source in turn, and all that is new on it",
    scale: "seconds since the last poll",
    build: || Box::new(Bfs),
}];

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
        let rows = SCHEDULERS.iter().map(|scheduler| {
            let scale = scheduler.scale.to_owned();
            (scheduler.name.to_owned(), scheduler.summary, scale)
        });
        format!(
            "Schedulers of sources, and what a poll is worth to them:\n{}",
            table(rows.collect())
        )
    }
}
