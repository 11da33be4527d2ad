//! `avocet status`: prints what the store holds and what a running crawl does.

use std::path::Path;

use anyhow::{Context, Result, bail};
use repository::index::Index;
use serde_json::{Value, json};

use crate::cli::StatusArguments;
use node::live::running;
use node::number::{amount, bytes, counted, rate};
use node::recovery::searches::AttentionReport;
use node::socket::StoreClient;
use node::store::holdings::Holdings;
use node::store::{self, InUse, Store};

/// Prints the state of the store: a summary, or all figures with `--json`.
pub fn run(root: &Path, json: bool, arguments: &StatusArguments) -> Result<()> {
    store::must_exist(root)?;
    if arguments.running && StoreClient::connect(root).is_none() {
        bail!("no crawl runs on the store {}", root.display());
    }
    let mut state = match Store::open(root) {
        Ok(store) => at_rest(&store)?,
        Err(error) if error.is::<InUse>() => running(root).with_context(|| format!("{error:#}"))?,
        // The ledger cannot be opened on a read-only disk.
        Err(error) => read_only(root).ok_or(error)?,
    };
    let attention = AttentionReport::of(root)?;
    state["attention"] = json!(attention);
    if json {
        outln!("{state}");
        return Ok(());
    }
    let mut lines = summary(root, &state);
    if attention.clicks > 0 {
        lines.push(("attention", format!("of searchers: {attention}")));
    }
    for (name, text) in lines {
        outln!("{name:<9} {text}");
    }
    Ok(())
}

/// Returns the lines of the summary, each with its name. Figures that the state lacks are left out.
fn summary(root: &Path, state: &Value) -> Vec<(&'static str, String)> {
    let count = |name: &str| state[name].as_u64();
    let mut lines = vec![("store", root.display().to_string())];
    lines.push(("crawl", activity(state)));
    let pages = [
        count("urls_seen").map(|urls| format!("{} known", counted(urls, "URL"))),
        count("queued").map(|urls| format!("{urls} to fetch")),
        count("due").map(|urls| format!("{urls} of these due now")),
        (count("deferred").filter(|urls| *urls > 0))
            .map(|urls| format!("{urls} of these deferred by a domain's page budget")),
        count("hosts").map(|hosts| counted(hosts, "host")),
    ];
    lines.extend(joined("pages", pages));
    let copies = [
        (count("pages").filter(|_| state["running"] == false)).map(|pages| counted(pages, "page")),
        count("documents").map(|pages| format!("{pages} searchable")),
    ];
    lines.extend(joined("copies", copies));
    lines.extend(fetches(state));
    let size = |name: &str, key: &str| {
        let size = state[key].as_f64();
        size.map(|size| format!("{name} {}", bytes(size)))
    };
    let sizes = [
        size("archive", "archive_bytes"),
        size("ledger", "ledger_bytes"),
        size("index", "index_bytes"),
    ];
    lines.extend(joined("disk", sizes));
    let errors = state["errors"].as_object().into_iter().flatten();
    let errors: Vec<String> = errors
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if !errors.is_empty() {
        lines.push(("errors", errors.join(", ")));
    }
    lines
}

/// Describes the crawl that runs on the store, or says that none does.
fn activity(state: &Value) -> String {
    if state["read_only"] == true {
        return "none; the disk is read-only".into();
    }
    if state["running"] == false {
        return "none is running".into();
    }
    let mode = state["mode"].as_str().unwrap_or("running");
    let process = state["process"].as_u64();
    let process = process.map_or(String::new(), |process| format!(", process {process}"));
    let since = state["since"].as_str();
    let since = since.map_or(String::new(), |since| format!(", since {since}"));
    let address = state["address"].as_str();
    let address = address.map_or(String::new(), |address| format!(", serving at {address}"));
    format!("{mode}{process}{since}{address}")
}

/// Returns the lines about the fetches of a running crawl.
fn fetches(state: &Value) -> Vec<(&'static str, String)> {
    let Some(fetches) = state["fetches"].as_object() else {
        return Vec::new();
    };
    let count = |kind: &str| fetches.get(kind).and_then(Value::as_u64).unwrap_or(0);
    let mut lines = vec![(
        "fetches",
        format!(
            "{}, {}, {} of sources, {} for robots.txt and probes",
            counted(count("new"), "new page"),
            counted(count("refresh"), "refresh"),
            counted(count("source"), "poll"),
            count("overhead")
        ),
    )];
    if let Some(now) = state["fetches_per_second"].as_f64() {
        let allowed = state["budget"].as_f64();
        let allowed = allowed.map(|budget| format!("; the budget is {}", rate(budget, "fetch")));
        lines.push((
            "rate",
            format!("{}{}", rate(now, "fetch"), allowed.unwrap_or_default()),
        ));
    }
    if let Some(price) = state["price"].as_f64() {
        let text = format!(
            "{} (the least worth at which a page is fetched)",
            amount(price)
        );
        lines.push(("price", text));
    }
    let policies = [
        ("ordering", "order"),
        ("servers", "servers"),
        ("refresh", "refresh"),
        ("sources", "sources"),
    ];
    let policies = policies.map(|(name, key)| {
        let policy = state["policies"][key].as_str();
        policy.map(|policy| format!("{name} {policy}"))
    });
    lines.extend(joined("policies", policies));
    lines
}

/// Joins the texts that are present to one line. Returns `None` if there are none.
fn joined<const N: usize>(
    name: &'static str,
    texts: [Option<String>; N],
) -> Option<(&'static str, String)> {
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| (name, texts.join(", ")))
}

/// Returns the state of a store on a read-only disk, or `None` if it has no index.
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

/// Returns the state of a store that no crawl uses.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(state: &Value) -> String {
        let lines = summary(Path::new("docs"), state).into_iter();
        let lines: Vec<String> = lines
            .map(|(name, text)| format!("{name}: {text}"))
            .collect();
        lines.join("\n")
    }

    #[test]
    fn a_store_at_rest_is_summarized() {
        let state = json!({
            "running": false, "urls_seen": 12, "pages": 9, "queued": 2, "hosts": 1,
            "documents": 8, "archive_bytes": 12_300_000, "ledger_bytes": 900, "index_bytes": 4_000,
            "errors": { "robots": 1 },
        });
        let expected = "store: docs\ncrawl: none is running\n\
                        pages: 12 URLs known, 2 to fetch, 1 host\n\
                        copies: 9 pages, 8 searchable\n\
                        disk: archive 12.3 MB, ledger 900 B, index 4 kB\nerrors: robots 1";
        assert_eq!(text(&state), expected);
    }

    #[test]
    fn a_running_crawl_is_summarized() {
        let state = json!({
            "running": true, "mode": "paused", "process": 7, "address": "http://127.0.0.1:1",
            "urls_seen": 1, "pages": 9, "queued": 2, "due": 1, "budget": 10.0, "price": 4e-5,
            "fetches": { "new": 5, "refresh": 4, "source": 3, "overhead": 2 },
            "fetches_per_second": 0.5, "policies": { "order": "rankmass", "refresh": "holistic" },
            "errors": {},
        });
        let said = text(&state);
        for part in [
            "crawl: paused, process 7, serving at http://127.0.0.1:1",
            "pages: 1 URL known, 2 to fetch, 1 of these due now",
            "fetches: 5 new pages, 4 refreshes, 3 polls of sources, 2 for robots.txt and probes",
            "rate: 30 fetches a minute; the budget is 10 fetches a second",
            "price: 40 millionths",
            "policies: ordering rankmass, refresh holistic",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
