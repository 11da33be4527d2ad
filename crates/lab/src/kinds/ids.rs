//! What do the tables call their objects?
//!
//! **Invariant:** an id stands for one object; a table that gives it to two is refused.

use std::collections::{HashMap, HashSet};

use crate::LabError;
use crate::table::{Row, Table};

/// Ids and what is beside them, in the order of a table that gives each object one row.
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

/// The objects by their ids.
pub(super) fn places(ids: &[Box<str>]) -> HashMap<&str, u32> {
    ids.iter().map(|id| &**id).zip(0..).collect()
}

/// The object that a cell names: a page, a source, …
pub(super) fn found<const N: usize>(
    places: &HashMap<&str, u32>,
    row: &Row<'_, N>,
    column: usize,
    what: &str,
) -> Result<u32, LabError> {
    let id = row.cells[column];
    let place = places.get(id).copied();
    place.ok_or_else(|| row.place.wrong(format!("{id:?} names no {what}")))
}
