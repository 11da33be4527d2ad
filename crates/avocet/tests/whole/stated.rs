//! Tests of stated metadata (author, date, language): stored, searched, exported, used in
//! predicates.

use serde_json::json;

use crate::files::Files;
use crate::program::TestProgram;
use crate::server::AvocetServer;

/// Returns five pages and one that links to them. Every other page is in German.
fn press() -> Files {
    let files = Files::default();
    let html = "text/html; charset=utf-8";
    let links: String = (0..5)
        .map(|page| format!("<li><a href=/{page}>story {page}</a>"))
        .collect();
    files.put("/", html, format!("<title>Press</title><ul>{links}</ul>"));
    for page in 0..5 {
        let (language, text) = match page % 2 {
            0 => (
                "en",
                "The flood came in the night and no one in the village had known of it.",
            ),
            _ => (
                "de",
                "Die Flut kam in der Nacht, und niemand in dem Dorf hatte davon etwas gehört.",
            ),
        };
        let body = format!(
            "<html lang={language}><title>Story {page}</title><meta name=author content='Ada Writer {page}'>
             <meta property=article:published_time content='202{page}-05-01T08:00:00Z'>
             <script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"keywords\":\"flood\"}}</script><p>{text} Flood {page}.</p>"
        );
        files.put(&format!("/{page}"), html, body);
    }
    files
}

fn found(program: &TestProgram, query: &str) -> Vec<String> {
    let answer = program.json(&["search", query, "--no-log"]);
    let results = answer["results"].as_array().unwrap();
    let mut titles: Vec<String> = results
        .iter()
        .map(|hit| hit["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles
}

#[tokio::test(flavor = "multi_thread")]
async fn authors_and_dates_are_searched_for_and_exported() {
    let address = press().serve().await;
    let program = TestProgram::new();
    program.json(&["crawl", &format!("http://{address}/")]);
    assert_eq!(found(&program, "author:\"writer 3\""), ["Story 3"]);
    assert_eq!(
        found(&program, "flood author:ada date:2021..2022"),
        ["Story 1", "Story 2"]
    );
    let hit = &program.json(&["search", "date:2024", "--no-log"])["results"][0];
    let expected = json!({
        "kind": "NewsArticle",
        "authors": ["Ada Writer 4"],
        "published": "2024-05-01T08:00:00Z",
        "keywords": ["flood"],
    });
    assert_eq!(hit["fields"], expected);
    let pages = program.lines(&["export", "pages"]);
    let story = pages.iter().find(|page| page["fields"] == expected);
    assert!(story.is_some(), "{pages:?}");
    // A rebuild restores the metadata from the archive.
    program.run(&["rebuild"]);
    assert_eq!(found(&program, "author:\"writer 3\""), ["Story 3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stated_metadata_is_shown_on_pages_and_in_the_api() {
    let files = press();
    files.put(
        "/2",
        "text/html",
        "<title>Forged</title><meta name=author content='&lt;script&gt;alert(1)&lt;/script&gt;'><p>Forged.</p>",
    );
    let address = files.serve().await;
    let program = TestProgram::new();
    program.json(&["crawl", &format!("http://{address}/")]);
    let server = AvocetServer::start(&program, &[]);
    let found = server.json("/api/v1/search?q=date:2024");
    let fields = json!({
        "kind": "NewsArticle",
        "authors": ["Ada Writer 4"],
        "published": "2024-05-01T08:00:00Z",
        "keywords": ["flood"],
    });
    assert_eq!(found["results"][0]["fields"], fields);
    let page = server.get("/?q=date:2024").body;
    assert!(page.contains("By Ada Writer 4"), "{page}");
    assert!(page.contains(">2024-05-01</time>"), "{page}");
    let forged = server.get("/?q=forged").body;
    assert!(forged.contains("By &#60;script&#62;"), "{forged}");
    // A page without metadata shows none.
    let home = server.json("/api/v1/search?q=press");
    assert_eq!(home["results"][0]["fields"], json!({}), "{home}");
    let home = server.get("/?q=press").body;
    assert!(home.contains("Press") && !home.contains("Dated"), "{home}");
    let document = server.json("/api/v1/openapi.json");
    let schema = &document["components"]["schemas"]["Stated"]["properties"];
    assert!(schema["authors"].is_object(), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn predicates_choose_the_searchable_pages_and_end_a_crawl() {
    let address = press().serve().await;
    let home = format!("http://{address}/");
    let predicate = "language(\"de\") and date(\"2021..\")";
    let kept = TestProgram::new();
    let arguments = ["crawl", &home, "--where", predicate, "--only-found"];
    let summary = kept.json(&arguments);
    assert_eq!(summary["pages"], 6, "{summary}");
    assert_eq!(summary["found"], 2, "{summary}");
    assert_eq!(found(&kept, "flood"), ["Story 1", "Story 3"]);
    // Pages that are not searchable still have a copy, and their links were followed.
    assert_eq!(kept.lines(&["export", "pages"]).len(), 6);
    let again = kept.json(&arguments);
    assert_eq!(again["pages"], 0, "{again}");

    let short = TestProgram::new();
    let mut arguments = vec!["crawl", &home, "--where", "contains('flood')"];
    arguments.extend(["--until-found", "2", "--connections", "1"]);
    let summary = short.json(&arguments);
    // One more page may have been requested before the second match was read.
    let pages = summary["pages"].as_u64().unwrap();
    assert!((3..=4).contains(&pages), "{summary}");

    for (flag, value) in [("--until-found", Some("1")), ("--only-found", None)] {
        let mut arguments = vec!["crawl", &home, flag];
        arguments.extend(value);
        let (_, said) = TestProgram::new().fail(&arguments);
        assert!(said.contains("--topic NAME"), "{said}");
    }
    let (_, said) = TestProgram::new().fail(&["crawl", &home, "--where", "date('soon')"]);
    assert!(said.contains("at character 6"), "{said}");
}
