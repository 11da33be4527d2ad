//! Reading and writing of the tables of recorded worlds.
//!
//! Tables are tab-separated UTF-8 with a header row, plain or compressed (`.gz` or `.zst`). Columns
//! are found by their names in the header, so their order is free and unknown columns are
//! ignored.
//!
//! **Invariant:** tables are streamed, never held in memory. Every error in a table names the file
//! and the line.

mod lines;
mod moment;
pub mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use policy::Moment;

use crate::LabError;
pub(crate) use lines::{FilePlace, LineReader};
pub use moment::time_text;
use schema::TableSchema;
pub use write::TableWriter;

/// Greatest length of a row in bytes. URLs and queries are far shorter; a longer row means that
/// the file is not a table.
const LONGEST_ROW: usize = 16 << 20;

/// File name endings of plain and compressed tables.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// Returns the path of the file with this name (`edges.tsv`), plain or compressed. Returns `None`
/// if there is none.
///
/// # Errors
/// If the file exists in several forms, since it is unclear which one is meant.
pub(crate) fn locate(directory: &Path, name: &str) -> Result<Option<PathBuf>, LabError> {
    let paths = PACKED.map(|ending| directory.join(format!("{name}{ending}")));
    let mut there = paths.into_iter().filter(|path| path.is_file());
    let (first, second) = (there.next(), there.next());
    match (&first, second) {
        (Some(first), Some(second)) => Err(LabError::Wish(format!(
            "both {} and {} exist: remove one",
            first.display(),
            second.display()
        ))),
        _ => Ok(first),
    }
}

/// Like [`locate`], but a missing file is an error that names it.
pub(crate) fn find(directory: &Path, name: &str) -> Result<PathBuf, LabError> {
    locate(directory, name)?.ok_or_else(|| LabError::Read {
        path: directory.join(format!("{name}[.gz|.zst]")),
        source: std::io::ErrorKind::NotFound.into(),
    })
}

/// A reader of `N` named columns of a table.
pub(crate) struct Table<const N: usize> {
    lines: LineReader,
    columns: [&'static str; N],
    /// Index of each column in the file.
    places: [usize; N],
    /// Number of columns in the header.
    width: usize,
}

/// The `N` named cells of one row of a [`Table`], in the order of `columns`.
pub(crate) struct TableRow<'a, const N: usize> {
    pub(crate) cells: [&'a str; N],
    columns: [&'static str; N],
    pub(crate) place: FilePlace<'a>,
}

impl<const N: usize> Table<N> {
    /// Opens a table of a directory and reads its header.
    pub(crate) fn open(directory: &Path, schema: TableSchema<N>) -> Result<Self, LabError> {
        Self::open_file(find(directory, &format!("{}.tsv", schema.name))?, schema)
    }

    /// Opens the table in this file and reads its header.
    pub(crate) fn open_file(path: PathBuf, schema: TableSchema<N>) -> Result<Self, LabError> {
        let columns = schema.columns;
        let mut lines = LineReader::open(path, LONGEST_ROW)?;
        let (header, place) = match lines.next()? {
            Some((header, place)) => (header.to_owned(), place),
            None => return Err(lines.place().wrong("there is no header row")),
        };
        let names: Vec<&str> = header.split('\t').collect();
        let mut places = [0; N];
        for (at, column) in places.iter_mut().zip(columns) {
            let mut found = (0..names.len()).filter(|&n| names[n] == column);
            *at = found
                .next()
                .ok_or_else(|| place.wrong(format!("there is no column {column:?}")))?;
            if found.next().is_some() {
                return Err(place.wrong(format!("the column {column:?} occurs twice")));
            }
        }
        Ok(Self {
            width: names.len(),
            lines,
            columns,
            places,
        })
    }

    /// Returns the next row. An empty line at the end of the file is ignored.
    pub(crate) fn next(&mut self) -> Result<Option<TableRow<'_, N>>, LabError> {
        if self.lines.only_an_empty_line_is_left()? {
            return Ok(None);
        }
        let Some((line, place)) = self.lines.next()? else {
            return Ok(None);
        };
        let mut cells = [""; N];
        let mut width = 0;
        for (n, cell) in line.split('\t').enumerate() {
            width = n + 1;
            if let Some(wanted) = self.places.iter().position(|&place| place == n) {
                cells[wanted] = cell;
            }
        }
        if width != self.width {
            let too = if width < self.width { "few" } else { "many" };
            let why = format!("too {too} columns: {width}, not {}", self.width);
            return Err(place.wrong(why));
        }
        Ok(Some(TableRow {
            cells,
            columns: self.columns,
            place,
        }))
    }

    /// Returns the current position, for errors that concern the table as a whole.
    pub(crate) fn place(&self) -> FilePlace<'_> {
        self.lines.place()
    }
}

impl<const N: usize> TableRow<'_, N> {
    /// Parses a cell as a number of type `T`.
    pub(crate) fn number<T: FromStr>(&self, column: usize) -> Result<T, LabError> {
        let cell = self.cells[column];
        let name = self.columns[column];
        cell.parse()
            .map_err(|_| self.place.wrong(format!("invalid {name}: {cell:?}")))
    }

    /// Parses a cell as a time: Unix seconds, whole or with up to six decimals.
    pub(crate) fn moment(&self, column: usize) -> Result<Moment, LabError> {
        let cell = self.cells[column];
        moment::parse(cell).ok_or_else(|| {
            let name = self.columns[column];
            let why = format!("invalid {name}: {cell:?}; seconds since 1970 are expected");
            self.place.wrong(why)
        })
    }

    /// Parses a time in a table that is sorted by it; a time before `last` is an error.
    pub(crate) fn later(&self, column: usize, last: Moment) -> Result<Moment, LabError> {
        let at = self.moment(column)?;
        if at < last {
            let (name, cell) = (self.columns[column], self.cells[column]);
            let why = format!("{name} goes backwards to {cell}: rows must be sorted by {name}");
            return Err(self.place.wrong(why));
        }
        Ok(at)
    }
}
