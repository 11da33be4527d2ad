//! Description of pages and links: degrees, hosts, anchors, labels, bodies and views.
//!
//! **Invariant:** links are counted as in the graph: several links from one page to another count
//! once, and a link from a page to itself does not count.

use std::collections::HashMap;

use page::PageUrl;

use super::WorldDescription;
use super::distribution::{mean, median, rank_correlation, ranked, tail};
use crate::LabError;
use crate::findings::Params;
use crate::world::{Graph, LabelledWorld, Linked, World};

/// The top-level domain given to pages without a usable URL.
const NO_DOMAIN: &str = ".invalid";

pub(super) fn describe(world: World, description: &mut WorldDescription) -> Result<(), LabError> {
    if let World::Topic(topic) = &world {
        labels(topic, description);
        bodies(topic, description);
    }
    let linked = world.linked()?;
    graph(linked.graph(), description);
    anchors(&linked, description);
    if let Some(views) = linked.views() {
        description.number("views", views.iter().sum());
        let to: Vec<f64> = in_links(linked.graph()).iter().map(|&n| n as f64).collect();
        description.number("views@correlation", rank_correlation(views, &to));
    }
    Ok(())
}

fn graph(graph: &Graph, description: &mut WorldDescription) {
    let pages = graph.pages();
    let share = |count: usize| count as f64 / pages as f64;
    let to = in_links(graph);
    let out: Vec<u64> = (0..pages)
        .map(|page| graph.links(page).len() as u64)
        .collect();
    let links: u64 = out.iter().sum();
    description.count("pages", pages);
    let sizes = places((0..pages).map(|page| graph.url(page)), description);
    description.number("links", links as f64);
    description.number("in_links@mean", links as f64 / pages as f64);
    let most = |counts: &[u64]| counts.iter().max().map_or(f64::NAN, |&most| most as f64);
    description.number("in_links@max", most(&to));
    description.number("out_links@max", most(&out));
    description.number(
        "dangling",
        share(out.iter().filter(|&&links| links == 0).count()),
    );
    description.number(
        "unlinked",
        share(to.iter().filter(|&&links| links == 0).count()),
    );
    let host: Vec<_> = (0..pages).map(|page| graph.url(page).host()).collect();
    let local = graph.edges().filter(|&(from, to)| host[from] == host[to]);
    description.number("local", local.count() as f64 / links as f64);
    // Reversed, since `max_by_key` returns the last of several maxima and the first is wanted.
    let hub = (0..pages).rev().max_by_key(|&page| out[page]);
    let reach = hub.map_or(f64::NAN, |hub| share(graph.reachable(&[hub]).len()));
    description.number("reach", reach);
    let title = "Links per page";
    description.draw(
        "degrees",
        [
            title,
            "links k, log10",
            "share of pages with k or more, log10",
        ],
        vec![("to a page", tail(&to)), ("on a page", tail(&out))],
    );
    if sizes.len() > 1 {
        description.draw(
            "hosts",
            ["Pages per host", "rank of the host, log10", "pages, log10"],
            vec![("hosts", ranked(&sizes))],
        );
    }
}

fn anchors(linked: &Linked, description: &mut WorldDescription) {
    if !linked.has_texts() {
        return;
    }
    let graph = linked.graph();
    let (mut all, mut anchored) = (0, 0);
    for page in 0..graph.pages() {
        let links = graph.links(page).len();
        all += links;
        anchored += (0..links)
            .filter(|&nth| !linked.anchor(page, nth).is_empty())
            .count();
    }
    description.number("anchored", anchored as f64 / all as f64);
}

fn labels(topic: &LabelledWorld, description: &mut WorldDescription) {
    let (labels, pages) = (topic.labels(), topic.graph().pages());
    description.count("labels", labels.names().len());
    let labelled: Vec<usize> = (0..pages)
        .filter(|&page| !labels.of(page).is_empty())
        .collect();
    description.number("labelled", labelled.len() as f64 / pages as f64);
    let mut sizes = vec![0_u64; labels.names().len()];
    for &page in &labelled {
        labels
            .of(page)
            .iter()
            .for_each(|&label| sizes[label as usize] += 1);
    }
    for (name, &size) in labels.names().iter().zip(&sizes) {
        let params = Params::from([("label".to_owned(), name.as_str().into())]);
        description.put(params, "labelled", 0.0, size as f64 / pages as f64);
    }
    let alike = |a: usize, b: usize| {
        labels
            .of(a)
            .iter()
            .any(|label| labels.of(b).contains(label))
    };
    let known = |page: usize| !labels.of(page).is_empty();
    let links = topic.graph().edges();
    let links: Vec<_> = links
        .filter(|&(from, to)| known(from) && known(to))
        .collect();
    let same = links.iter().filter(|&&(from, to)| alike(from, to)).count();
    description.number("same_label", same as f64 / links.len() as f64);
    description.number("same_label@chance", by_chance(topic, &labelled));
    description.draw(
        "labels",
        [
            "Pages per label",
            "rank of the label, log10",
            "pages, log10",
        ],
        vec![("labels", ranked(&sizes))],
    );
}

/// Returns the share of pairs of different labelled pages that have a label in common. Pages with
/// the same set of labels are counted together, since there are few such sets.
fn by_chance(topic: &LabelledWorld, labelled: &[usize]) -> f64 {
    let mut places: HashMap<&[u32], usize> = HashMap::new();
    let mut sets: Vec<(&[u32], f64)> = Vec::new();
    for &page in labelled {
        let set = topic.labels().of(page);
        let place = *places.entry(set).or_insert(sets.len());
        match sets.get_mut(place) {
            Some((_, pages)) => *pages += 1.0,
            None => sets.push((set, 1.0)),
        }
    }
    let mut same = 0.0;
    for (place, (set, pages)) in sets.iter().enumerate() {
        same += pages * (pages - 1.0);
        for (other, more) in &sets[place + 1..] {
            if set.iter().any(|label| other.contains(label)) {
                same += 2.0 * pages * more;
            }
        }
    }
    let all = labelled.len() as f64;
    same / (all * (all - 1.0))
}

fn bodies(topic: &LabelledWorld, description: &mut WorldDescription) {
    let bodies: Vec<_> = (0..topic.graph().pages())
        .map(|page| topic.body(page))
        .collect();
    let html = bodies.iter().filter(|body| body.html).count();
    description.number("html", html as f64 / bodies.len() as f64);
    let lengths: Vec<f64> = bodies
        .iter()
        .map(|body| body.text.len() as f64 / 1e3)
        .collect();
    description.number("kilobytes@mean", mean(&lengths));
    let note = format!(
        "Half of the bodies are shorter than {:.1} kB.",
        median(&lengths)
    );
    description.notes.push(note);
}

fn in_links(graph: &Graph) -> Vec<u64> {
    let mut to = vec![0; graph.pages()];
    graph.edges().for_each(|(_, target)| to[target] += 1);
    to
}

/// Adds the numbers of hosts and of pages without a URL. Returns the pages per host, in order of
/// first appearance.
pub(super) fn places<'a>(
    urls: impl Iterator<Item = &'a PageUrl>,
    description: &mut WorldDescription,
) -> Vec<u64> {
    let mut places = HashMap::new();
    let mut sizes: Vec<u64> = Vec::new();
    let mut without = 0;
    for url in urls {
        let place = *places.entry(url.host()).or_insert(sizes.len());
        match sizes.get_mut(place) {
            Some(size) => *size += 1,
            None => sizes.push(1),
        }
        without += usize::from(url.host_name().ends_with(NO_DOMAIN));
    }
    description.count("hosts", sizes.len());
    description.count("no_url", without);
    sizes
}
