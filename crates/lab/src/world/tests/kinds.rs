//! Tests of the detection of a world's kind, and of its contents.

use policy::Moment;
use testweb::site::{PageNumber, WebPlan};

use super::*;

const NODES: &str = "id\turl\n7\thttp://e.org/a\n9\thttp://E.org/a\n4\tmailto:x\n";
const EDGES: &str = "from\tto\n7\t9\n7\t9\n9\t9\n9\t4\n";

#[test]
fn a_graph_has_distinct_urls_and_no_repeated_or_self_links() {
    let directory = directory(&[("nodes.tsv.gz", NODES), ("edges.tsv.zst", EDGES)]);
    let graph = Graph::read(directory.path()).unwrap();
    let urls: Vec<_> = (0..3).map(|page| graph.url(page).as_str()).collect();
    assert_eq!(
        urls,
        [
            "http://e.org/a",
            "http://e.org/a?page=1",
            "http://2.invalid/"
        ]
    );
    assert!(graph.edges().eq([(0, 1), (1, 2)]));
    assert_eq!(graph.links(0), [1]);
    assert_eq!(graph.reachable(&[1]), [1, 2]);
    assert!(graph.among(&[2, 1]).edges().eq([(1, 0)]));
    assert_eq!(graph.among(&[2, 1, 2]).pages(), 2);
    assert_eq!((graph.id(2), graph.find("4")), ("4", Some(2)));
    assert_eq!(graph.find("http://E.ORG/a"), Some(0));
    assert_eq!(graph.find("8"), None);
}

#[test]
fn a_graph_without_urls_is_on_one_host() {
    let directory = directory(&[("edges.tsv", "to\tweight\tfrom\nb/c\t1\tx\nx\t2\t..\n")]);
    let graph = Graph::read(directory.path()).unwrap();
    let ids: Vec<_> = (0..3).map(|page| graph.id(page)).collect();
    assert_eq!(
        ids,
        ["x", "b/c", ".."],
        "in order of appearance, by column name"
    );
    let urls: Vec<_> = (0..2).map(|page| graph.url(page).as_str()).collect();
    assert_eq!(
        urls,
        ["http://graph.invalid/x", "http://graph.invalid/b%2Fc"]
    );
    assert!(graph.edges().eq([(0, 1), (2, 0)]));
}

#[test]
fn links_keep_their_order_and_are_listed_once() {
    let edges = [
        (2, 1),
        (0, 2),
        (2, 0),
        (0, 1),
        (2, 1),
        (0, 2),
        (1, 1),
        (9, 0),
    ];
    let urls = ["http://e.org/0", "http://e.org/1", "http://e.org/2"];
    let graph = Graph::new(urls.into_iter(), edges.into_iter());
    assert_eq!(graph.links(0), [2, 1]);
    assert!(graph.links(1).is_empty());
    assert_eq!(graph.links(2), [1, 0]);
    let none = Graph::new(std::iter::empty(), std::iter::empty());
    assert_eq!((none.pages(), none.edges().count()), (0, 0));
}

#[test]
fn links_of_traffic_worlds_are_mutual() {
    let directory = directory(&[
        ("edges.tsv", "from\tto\na\tb\nc\ta\nb\ta\n"),
        ("views.tsv", "page\tviews\nb\t3\na\t1.5\nc\t0\nd\t7\n"),
    ]);
    let World::Traffic(traffic) = World::read(directory.path()).unwrap() else {
        panic!("not traffic");
    };
    assert_eq!(traffic.views(), [3.0, 1.5, 0.0, 7.0]);
    let expected = [(0, 1), (1, 0), (1, 2), (2, 1)];
    assert!(traffic.graph().edges().eq(expected), "d has no links");
    let linked = World::Traffic(traffic).linked().unwrap();
    assert_eq!(linked.views(), Some(&[3.0, 1.5, 0.0, 7.0][..]));
    assert_eq!(linked.text(0), None);
}

#[test]
fn topic_pages_have_readable_texts_titles_and_anchor_texts() {
    let home = r#"{"body": "h", "html": "<title>Home</title><p>See <a href='/b'>the &amp; book</a>, <a href='http://x.org/'>x</a></p>"}"#;
    let book = r#"{"text": "A book.", "body": "b"}"#;
    let directory = directory(&[
        (
            "nodes.tsv",
            "id\turl\nb\thttp://e.org/b\nh\thttp://e.org/\nz\thttp://e.org/z\n",
        ),
        ("edges.tsv", "from\tto\nh\tz\nh\tb\nb\th\n"),
        ("bodies.ndjson.zst", &format!("{home}\n{book}\n")),
        (
            "labels.tsv",
            "page\tlabel\nh\tshop\nb\tbook\nh\tbook\nh\tshop\n",
        ),
    ]);
    let World::Topic(topic) = World::read(directory.path()).unwrap() else {
        panic!("not a topic");
    };
    assert_eq!(topic.labels().names(), ["book", "shop"]);
    assert_eq!(topic.labels().of(1), [0, 1]);
    assert!(topic.labels().of(2).is_empty());
    assert_eq!(topic.body(0), &Body::text("A book."));
    let linked = World::Topic(topic).linked().unwrap();
    assert_eq!(linked.text(0), Some(("", "A book.")));
    let (title, text) = linked.text(1).unwrap();
    assert_eq!((title, text), ("Home", "See the & book, x"));
    assert_eq!(linked.text(2), Some(("", "")), "no body is an empty text");
    assert_eq!(
        (linked.anchor(1, 0), linked.anchor(1, 1)),
        ("", "the & book")
    );
    assert_eq!(linked.anchor(0, 0), "", "a plain text has no anchors");
}

#[test]
fn a_world_of_servers_has_the_links_of_its_first_moment() {
    let web = WebPlan::small(3).invent();
    let expected: Vec<usize> = web
        .leads_to(PageNumber(0), 0.0)
        .into_iter()
        .map(|page| page.0 as usize)
        .collect();
    let pages = web.pages().count();
    let linked = World::Servers(Box::new(web)).linked().unwrap();
    assert_eq!(linked.graph().pages(), pages);
    assert!(!expected.is_empty());
    for page in expected.into_iter().filter(|&page| page != 0) {
        assert!(linked.graph().links(0).contains(&(page as u32)));
    }
    assert!(!linked.has_texts());
}

#[test]
fn histories_tell_changes_of_text_from_changes_of_markup() {
    let body = |id: &str, html: &str| format!("{{\"body\": \"{id}\", \"html\": \"{html}\"}}\n");
    let bodies = [
        body("unused", "x"),
        body("b2", "<p class=new>one two"),
        body("b1", "<p>one two</p>"),
        body("b3", "<p>one three"),
    ];
    let versions =
        "page\tt\tbody\n5\t10\tb1\n6\t10.5\tb1\n5\t20\tb2\n5\t30\tb3\n5\t40\t-\n5\t41\t-\n";
    let directory = directory(&[
        (
            "pages.tsv",
            "page\turl\n5\thttp://e.org/5\n6\thttp://e.org/6\n",
        ),
        ("versions.tsv", versions),
        ("bodies.ndjson", &bodies.concat()),
    ]);
    let World::Histories(histories) = World::read(directory.path()).unwrap() else {
        panic!("not histories");
    };
    assert_eq!(histories.bodies().count(), 3);
    assert_eq!(histories.versions()[1].at, Moment::from_micros(10_500_000));
    let texts = histories.texts().unwrap();
    assert_eq!(texts[0], texts[1]);
    assert_ne!(texts[0], texts[2]);

    fs::remove_file(directory.path().join("bodies.ndjson")).unwrap();
    put(
        directory.path(),
        "queries.tsv",
        b"query\tcount\nrust crawler\t3\n",
    );
    let World::Corpus(corpus) = World::read(directory.path()).unwrap() else {
        panic!("not a corpus");
    };
    let texts = corpus.histories.texts().unwrap();
    assert_ne!(texts[0], texts[1], "every body differs");
    assert_eq!(corpus.queries.total(), 3);
}

#[test]
fn a_directory_that_is_no_world_is_an_error_that_lists_the_tables() {
    let directory = directory(&[("items.tsv", "item\n")]);
    let error = World::read(directory.path()).unwrap_err().to_string();
    for word in ["edges.tsv", "versions.tsv", "clicks.tsv", "queries.tsv"] {
        assert!(error.contains(word), "{error}");
    }
    let nowhere = directory.path().join("nowhere");
    let error = World::read(&nowhere).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "{error}");
    let knobs = [("pages".to_owned(), "5".to_owned())];
    let error = World::open(nowhere.to_str().unwrap(), &knobs, 1).unwrap_err();
    assert!(error.to_string().contains("pages"), "{error}");
}

#[test]
fn the_conversion_of_a_query_log_to_a_graph_is_an_error_that_names_its_kind() {
    let world = World::Queries(Queries {
        queries: Vec::new(),
    });
    let error = world.linked().unwrap_err().to_string();
    assert!(error.contains("queries"), "{error}");
}

#[test]
fn an_experiment_reads_its_part_of_a_directory_with_several() {
    let url = |id: &str| format!("page\turl\n{id}\thttp://e.org/\n");
    let one = directory(&[
        ("pages.tsv", &url("5")),
        ("versions.tsv", "page\tt\tbody\n5\t10\tb1\n"),
        ("bodies.ndjson", "{\"body\": \"b1\", \"text\": \"one\"}\n"),
        ("queries.tsv", "query\tcount\nrust\t3\n"),
        ("sources.tsv", "source\turl\n5\thttp://e.org/\n"),
        ("articles.tsv", "article\turl\n6\thttp://e.org/6\n"),
        ("links.tsv", "source\tarticle\tt_in\tt_out\n5\t6\t10\t20\n"),
        ("clicks.tsv", "article\tt\tclicks\n6\t10\t2\n"),
        (
            "nodes.tsv",
            "id\turl\n5\thttp://e.org/\n6\thttp://e.org/6\n",
        ),
        ("edges.tsv", "from\tto\n5\t6\n"),
    ]);
    let name = one.path().to_str().unwrap();
    let part = |part| World::open_part(name, &[], 1, part).unwrap().kind();
    assert_eq!(part(WorldPart::Histories), "corpus");
    assert_eq!(part(WorldPart::Sources), "news");
    assert_eq!(
        part(WorldPart::Links),
        "graph",
        "the bodies are of versions"
    );
    assert_eq!(World::open(name, &[], 1).unwrap().kind(), "corpus");
    let all = World::open_all(name, &[], 1).unwrap();
    let kinds = |all: &[World]| -> Vec<&str> { all.iter().map(World::kind).collect() };
    assert_eq!(kinds(&all), ["corpus", "news", "graph"]);

    // A copy has all parts. If a directory lacks the requested part, the part that it has is read.
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("copy");
    World::write_all(&all, &copy).unwrap();
    let again = World::open_all(copy.to_str().unwrap(), &[], 1).unwrap();
    assert_eq!(kinds(&again), ["corpus", "news", "graph"]);
    assert!(World::write_all(&all, &copy).is_err(), "it holds a world");
    let graph = directory(&[("edges.tsv", "from\tto\n5\t6\n")]);
    let graph = graph.path().to_str().unwrap();
    let found = World::open_part(graph, &[], 1, WorldPart::Sources).unwrap();
    assert_eq!(found.kind(), "graph");
}
