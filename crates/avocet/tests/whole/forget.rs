//! Tests of removals by the operator: forgotten pages, old versions, and the limit on disk space.

use std::net::SocketAddr;

use repository::archive::{RecordKind, scan};
use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, copy, has, holds, warcio_accepts};

/// Crawls a site three times. Each time its pages 2 and 3 have changed and the others have not.
async fn crawled() -> (TestProgram, Files, SocketAddr) {
    let files = Files::site(6, 300);
    let address = files.serve().await;
    let program = TestProgram::new();
    for time in 0..3 {
        for page in [2, 3] {
            let text = format!("<title>page {page}</title>everywhere page{page} version{time}");
            files.put(&format!("/{page}"), "text/html", text);
        }
        crawl(&program, address, &[]);
    }
    (program, files, address)
}

fn crawl(program: &TestProgram, address: SocketAddr, more: &[&str]) -> Value {
    let home = format!("http://{address}/");
    program.json(&[&["crawl", &home, "--refresh-after", "1ms"], more].concat())
}

/// Returns the path and the kind of each answer in the archive, in the order of the archive.
fn answers(program: &TestProgram) -> Vec<(String, RecordKind)> {
    let records = scan(&program.store().join("archive")).unwrap();
    let records = records.map(|found| found.unwrap().1);
    let answers = records.filter(|record| *record.kind() != RecordKind::Warcinfo);
    let path = |url: page::PageUrl| url.path().to_owned();
    answers
        .map(|record| (path(record.url().unwrap()), record.kind().clone()))
        .collect()
}

fn count(program: &TestProgram, path: &str) -> usize {
    let answers = answers(program);
    answers.iter().filter(|(of, _)| of == path).count()
}

fn found(program: &TestProgram, query: &str) -> u64 {
    let answer = program.json(&["search", query, "--no-log"]);
    answer["total"].as_u64().unwrap()
}

fn requests(files: &Files, path: &str) -> usize {
    let line = format!("GET {path} ");
    let heads = files.heads();
    heads.iter().filter(|head| head.starts_with(&line)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_page_is_gone_and_stays_gone_until_it_is_allowed() {
    let (program, files, address) = crawled().await;
    let url = format!("http://{address}/3");
    let before = answers(&program);
    assert_eq!((count(&program, "/3"), found(&program, "page3")), (3, 1));
    let old = program.path("old");
    copy(&program.store().join("archive"), &old);

    let shown = program.json(&["forget", &url, "--dry-run"]);
    assert_eq!(answers(&program), before, "a dry run changes nothing");
    assert!(!program.store().join("forgotten.jsonl").exists());
    let done = program.json(&["forget", &url]);
    assert_eq!(done["removed"], shown["removed"]);
    holds(
        &done["removed"],
        &json!({ "urls": 1, "documents": 1, "records": 3, "files": 3 }),
    );
    let mut others = before;
    others.retain(|(path, _)| path != "/3");
    assert_eq!(
        answers(&program),
        others,
        "all other records stay, in their order"
    );
    let is_gone = |program: &TestProgram| {
        program.verified();
        assert_eq!((count(program, "/3"), found(program, "page3")), (0, 0));
        let urls = program.text(&["export", "urls"]);
        assert!(!urls.contains(&url), "{urls}");
        assert_eq!(found(program, "page2"), 1);
    };
    is_gone(&program);
    warcio_accepts(&program.warcs());

    // Neither a crawl nor an import nor a rebuild brings it back.
    let asked = requests(&files, "/3");
    crawl(&program, address, &[]);
    assert_eq!(requests(&files, "/3"), asked);
    has(&program.text(&["explain", &url]), "forgotten");
    let warc = old.join("avocet-00000001.warc.gz");
    program
        .command(&["import", "warc", warc.to_str().unwrap()])
        .output()
        .unwrap();
    let list = program.path("urls.txt");
    std::fs::write(&list, &url).unwrap();
    program
        .command(&["import", "urls", list.to_str().unwrap()])
        .output()
        .unwrap();
    is_gone(&program);
    program.run(&["rebuild"]);
    is_gone(&program);

    let listed = program.json(&["forget", "--list"]);
    assert_eq!(listed["forgotten"], json!([url]));
    assert_eq!(listed["entries"][1]["removed"]["records"], 3);
    program.run(&["forget", &url, "--allow"]);
    crawl(&program, address, &[]);
    assert_eq!(
        (requests(&files, "/3"), found(&program, "page3")),
        (asked + 1, 1)
    );
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_and_a_host_are_forgotten() {
    let (program, _files, address) = crawled().await;
    let done = program.json(&["forget", &format!("http://{address}/*3*")]);
    assert_eq!(done["removed"]["urls"], 1, "{done}");
    let done = program.json(&["forget", "127.0.0.1"]);
    assert_eq!(done["removed"]["urls"], 6, "{done}");
    assert_eq!(answers(&program), []);
    program.verified();
    assert_eq!(program.text(&["export", "urls"]), "");
    // The seed was forgotten too.
    let (code, said) = program.fail(&["crawl", &format!("http://{address}/"), "--time", "5s"]);
    assert_eq!(code, Some(1));
    has(&said, "it was forgotten");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_step_leaves_a_store_in_which_the_removal_can_be_finished() {
    let (whole, _files, address) = crawled().await;
    let url = format!("http://{address}/3");
    let others = |program: &TestProgram| {
        let mut answers = answers(program);
        answers.retain(|(path, _)| path != "/3");
        answers
    };
    let expected = others(&whole);
    for point in [
        "begun",
        "unindexed",
        "unlisted",
        "rewritten",
        "rewritten:2",
        "journal",
        "journal:3",
        "relocated",
        "relocated:2",
        "replaced",
        "replaced:3",
    ] {
        let program = TestProgram::new();
        copy(&whole.store(), &program.store());
        let mut command = program.command(&["forget", &url]);
        let killed = command.env("AVOCET_CRASH_AT", point).output().unwrap();
        assert_eq!(killed.status.code(), None, "{point}");
        assert_eq!(found(&program, "page2"), 1, "{point}");
        // Every other copy can be read at its place.
        let report = program.command(&["verify", "--json"]).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let problems = report["problems"].to_string();
        has(&problems, "interrupted");
        for wrong in ["is not in the archive", "another body", "damaged at"] {
            assert!(!problems.contains(wrong), "{point}: {problems}");
        }
        assert_eq!(others(&program), expected, "{point}");
        program.run(&["forget", &url]);
        program.verified();
        assert_eq!(
            (others(&program), count(&program, "/3")),
            (expected.clone(), 0),
            "{point}"
        );
        program.run(&["rebuild"]);
        program.verified();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_versions_leave_the_archive_as_the_retention_says() {
    let (whole, _files, address) = crawled().await;
    let url = |path: &str| format!("http://{address}{path}");
    for (keep, left, unchanged) in [
        ("2 versions", 2, 3),
        ("1 version", 1, 3),
        ("90d", 3, 3),
        ("1B", 1, 2),
        ("1GB", 3, 3),
    ] {
        let program = TestProgram::new();
        copy(&whole.store(), &program.store());
        // No page is fetched: only the retention changes the archive.
        let line = ["crawl", &url("/"), "--keep", keep];
        program.command(&line).output().unwrap();
        assert_eq!(count(&program, "/2"), left, "{keep}");
        // The last answer of a page that never changed refers to its first copy.
        assert_eq!(count(&program, "/4"), unchanged, "{keep}");
        program.verified();
        let status = |program: &TestProgram| program.lines(&["export", "urls"]);
        let before = status(&program);
        program.run(&["rebuild"]);
        program.verified();
        assert_eq!(status(&program).len(), before.len());
        assert_eq!(found(&program, "version2"), 2, "{keep}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_stops_before_the_disk_is_full() {
    let files = Files::site(20, 300);
    let address = files.serve().await;
    let program = TestProgram::new();
    let line = [
        "crawl",
        &format!("http://{address}/"),
        "--min-free",
        "900TB",
    ];
    let (code, said) = program.fail(&line);
    assert_eq!(code, Some(1));
    has(&said, "[store] min_free is 900000 GB");
    program.verified();
    program.run(&["crawl", &format!("http://{address}/")]);
    assert_eq!(program.fetched().len(), 21);
}
