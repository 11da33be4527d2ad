//! Tests of search results: sections, near-duplicates, suggestions, facets, copies and similar
//! pages. Text of crawled pages must stay text in all of them.

use std::fs;

use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, has, holds};
use crate::server::{AvocetServer, Leaf, put};

const HTML: &str = "text/html; charset=utf-8";

/// Returns enough words for a text to have a similarity hash.
fn filler(about: &str) -> String {
    format!(
        "The {about} wades through shallow water and sweeps its bill from side to side for food. "
    )
    .repeat(12)
}

/// Returns a site with sections, three copies of a page, dates, and a `noarchive` page.
fn waders() -> Files {
    let files = Files::default();
    let page = |path: &str, head: &str, body: &str| {
        files.put(
            path,
            HTML,
            format!("<html lang=en><head>{head}</head><body><main>{body}</main></body></html>"),
        );
    };
    let links: String = ["avocet", "copy1", "copy2", "stilt", "hidden", "plain.txt"]
        .map(|name| format!("<li><a href=/{name}>{name}</a>"))
        .concat();
    page("/", "<title>Waders</title>", &format!("<ul>{links}</ul>"));
    let published =
        |day: &str| format!("<meta property=article:published_time content='{day}T08:00:00Z'>");
    page(
        "/avocet",
        &format!("<title>The avocet</title>{}", published("2019-05-01")),
        &format!(
            "<h1 id=top>The avocet</h1><p>{}</p><h2 id=nests>Nests &lt;img src=x onerror=alert(2)&gt;</h2>\
             <p>Avocets nest on bare islands, in colonies of seventy pairs.</p><h2 id=calls>Calls</h2><p>A clear klooit.</p>",
            filler("avocet")
        ),
    );
    for copy in ["/copy1", "/copy2"] {
        let text = "Ruffs gather on leks. ".to_owned() + &filler("ruff");
        page(
            copy,
            &format!("<title>The ruff</title>{}", published("2024-05-01")),
            &format!("<p>{text}</p>"),
        );
    }
    page(
        "/stilt",
        "<title>Stilts</title><link rel=preconnect href='http://127.0.0.1:9/'><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
        &format!(
            "<script>document.title = 'ran'</script><img src=x onerror=\"document.title='ran'\"><h1>Stilts</h1><p>{}</p>\
             <form action=/click method=post><button>x</button></form>",
            filler("stilt")
        ),
    );
    page(
        "/hidden",
        "<title>Hidden</title><meta name=robots content=noarchive>",
        "<p>The secretive rail hides.</p>",
    );
    files.put(
        "/plain.txt",
        "text/plain",
        "Sanderlings run before the waves. <b>",
    );
    files
}

/// Crawls and serves the site. Also returns its address.
async fn served(settings: &str) -> (TestProgram, AvocetServer, String) {
    let address = waders().serve().await;
    let program = TestProgram::new();
    program.json(&["crawl", &format!("http://{address}/")]);
    program.configure(settings);
    let server = AvocetServer::start(&program, &[]);
    (program, server, format!("http://{address}"))
}

/// Returns a page of the server without the tags of its own scripts, so that `<script` finds only
/// foreign ones.
fn markup(body: &str) -> String {
    body.replace("<script src=\"/assets/", "")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_links_to_its_section_and_the_api_returns_one_section_alone() {
    let (_program, server, site) = served("").await;
    let found = server.json("/api/v1/search?q=seventy+pairs&log=false");
    let section = &found["results"][0]["section"];
    assert_eq!(
        section["heading"], "Nests <img src=x onerror=alert(2)>",
        "{found}"
    );
    let target = format!("{site}/avocet#nests");
    assert_eq!(section["url"], target);
    let page = server.get("/?q=seventy+pairs");
    let body = markup(&page.body);
    assert!(body.contains(&format!("<a href=\"{target}\"")), "{body}");
    has(&body, "<span class=\"heading\">Nests &#60;img");
    assert!(
        !body.contains("<script") && !body.contains("<img src=x"),
        "{body}"
    );
    let all = server.json(&format!("/api/v1/page?url={site}/avocet"));
    let ids: Vec<&Value> = all["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["top", "nests", "calls"]);
    assert_eq!(all["section"], Value::Null);
    let one = server.json(&format!("/api/v1/page?url={site}/avocet&section=calls"));
    holds(
        &one["section"],
        &json!({ "heading": "Calls", "text": "Calls\nA clear klooit." }),
    );
    assert_eq!((&one["text"], &one["markdown"]), (&json!(""), &Value::Null));
    let none = server.get(&format!("/api/v1/page?url={site}/avocet&section=none"));
    assert_eq!(none.status, 404, "{}", none.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_with_the_same_text_share_a_result() {
    let (_program, server, site) = served("").await;
    let found = server.json("/api/v1/search?q=leks&log=false");
    let results = found["results"].as_array().unwrap();
    assert_eq!((results.len(), &found["total"]), (1, &json!(2)), "{found}");
    let mut both = vec![
        results[0]["url"].clone(),
        results[0]["duplicates"][0].clone(),
    ];
    both.sort_by_key(Value::to_string);
    assert_eq!(
        both,
        [
            json!(format!("{site}/copy1")),
            json!(format!("{site}/copy2"))
        ]
    );
    let page = server.get("/?q=leks").body;
    has(&page, "<summary>and 1 more like it</summary>");
    let other = results[0]["duplicates"][0].as_str().unwrap();
    has(
        &page,
        &format!("<li><a href=\"{other}\" rel=\"noreferrer\">"),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_is_suggested_and_not_logged() {
    let (program, server, site) = served("[serve]\ncors = [\"https://intranet.example\"]\n").await;
    let suggested = |text: &str| {
        let answer = server.json(&format!("/api/v1/suggest?q={text}"));
        let list = answer["suggestions"].as_array().unwrap().clone();
        list.into_iter()
            .map(|one| {
                (
                    one["title"].clone(),
                    one["heading"].clone(),
                    one["url"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        suggested("sti")[0],
        (json!("Stilts"), Value::Null, json!(format!("{site}/stilt")))
    );
    assert_eq!(
        suggested("cal")[0],
        (
            json!("The avocet"),
            json!("Calls"),
            json!(format!("{site}/avocet#calls"))
        )
    );
    assert!(suggested("nothinglikeit").is_empty());
    for hostile in ["%22%3E%3Cscript%3E", "%ff", "-", "site:", "a%0ab"] {
        assert_eq!(
            server.get(&format!("/api/v1/suggest?q={hostile}")).status,
            200,
            "{hostile}"
        );
    }
    let part = server.get("/?q=avoc&live=typing");
    assert_eq!(part.head["cache-control"], "no-store");
    assert!(
        part.body.contains("<ol class=\"results\"") && !part.body.contains("<html"),
        "{}",
        part.body
    );
    assert_eq!(server.get("/?q=&live=typing").status, 204);
    assert_eq!(program.log("queries").len(), 0, "nothing was logged");
    server.get("/?q=avoc&live=settled");
    server.get("/?q=avocet&live=submitted");
    assert_eq!(program.log("queries").len(), 2);
    // Other sites may use the API if the operator names them.
    let foreign = server.ask(
        "GET",
        "/api/v1/suggest?q=a",
        &["Origin: https://intranet.example"],
        "",
    );
    assert_eq!(
        foreign.head["access-control-allow-origin"],
        "https://intranet.example"
    );
    let script = server.get("/embed.js");
    assert_eq!(script.head["access-control-allow-origin"], "*");
    assert_eq!(script.head["cross-origin-resource-policy"], "cross-origin");
    assert!(script.head["content-type"].starts_with("text/javascript"));
    for unsafe_way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!script.body.contains(unsafe_way), "{unsafe_way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_counted_filtered_and_sorted() {
    let (_program, server, _site) = served("").await;
    let found = server.json("/api/v1/search?q=bill+OR+waves&facets=true&log=false");
    let facets = &found["facets"];
    assert_eq!(
        facets["types"],
        json!([{"value": "html", "pages": 4}, {"value": "text", "pages": 1}]),
        "{found}"
    );
    assert_eq!(
        facets["years"],
        json!([{"value": "2024", "pages": 2}, {"value": "2019", "pages": 1}]),
        "{found}"
    );
    let page = server.get("/?q=bill+OR+waves&age=week").body;
    for link in [
        "/?q=bill+OR+waves&#38;type=text&#38;age=week",
        "/?q=bill+OR+waves&#38;age=week&#38;published_since=2019-01-01&#38;published_until=2019-12-31",
        "/?q=bill+OR+waves&#38;age=week&#38;sort=newest",
    ] {
        assert!(
            page.contains(&format!("<a href=\"{link}\">")),
            "{link}: {page}"
        );
    }
    for (filter, total) in [
        ("type=text", 1),
        ("type=html", 4),
        ("published_since=2024-01-01T00:00:00Z", 2),
        ("published_until=2024-01-01T00:00:00Z", 1),
        ("until=2020-01-01T00:00:00Z", 0),
    ] {
        let found = server.json(&format!(
            "/api/v1/search?q=bill+OR+waves&{filter}&log=false"
        ));
        assert_eq!(found["total"], total, "{filter}: {found}");
    }
    let year = server
        .get("/?q=bill+OR+waves&published_since=2019-01-01&published_until=2019-12-31")
        .body;
    assert!(
        year.contains("1 result") && year.contains("Published 2019"),
        "{year}"
    );
    let newest = server
        .json("/api/v1/search?q=bill&sort=newest&published_since=2000-01-01T00:00:00Z&log=false");
    assert_eq!(newest["results"][0]["title"], "The ruff", "{newest}");
    let oldest = newest["results"].as_array().unwrap().last().unwrap();
    assert_eq!(oldest["title"], "The avocet", "{newest}");
    let unknown = server.json("/api/v1/search?q=bill+inurl:x&log=false");
    assert_eq!(unknown["unknown_operators"], json!(["inurl:"]));
    assert_eq!(
        unknown["results"][0]["missing"].as_array().unwrap().len(),
        1,
        "{unknown}"
    );
    let page = server.get("/?q=bill+inurl:x").body;
    assert!(
        page.contains("<code>inurl:</code> was not understood") && page.contains("Missing: <s>"),
        "{page}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_shown_in_a_sandbox() {
    let (_program, server, site) = served("").await;
    let frame = server.get(&format!("/cached?url={site}/stilt"));
    assert_eq!(frame.status, 200, "{}", frame.body);
    let policy = &frame.head["content-security-policy"];
    assert!(
        policy.contains("frame-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    has(&frame.body, "fetched <time datetime=\"20");
    assert!(frame.body.contains("sandbox=\"\""), "{}", frame.body);
    assert!(!markup(&frame.body).contains("<script"), "{}", frame.body);
    let copy = server.get(&format!("/cached/copy?url={site}/stilt"));
    let policy = &copy.head["content-security-policy"];
    assert!(
        policy.starts_with("sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"),
        "{policy}"
    );
    assert!(
        !policy.contains("allow-") && !policy.contains("script-src"),
        "{policy}"
    );
    assert_eq!(copy.head["content-type"], HTML);
    assert_eq!(copy.head["x-content-type-options"], "nosniff");
    assert_eq!(copy.head["x-dns-prefetch-control"], "off");
    assert!(
        copy.body.contains("Stilts") && copy.body.contains("<x-link rel=preconnect"),
        "{}",
        copy.body
    );
    assert!(!copy.body.contains("<meta"), "{}", copy.body);
    let plain = server.get(&format!("/cached/copy?url={site}/plain.txt"));
    assert_eq!(plain.head["content-type"], "text/plain; charset=utf-8");
    assert!(plain.head["content-security-policy"].starts_with("sandbox;"));
    for path in ["/cached", "/cached/copy"] {
        for (url, status) in [
            (format!("{site}/hidden"), 403),
            (format!("{site}/none"), 404),
            ("javascript:alert(1)".into(), 404),
            ("file:///etc/passwd".into(), 404),
            (String::new(), 404),
        ] {
            let refused = server.get(&format!("{path}?url={url}"));
            assert_eq!(refused.status, status, "{path} {url}");
            assert!(!refused.body.contains("secretive"), "{}", refused.body);
        }
    }
    let page = server.get("/?q=stilt").body;
    let address: String =
        form_urlencoded::byte_serialize(format!("{site}/stilt").as_bytes()).collect();
    has(
        &page,
        &format!("<a href=\"/cached?url={address}\">Cached copy</a>"),
    );
    has(
        &page,
        &format!("<a href=\"/similar?url={address}\">Similar pages</a>"),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn similar_pages_are_found_without_the_page_itself() {
    let (program, server, site) = served("").await;
    let found = server.json(&format!("/api/v1/similar?url={site}/stilt&limit=3"));
    assert_eq!(found["title"], "Stilts");
    let urls: Vec<&Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["url"])
        .collect();
    assert!(
        !urls.is_empty() && !urls.contains(&&json!(format!("{site}/stilt"))),
        "{found}"
    );
    let page = server.get(&format!("/similar?url={site}/stilt"));
    assert!(page.body.contains("<ol class=\"results\""), "{}", page.body);
    assert!(!markup(&page.body).contains("<script"), "{}", page.body);
    assert_eq!(server.get("/similar?url=%22%3E%3Cscript%3E").status, 404);
    assert_eq!(program.log("queries").len(), 0);
}

#[test]
fn the_search_page_has_the_title_logo_and_colour_of_the_operator() {
    let program = TestProgram::new();
    let logo = program.path("logo.svg");
    fs::write(
        &logo,
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    )
    .unwrap();
    let leaf = Leaf::new("http://a.example/", "Avocets", "The avocet wades.");
    put(&program, &[leaf]);
    let settings = format!(
        "[serve]\ntitle = \"Birds & <b>more</b>\"\nlogo = {:?}\ncolour = \"#ffdd00\"\n",
        logo.to_str().unwrap()
    );
    program.configure(&settings);
    let server = AvocetServer::start(&program, &[]);
    let page = server.get("/").body;
    has(
        &page,
        "<title>Birds &#38; &#60;b&#62;more&#60;/b&#62;</title>",
    );
    let address = |end: &str| {
        let start = page
            .split(&format!("{end}\""))
            .next()
            .unwrap()
            .rsplit('"')
            .next()
            .unwrap();
        format!("{start}{end}")
    };
    let style = server.get(&address("/style.css"));
    assert_eq!(style.head["content-type"], "text/css; charset=utf-8");
    assert!(style.body.contains("--accent: #ffdd00"), "{}", style.body);
    let logo = server.get(&address("/logo"));
    assert_eq!(logo.head["content-type"], "image/svg+xml");
    assert!(logo.head["content-security-policy"].contains("script-src 'self'"));
    let description = server.get("/opensearch.xml").body;
    has(&description, "<ShortName>Birds &#38; &#60;b&#62;more");
    assert!(
        server.get("/nowhere").body.contains("Birds &#38; "),
        "messages are branded too"
    );
    drop(server);
    program.configure("[serve]\nlogo = \"/proc/none.svg\"\n");
    let (_, said) = program.fail(&["serve", "--listen", "127.0.0.1:0"]);
    has(&said, "[serve] logo: cannot read /proc/none.svg");
}

#[test]
fn text_of_crawled_pages_is_escaped_on_every_page() {
    let program = TestProgram::new();
    let hostile =
        "\"><script>alert(1)</script><img src=x onerror=alert(2)> avocet' onmouseover='alert(3)";
    let text = format!("{hostile}\n{}", filler("avocet"));
    let leaves = [
        "http://a.example/\"><script>alert(4)</script>",
        "http://b.example/",
        "javascript:alert(5)//avocet",
        "data:text/html,<script>alert(6)</script>",
    ];
    let leaves = leaves.map(|url| Leaf {
        section: Some("\"><script>alert(7)</script>"),
        ..Leaf::new(url, hostile, &text)
    });
    put(&program, &leaves);
    let server = AvocetServer::start(&program, &[]);
    let query = "avocet+nothinglikeit+inurl:%3Cscript%3E";
    for path in [
        "/?q=avocet".to_owned(),
        format!("/?q={query}"),
        format!("/?q={query}&live=typing"),
        format!("/?q={query}&type=%22%3E&sort=%22%3E&since=%22%3E&topic=&age=%22%3Cscript%3E"),
        "/?q=avocet&language=%22%3E%3Cscript%3E&site=%3Cscript%3E".to_owned(),
        "/similar?url=http://b.example/".to_owned(),
        "/similar?url=%22%3E%3Cscript%3E".to_owned(),
        "/cached?url=http://b.example/%22%3E%3Cscript%3E".to_owned(),
    ] {
        let page = server.get(&path);
        let body = markup(&page.body);
        for wrong in [
            "<script",
            "<img src=x",
            " onmouseover='",
            "href=\"javascript:",
            "href=\"data:",
        ] {
            assert!(!body.contains(wrong), "{path}: {wrong}: {body}");
        }
    }
    let page = server.get("/?q=avocet+onmouseover&site=b.example").body;
    has(&page, "#%22%3E%3Cscript%3Ealert(7)%3C/script%3E\"");
    let suggested = server.json("/api/v1/suggest?q=avoc");
    for one in suggested["suggestions"].as_array().unwrap() {
        assert!(one["url"].as_str().unwrap().starts_with("http://"), "{one}");
    }
}

#[test]
fn of_equal_pages_one_in_the_readers_language_is_shown() {
    let program = TestProgram::new();
    let leaf = |language| Leaf {
        language,
        ..Leaf::new(
            &format!("http://{language}.example/"),
            &format!("Page {language}"),
            &filler("avocet"),
        )
    };
    put(&program, &["en", "de", "fr"].map(leaf));
    let server = AvocetServer::start(&program, &[]);
    for (accepted, title) in [
        ("de, en;q=0.5", "Page de"),
        ("da, en;q=0.4, fr-CH;q=0.9", "Page fr"),
        ("en-GB", "Page en"),
    ] {
        let field = format!("Accept-Language: {accepted}");
        let ask = |path| server.ask("GET", path, &[&field], "");
        let found = ask("/api/v1/search?q=sweeps&log=false").json();
        let results = found["results"].as_array().unwrap();
        assert_eq!((results.len(), &results[0]["title"]), (1, &json!(title)));
        assert_eq!(results[0]["duplicates"].as_array().unwrap().len(), 2);
        let page = ask("/?q=sweeps").body;
        let shown = format!("<span class=\"title\">{title}</span>");
        assert!(page.contains(&shown), "{accepted}: {page}");
        assert!(page.contains("and 2 more like it"), "{page}");
    }
}
