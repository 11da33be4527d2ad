//! Tests of the query log: searches are logged, unless `--no-log` is given, and can be imported.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::program::{TestProgram, words};
use crate::webs::{crawl, plain, serve};

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_logged_unless_no_log_is_given() {
    let serving = serve(plain(33, 1, 20)).await;
    let program = TestProgram::new();
    program.json(&crawl(&serving.homes(), &[]));
    let page = &program.lines(&["export", "pages"])[0];
    let text = page["text"].as_str().unwrap();
    let word = text
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .max_by_key(|word| word.len())
        .unwrap();
    let answer = program.json(&["search", word, "--limit", "3"]);
    let shown: Vec<&Value> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["url"])
        .collect();
    assert!(!shown.is_empty());
    program.run(&["search", "nowhere to be found", "--offset", "10"]);
    program.run(&["search", "a secret", "--no-log"]);
    let lines = program.log("queries");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(
        (&lines[0]["query"], &lines[0]["shown"]),
        (&json!(word), &json!(shown))
    );
    assert_eq!(lines[1]["offset"], 10);
    let mut keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        ["clicked", "query", "shown", "time"],
        "and nothing of the person"
    );
    // A search works even if the log cannot be written.
    fs::remove_dir_all(program.store().join("log")).unwrap();
    fs::write(program.store().join("log"), "").unwrap();
    let output = program.run(&["search", word]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("not in the log"));
    assert!(String::from_utf8_lossy(&output.stdout).contains(" result"));
}

#[test]
fn queries_are_imported_and_bad_lines_named() {
    let program = TestProgram::new();
    let table = program.path("queries.tsv.gz");
    let mut gz = GzEncoder::new(fs::File::create(&table).unwrap(), Compression::fast());
    gz.write_all(b"query\tcount\npied avocet\t12\nbroken\n\nwader\t3\n")
        .unwrap();
    gz.finish().unwrap();
    let lines = program.path("queries.jsonl");
    fs::write(
        &lines,
        "{\"query\":\"bill\",\"time\":\"2025-02-03T04:05:06Z\",\"shown\":[\"http://a.example/\"],\"clicked\":[\"http://a.example/\"]}\n{\"query\":7}\n",
    )
    .unwrap();
    let line = format!(
        "import queries {} {} --json",
        table.display(),
        lines.display()
    );
    let output = program.run(&words(&line));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer, json!({ "taken": 3, "passed_over": 2 }));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("queries.tsv.gz:3: ") && said.contains("queries.jsonl:2: "),
        "{said}"
    );
    let logged = program.log("queries");
    assert_eq!(logged.len(), 3);
    assert_eq!(
        logged[0],
        json!({ "time": "2025-02-03T04:05:06Z", "query": "bill", "shown": ["http://a.example/"], "clicked": ["http://a.example/"] })
    );
    assert_eq!(
        (&logged[1]["query"], &logged[1]["count"]),
        (&json!("pied avocet"), &json!(12))
    );
    let plain = program.run(&["import", "queries", lines.to_str().unwrap()]);
    assert_eq!(
        String::from_utf8_lossy(&plain.stdout),
        "1 imported, 1 skipped\n"
    );
    let (code, said) = program.fail(&["import", "queries", "/nowhere"]);
    assert!(code == Some(1) && said.contains("/nowhere"), "{said}");
}
