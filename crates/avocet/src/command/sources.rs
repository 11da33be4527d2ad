//! `avocet sources`: lists the pages that are polled to find new pages, or named a new page before.

use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::SourcesArguments;
use node::explain::sources::{Listed, at_rest, running};
use node::number::{counted, duration};
use node::store::{self, Store};

/// Prints the sources of a store, or of the crawl that runs on it.
pub fn run(root: &Path, json: bool, arguments: &SourcesArguments) -> Result<()> {
    store::must_exist(root)?;
    let mut listed = match Store::open(root) {
        Ok(store) => at_rest(&store, &*store.ledger()?)?,
        Err(in_use) => running(root).with_context(|| format!("{in_use:#}"))?,
    };
    listed
        .sources
        .retain(|row| arguments.all || row.on || row.found > 0);
    let passed = listed.sources.len().saturating_sub(arguments.limit);
    listed.sources.truncate(arguments.limit);
    if json {
        outln!("{}", serde_json::to_string(&listed)?);
        return Ok(());
    }
    print(&listed, passed);
    Ok(())
}

fn print(listed: &Listed, passed: usize) {
    if listed.sources.is_empty() {
        outln!("no sources yet: `avocet run` finds them among home pages, sitemaps and feeds");
        return;
    }
    outln!("   new/day    profit  lost/day     every  found  kind     source");
    for row in &listed.sources {
        let every = row.interval_hours.filter(|_| row.on);
        let every = every.map_or("off".into(), |hours| duration(hours * 3600.0));
        outln!(
            "{:>10.2} {:>9.3} {:>8.0}% {every:>9} {:>6}  {:<7}  {}",
            row.new_a_day,
            row.profit,
            row.lost_in_a_day * 100.0,
            row.found,
            row.kind,
            row.url,
        );
        outln!("{:>56}  {}", "", row.why);
    }
    if passed > 0 {
        outln!("and {passed} more: --limit N shows them");
    }
    if let Some(cover) = listed.cover.as_ref().filter(|cover| cover.new_pages > 0) {
        outln!(
            "{} so far; to find 80 % of them, it is enough to poll {} of {}",
            counted(cover.new_pages, "new page"),
            cover.for_80_percent,
            counted(cover.sources, "linking page")
        );
    }
}
