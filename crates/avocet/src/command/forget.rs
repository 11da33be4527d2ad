//! `avocet forget`: removes pages for good, and keeps crawls from fetching them again.

use std::path::Path;

use anyhow::Result;
use crawl::ForgottenPages;
use serde_json::json;

use crate::cli::ForgetArguments;
use crate::logs::say;
use node::access::{StoreToWrite, StoreView};
use node::forget::{ForgetEntry, ForgetLog, ForgetStep, Removed, allow, forget, preview};
use node::number::{bytes, counted};
use node::settings::Usage;
use node::store;

/// Removes pages, shows what would be removed, allows pages again, or lists what was forgotten.
pub fn run(root: &Path, json: bool, arguments: &ForgetArguments) -> Result<()> {
    let Some(target) = arguments.target.as_deref().map(str::trim) else {
        return list(root, json);
    };
    let pages = ForgottenPages::parse(target).map_err(Usage)?;
    if arguments.dry_run && !arguments.allow {
        let store = StoreView::open(root)?;
        let removed = preview(store.ledger(), &store.archive(), &pages)?;
        report(json, target, true, &removed);
        return Ok(());
    }
    let store = StoreToWrite::open(root)?;
    if arguments.allow {
        let was = allow(&store, target)?;
        let said = match was {
            true => "crawls may fetch these pages again",
            false => "these pages were not forgotten; `avocet forget --list` shows what was",
        };
        print(json, &json!({ "target": target, "allowed": was }), said);
        return Ok(());
    }
    let removed = forget(&store, &*store.ledger()?, target, &pages)?;
    report(json, target, false, &removed);
    say("logs of searches and clicks, topics, exports and backups are not changed");
    Ok(())
}

fn report(json: bool, target: &str, dry_run: bool, removed: &Removed) {
    let verb = if dry_run {
        "would be removed"
    } else {
        "removed"
    };
    let said = format!("{} {verb}", described(removed));
    let answer = json!({ "target": target, "dry_run": dry_run, "removed": removed });
    print(json, &answer, &said);
}

fn described(removed: &Removed) -> String {
    format!(
        "{} ({} in the index), {} ({}) in {}",
        counted(removed.urls, "URL"),
        removed.documents,
        counted(removed.records, "archive record"),
        bytes(removed.bytes as f64),
        counted(removed.files, "file")
    )
}

fn list(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let log = ForgetLog::read(root)?;
    if json {
        let entries = log.entries();
        outln!(
            "{}",
            json!({ "forgotten": log.targets(), "entries": entries })
        );
        return Ok(());
    }
    if log.entries().is_empty() {
        outln!("nothing was forgotten");
    }
    for ForgetEntry {
        at,
        target,
        step,
        removed,
    } in log.entries()
    {
        let step = match step {
            ForgetStep::Begun => "begun",
            ForgetStep::Done => "done",
            ForgetStep::Allowed => "allowed again",
        };
        let removed = removed.map_or(String::new(), |removed| {
            format!(": {}", described(&removed))
        });
        outln!("{at}  {target}  {step}{removed}");
    }
    Ok(())
}

fn print(json: bool, answer: &serde_json::Value, said: &str) {
    match json {
        true => outln!("{answer}"),
        false => outln!("{said}"),
    }
}
