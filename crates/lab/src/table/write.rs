//! Writer of tables.
//!
//! **Invariant:** equal rows give equal bytes: the compressed files hold no timestamp and no file
//! name.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::schema::TableSchema;
use crate::LabError;

/// A writer of one table, `NAME.tsv.gz`, with `N` columns.
pub struct TableWriter<const N: usize> {
    path: PathBuf,
    sink: GzEncoder<BufWriter<File>>,
    line: u64,
    row: String,
}

impl<const N: usize> TableWriter<N> {
    /// Creates a table and writes its header.
    pub fn create(directory: &Path, schema: TableSchema<N>) -> Result<Self, LabError> {
        let path = directory.join(format!("{}.tsv.gz", schema.name));
        let file = File::create(&path).map_err(|source| failed(&path, source))?;
        let mut table = Self {
            sink: GzEncoder::new(BufWriter::new(file), Compression::default()),
            path,
            line: 0,
            row: String::new(),
        };
        table.row(schema.columns.each_ref().map(|name| name as &dyn Display))?;
        Ok(table)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If a cell contains a tab or a line break, or the file cannot be written.
    pub fn row(&mut self, cells: [&dyn Display; N]) -> Result<(), LabError> {
        use std::fmt::Write as _;
        self.line += 1;
        self.row.clear();
        for (n, cell) in cells.iter().enumerate() {
            if n > 0 {
                self.row.push('\t');
            }
            let start = self.row.len();
            // Writing to a string does not fail.
            let _ = write!(self.row, "{cell}");
            let written = &self.row[start..];
            if written.contains(['\t', '\n', '\r']) {
                return Err(LabError::Table {
                    path: self.path.clone(),
                    line: self.line,
                    why: format!(
                        "{written:?} has a tab or a line break, which a table cannot hold"
                    ),
                });
            }
        }
        self.row.push('\n');
        let written = self.sink.write_all(self.row.as_bytes());
        written.map_err(|source| failed(&self.path, source))
    }

    /// Finishes the file.
    pub fn finish(self) -> Result<(), LabError> {
        let flushed = self.sink.finish().and_then(|mut sink| sink.flush());
        flushed.map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: std::io::Error) -> LabError {
    LabError::Write {
        path: path.to_owned(),
        source,
    }
}
