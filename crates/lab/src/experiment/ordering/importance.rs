//! True importance of every page of a web.
//!
//! The metrics of Cho, Garcia-Molina & Page (1998), §2.1, and page views, over the whole web of a
//! run. A policy can only estimate them.
//!
//! **Invariant:** policies have no access to these values.

use policy::query::Query;

use super::ground::ReachableWeb;
use crate::LabError;
use crate::measure::{Truth, pagerank};
use crate::run::CrawlableWorld;

/// Probability that the random surfer follows a link (`docs/science/theory.md`, §2).
const DAMPING: f64 = 0.9;

/// Number of occurrences in the text that one occurrence in the title counts as. Algorithm 5.3 of
/// the paper calls a page hot if it has one occurrence in the title or ten in the text. So a hot
/// page has a similarity of at least ten.
const TITLE: f64 = 10.0;

/// Returns the importance of every page by each metric that this world has data for.
///
/// # Errors
/// If the query has no words.
pub(super) fn truths(
    web: &CrawlableWorld<'_>,
    ground: &ReachableWeb,
    query: Option<&str>,
) -> Result<Vec<(&'static str, Truth)>, LabError> {
    let edges = ground.edges(web.graph());
    let pages = ground.pages.len();
    let mut truths = vec![
        ("backlink", in_links(&edges, pages)),
        ("pagerank", ranks(&edges, pages)),
    ];
    if let Some(query) = query.filter(|_| web.has_texts()) {
        let query = Query::new(query).map_err(|error| LabError::Wish(error.to_string()))?;
        truths.push(("similarity", similarity(web, ground, query)));
    }
    if let Some(views) = web.views() {
        let views = ground.pages.iter().map(|&page| views[page]);
        truths.push(("views", views.collect()));
    }
    let truths = truths.into_iter();
    Ok(truths
        .map(|(name, values)| (name, Truth::new(values)))
        .collect())
}

/// Returns IB(p) of each page: the number of links to it.
fn in_links(edges: &[(usize, usize)], pages: usize) -> Vec<f64> {
    let mut counts = vec![0.0; pages];
    for &(_, to) in edges {
        counts[to] += 1.0;
    }
    counts
}

/// Returns IR(p) of each page as the paper defines it: PageRank, not divided by the number of
/// pages.
pub(crate) fn ranks(edges: &[(usize, usize)], pages: usize) -> Vec<f64> {
    let mut degrees = vec![0; pages];
    for &(from, _) in edges {
        degrees[from] += 1;
    }
    pagerank(edges, &degrees, DAMPING)
}

/// Returns IS(p, Q) of each page: the weighted number of occurrences of query words in it.
fn similarity(web: &CrawlableWorld<'_>, ground: &ReachableWeb, mut query: Query) -> Vec<f64> {
    let mut of = |page: usize| {
        let (in_title, in_body) = query.look_at_text(web.text(page));
        TITLE * f64::from(in_title) + f64::from(in_body)
    };
    ground.pages.iter().map(|&page| of(page)).collect()
}
