//! Tests of search quality: the order of results, what each result shows, corrections, facets
//! and duplicates.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use page::{PageId, PageUrl};
use repository::index::{AddedLinks, Document, Hits, Index, PageIndexWriter, SearchQuery, Sort};

/// The smallest heap that tantivy accepts, in bytes.
const HEAP: usize = 15_000_000;

/// An index that is written page by page.
struct SearchedIndex {
    _dir: tempfile::TempDir,
    index: Index,
    writer: PageIndexWriter,
}

impl SearchedIndex {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path()).unwrap();
        let writer = index.writer(HEAP).unwrap();
        Self {
            _dir: dir,
            index,
            writer,
        }
    }

    /// Puts a page as a crawl reads it, and commits.
    fn put(&mut self, path: &str, html: &str) -> PageId {
        self.put_linked(path, html, &[], 0)
    }

    fn put_linked(&mut self, path: &str, html: &str, anchors: &[&str], in_links: u32) -> PageId {
        let url = PageUrl::parse(&format!("http://docs.example/{path}")).unwrap();
        let reading = page::read(html, &url, &page::ReadLimits::default());
        let document = Document {
            title: &reading.title,
            text: &reading.text,
            asides: &reading.asides,
            sections: &reading.sections,
            linked: reading.linked,
            anchors,
            in_links,
            kind: "html",
            language: reading.language.as_deref(),
            stated: Some(&reading.fields),
            ..Document::new(url.id(), url.as_str(), url.host_name())
        };
        self.writer.put(&document).unwrap();
        self.writer.commit(1).unwrap();
        url.id()
    }

    /// Searches with some of the options changed.
    fn ask<'a>(&self, text: &'a str, change: impl FnOnce(&mut SearchQuery<'a>)) -> Hits {
        let mut query = SearchQuery {
            text,
            limit: 10,
            ..SearchQuery::default()
        };
        change(&mut query);
        self.index.search(&query).unwrap()
    }

    fn search(&self, text: &str) -> Hits {
        self.ask(text, |_| ())
    }

    /// Returns the paths of the results.
    fn paths(&self, text: &str) -> Vec<String> {
        paths(&self.search(text))
    }
}

fn paths(hits: &Hits) -> Vec<String> {
    let path = |url: &str| url.strip_prefix("http://docs.example/").unwrap().to_owned();
    hits.hits.iter().map(|hit| path(&hit.url)).collect()
}

fn page(title: &str, body: &str) -> String {
    format!("<title>{title}</title>{body}")
}

#[test]
fn compounds_are_found_as_they_are_written() {
    let mut world = SearchedIndex::new();
    world.put(
        "amend",
        &page("commit", "<p>With --amend the last commit is replaced."),
    );
    world.put(
        "word",
        &page(
            "Constitution",
            "<p>To amend the law, amend, amend and commit.",
        ),
    );
    world.put("cpp", &page("C++", "<p>A language with classes."));
    world.put("c", &page("C", "<p>A language without classes, c, c, c."));
    world.put("join", &page("Paths", "<p>Call os.path.join(a, b)."));
    world.put(
        "apart",
        &page("Paths", "<p>Your OS has a path. You join it."),
    );
    world.put("rule", &page("RewriteRule", "<p>A directive."));
    for (query, first) in [
        ("commit --amend", "amend"),
        ("C++", "cpp"),
        ("os.path.join", "join"),
        ("path.join", "join"),
        ("rewrite rule", "rule"),
        ("rewriterule", "rule"),
    ] {
        assert_eq!(world.paths(query)[0], first, "{query}");
    }
    assert_eq!(
        world.paths("os.path.join"),
        ["join", "apart"],
        "the compound ranks above its single words"
    );
    assert_eq!(world.search("os.path.join").total, 2);
    assert_eq!(world.paths("commit -amend -replaced"), Vec::<String>::new());
}

#[test]
fn headings_and_anchors_rank_above_body_and_menu() {
    let mut world = SearchedIndex::new();
    let filler = |name: &str| -> String {
        (0..40)
            .map(|n| format!("<p>Plain {name}{n} words say little. "))
            .collect()
    };
    world.put(
        "body",
        &page("One", &format!("{}<p>The avocet, once.", filler("a"))),
    );
    world.put(
        "heading",
        &page("Two", &format!("<h2>Avocet</h2>{}", filler("b"))),
    );
    world.put(
        "menu",
        &page("Three", &format!("<nav>Avocet</nav>{}", filler("c"))),
    );
    world.put_linked("anchor", &page("Four", &filler("d")), &["Avocet"], 3);
    let found = world.paths("avocet");
    assert_eq!(found[2..], ["body", "menu"], "{found:?}");
    assert!(found[..2].contains(&"heading".into()) && found[..2].contains(&"anchor".into()));
    assert_eq!(world.paths("title:avocet"), Vec::<String>::new());
    assert_eq!(world.paths("title:two avocet"), ["heading"]);
    assert_eq!(world.paths("url:heading"), ["heading"]);
}

#[test]
fn links_that_are_found_later_are_added() {
    let mut world = SearchedIndex::new();
    let id = world.put_linked("a", &page("A", "<p>text"), &["first"], 1);
    let mut add = |id, words: &[&str]| world.writer.add_links(id, words, 2).unwrap();
    assert_eq!(add(id, &["second", "first"]), AddedLinks::Added);
    assert_eq!(add(PageId(9), &["nowhere"]), AddedLinks::NoPage);
    world.writer.commit(2).unwrap();
    // A new copy of the page keeps the known links to it.
    world.put("a", &page("A", "<p>other text"));
    for query in ["first", "second", "other"] {
        assert_eq!(world.paths(query), ["a"], "{query}");
    }
    assert_eq!(world.search("first").total, 1);
}

#[test]
fn pages_that_lack_words_follow_and_name_the_words() {
    let mut world = SearchedIndex::new();
    world.put("all", &page("Waders", "<p>The avocet has a bill."));
    world.put("some", &page("Avocet", "<p>A bird."));
    world.put("none", &page("Stilt", "<p>Another bird."));
    let found = world.search("avocet bill");
    assert_eq!((found.total, found.relaxed), (1, false));
    assert_eq!(paths(&found), ["all", "some"]);
    assert_eq!(
        (found.hits[0].missing.len(), &found.hits[1].missing[..]),
        (0, &["bill".to_owned()][..])
    );
    let one = world.ask("avocet bill", |query| query.limit = 1);
    assert_eq!(paths(&one), ["all"]);
    let none = world.search("stilt bill");
    assert!(none.relaxed && none.total == 2);
    assert_eq!(world.search("stilt OR bill").total, 2);
    assert_eq!(
        world.search("\"a bill the\"").total,
        0,
        "a phrase must match exactly"
    );
}

#[test]
fn a_list_of_links_ranks_below_a_page_of_text() {
    let mut world = SearchedIndex::new();
    let links: String = (0..30)
        .map(|n| format!("<li><a href=/{n}>avocet gather {n}</a>"))
        .collect();
    world.put(
        "genindex",
        &page("Index", &format!("<h1>Index</h1><ul>{links}</ul>")),
    );
    world.put(
        "gather",
        &page(
            "Gather",
            "<h1>How they gather</h1><p>In winter the avocet will gather.",
        ),
    );
    assert_eq!(world.paths("avocet gather"), ["gather", "genindex"]);
}

#[test]
fn near_duplicates_are_shown_once() {
    let mut world = SearchedIndex::new();
    let words: String = (0..200).map(|n| format!("word{} ", n * n % 97)).collect();
    let text = |n: u32| format!("<p>The avocet sweeps its bill. {words} {n}");
    for (n, language) in ["en", "de", "fr"].into_iter().enumerate() {
        let html = format!("<html lang={language}>{}", page("Avocet", &text(n as u32)));
        world.put_linked(&format!("{language}/avocet"), &html, &[], 9 - n as u32);
    }
    world.put(
        "other",
        &page("Other", "<p>The avocet is also mentioned here."),
    );
    let found = world.search("avocet");
    assert_eq!((found.total, found.hits.len()), (4, 2));
    assert_eq!(
        found.hits[0].url, "http://docs.example/en/avocet",
        "most links lead there"
    );
    assert_eq!(found.hits[0].duplicates.len(), 2);
    let others = world.index.duplicates(found.hits[0].id).unwrap();
    assert_eq!(others.len(), 2, "{others:?}");
    assert!(world.index.duplicates(found.hits[1].id).unwrap().is_empty());
    let french = world.ask("avocet", |query| query.readers = &["pt", "fr", "de"]);
    assert_eq!(french.hits[0].url, "http://docs.example/fr/avocet");
    let second = world.ask("avocet", |query| query.offset = 1);
    assert_eq!(paths(&second), ["other"], "near-duplicates are one result");
}

#[test]
fn words_that_no_page_has_are_corrected() {
    let mut world = SearchedIndex::new();
    world.put(
        "vacuum",
        &page("VACUUM", "<p>The vacuum command reclaims storage."),
    );
    world.put(
        "gather",
        &page(
            "asyncio.gather",
            "<p>Run awaitables with asyncio and gather results.",
        ),
    );
    let found = world.search("vaccum storage");
    assert_eq!(
        (paths(&found), found.corrected.as_deref()),
        (vec!["vacuum".to_owned()], Some("vacuum storage"))
    );
    let found = world.search("asynco gathr");
    assert_eq!(
        (&paths(&found)[0][..], found.corrected.as_deref()),
        ("gather", Some("asyncio gather"))
    );
    world.put("rule", &page("RewriteRule", "<p>A directive."));
    let found = world.search("RewriteRle");
    assert_eq!(
        (&paths(&found)[0][..], found.corrected.as_deref()),
        ("rule", Some("rewriterule"))
    );
    assert_eq!(world.search("vacuum").corrected, None);
    assert_eq!(
        world.search("\"vaccum\"").total,
        0,
        "quoted words are not corrected"
    );
    assert_eq!(world.search("zzzz").total, 0);
    let typing = |text| paths(&world.ask(text, |query| query.prefix = true));
    assert_eq!(typing("vacu"), ["vacuum"]);
    assert_eq!(typing("storage vac"), ["vacuum"]);
    assert_eq!(typing("vacu "), Vec::<String>::new(), "the word has ended");
    assert_eq!(world.paths("vacu"), Vec::<String>::new());
}

#[test]
fn a_result_links_to_its_best_section() {
    let mut world = SearchedIndex::new();
    let html = page(
        "Birds",
        "<h1>Birds</h1><p>All of them.<h2 id=avocet>The avocet</h2><p>It wades. <h2 id=stilt>The stilt</h2><p>It wades too.",
    );
    let id = world.put("birds", &html);
    let section = |text| {
        let found = world.search(text);
        let hit = &found.hits[0];
        (
            hit.section.as_ref().map(|section| section.heading.clone()),
            hit.address(),
        )
    };
    assert_eq!(
        section("stilt"),
        (
            Some("The stilt".into()),
            "http://docs.example/birds#stilt".into()
        )
    );
    assert_eq!(section("birds"), (None, "http://docs.example/birds".into()));
    let kept = world.index.kept(id).unwrap().unwrap();
    let text = repository::index::section_text(&kept.text, &kept.sections, 1);
    assert_eq!(text, Some("The avocet\nIt wades."));
    assert_eq!(
        repository::index::section_text(&kept.text, &kept.sections, 3),
        None
    );
}

#[test]
fn template_lines_are_searched_but_not_shown() {
    let mut world = SearchedIndex::new();
    for n in 0..12 {
        let html = page(
            "Page",
            &format!("<p>Copyright by the avocet society<p>Own words number{n}<p>Next chapter"),
        );
        world.put(&n.to_string(), &html);
    }
    let hit = &world.search("number11").hits[0];
    assert_eq!(hit.snippet.text, "Own words number11");
    let total = world.search("avocet society").total;
    assert_eq!(total, 12, "template lines can still be found");
}

#[test]
fn click_factors_change_the_order_of_results() {
    let mut world = SearchedIndex::new();
    let (a, b) = (
        world.put("a", &page("Avocet", "<p>bird")),
        world.put("b", &page("Avocet", "<p>bird")),
    );
    let first = world.search("avocet").hits[0].id;
    let other = if first == a { b } else { a };
    let chosen = [(other, 1.1), (PageId(3), 2.0)];
    let found = world.ask("avocet", |query| query.chosen = &chosen);
    assert_eq!((found.hits[0].id, found.hits[0].chosen), (other, 1.1));
    assert_eq!(found.hits[1].chosen, 1.0);
}

#[test]
fn facets_count_pages_and_newest_pages_come_first() {
    let mut world = SearchedIndex::new();
    for (name, language, year) in [("a", "en", 2020), ("b", "de", 2024), ("c", "en", 2022)] {
        let html = format!(
            "<html lang={language}><title>Avocet</title><meta property=article:published_time content={year}-03-01><p>bird {name}"
        );
        world.put(name, &html);
    }
    world.put("other", &page("Stilt", "<p>bird"));
    let newest = |query: &mut SearchQuery<'_>| (query.facets, query.sort) = (true, Sort::Newest);
    let found = world.ask("avocet", newest);
    assert_eq!(paths(&found), ["b", "c", "a"]);
    let facets = found.facets.unwrap();
    assert_eq!(facets.sites, [("docs.example".to_owned(), 3)]);
    assert_eq!(
        facets.languages,
        [("en".to_owned(), 2), ("de".to_owned(), 1)]
    );
    assert_eq!(facets.kinds, [("html".to_owned(), 3)]);
    let years: Vec<&str> = facets.years.iter().map(|(year, _)| year.as_str()).collect();
    assert_eq!(years, ["2024", "2022", "2020"]);
    let found = world.ask("avocet", |query| {
        newest(query);
        query.published_since = Some(1_640_995_200);
        query.published_until = Some(1_680_000_000);
    });
    assert_eq!(paths(&found), ["c"]);
    assert_eq!(world.search("avocet filetype:htm").total, 3);
    assert_eq!(world.search("avocet filetype:text").total, 0);
    assert_eq!(world.search("avocet -site:docs.example").total, 0);
}

#[test]
fn similar_pages_share_characteristic_words() {
    let mut world = SearchedIndex::new();
    let id = world.put(
        "avocet",
        &page(
            "Pied avocet",
            "<p>A wader with an upcurved bill that breeds in saline lagoons.",
        ),
    );
    world.put(
        "stilt",
        &page(
            "Stilt",
            "<p>A wader that breeds in lagoons, with a straight bill.",
        ),
    );
    world.put(
        "rust",
        &page("Rust", "<p>A language for systems, with a borrow checker."),
    );
    let found = world.index.similar(id, 5).unwrap();
    assert_eq!(found[0].url, "http://docs.example/stilt");
    assert!(found.iter().all(|hit| hit.id != id));
    assert!(world.index.similar(PageId(1), 5).unwrap().is_empty());
}
