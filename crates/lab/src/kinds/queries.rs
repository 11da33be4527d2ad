//! A query log: queries and their frequencies.
//!
//! It is read from `queries.tsv` (query, count).
//!
//! **Invariant:** the rows are kept as read, without case folding or merging of duplicates.

use std::path::Path;

use crate::LabError;
use crate::table::schema::QUERIES;
use crate::table::{Table, TableWriter};

/// Queries and their frequencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queries {
    /// Each query with its count, in the order of the table.
    pub queries: Vec<(String, u32)>,
}

impl Queries {
    /// Reads `queries.tsv` of a directory.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        Self::of(Table::open(directory, QUERIES)?)
    }

    /// Reads a table of any file name, or the `queries` table of a directory.
    pub fn read_from(path: &Path) -> Result<Self, LabError> {
        match path.is_dir() {
            true => Self::read(path),
            false => Self::of(Table::open_file(path.to_owned(), QUERIES)?),
        }
    }

    fn of(mut table: Table<2>) -> Result<Self, LabError> {
        let mut queries = Vec::new();
        while let Some(row) = table.next()? {
            queries.push((row.cells[0].to_owned(), row.number(1)?));
        }
        Ok(Self { queries })
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.queries
            .iter()
            .map(|(_, count)| u64::from(*count))
            .sum()
    }

    /// Writes the table.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let mut table = TableWriter::create(directory, QUERIES)?;
        for (query, count) in &self.queries {
            table.row([query, count])?;
        }
        table.finish()
    }
}
