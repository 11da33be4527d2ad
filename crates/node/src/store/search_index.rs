//! Opens the index of a store for search, without a lock on the store.

use std::path::Path;

use anyhow::{Context, Result, bail};
use repository::index::{Index, IndexError};

use super::{index, must_exist};

/// Opens the index of the store at `root`. Returns an error if it has none.
pub fn search_index(root: &Path) -> Result<Index> {
    must_exist(root)?;
    let path = index(root);
    if !path.exists() {
        bail!(
            "the store {} has no index: it was crawled with --no-index; crawl again without that flag",
            root.display()
        );
    }
    let opened = Index::open(&path);
    let mended = matches!(opened, Err(IndexError::Damaged { .. }));
    opened.with_context(|| {
        if mended {
            format!(
                "`avocet rebuild --store {}` makes the index again from the archive",
                root.display()
            )
        } else {
            format!("the index in {}", path.display())
        }
    })
}
