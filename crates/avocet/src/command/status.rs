//! `avocet status`: what the store holds, and what a crawl that runs is doing.

use std::path::Path;

use anyhow::{Context, Result};
use repository::index::Index;
use serde_json::{Value, json};

use node::live::running;
use node::store::holdings::Holdings;
use node::store::{self, InUse, Store};

/// Shows the state.
pub fn run(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let state = match Store::open(root) {
        Ok(store) => at_rest(&store)?,
        Err(error) if error.is::<InUse>() => running(root).with_context(|| format!("{error:#}"))?,
        // The ledger cannot be opened on a disk that cannot be written to.
        Err(error) => read_only(root).ok_or(error)?,
    };
    if json {
        outln!("{state}");
        return Ok(());
    }
    outln!("store          {}", root.display());
    for (name, value) in state.as_object().into_iter().flatten() {
        match value {
            Value::Object(kinds) => {
                outln!("{name}");
                kinds
                    .iter()
                    .for_each(|(kind, count)| outln!("  {:>9}  {kind}", count.to_string()));
            }
            other => outln!("{name:<14} {other}"),
        }
    }
    Ok(())
}

/// What can be said of a store on a disk that cannot be written to. `None`: it has no index either.
fn read_only(root: &Path) -> Option<Value> {
    let index = node::store::search_index(root).ok()?;
    Some(json!({
        "running": false,
        "read_only": true,
        "documents": index.count(),
        "archive_bytes": store::size(&store::archive(root)),
        "index_bytes": store::size(&store::index(root)),
    }))
}

fn at_rest(store: &Store) -> Result<Value> {
    let ledger = store.ledger()?;
    let holdings = Holdings::of(&ledger)?;
    let index = Index::open(&store.index())
        .ok()
        .filter(|_| store.index().exists());
    Ok(json!({
        "running": false,
        "urls_seen": holdings.urls_seen,
        "pages": holdings.pages,
        "queued": holdings.queued,
        "hosts": holdings.hosts,
        "documents": index.map(|index| index.count()),
        "archive_bytes": store::size(&store.archive()),
        "ledger_bytes": ledger.disk_bytes()?,
        "index_bytes": store::size(&store.index()),
        "errors": holdings.errors,
    }))
}
