//! Tests that a written world reads as the same world.

use policy::Moment;
use proptest::prelude::*;

use super::*;

/// Returns URLs of many forms, some of them invalid and some repeated.
fn urls() -> impl Strategy<Value = Vec<String>> {
    let url = prop_oneof![
        "http://[a-c]\\.org/[a-z/%?=~.]{0,5}",
        "[a-z:/\\[]{0,6}",
        Just("http://1.invalid/".to_owned()),
    ];
    proptest::collection::vec(url, 1..8)
}

fn texts(count: usize) -> impl Strategy<Value = Vec<Body>> {
    let body = ("\\PC{0,20}|<p>[a-z\\n\\t\"]{0,9}", any::<bool>());
    let body = body.prop_map(|(text, html)| Body { text, html });
    proptest::collection::vec(body, count)
}

fn graphs() -> impl Strategy<Value = Graph> {
    let edges = proptest::collection::vec((0..9_usize, 0..9_usize), 0..30);
    (urls(), edges)
        .prop_map(|(urls, edges)| Graph::new(urls.iter().map(String::as_str), edges.into_iter()))
}

fn moments() -> impl Strategy<Value = Moment> {
    prop_oneof![
        0..50_u64,
        (0..50_u64).prop_map(|seconds| seconds * 1_000_000),
        any::<u64>()
    ]
    .prop_map(Moment::from_micros)
}

fn histories() -> impl Strategy<Value = Histories> {
    let version = (0..100_u32, moments(), proptest::option::of(0..6_u32));
    let versions = proptest::collection::vec(version, 0..20);
    (urls(), versions, texts(6), any::<bool>()).prop_map(|(urls, versions, texts, known)| {
        let pages = urls.len() as u32;
        let version = |(page, at, body)| Version {
            page: page % pages,
            at,
            body,
        };
        let bodies = match known {
            true => Bodies::kept(texts),
            false => Bodies::unknown(6),
        };
        let versions = versions.into_iter().map(version).collect();
        Histories::new(urls.iter().map(String::as_str), versions, bodies)
    })
}

fn news() -> impl Strategy<Value = News> {
    let link = (0..100_u32, 0..100_u32, moments(), moments());
    let links = proptest::collection::vec(link, 0..20);
    let clicks = proptest::collection::vec((0..100_u32, moments(), any::<u32>()), 0..20);
    (urls(), urls(), links, clicks).prop_map(|(sources, articles, links, clicks)| {
        let (of, all) = (sources.len() as u32, articles.len() as u32);
        let shown = |(source, article, a, b): (u32, u32, Moment, Moment)| LinkPeriod {
            source: source % of,
            article: article % all,
            from: a.min(b),
            until: a.max(b),
        };
        let clicked = |(article, at, clicks)| Clicked {
            article: article % all,
            at,
            clicks,
        };
        News::new(
            sources.iter().map(String::as_str),
            articles.iter().map(String::as_str),
            links.into_iter().map(shown).collect(),
            clicks.into_iter().map(clicked).collect(),
        )
    })
}

fn queries() -> impl Strategy<Value = Queries> {
    let queries = proptest::collection::vec(("[^\t\n\r]{0,9}", any::<u32>()), 0..9);
    queries.prop_map(|queries| Queries { queries })
}

fn rewritten(world: &World) -> World {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new");
    world.write(&path).unwrap();
    let again = World::read(&path).unwrap();
    assert_eq!(again.kind(), world.kind());
    // Histories stream from the directory, so they are compared while it exists.
    if let (Some(one), Some(other)) = (changing(world), changing(&again)) {
        assert_eq!(
            (one.urls(), one.versions()),
            (other.urls(), other.versions())
        );
        assert_eq!(one.bodies().are_known(), other.bodies().are_known());
        assert_eq!(all(one.bodies()), all(other.bodies()));
    }
    let error = world.write(&path).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
    again
}

fn changing(world: &World) -> Option<&Histories> {
    match world {
        World::Histories(histories) => Some(histories),
        World::Corpus(corpus) => Some(&corpus.histories),
        _ => None,
    }
}

fn all(bodies: &Bodies) -> Vec<(u32, Body)> {
    let mut found = Vec::new();
    bodies
        .each(|number, body| found.push((number, body)))
        .unwrap();
    found.sort_unstable_by_key(|(number, _)| *number);
    assert!(!bodies.are_known() || found.len() == bodies.count() as usize);
    found
}

macro_rules! same {
    ($kind:ident, $world:expr) => {{
        let world = World::$kind($world);
        let again = rewritten(&world);
        let (World::$kind(one), World::$kind(other)) = (world, again) else {
            panic!("another kind");
        };
        prop_assert_eq!(one, other);
    }};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn graphs_read_as_written(graph in graphs()) {
        same!(Graph, graph);
    }

    #[test]
    fn graphs_keep_their_ids_when_written(pairs in proptest::collection::vec(("[^\t\n\r]{1,3}", "[^\t\n\r]{1,3}"), 1..20)) {
        let rows: String = pairs.iter().map(|(from, to)| format!("{from}\t{to}\n")).collect();
        let directory = directory(&[("edges.tsv", &format!("from\tto\n{rows}"))]);
        let graph = Graph::read(directory.path()).unwrap();
        prop_assert_eq!(graph.id(0), &pairs[0].0);
        same!(Graph, graph);
    }

    #[test]
    fn topics_read_as_written((graph, bodies, labels) in graphs().prop_flat_map(|graph| {
        let pages = graph.pages();
        let labels = proptest::collection::vec((0..pages, "[a-c]{0,2}"), 0..9);
        (Just(graph), texts(pages), labels)
    })) {
        let labels = labels.iter().map(|(page, label)| (*page, label.as_str()));
        let labels = Labels::new(graph.pages(), labels);
        same!(Topic, LabelledWorld::new(graph, bodies, labels));
    }

    #[test]
    fn traffic_reads_as_written((graph, views) in graphs().prop_flat_map(|graph| {
        let pages = graph.pages();
        (Just(graph), proptest::collection::vec(prop_oneof![0.0..1e9, Just(1e300), Just(5e-324)], pages))
    })) {
        same!(Traffic, Traffic::new(graph, views));
    }

    #[test]
    fn histories_and_corpora_read_as_written(histories in histories(), queries in queries()) {
        rewritten(&World::Histories(histories.clone()));
        let again = rewritten(&World::Corpus(Corpus { histories, queries: queries.clone() }));
        let World::Corpus(again) = again else { panic!("another kind") };
        prop_assert_eq!(again.queries, queries);
    }

    #[test]
    fn news_read_as_written(news in news()) {
        same!(News, news);
    }

    #[test]
    fn queries_read_as_written(queries in queries()) {
        same!(Queries, queries);
    }
}

#[test]
fn cells_with_tabs_or_line_breaks_and_worlds_of_servers_are_not_written() {
    for query in ["a\tb", "a\nb", "a\r"] {
        let queries = vec![("fine".to_owned(), 1), (query.to_owned(), 2)];
        let directory = tempfile::tempdir().unwrap();
        let world = World::Queries(Queries { queries });
        let error = world.write(directory.path()).unwrap_err().to_string();
        assert!(error.contains("queries.tsv.gz, line 3"), "{error}");
    }
    let web = testweb::site::WebPlan::small(1).invent();
    let place = tempfile::tempdir().unwrap();
    let servers = World::Servers(Box::new(web));
    let error = servers.write(&place.path().join("new")).unwrap_err();
    assert!(error.to_string().contains("latencies"), "{error}");
    assert!(!place.path().join("new").exists());
}
