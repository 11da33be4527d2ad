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
use policy::Moment;

use super::moment;
use crate::LabError;

/// Compression level of zstd files; the default of zstd.
const LEVEL: i32 = 3;

/// A writer of one table, `NAME.tsv.gz`.
pub(crate) struct TableWriter {
    path: PathBuf,
    sink: GzEncoder<BufWriter<File>>,
    line: u64,
    row: String,
}

impl TableWriter {
    /// Creates a table and writes its header.
    pub(crate) fn create(directory: &Path, name: &str, columns: &[&str]) -> Result<Self, LabError> {
        let path = directory.join(format!("{name}.tsv.gz"));
        let file = File::create(&path).map_err(|source| failed(&path, source))?;
        let mut table = Self {
            sink: GzEncoder::new(BufWriter::new(file), Compression::default()),
            path,
            line: 0,
            row: String::new(),
        };
        let columns: Vec<&dyn Display> = columns.iter().map(|name| name as &dyn Display).collect();
        table.row(&columns)?;
        Ok(table)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If a cell contains a tab or a line break, or the file cannot be written.
    pub(crate) fn row(&mut self, cells: &[&dyn Display]) -> Result<(), LabError> {
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
    pub(crate) fn finish(self) -> Result<(), LabError> {
        let flushed = self.sink.finish().and_then(|mut sink| sink.flush());
        flushed.map_err(|source| failed(&self.path, source))
    }

    /// Formats a time for a cell.
    pub(crate) fn time(at: Moment) -> String {
        moment::text(at)
    }
}

/// Writes a zstd file with the content that `fill` writes.
pub(crate) fn create_zst(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let wrong = |source| failed(path, source);
    let file = BufWriter::new(File::create(path).map_err(wrong)?);
    let mut sink = zstd::stream::write::Encoder::new(file, LEVEL).map_err(wrong)?;
    fill(&mut sink)?;
    let flushed = sink.finish().and_then(|mut file| file.flush());
    flushed.map_err(wrong)
}

fn failed(path: &Path, source: std::io::Error) -> LabError {
    LabError::Write {
        path: path.to_owned(),
        source,
    }
}
