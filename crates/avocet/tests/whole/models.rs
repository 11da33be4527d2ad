//! Tests of crawls that do not fetch or keep everything: a threshold, a share of all importance,
//! and a limited buffer.

use serde_json::json;

use crate::program::{TestProgram, words};
use crate::webs::{crawl, plain, scores, serve};

#[tokio::test(flavor = "multi_thread")]
async fn pages_below_the_threshold_are_not_fetched_and_explain_gives_the_reason() {
    let serving = serve(plain(33, 2, 80)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    let (path, scores) = scores(&program, &serving);
    let path = path.to_str().unwrap();
    let homes: Vec<String> = homes
        .into_iter()
        .filter(|home| scores[home] >= 300.0)
        .collect();
    assert!(
        !homes.is_empty(),
        "no seed is good enough: choose another seed"
    );
    program.json(&crawl(
        &homes,
        &["--order", "given", "--scores", path, "--threshold", "300"],
    ));
    let fetched = program.fetched();
    let worst = fetched
        .iter()
        .map(|url| scores[url])
        .fold(f64::MAX, f64::min);
    assert!(worst >= 300.0, "{worst}");
    assert!(fetched.len() > 10, "{} of {}", fetched.len(), scores.len());
    let left = program.lines(&["export", "urls"]);
    let left = left.iter().find(|line| line["status"].is_null()).unwrap();
    let why = program.json(&["explain", left["url"].as_str().unwrap()]);
    let reason = why["not_fetched"].as_str().unwrap();
    assert!(reason.contains("below the price"), "{reason}");
    assert_eq!(why["worth"]["due"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_does_not_wait_for_the_threshold() {
    let serving = serve(plain(41, 1, 20)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    let (path, scores) = scores(&program, &serving);
    let least = scores[&homes[0]].to_string();
    let line = format!(
        "--order given --scores {} --threshold {least}",
        path.display()
    );
    let again = words(&line);
    let first = program.json(&crawl(&homes, &again));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let second = program.json(&crawl(
        &homes,
        &[&again[..], &["--refresh-after", "1s"]].concat(),
    ));
    assert_eq!(second["unchanged"], first["pages"], "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_kept_before_the_buffer_was_set_are_dropped_too() {
    let serving = serve(plain(42, 2, 40)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    program.json(&crawl(&homes, &["--pages", "12"]));
    program.json(&crawl(&homes, &["--buffer", "8"]));
    assert_eq!(program.verified()["copies"], 8);
    assert_eq!(program.lines(&["export", "pages"]).len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffer_keeps_the_best_pages_in_archive_and_index() {
    let serving = serve(plain(34, 3, 90)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    let (path, scores) = scores(&program, &serving);
    let path = path.to_str().unwrap();
    let buffer = ["--order", "given", "--scores", path, "--buffer", "20"];
    let summary = program.json(&crawl(&homes, &buffer));
    let pages = summary["pages"].as_u64().unwrap();
    assert!(pages > 60, "{summary}");
    assert_eq!(summary["dropped"], pages - 20);
    let kept: Vec<f64> = program
        .lines(&["export", "pages"])
        .iter()
        .map(|line| scores[line["url"].as_str().unwrap()])
        .collect();
    let mut best: Vec<f64> = program.fetched().iter().map(|url| scores[url]).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(kept.len(), 20);
    assert!(
        kept.iter().all(|&score| score >= best[19]),
        "{kept:?} of {best:?}"
    );
    assert_eq!(program.verified()["copies"], 20);
    assert_eq!(program.json(&["status"])["documents"], 20);
    // A smaller buffer drops pages from a closed archive file and from the open one.
    let smaller = [&buffer[..5], &["7"]].concat();
    assert_eq!(program.json(&crawl(&homes, &smaller))["dropped"], 13);
    assert_eq!(program.verified()["copies"], 7);
    // The same crawl again fetches nothing, because dropped pages are remembered.
    assert_eq!(program.json(&crawl(&homes, &buffer))["pages"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_stops_at_the_wanted_coverage_with_pages_left() {
    let serving = serve(plain(35, 3, 150)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    // This strategy uses no measured times. On a busy machine, slow connections would make other
    // strategies stay with one server.
    let covers = "--order rankmass --stop-coverage 0.6 --servers quality --connections 1";
    let summary = program.json(&crawl(&homes, &words(covers)));
    assert!(summary["coverage"].as_f64().unwrap() >= 0.6, "{summary}");
    assert!(summary["queued"].as_u64().unwrap() > 10, "{summary}");
}
