//! Tests of reports: by the command, as CSV, on the dashboard and from a running crawl.

use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, has};
use crate::running::CrawlProcess;
use crate::server::AvocetServer;

const HTML: &str = "text/html";

/// Returns a site with a broken link on two pages, two equal pages, and a page that only the
/// sitemap names.
fn site() -> Files {
    let files = Files::default();
    files.put("/robots.txt", "text/plain", "Sitemap: /sitemap.xml\n");
    files.put(
        "/sitemap.xml",
        "application/xml",
        "<urlset><url><loc>/a</loc></url><url><loc>/lonely</loc></url></urlset>",
    );
    files.put(
        "/",
        HTML,
        "<title>home</title><a href=/a>a</a> <a href=/b>b</a> <a href=/missing>=gone</a>",
    );
    files.put(
        "/a",
        HTML,
        "<title>a</title>waders of the lagoon <a href=/missing>not here</a>",
    );
    files.put(
        "/b",
        HTML,
        "<title>a</title>waders of the lagoon <a href=/>not here</a>",
    );
    files.put(
        "/lonely",
        HTML,
        "<title>lonely</title>no page links to this one",
    );
    files
}

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_show_broken_links_duplicates_and_lonely_pages() {
    let files = site();
    let address = files.serve().await;
    let url = |path: &str| format!("http://{address}{path}");
    let sitemap = format!(
        "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url></urlset>",
        url("/a"),
        url("/lonely")
    );
    files.put("/sitemap.xml", "application/xml", sitemap);
    let program = TestProgram::new();
    // A crawl that ends fetches no sitemap unless it is a seed.
    program.run(&["crawl", &url("/"), &url("/sitemap.xml")]);

    let broken = program.json(&["links", "--broken"]);
    let found: Vec<_> = rows(&broken)
        .iter()
        .map(|row| {
            (
                row["url"].clone(),
                row["status"].clone(),
                row["from"].clone(),
                row["anchor"].clone(),
            )
        })
        .collect();
    let row = |from: &str, anchor| {
        (
            json!(url("/missing")),
            json!(404),
            json!(url(from)),
            json!(anchor),
        )
    };
    assert_eq!(
        found,
        [row("/", "=gone"), row("/a", "not here")],
        "{broken}"
    );
    let csv = program.text(&["links", "--broken", "--csv"]);
    has(&csv, "url,status,error,checked_at,from,anchor\r\n");
    has(&csv, "'=gone");
    has(&program.text(&["links", "--broken"]), "not here");

    let lonely = program.json(&["links", "--sitemap-only"]);
    assert_eq!(rows(&lonely).len(), 1, "{lonely}");
    assert_eq!(rows(&lonely)[0]["url"], url("/lonely"));
    assert_eq!(rows(&lonely)[0]["named_by"], url("/sitemap.xml"));
    let same = program.json(&["report", "duplicates"]);
    assert_eq!(rows(&same).len(), 1, "{same}");
    assert_eq!(
        (&rows(&same)[0]["url"], &rows(&same)[0]["same_as"]),
        (&json!(url("/b")), &json!(url("/a")))
    );
    let servers = program.json(&["report", "slow-servers"]);
    assert_eq!(rows(&servers)[0]["server"], format!("http://{address}"));

    // The dashboard has the same, and a file.
    let server = AvocetServer::start(&program, &[]);
    let page = server.get("/dashboard/reports").body;
    has(&page, "Broken links");
    has(&page, "not here");
    let file = server.get("/dashboard/reports.csv?report=duplicates");
    assert_eq!(file.head["content-type"], "text/csv; charset=utf-8");
    has(&file.body, &url("/b"));
    assert_eq!(server.get("/dashboard/reports?report=none").status, 404);
    assert_eq!(server.get("/api/v1/reports/duplicates").status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_are_analysed() {
    let address = Files::site(3, 100).serve().await;
    let program = TestProgram::new();
    program.run(&["crawl", &format!("http://{address}/")]);
    for query in [
        "Everywhere",
        "everywhere ",
        "everywhere",
        "zzzznothing",
        "page1",
    ] {
        program.run(&["search", query]);
    }
    let clicks = program.path("clicks");
    let line = format!("http://{address}/1\t1700000000\t1\n");
    std::fs::write(&clicks, line).unwrap();
    program.run(&["import", "clicks", clicks.to_str().unwrap()]);
    let top = program.json(&["report", "top-searches"]);
    assert_eq!(
        rows(&top)[0],
        json!({ "query": "everywhere", "searches": 3, "clicks": 0, "results": 4 })
    );
    assert_eq!(rows(&top).len(), 3);
    let nothing = program.json(&["report", "searches-without-result"]);
    assert_eq!(
        rows(&nothing),
        &[json!({ "query": "zzzznothing", "searches": 1 })]
    );
    let unclicked = program.json(&["report", "searches-without-click"]);
    assert_eq!(rows(&unclicked).len(), 1, "{unclicked}");
    assert_eq!(rows(&unclicked)[0]["query"], "everywhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_crawl_makes_the_reports() {
    let files = site();
    let address = files.serve().await;
    let running = CrawlProcess::crawl(&[format!("http://{address}/")], &["--budget", "50/s"]).await;
    let wait = running.until("the pages are fetched", |state| {
        state["pages"].as_u64() >= Some(3)
    });
    wait.await;
    let mut broken = json!(null);
    for _ in 0..100 {
        broken = running.program.json(&["links", "--broken"]);
        if rows(&broken).len() == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(rows(&broken).len(), 2, "{broken}");
    running.stop().await;
}
