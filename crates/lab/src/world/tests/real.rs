//! Tests that read the recorded worlds of `../shared/data`, beside the repository, and compare
//! them with the counts in their READMEs. A world that is missing is skipped.

use std::collections::HashSet;
use std::path::PathBuf;

use super::*;

/// Reads the world of this name. Returns `None` and prints a message if the data is missing.
fn world(name: &str) -> Option<World> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let path = PathBuf::from(data).join(name);
    if !path.is_dir() {
        eprintln!("skipped: {} is missing", path.display());
        return None;
    }
    Some(World::read(&path).unwrap())
}

macro_rules! real {
    ($name:literal, $kind:ident) => {
        match world($name) {
            None => return,
            Some(World::$kind(world)) => world,
            Some(other) => panic!("{} is of the kind {}", $name, other.kind()),
        }
    };
}

fn hosts(graph: &Graph) -> usize {
    let hosts: HashSet<_> = (0..graph.pages())
        .map(|page| graph.url(page).host())
        .collect();
    hosts.len()
}

#[test]
fn cs_stanford_has_the_counts_of_its_readme() {
    let graph = real!("cs-stanford", Graph);
    assert_eq!((graph.pages(), graph.edges().count()), (9_914, 35_555));
    assert_eq!(
        graph.url(graph.find("4").unwrap()).as_str(),
        "http://cs.stanford.edu/Admissions"
    );
    assert_eq!(hosts(&graph), 21);
    let (three, eight) = (graph.find("3").unwrap(), graph.find("8").unwrap());
    assert!(graph.links(three).contains(&(eight as u32)));
}

#[test]
fn hollins_has_the_counts_of_its_readme() {
    let graph = real!("hollins", Graph);
    assert_eq!((graph.pages(), graph.edges().count()), (6_012, 23_875));
}

#[test]
fn chameleon_has_the_counts_of_its_readme() {
    let traffic = real!("chameleon", Traffic);
    assert_eq!(traffic.graph().pages(), 2_277);
    // 4,680 of the 36,051 rows repeat another row in the opposite direction.
    assert_eq!(traffic.graph().edges().count(), 2 * (36_051 - 4_680));
    assert_eq!(traffic.views()[traffic.graph().find("0").unwrap()], 171.0);
    assert_eq!(hosts(traffic.graph()), 1);
}

#[test]
fn webkb_has_the_counts_of_its_readme() {
    let topic = real!("webkb", Topic);
    assert_eq!(
        (topic.graph().pages(), topic.graph().edges().count()),
        (8_282, 15_717)
    );
    let names = [
        "course",
        "department",
        "faculty",
        "other",
        "project",
        "staff",
        "student",
    ];
    assert_eq!(topic.labels().names(), names);
    let zero = topic.graph().find("0").unwrap();
    assert_eq!(topic.labels().of(zero), [5]);
    assert!(topic.body(zero).html && topic.body(zero).text.contains("Marcelo"));
    let lost = (0..8_282)
        .filter(|&page| topic.body(page).text.is_empty())
        .count();
    assert_eq!(lost, 0, "every page has a body");
    let stand_ins = (0..8_282).filter(|&page| {
        let host = topic.graph().url(page).host_name();
        host.ends_with(".invalid")
    });
    assert_eq!(stand_ins.count(), 52, "pages whose URL cannot be crawled");
}

#[test]
fn wikispeedia_has_the_counts_of_its_readme() {
    let topic = real!("wikispeedia", Topic);
    assert_eq!(
        (topic.graph().pages(), topic.graph().edges().count()),
        (4_598, 119_769)
    );
    assert_eq!(topic.labels().names().len(), 15);
    let linked = World::Topic(topic).linked().unwrap();
    let said =
        (0..4_598).filter(|&page| linked.text(page).is_some_and(|(_, text)| !text.is_empty()));
    assert_eq!(said.count(), 4_598);
}

#[test]
fn news_have_the_counts_of_their_readme() {
    let news = real!("news", News);
    assert_eq!((news.sources().len(), news.articles().len()), (135, 47_243));
    assert_eq!(
        (news.links().len(), news.clicks().len()),
        (100_530, 341_608)
    );
    let clicks: u64 = news
        .clicks()
        .iter()
        .map(|click| u64::from(click.clicks))
        .sum();
    assert_eq!(clicks, 2_277_933);
}

#[test]
fn queries_have_the_counts_of_their_readme() {
    let queries = real!("queries", Queries);
    assert_eq!((queries.queries.len(), queries.total()), (21_823, 25_000));
}

#[test]
fn telegram_web_has_the_counts_of_its_readme() {
    let histories = real!("telegram-web", Histories);
    let versions = histories.versions();
    assert_eq!((histories.urls().len(), versions.len()), (2_955, 87_792));
    assert_eq!(histories.bodies().count(), 60_379);
    let gone = versions.iter().filter(|version| version.body.is_none());
    assert_eq!(gone.count(), 59);
}

#[test]
fn ota_terms_has_the_counts_of_its_readme() {
    let histories = real!("ota-terms", Histories);
    let versions = histories.versions();
    assert_eq!((histories.urls().len(), versions.len()), (439, 17_599));
    let (mut bodies, mut bytes) = (0, 0);
    let see = |_, body: Body| {
        assert!(!body.html);
        bodies += 1;
        bytes += body.text.len();
    };
    histories.bodies().each(see).unwrap();
    assert_eq!(bodies, 11_511);
    assert!((400..600).contains(&(bytes >> 20)), "{bytes}");
}
