//! The progress of an export that goes over all pages of the ledger.

use std::cell::Cell;
use std::io::IsTerminal;

use anyhow::Result;
use node::access::StoreView;
use node::work_progress::{WorkProgress, WorkUnit};

use crate::progress_bar::Bar;

/// Shows how many of the pages of the ledger an export has gone over.
pub(super) struct ExportBar {
    /// `None` if standard output is a terminal: the lines of the export are there.
    bar: Option<Bar>,
    done: Cell<u64>,
}

impl ExportBar {
    /// Counts the pages and begins.
    pub fn begin(store: &StoreView, what: &str) -> Result<Self> {
        let bar = (!std::io::stdout().is_terminal()).then(Bar::new);
        if let Some(bar) = &bar {
            let pages = store.ledger().pages_known()?;
            let what = format!("exporting {what}: pages read");
            WorkProgress::begin(bar, &what, pages, WorkUnit::Steps);
        }
        Ok(Self {
            bar,
            done: Cell::new(0),
        })
    }

    /// One more page is read.
    pub fn step(&self) {
        self.done.set(self.done.get() + 1);
        if let Some(bar) = &self.bar {
            bar.reach(self.done.get());
        }
    }
}
