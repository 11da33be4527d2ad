//! Tests of damaged stores, kills at the start, and repeated imports: no intact data is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use repository::archive::{self, RecordKind};
use testweb::site::ServedWeb;

use crate::files::Files;
use crate::program::{TestProgram, below, copy, words};
use crate::webs;

/// Returns the URLs of all readable responses in the archive, sorted.
fn archived(program: &TestProgram) -> Vec<String> {
    let records = archive::scan(&program.store().join("archive")).unwrap();
    let mut urls: Vec<String> = records
        .flatten()
        .filter(|(_, record)| *record.kind() == RecordKind::Response)
        .map(|(_, record)| record.url().unwrap().as_str().to_owned())
        .collect();
    urls.sort();
    urls
}

/// Runs a complete crawl of a small web.
async fn crawled(pages: usize) -> (TestProgram, ServedWeb, Vec<String>) {
    let serving = webs::serve(webs::plain(31, 3, pages)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    program.json(&webs::crawl(&homes, &[]));
    (program, serving, homes)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn said(program: &TestProgram, arguments: &[&str]) -> String {
    let output = program.run(arguments);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_lost_commits_costs_no_page_of_the_archive() {
    let (program, _serving, homes) = crawled(150).await;
    let before = archived(&program);
    let fetched = program.fetched();
    let journal = below(&program.store().join("ledger"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "jnl"))
        .max_by_key(|path| fs::metadata(path).unwrap().len())
        .expect("fjall has a journal");
    let bytes = fs::read(&journal).unwrap();
    let written = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    fs::write(&journal, &bytes[..written / 2]).unwrap();

    let problems = program.command(&["verify", "--json"]).output().unwrap();
    assert_eq!(problems.status.code(), Some(1));
    let problems = String::from_utf8_lossy(&problems.stdout).into_owned();
    assert!(problems.contains("the ledger is damaged"), "{problems}");

    let told = said(&program, &webs::crawl(&homes, &[]));
    assert!(told.contains("the ledger is damaged"), "{told}");
    assert!(told.contains("avocet rebuild"), "{told}");
    let after: BTreeSet<String> = archived(&program).into_iter().collect();
    assert!(before.iter().all(|url| after.contains(url)));
    program.run(&["rebuild"]);
    assert_eq!(program.fetched(), fetched);
    let agree = program.text(&["verify"]);
    let last = agree.lines().last().unwrap();
    assert!(
        last.starts_with("archive, ledger and index agree: "),
        "{agree}"
    );
}

/// `verify` accepts records that `rebuild` has skipped, and still finds new damage.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_is_mended_by_rebuild_and_a_crawl() {
    let (program, _serving, homes) = crawled(30).await;
    let fetched = program.fetched();
    let places: Vec<u64> = archive::scan(&program.store().join("archive"))
        .unwrap()
        .flatten()
        .filter(|(_, record)| {
            let url = record.url();
            url.is_some_and(|url| fetched.iter().any(|fetched| fetched == url.as_str()))
        })
        .map(|(at, _)| at.offset)
        .collect();
    for place in [places[10], places[20]] {
        // Byte 40 is in the compressed data: the header of a gzip member has ten bytes.
        flip(&program.warcs()[0], place as usize + 40);
        let (code, problems) = program.fail(&["verify"]);
        assert_eq!(code, Some(1), "{problems}");
        program.run(&["rebuild"]);
        assert_eq!(program.fetched().len(), fetched.len() - 1);
        program.run(&["verify"]);
        program.run(&webs::crawl(&homes, &[]));
        assert_eq!(program.fetched(), fetched);
    }
    assert_eq!(program.json(&["verify"])["passed_over"], 2);
}

/// An index that is ahead of its ledger shows that the ledger has lost commits.
#[tokio::test(flavor = "multi_thread")]
async fn an_index_ahead_of_its_ledger_is_made_again() {
    let (program, _serving, homes) = crawled(20).await;
    let old = program.path("old");
    copy(&program.store().join("ledger"), &old);
    program.json(&webs::crawl(&homes, &["--refresh-after", "0s"]));
    fs::remove_dir_all(program.store().join("ledger")).unwrap();
    copy(&old, &program.store().join("ledger"));
    let told = said(&program, &webs::crawl(&homes, &[]));
    assert!(told.contains("the ledger is damaged"), "{told}");
    assert!(told.contains("the index is made again"), "{told}");
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_index_is_made_again_at_the_next_start() {
    let program = TestProgram::new();
    let home = format!("http://{}/", Files::site(20, 300).serve().await);
    program.json(&["crawl", &home]);
    let whole = program.path("whole");
    copy(&program.store().join("index"), &whole);
    let mut damaged = 0;
    for path in below(&whole) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let length = fs::metadata(&path).unwrap().len() as usize;
        if length == 0 || name == ".managed.json" {
            continue;
        }
        flip(&program.store().join("index").join(&name), length / 2);
        let (code, why) = program.fail(&["verify"]);
        assert_eq!(code, Some(1), "{name}: {why}");
        let told = said(&program, &["crawl", &home]);
        assert!(told.contains("the index is made again"), "{name}: {told}");
        program.verified();
        let found = program.json(&["search", "everywhere"]);
        assert_eq!(found["total"], 21, "{name}");
        fs::remove_dir_all(program.store().join("index")).unwrap();
        copy(&whole, &program.store().join("index"));
        damaged += 1;
    }
    assert!(damaged > 5, "{damaged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_refuses_to_lose_a_missing_or_truncated_warc_file_without_accept_loss() {
    let (program, _serving, _) = crawled(30).await;
    let fetched = program.fetched().len();
    let warc = program.warcs().remove(0);
    let kept = fs::read(&warc).unwrap();
    let ledger = |program: &TestProgram| program.lines(&["export", "urls"]).len();
    let known = ledger(&program);
    for short in [None, Some(kept.len() / 2)] {
        match short {
            None => fs::remove_file(&warc).unwrap(),
            Some(length) => fs::write(&warc, &kept[..length]).unwrap(),
        }
        let (code, why) = program.fail(&["rebuild"]);
        assert_eq!(code, Some(1));
        assert!(why.contains("avocet-00000001.warc.gz"), "{why}");
        assert!(why.contains("--accept-loss"), "{why}");
        assert_eq!(ledger(&program), known, "nothing was changed");
        let (_, why) = program.fail(&["verify"]);
        assert!(why.contains("avocet rebuild"), "{why}");
    }
    program.run(&["rebuild", "--accept-loss"]);
    let left = program.fetched().len();
    assert!(left > 5 && left < fetched, "{left}");
    program.verified();
    fs::write(&warc, &kept).unwrap();
    program.run(&["rebuild"]);
    assert_eq!(program.fetched().len(), fetched);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_imported_once_however_often_that_is_tried() {
    let (source, _serving, _) = crawled(250).await;
    let warcs: Vec<String> = source
        .warcs()
        .iter()
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    let mut arguments = vec!["import", "warc"];
    arguments.extend(warcs.iter().map(String::as_str));
    let expected = archived(&source);

    let program = TestProgram::new();
    let mut kills = 0;
    let mut wait = Duration::from_millis(10);
    loop {
        let mut child = program.start(&arguments);
        std::thread::sleep(wait);
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        wait = wait * 5 / 4;
        assert!(kills < 40, "the import never ends");
    }
    assert!(kills >= 2, "only {kills} kills");
    assert_eq!(archived(&program), expected);
    let again = program.json(&arguments);
    assert_eq!(again["taken"], 0, "{again}");
    assert_eq!(again["already_there"], expected.len());
    assert_eq!(archived(&program), expected);
    assert_eq!(program.fetched(), source.fetched());
    program.verified();
}

/// An imported older version does not replace a newer copy.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_version_is_kept_and_not_shown() {
    let files = Files::default();
    files.put("/", "text/html", "<title>t</title>first words");
    let address = files.serve().await;
    let url = format!("http://{address}/");
    let old = TestProgram::new();
    old.json(&["crawl", &url]);
    let warc = old.warcs().remove(0);
    files.put("/", "text/html", "<title>t</title>second words");
    let program = TestProgram::new();
    program.json(&["crawl", &url]);
    let taken = program.json(&["import", "warc", warc.to_str().unwrap()]);
    assert_eq!(taken["taken"], 1);
    assert_eq!(archived(&program), [url.clone(), url]);
    assert_eq!(program.json(&["search", "second"])["total"], 1);
    assert_eq!(program.json(&["search", "first"])["total"], 0);
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_cdxj_file_is_found_and_made_again() {
    let (program, _serving, _) = crawled(10).await;
    let cdxj = program.store().join("archive/avocet-00000001.cdxj");
    let whole = fs::read(&cdxj).unwrap();
    flip(&cdxj, whole.len() / 2);
    let (_, why) = program.fail(&["verify"]);
    assert!(why.contains("avocet rebuild"), "{why}");
    program.run(&["rebuild"]);
    assert_eq!(fs::read(&cdxj).unwrap(), whole);
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_whole_or_not_there() {
    let (program, _serving, _) = crawled(200).await;
    let out = program.path("pages.jsonl");
    let arguments = ["export", "pages", "--out", out.to_str().unwrap()];
    program.run(&arguments);
    let whole = fs::read(&out).unwrap();
    fs::remove_file(&out).unwrap();
    let mut unfinished = 0;
    for round in 0u64..40 {
        let mut child = program.start(&arguments);
        std::thread::sleep(Duration::from_millis(10 + 10 * round));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().ok();
        child.wait().unwrap();
        if ended {
            break;
        }
        unfinished += u32::from(!out.exists());
        assert!(fs::read(&out).is_ok_and(|found| found == whole) || !out.exists());
    }
    assert!(unfinished > 0);
    program.run(&arguments);
    assert_eq!(fs::read(&out).unwrap(), whole);
}

/// Each run is killed early: while it opens the store, while it updates the index from the ledger,
/// or during its first fetches.
#[tokio::test(flavor = "multi_thread")]
async fn kills_at_the_start_of_a_run_never_keep_a_store_from_starting() {
    let files = Files::site(40, 100);
    let change = |version: u64| {
        for n in 0..40 {
            let text = format!("<title>page {n}</title>version{version} of page{n}");
            files.put(&format!("/{n}"), "text/html", text);
        }
    };
    change(0);
    let url = format!("http://{}/", files.serve().await);
    let program = TestProgram::new();
    program.json(&["crawl", &url]);
    let line = format!("run {url} --no-serve --budget 1000/s --delay 0s");
    let arguments = words(&line);
    for round in 0u64..40 {
        change(round + 1);
        let mut child = program.start(&arguments);
        std::thread::sleep(Duration::from_millis(30 + (round * 37) % 400));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let told = said(&program, &["crawl", &url, "--refresh-after", "0s"]);
    assert!(!told.contains("made again"), "{told}");
    program.verified();
    assert_eq!(program.json(&["search", "version40"])["total"], 40);
}
