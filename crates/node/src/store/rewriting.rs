//! Removes records from the archive's files, one file after another, so that a kill at any instant
//! leaves archive and ledger in agreement.
//!
//! The order for each file: the file without the records is written under another name and synced;
//! the journal `REWRITE` is written durably, and from then on the change happens; the ledger
//! commits the new locations in one batch; the new file replaces the old one; the journal is
//! removed. The next opening of the store carries out a journal that is left
//! ([`Store::finish_rewriting`]).
//!
//! **Invariant:** the ledger commits the new locations of a file exactly once. The journal has the
//! sequence number of that commit, so a ledger that has reached it is not changed again.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use ledger::Ledger;
use repository::archive::{self, Cuts, End};
use serde::{Deserialize, Serialize};

use super::{Store, read_json, replace_durably};
use crate::fault;

/// A change of one file that has been decided.
#[derive(Debug, Serialize, Deserialize)]
struct RewriteJournal {
    /// The number of the ledger's commit with the new locations.
    sequence: u64,
    cuts: Cuts,
}

impl Store {
    /// Removes records from one file of the archive. All files must be complete
    /// (`recovery::close_archive`).
    pub fn remove_records(&self, ledger: &Ledger, cuts: &Cuts) -> Result<()> {
        archive::write_without(&self.archive(), cuts)?;
        fault::point("rewritten");
        let journal = RewriteJournal {
            sequence: ledger.sequence()? + 1,
            cuts: cuts.clone(),
        };
        let text = serde_json::to_vec(&journal)?;
        replace_durably(&self.journal(), &text)
            .with_context(|| format!("cannot write {}", self.journal().display()))?;
        fault::point("journal");
        self.carry_out(ledger, &journal)
    }

    /// Carries out the journal that a killed process left, if there is one.
    pub(super) fn finish_rewriting(&self) -> Result<()> {
        match read_json::<RewriteJournal>(&self.journal()) {
            Some(journal) => self.carry_out(&*self.ledger()?, &journal),
            None => Ok(()),
        }
    }

    /// Carries out the journal before the ledger is made again from the archive. A damaged ledger
    /// is left as it is.
    pub(super) fn finish_rewriting_to_rebuild(&self) -> Result<()> {
        let Some(journal) = read_json::<RewriteJournal>(&self.journal()) else {
            return Ok(());
        };
        let ledger = self.existing_ledger();
        let done = ledger.is_some_and(|ledger| self.carry_out(&ledger, &journal).is_ok());
        if !done {
            archive::replace(&self.archive(), journal.cuts.file)?;
            self.remove_journal()?;
        }
        Ok(())
    }

    fn carry_out(&self, ledger: &Ledger, journal: &RewriteJournal) -> Result<()> {
        let cuts = &journal.cuts;
        if ledger.sequence()? < journal.sequence {
            let end = ledger.archive_end()?;
            let end = end.map(|(file, offset)| cuts.moved_end(End { file, offset }));
            let passed_over = ledger.passed_over()?.into_iter();
            let passed_over: Vec<(u32, u64)> = passed_over
                .map(|(file, offset)| cuts.moved_end(End { file, offset }))
                .map(|place| (place.file, place.offset))
                .collect();
            let end = end.map(|end| (end.file, end.offset));
            ledger.relocate(|at| cuts.moved(at), end, &passed_over)?;
        }
        fault::point("relocated");
        archive::replace(&self.archive(), cuts.file)?;
        fault::point("replaced");
        self.remove_journal()
    }

    fn remove_journal(&self) -> Result<()> {
        fs::remove_file(self.journal()).context("cannot remove the journal of a rewriting")?;
        self.sync()
    }

    fn journal(&self) -> PathBuf {
        self.root.join("REWRITE")
    }
}
