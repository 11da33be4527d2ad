//! Tests of `avocet export pages`: Markdown files, chunks, filters and failed extractions.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, below, has, holds, words};

const HTML: &str = "text/html; charset=utf-8";

/// Returns a site: a home page with links to these pages.
fn site(pages: &[(&str, String)]) -> Files {
    let files = Files::default();
    let links: String = pages
        .iter()
        .map(|(path, _)| format!("<li><a href='{path}'>{path}</a>"))
        .collect();
    files.put(
        "/",
        HTML,
        format!("<title>Home</title><h1>Home</h1><ul>{links}</ul>"),
    );
    for (path, page) in pages {
        files.put(path, HTML, page.clone());
    }
    files
}

async fn crawled(pages: &[(&str, String)]) -> (TestProgram, String) {
    let address = site(pages).serve().await;
    let program = TestProgram::new();
    program.json(&["crawl", &format!("http://{address}/")]);
    (program, address.to_string())
}

fn guide() -> String {
    "<title>\"Guide\": a \\ b - Site</title><nav><a href=/>Home</a></nav><main><h1>\"Guide\": a \\ b</h1><p>Before.\
     <h2 id=install>Install<a class=headerlink href=#install>¶</a></h2><p>Run it:<pre class=bash>make\n\nmake install</pre>\
     <h2>Use</h2><p>See <a href=/other>the other page</a>.</main><footer>Imprint</footer>"
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_become_files_with_front_matter() {
    let pages = [
        ("/guide", guide()),
        ("/A", "<title>Upper</title><p>Upper case.".to_owned()),
        ("/a", "<title>Lower</title><p>Lower case.".to_owned()),
        (
            "/..%2F..%2Fevil",
            "<title>Evil</title><p>Out of here.".to_owned(),
        ),
    ];
    let (program, address) = crawled(&pages).await;
    let out = program.path("pages");
    let out = out.to_str().unwrap();
    let summary = program.json(&["export", "pages", "--format", "md", "--out", out]);
    holds(&summary, &json!({ "pages": 5, "written": 5 }));
    let files = below(Path::new(out));
    assert_eq!(files.len(), 6, "{files:?}");
    let list = fs::read_to_string(Path::new(out).join("files.jsonl")).unwrap();
    let list = list.lines().map(|line| serde_json::from_str(line).unwrap());
    let list: Vec<Value> = list.collect();
    assert!(
        list.iter()
            .all(|line| files.contains(&Path::new(out).join(line["file"].as_str().unwrap()))),
        "{list:?}"
    );
    let guide = list
        .iter()
        .find(|line| line["url"].as_str().unwrap().ends_with("/guide"))
        .unwrap();
    let guide = fs::read_to_string(Path::new(out).join(guide["file"].as_str().unwrap())).unwrap();
    let (head, body) = guide.split_once("\n---\n\n").unwrap();
    assert!(
        head.starts_with("---\ntitle: \"\\\"Guide\\\": a \\\\ b\"\n"),
        "{head}"
    );
    has(
        head,
        &format!("\nurl: \"http://{address}/guide\"\nfetched_at: \"2"),
    );
    assert!(head.contains("\nextraction: article"), "{head}");
    let expected = format!(
        "# \"Guide\": a \\ b\n\nBefore.\n\n## Install\n\nRun it:\n\n```bash\nmake\n\nmake install\n```\n\n## Use\n\nSee [the other \
         page](http://{address}/other).\n"
    );
    assert_eq!(body, expected);
    // A second export writes the same files.
    program.run(&["export", "pages", "--format", "md", "--out", out]);
    assert_eq!(below(Path::new(out)), files);
    // A host's directory that is a symbolic link is not followed.
    let host = files
        .iter()
        .find_map(|file| file.parent().filter(|parent| *parent != Path::new(out)))
        .unwrap();
    fs::remove_dir_all(host).unwrap();
    std::os::unix::fs::symlink(program.path("elsewhere"), host).unwrap();
    let (code, said) = program.fail(&["export", "pages", "--format", "md", "--out", out]);
    assert!(
        code == Some(1) && said.contains("not a directory"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_name_their_headings_and_fragments() {
    let (program, address) = crawled(&[("/guide", guide())]).await;
    let mut chosen = words("export pages --chunks 100 --query");
    chosen.push("install make");
    let chunks = program.lines(&chosen);
    let page = format!("http://{address}/guide");
    let found: Vec<(&str, Vec<&str>, &str)> = chunks
        .iter()
        .map(|chunk| {
            let headings = chunk["headings"].as_array().unwrap();
            let headings = headings
                .iter()
                .map(|heading| heading.as_str().unwrap())
                .collect();
            (
                chunk["url"].as_str().unwrap(),
                headings,
                chunk["markdown"].as_str().unwrap(),
            )
        })
        .collect();
    let title = "\"Guide\": a \\ b";
    assert_eq!(
        found[0],
        (page.as_str(), vec![title], "# \"Guide\": a \\ b\n\nBefore.")
    );
    let install = format!("{page}#install");
    let code = "## Install\n\nRun it:\n\n```bash\nmake\n\nmake install\n```";
    assert_eq!(found[1], (install.as_str(), vec![title, "Install"], code));
    assert_eq!(
        (found[2].0, &found[2].1),
        (page.as_str(), &vec![title, "Use"])
    );
    assert_eq!(
        (
            &chunks[2]["index"],
            &chunks[2]["chunks"],
            &chunks[2]["page"]
        ),
        (&2.into(), &3.into(), &page.clone().into())
    );

    let out = program.path("chunks");
    let out = out.to_str().unwrap();
    let arguments = [&chosen[..], &["--format", "md", "--out", out]].concat();
    assert_eq!(program.json(&arguments)["written"], 3);
    let files = below(Path::new(out));
    let last = fs::read_to_string(
        files
            .iter()
            .rfind(|file| file.extension().is_some_and(|it| it == "md"))
            .unwrap(),
    )
    .unwrap();
    has(
        &last,
        "\nindex: 2\nchunks: 3\nheadings: [\"\\\"Guide\\\": a \\\\ b\", \"Use\"]\n",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_main_text_on_many_pages_is_a_failed_extraction() {
    let notice = "© 2020 The Company Ltd. All contributions are the copyrights of their respective owners, as licensed.";
    let pages: Vec<(String, String)> = (0..6)
        .map(|page| {
            let text = format!("<div>What only page {page} says, in a few words of its own: word{page}.</div>");
            (format!("/{page}"), format!("<title>Page {page}</title><div class=logo>The Company</div>{text}<main>{notice}</main>"))
        })
        .collect();
    let pages: Vec<(&str, String)> = pages
        .iter()
        .map(|(path, page)| (path.as_str(), page.clone()))
        .collect();
    let (program, _) = crawled(&pages).await;
    let lines = program.lines(&["export", "pages"]);
    for page in 0..6 {
        let title = format!("Page {page}");
        let line = lines
            .iter()
            .find(|line| line["title"] == title.as_str())
            .unwrap();
        holds(
            line,
            &json!({ "extraction": "fallback", "extraction_reason": "repeated" }),
        );
        let text = line["text"].as_str().unwrap();
        assert_eq!(
            text,
            format!("What only page {page} says, in a few words of its own: word{page}.")
        );
    }
    let home = lines.iter().find(|line| line["title"] == "Home").unwrap();
    assert!(
        home["extraction"] != "fallback" && home.get("extraction_reason").is_none(),
        "{home}"
    );
    // The summary counts the failed extractions.
    let out = program.path("pages.jsonl");
    let summary = program.json(&["export", "pages", "--out", out.to_str().unwrap()]);
    assert_eq!(summary["extraction"]["fallback"], 6, "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_chosen_by_site_time_and_query() {
    let pages = [
        (
            "/1",
            "<title>One</title><p>Herons wade in shallow water.".to_owned(),
        ),
        (
            "/2",
            "<title>Two</title><p>Terns dive from the air.".to_owned(),
        ),
    ];
    let (program, address) = crawled(&pages).await;
    let host = address.split(':').next().unwrap();
    let table: [(&[&str], usize); 8] = [
        (&[], 3),
        (&["--site", host], 3),
        (&["--site", "elsewhere.example"], 0),
        (&["--since", "2020"], 3),
        (&["--since", "2999-01-01"], 0),
        (&["--query", "herons"], 1),
        (&["--query", "herons", "--since", "2999"], 0),
        (&["--query", "nothing-of-the-kind"], 0),
    ];
    for (filter, expected) in table {
        let mut arguments = vec!["export", "pages"];
        arguments.extend(filter);
        assert_eq!(program.lines(&arguments).len(), expected, "{filter:?}");
    }
    for (flag, value, expected) in [("--topic", "unknown", 1), ("--since", "soon", 2)] {
        let (code, said) = program.fail(&["export", "pages", flag, value]);
        assert_eq!(code, Some(expected), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_chosen_by_topic() {
    let birds = [
        "heron", "tern", "avocet", "plover", "gull", "stork", "egret", "ibis",
    ];
    let page = |name: &str, words: &str| {
        let text = format!("The {name} is known for its {words}. ").repeat(4);
        format!("<title>{name}</title><p>{text}")
    };
    let mut pages = Vec::new();
    for bird in birds {
        let feathers = "feathers, its nest, its wings, its eggs and its long bill in the water";
        pages.push((format!("/{bird}"), page(bird, feathers)));
        let engine = format!("engine-{bird}");
        let parts =
            "pistons, its valves, its crankshaft, its fuel and its loud exhaust on the road";
        pages.push((format!("/{engine}"), page(&engine, parts)));
    }
    let pages: Vec<(&str, String)> = pages
        .iter()
        .map(|(path, page)| (path.as_str(), page.clone()))
        .collect();
    let (program, address) = crawled(&pages).await;
    let url = |path: &str| format!("http://{address}{path}");
    let mut train = "topic train birds".to_owned();
    for (path, _) in &pages[..12] {
        let flag = match path.contains("engine") {
            true => "--negative",
            false => "--positive",
        };
        train += &format!(" {flag} {}", url(path));
    }
    program.json(&words(&train));
    let found = program.lines(&["export", "pages", "--topic", "birds"]);
    let urls: Vec<&str> = found
        .iter()
        .map(|page| page["url"].as_str().unwrap())
        .collect();
    // Two pages of each kind were not training examples.
    for path in ["/egret", "/ibis"] {
        assert!(urls.contains(&url(path).as_str()), "{urls:?}");
        let engine = url(&path.replace('/', "/engine-"));
        assert!(!urls.contains(&engine.as_str()), "{urls:?}");
    }
}
