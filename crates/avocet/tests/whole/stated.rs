//! What pages say of themselves: kept, searched for, exported; and predicates over it.

use serde_json::json;

use crate::files::Files;
use crate::program::Program;
use crate::server::Server;

/// Five pages and one that names them; every other one is in German.
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
                "The flood came in the night and nobody in the village had been told of it.",
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

fn found(program: &Program, query: &str) -> Vec<String> {
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
    let program = Program::new();
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
    // The index is made anew from the archive, with what pages say.
    program.run(&["rebuild"]);
    assert_eq!(found(&program, "author:\"writer 3\""), ["Story 3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_say_of_themselves_is_shown_to_people_and_programs() {
    let files = press();
    files.put(
        "/2",
        "text/html",
        "<title>Forged</title><meta name=author content='&lt;script&gt;alert(1)&lt;/script&gt;'><p>Forged.</p>",
    );
    let address = files.serve().await;
    let program = Program::new();
    program.json(&["crawl", &format!("http://{address}/")]);
    let server = Server::start(&program, &[]);
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
    // Of a page that says nothing nothing is said.
    let home = server.json("/api/v1/search?q=press");
    assert_eq!(home["results"][0]["fields"], json!({}), "{home}");
    let home = server.get("/?q=press").body;
    assert!(home.contains("Press") && !home.contains("Dated"), "{home}");
    let document = server.json("/api/v1/openapi.json");
    let schema = &document["components"]["schemas"]["Stated"]["properties"];
    assert!(schema["authors"].is_object(), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_predicate_asks_for_language_and_date_filters_and_ends_a_crawl() {
    let address = press().serve().await;
    let home = format!("http://{address}/");
    let wish = "language(\"de\") and date(\"2021..\")";
    let kept = Program::new();
    let wishes = ["crawl", &home, "--where", wish, "--only-found"];
    let summary = kept.json(&wishes);
    assert_eq!(summary["pages"], 6, "{summary}");
    assert_eq!(summary["found"], 2, "{summary}");
    assert_eq!(found(&kept, "flood"), ["Story 1", "Story 3"]);
    // Links of pages that are not searchable were followed, and their copies are there.
    assert_eq!(kept.lines(&["export", "pages"]).len(), 6);
    let again = kept.json(&wishes);
    assert_eq!(again["pages"], 0, "{again}");

    let short = Program::new();
    let mut wishes = vec!["crawl", &home, "--where", "contains('flood')"];
    wishes.extend(["--until-found", "2", "--connections", "1"]);
    let summary = short.json(&wishes);
    // Another page may have been asked for before the second was read.
    let pages = summary["pages"].as_u64().unwrap();
    assert!((3..=4).contains(&pages), "{summary}");

    for (flag, wish) in [("--until-found", Some("1")), ("--only-found", None)] {
        let mut wishes = vec!["crawl", &home, flag];
        wishes.extend(wish);
        let (_, said) = Program::new().fail(&wishes);
        assert!(said.contains("--topic NAME"), "{said}");
    }
    let (_, said) = Program::new().fail(&["crawl", &home, "--where", "date('soon')"]);
    assert!(said.contains("at character 6"), "{said}");
}
