//! `avocet sources`: the pages that are polled for new ones.

use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::Sources;
use node::explain::sources::{Listed, at_rest, running};
use node::store::{self, Store};

/// Lists the sources.
pub fn run(root: &Path, json: bool, wishes: &Sources) -> Result<()> {
    store::must_exist(root)?;
    let mut listed = match Store::open(root) {
        Ok(store) => at_rest(&store, &store.ledger()?)?,
        Err(in_use) => running(root).with_context(|| format!("{in_use:#}"))?,
    };
    listed
        .sources
        .retain(|row| wishes.all || row.on || row.found > 0);
    let passed = listed.sources.len().saturating_sub(wishes.limit);
    listed.sources.truncate(wishes.limit);
    if json {
        outln!("{}", serde_json::to_string(&listed)?);
        return Ok(());
    }
    print(&listed, passed);
    Ok(())
}

fn print(listed: &Listed, passed: usize) {
    if listed.sources.is_empty() {
        outln!(
            "no sources yet: `avocet run` finds them as it reads main pages, sitemaps and feeds"
        );
        return;
    }
    outln!("   new/day    profit  lost/day     every  found  kind     source");
    for row in &listed.sources {
        let every = match row.interval_hours.filter(|_| row.on) {
            Some(hours) if hours < 0.05 => format!("{:.0} s", hours * 3600.0),
            Some(hours) if hours < 1.0 => format!("{:.0} min", hours * 60.0),
            Some(hours) if hours < 72.0 => format!("{hours:.1} h"),
            Some(hours) => format!("{:.1} d", hours / 24.0),
            None => "off".into(),
        };
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
            "{} new pages so far; {} of the {} pages that name any reach 80% of them",
            cover.new_pages,
            cover.for_80_percent,
            cover.sources
        );
    }
}
