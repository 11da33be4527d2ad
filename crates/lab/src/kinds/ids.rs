//! Ids of the objects in tables.
//!
//! **Invariant:** an id denotes one object; a table that defines it twice is rejected.

use std::collections::{HashMap, HashSet};

use crate::LabError;
use crate::table::{Table, TableRow};

/// Reads ids and the second column of a table that has one row per object.
pub(super) fn named(table: &mut Table<2>) -> Result<(Vec<Box<str>>, Vec<String>), LabError> {
    let mut known: HashSet<Box<str>> = HashSet::new();
    let (mut ids, mut rest) = (Vec::new(), Vec::new());
    while let Some(row) = table.next()? {
        let [id, beside] = row.cells;
        if !known.insert(id.into()) {
            return Err(row.place.wrong(format!("the id {id:?} is used twice")));
        }
        ids.push(id.into());
        rest.push(beside.to_owned());
    }
    Ok((ids, rest))
}

/// Returns the numbers of objects by id.
pub(super) fn places(ids: &[Box<str>]) -> HashMap<&str, u32> {
    ids.iter().map(|id| &**id).zip(0..).collect()
}

/// Finds the object that a cell refers to; `what` names its kind in the error.
pub(super) fn found<const N: usize>(
    places: &HashMap<&str, u32>,
    row: &TableRow<'_, N>,
    column: usize,
    what: &str,
) -> Result<u32, LabError> {
    let id = row.cells[column];
    let place = places.get(id).copied();
    place.ok_or_else(|| row.place.wrong(format!("{id:?} names no {what}")))
}
