//! What do the rows of a table say?
//!
//! Tab-separated, UTF-8, a header row; plain, `.gz` or `.zst`, whichever is there. Columns are found by
//! their names in the header, so their order is free and further ones do no harm.
//! **Invariant:** a table is streamed, never held; whatever is wrong with it is named by file and line.

mod lines;
mod moment;
mod write;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use policy::Moment;

use crate::LabError;
pub(crate) use lines::{Lines, Place};
pub(crate) use write::{TableWriter, create_zst};

/// Bytes of a row: a URL or a query is far shorter, and what is longer is no table.
const LONGEST_ROW: usize = 16 << 20;

/// How a table may be packed: what its name ends with.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// The file of this name (`edges.tsv`) as it is, or packed. Returns `None` if there is none.
///
/// Two of them are an error: nobody can tell which one is meant.
pub(crate) fn locate(directory: &Path, name: &str) -> Result<Option<PathBuf>, LabError> {
    let paths = PACKED.map(|ending| directory.join(format!("{name}{ending}")));
    let mut there = paths.into_iter().filter(|path| path.is_file());
    let (first, second) = (there.next(), there.next());
    match (&first, second) {
        (Some(first), Some(second)) => Err(LabError::Wish(format!(
            "both {} and {} are there: remove one",
            first.display(),
            second.display()
        ))),
        _ => Ok(first),
    }
}

/// The file of this name as it is, or packed; none is an error that names it.
pub(crate) fn find(directory: &Path, name: &str) -> Result<PathBuf, LabError> {
    locate(directory, name)?.ok_or_else(|| LabError::Read {
        path: directory.join(format!("{name}[.gz|.zst]")),
        source: std::io::ErrorKind::NotFound.into(),
    })
}

/// A table that is read for these `N` columns.
pub(crate) struct Table<const N: usize> {
    lines: Lines,
    columns: [&'static str; N],
    /// Where the columns stand.
    places: [usize; N],
    /// How many columns the header names.
    width: usize,
}

/// A row of it.
pub(crate) struct Row<'a, const N: usize> {
    pub(crate) cells: [&'a str; N],
    columns: [&'static str; N],
    pub(crate) place: Place<'a>,
}

impl<const N: usize> Table<N> {
    /// Opens the table of this name, without `.tsv`, and reads its header.
    pub(crate) fn open(
        directory: &Path,
        name: &str,
        columns: [&'static str; N],
    ) -> Result<Self, LabError> {
        Self::open_file(find(directory, &format!("{name}.tsv"))?, columns)
    }

    /// Opens the table in this file and reads its header.
    pub(crate) fn open_file(path: PathBuf, columns: [&'static str; N]) -> Result<Self, LabError> {
        let mut lines = Lines::open(path, LONGEST_ROW)?;
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
                return Err(place.wrong(format!("the column {column:?} is there twice")));
            }
        }
        Ok(Self {
            width: names.len(),
            lines,
            columns,
            places,
        })
    }

    /// The next row. An empty last line is none.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_, N>>, LabError> {
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
        Ok(Some(Row {
            cells,
            columns: self.columns,
            place,
        }))
    }

    /// Where the reading is: for what is wrong with the table as a whole.
    pub(crate) fn place(&self) -> Place<'_> {
        self.lines.place()
    }
}

impl<const N: usize> Row<'_, N> {
    /// A cell as a number.
    pub(crate) fn number<T: FromStr>(&self, column: usize) -> Result<T, LabError> {
        let cell = self.cells[column];
        let name = self.columns[column];
        cell.parse()
            .map_err(|_| self.place.wrong(format!("{cell:?} is no {name}")))
    }

    /// A cell as a time: Unix seconds, whole or with up to six decimals.
    pub(crate) fn moment(&self, column: usize) -> Result<Moment, LabError> {
        let cell = self.cells[column];
        moment::parse(cell).ok_or_else(|| {
            let name = self.columns[column];
            let why = format!("{cell:?} is no {name}: seconds since 1970 are expected");
            self.place.wrong(why)
        })
    }

    /// The same, in a table that is sorted by it: never before the `last` one.
    pub(crate) fn later(&self, column: usize, last: Moment) -> Result<Moment, LabError> {
        let at = self.moment(column)?;
        if at < last {
            let (name, cell) = (self.columns[column], self.cells[column]);
            let why = format!("{name} goes backwards to {cell}: rows are sorted by it");
            return Err(self.place.wrong(why));
        }
        Ok(at)
    }
}
