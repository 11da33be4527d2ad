//! `avocet verify`: do archive, ledger and index say the same?

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};
use repository::archive::{self, Digest};
use repository::index::Index;
use serde_json::json;

use crate::place::location;
use crate::recover;
use crate::store::Store;

/// Verifies.
pub fn run(root: &Path, json: bool) -> Result<()> {
    let store = Store::open(root)?;
    let ledger = store.ledger()?;
    let mut problems: Vec<String> = Vec::new();
    let mut expected = HashSet::new();
    let (mut urls, mut copies) = (0u64, 0u64);
    for known in ledger.scan() {
        let known = known?;
        urls += 1;
        let Some(copy) = known.visited.and_then(|visited| visited.copy) else {
            continue;
        };
        if copy.indexed {
            expected.insert(known.key.page);
        }
        let Some(place) = copy.place else { continue };
        copies += 1;
        let at = location(place);
        match archive::read(&store.archive(), &at) {
            Ok(record) if Digest::of(&[&record.body()]) == Digest(copy.payload) => {}
            Ok(_) => problems.push(format!(
                "{}: the archive holds another body",
                known.discovery.url
            )),
            Err(error) => problems.push(format!("{}: {error}", known.discovery.url)),
        }
    }
    let mut documents = 0;
    if store.index().exists() {
        drop(recover::open_index(&store, &ledger)?);
        let index = Index::open(&store.index())?;
        problems.extend(
            index
                .verify()?
                .iter()
                .map(|path| format!("{}: damaged", path.display())),
        );
        let mut found = HashSet::new();
        index.ids(|id| {
            if !found.insert(id) {
                problems.push(format!("{id:?} is in the index twice"));
            }
        })?;
        documents = found.len();
        problems.extend(
            expected
                .difference(&found)
                .map(|id| format!("{id:?} is not in the index")),
        );
        problems.extend(
            found
                .difference(&expected)
                .map(|id| format!("{id:?} is in the index and should not be")),
        );
    }
    if json {
        println!(
            "{}",
            json!({ "urls": urls, "copies": copies, "documents": documents, "problems": problems })
        );
    } else {
        println!("{urls} URLs, {copies} copies in the archive, {documents} documents in the index");
        problems.iter().for_each(|problem| println!("  {problem}"));
    }
    if !problems.is_empty() {
        bail!(
            "{} problems found: `avocet rebuild` makes ledger and index anew from the archive",
            problems.len()
        );
    }
    Ok(())
}
