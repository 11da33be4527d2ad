//! Tests of the first steps: `avocet init` writes a configuration, `avocet check` tries one page.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, has, holds};

const HTML: &str = "text/html; charset=utf-8";

#[test]
fn init_writes_a_file_that_check_accepts_and_overwrites_nothing() {
    let program = TestProgram::new();
    let file = program.store().join("avocet.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    let line = ["init", "https://docs.example.org/", "--budget", "90/min"];
    let (code, said) = program.fail(&line);
    assert_eq!(code, Some(1));
    has(&said, "exists already and is not overwritten");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);

    std::fs::remove_file(&file).unwrap();
    let wrong = ["init", "ftp://docs.example.org/"];
    let (code, said) = program.fail(&wrong);
    assert_eq!((code, file.exists()), (Some(2), false), "{said}");
    let written = program.json(&[&line[..], &["--scope", "prefix", "--cookies"]].concat());
    holds(
        &written,
        &json!({
            "file": file,
            "settings": ["budget.fetches_per_second", "crawl.scope", "crawl.seeds", "fetch.cookies"],
        }),
    );
    has(&program.text(&["config", "check"]), "has no errors");
    let shown = program.json(&["config", "show"]);
    let set = shown["settings"].as_array().unwrap().iter();
    let set: Vec<&Value> = set.filter(|one| one["origin"] == "file").collect();
    assert_eq!(set.len(), 4, "{set:?}");
    // Settings that no flag gives are listed as comments.
    let text = std::fs::read_to_string(&file).unwrap();
    has(&text, "\n# exclude = ");
    has(&text, "\nscope = \"prefix\"\n");
}

#[test]
fn init_without_a_url_and_a_terminal_is_wrong_usage() {
    let program = TestProgram::new();
    let out = program.path("new.toml");
    let mut command = program.command(&["init", "--out", out.to_str().unwrap()]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!out.exists());
}

/// Returns a site whose pages show each reason for which search does not find a page.
fn site() -> Files {
    let files = Files::default();
    files.put(
        "/robots.txt",
        "text/plain",
        "User-agent: *\nDisallow: /secret\nSitemap: /sitemap.xml\n",
    );
    let page = "<html lang=en><title>Waders</title><link rel=canonical href=/>
        <meta property=article:published_time content='2024-05-01T08:00:00Z'>
        <p>The avocet sweeps its bill through the shallow water of the lagoon, and so it finds its food.
        <a href=/a>a</a> <a href=/b rel=nofollow>b</a> <a href=http://other.example/x>x</a>";
    files.put("/", HTML, page);
    files.put(
        "/noindex",
        HTML,
        "<meta name=robots content=noindex><title>t</title>some words",
    );
    files.put(
        "/other",
        HTML,
        "<link rel=canonical href=/><title>t</title>some words",
    );
    files.put("/image", "image/png", "\u{1}\u{2}\u{3}\u{4}");
    files
}

/// Checks a page. Returns the exit code and the report.
fn check(url: &str, more: &[&str]) -> (Option<i32>, Value) {
    let nowhere = tempfile::tempdir().unwrap();
    let store = nowhere.path().join("store");
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["check", url, "--json", "--store"])
        .arg(&store)
        .args(more)
        .output()
        .unwrap();
    assert!(!store.exists(), "a dry run makes no store");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        report.unwrap_or_else(|_| panic!("{said}")),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn check_says_what_a_crawl_would_do_with_a_page() {
    let files = site();
    let address = files.serve().await;
    let url = |path: &str| format!("http://{address}{path}");
    let (code, report) = check(&url("/"), &[]);
    assert_eq!(code, Some(0), "{report}");
    holds(
        &report,
        &json!({
            "url": url("/"), "redirects": [], "in_scope": true, "status": 200, "error": null,
            "indexed": true, "why_not_indexed": [], "listing": null,
        }),
    );
    let sitemaps = [url("/sitemap.xml")];
    holds(
        &report["robots"],
        &json!({ "file": "found", "allowed": true, "crawl_delay": null, "sitemaps": sitemaps }),
    );
    // The canonical URL of the page is a link too.
    let links = json!({
        "in_scope": 2, "outside": 1, "outside_hosts": [["other.example", 1]], "nofollow": 1,
    });
    assert_eq!(report["links"], links);
    let text = &report["text"];
    holds(text, &json!({ "title": "Waders", "language": "en" }));
    assert_eq!(text["fields"]["published"], "2024-05-01T08:00:00Z");
    assert!(text["characters"].as_u64() > Some(90), "{text}");

    for (path, code, why) in [
        ("/noindex", 0, "noindex"),
        ("/other", 0, "canonical URL"),
        ("/image", 0, "image/png"),
        ("/nothing", 1, "status is 404"),
    ] {
        let (found, report) = check(&url(path), &[]);
        assert_eq!(found, Some(code), "{path}: {report}");
        assert_eq!(report["indexed"], false, "{path}");
        has(&report["why_not_indexed"].to_string(), why);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_requests_no_page_that_a_crawl_may_not_request() {
    let files = site();
    let address = files.serve().await;
    let asked = || {
        let heads = files.heads();
        let pages = heads.iter().filter(|head| !head.contains("/robots.txt"));
        pages.count()
    };
    let url = |path: &str| format!("http://{address}{path}");
    let (code, report) = check(&url("/secret/x"), &[]);
    holds(&report, &json!({ "error": "robots", "status": null }));
    assert_eq!(
        (code, &report["robots"]["allowed"]),
        (Some(1), &json!(false))
    );
    let config = tempfile::NamedTempFile::new().unwrap();
    let block = format!("[crawl]\nblock = [\"127.0.0.1\"]\nseeds = [\"http://{address}/\"]\n");
    std::fs::write(config.path(), block).unwrap();
    let config = ["--config", config.path().to_str().unwrap()];
    let (code, report) = check(&url("/"), &config);
    assert_eq!(
        (code, &report["error"]),
        (Some(1), &json!("blocked")),
        "{report}"
    );
    assert_eq!(asked(), 0);
    // A page out of scope is shown, and the exit code says that a crawl would not request it.
    let (code, report) = check(&url("/"), &["--exclude", "."]);
    holds(&report, &json!({ "in_scope": false, "status": 200 }));
    assert_eq!((code, asked()), (Some(1), 1));
    // The address of a host that is no seed is private.
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        other.path(),
        "[crawl]\nseeds = [\"https://example.org/\"]\n",
    )
    .unwrap();
    let (code, report) = check(&url("/"), &["--config", other.path().to_str().unwrap()]);
    assert_eq!((code, asked()), (Some(1), 1), "{report}");
    has(&report["why"].to_string(), "--allow-private");
}
