//! Tests of `avocet export world`: the experiments of the lab run on the web of a store.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use lab::loopback::Press;
use lab::world::{World, WorldPart};
use node::store::Store;
use serde_json::{Value, json};

use crate::program::{TestProgram, below, holds, words};
use crate::sources::{at, news, poll_without_rest};

/// What the ledger of a store says, to compare with its world.
#[derive(Debug, Default)]
struct LedgerCounts {
    /// Pages whose copy has text.
    texts: u64,
    /// First texts of these pages, and changes.
    versions: u64,
    /// Links between these pages.
    links: u64,
    /// Pages that appeared on a page that had been read without them.
    new: usize,
}

fn count(program: &TestProgram) -> LedgerCounts {
    let store = Store::open(&program.store()).unwrap();
    let ledger = store.ledger().unwrap();
    let mut counts = LedgerCounts::default();
    let (mut texts, mut orders) = (HashSet::new(), HashSet::new());
    for known in ledger.scan() {
        let known = known.unwrap();
        counts.new += usize::from(known.discovery.absent.is_some());
        let copy = known.visited.as_ref().and_then(|last| last.copy.as_ref());
        if copy.is_some_and(|copy| copy.text.is_some()) {
            texts.insert(known.key);
            orders.insert(known.discovery.order as u32);
            counts.versions += u64::from(1 + known.history().changes);
        }
    }
    for links in ledger.all_links() {
        let (key, links) = links.unwrap();
        if texts.contains(&key) {
            let to = links.links().filter(|(to, _)| orders.contains(to));
            counts.links += to.count() as u64;
        }
    }
    counts.texts = texts.len() as u64;
    counts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_a_world_for_every_experiment() {
    // Ten minutes of this world pass in one second.
    let press = Arc::new(Press::new(news(), at(100 * 3600), 600.0));
    let listening = press.listen(None).await.unwrap();
    let program = TestProgram::new();
    poll_without_rest(&program);
    let line = format!(
        "run http://s0.example/ http://s1.example/ http://s2.example/ --proxy {} --delay 0s \
         --budget 400/s --time 8s",
        listening.url()
    );
    program.json(&words(&line));
    for query in ["number3", "Number3", "source"] {
        program.json(&["search", query]);
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap().as_secs();
    let clicks = program.path("clicks.tsv");
    let lines: String = [
        "http://s0.example/article-7",
        "http://s0.example/article-9",
        "http://s0.example/",
    ]
    .iter()
    .map(|url| format!("{url}\t{now}\t5\n"))
    .collect();
    fs::write(&clicks, lines).unwrap();
    program.json(&["import", "clicks", clicks.to_str().unwrap()]);

    let out = program.path("my-web");
    let world = out.to_str().unwrap();
    let summary = program.json(&["export", "world", "--out", world]);
    let counts = count(&program);
    assert!(counts.new > 20, "{counts:?}");
    holds(
        &summary,
        &json!({
            "nodes": counts.texts, "pages": counts.texts, "versions": counts.versions,
            "edges": counts.links, "sources": 3, "queries": 2, "searches": 3,
            "clicks": 10, "clicks_elsewhere": 5, "damaged": 0,
        }),
    );
    let World::News(news) = World::open_part(world, &[], 1, WorldPart::Sources).unwrap() else {
        panic!("a world with sources has news");
    };
    let beginning = news.links()[0].from;
    let mut old = HashSet::new();
    old.extend(
        news.links()
            .iter()
            .filter(|link| link.from == beginning)
            .map(|link| link.article),
    );
    assert_eq!(news.articles().len() - old.len(), counts.new);

    // The store was crawled for seconds only, so the step of a refresh is short.
    for line in [
        "ordering",
        "servers",
        "currency",
        "refresh --step 50ms --budget 0.05,0.2",
        "ephemeral",
        "partition",
        "world",
    ] {
        let found = program.json(&words(&format!("lab {line} --world {world}")));
        holds(
            &found,
            &json!({ "experiment": words(line)[0], "world": world }),
        );
        assert!(!found["rows"].as_array().unwrap().is_empty(), "{line}");
    }
    let described = program.json(&["lab", "world", "--world", world]);
    let value = |part: &str, metric: &str| {
        let rows = described["rows"].as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["metric"] == metric && row["params"]["part"] == part);
        rows.next().unwrap()["value"].as_f64().unwrap() as u64
    };
    for (part, metric, expected) in [
        ("corpus", "versions", &summary["versions"]),
        ("corpus", "asked", &summary["searches"]),
        ("graph", "links", &summary["edges"]),
        ("news", "shown", &summary["links"]),
        ("news", "clicks", &summary["clicks"]),
    ] {
        assert_eq!(json!(value(part, metric)), *expected, "{metric} of {part}");
    }

    // The same store gives the same bytes, and a directory is never overwritten.
    let again = program.path("again");
    program.run(&["export", "world", "--out", again.to_str().unwrap()]);
    let files = |root: &std::path::Path| -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = below(root)
            .iter()
            .map(|path| {
                (
                    path.file_name().unwrap().to_string_lossy().into(),
                    fs::read(path).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    };
    assert!(files(&out) == files(&again), "two exports differ");
    let (code, said) = program.fail(&["export", "world", "--out", world]);
    assert!(
        code == Some(1) && said.contains("not overwritten"),
        "{said}"
    );
    let (code, said) = program.fail(&["export", "world"]);
    assert!(code == Some(2) && said.contains("--out DIR"), "{said}");
    let leftovers = below(program.path("").as_path());
    let unfinished = |path: &&std::path::PathBuf| path.to_string_lossy().contains(".part");
    assert_eq!(leftovers.iter().find(unfinished), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_searches_and_changes_is_a_world_too() {
    let serving = crate::webs::serve(crate::webs::plain(33, 1, 20)).await;
    let program = TestProgram::new();
    program.json(&crate::webs::crawl(&serving.homes(), &[]));
    let world = program.path("my-web");
    let world = world.to_str().unwrap();
    let summary = program.json(&["export", "world", "--out", world]);
    let counts = count(&program);
    holds(
        &summary,
        &json!({ "nodes": counts.texts, "versions": counts.texts, "searches": 0, "clicks": 0 }),
    );
    let found: Value = program.json(&["lab", "ordering", "--world", world]);
    assert!(found["rows"].as_array().unwrap().len() > 3);
    // Nothing changed, and nothing new appeared: both experiments say so.
    let (code, said) = program.fail(&["lab", "ephemeral", "--world", world]);
    assert!(
        code == Some(2) && said.contains("no new page appears"),
        "{said}"
    );
    let (code, said) = program.fail(&["lab", "refresh", "--world", world]);
    assert!(
        code == Some(2) && said.contains("less than four steps"),
        "{said}"
    );
}
