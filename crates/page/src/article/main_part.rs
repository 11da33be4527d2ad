//! Chooses the part of a page that holds its main text.
//!
//! Candidates are tried in order of how explicit the markup is: `main`, a single `article`, a
//! container whose class or id names it as content, and last the smallest container with nearly
//! all of the prose. A candidate is accepted if it keeps enough of the page's prose (of its text,
//! if the page is mostly links) and nearly all of its code.

use dom_query::NodeRef;

use super::boilerplate;
use super::text_count::{TextCount, TextCounts};
use super::tree::{heading_level, name};

/// Minimum share of the page's prose in a candidate, by how it was found. A landmark (`main` or
/// `role=main`) is explicit markup, so it needs the least.
const LANDMARK_SHARE: f64 = 0.25;
const NAMED_SHARE: f64 = 0.5;
const DENSE_SHARE: f64 = 0.95;
/// Minimum share of the page's code in any candidate.
const CODE_SHARE: f64 = 0.9;
/// Maximum share of a part's text that links at its edges may have to count as navigation.
const EDGE_SHARE: f64 = 0.2;

/// How the main part was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MainPartChoice {
    /// A part of the page was recognized.
    Part,
    /// The page has no such part.
    Whole,
    /// The landmark holds too little of the page's text or code, and no other marked part holds
    /// enough.
    SmallShare,
}

/// Removes what is not main text. Returns the element that holds the rest, and how it was found.
///
/// If that element has no `h1`, the first `h1` of the page is moved to its start.
pub(super) fn find<'a>(body: &NodeRef<'a>) -> (NodeRef<'a>, MainPartChoice) {
    whole(body);
    let counts = TextCounts::below(body);
    let (root, choice) = choose(body, &counts);
    let heading = body
        .find(&["h1"])
        .into_iter()
        .find(|heading| !is_site_name(heading));
    boilerplate::remove_contents(&root);
    trim_edges(&root, &TextCounts::below(&root));
    // A heading that contains the part cannot become its child.
    let around = |heading: &NodeRef<'_>| {
        root.id == heading.id || root.ancestors_it(None).any(|node| node.id == heading.id)
    };
    if let Some(heading) = heading
        && root.find(&["h1"]).is_empty()
        && !around(&heading)
    {
        root.prepend_child(&heading);
    }
    (root, choice)
}

/// Removes invisible elements and navigation, and keeps everything else.
pub(super) fn whole(body: &NodeRef<'_>) {
    boilerplate::remove_invisible(body);
    let counts = TextCounts::below(body);
    boilerplate::remove_chrome(body, &counts, counts.of(body));
}

/// Returns whether a heading is the name of the site: all of it is a link to another page.
pub(super) fn is_site_name(heading: &NodeRef<'_>) -> bool {
    let count = TextCounts::below(heading).of(heading);
    let leads_away =
        |link: &NodeRef<'_>| link.attr("href").is_some_and(|href| !href.starts_with('#'));
    count.text > 0 && count.text == count.links && heading.find(&["a"]).iter().any(leads_away)
}

fn choose<'a>(body: &NodeRef<'a>, counts: &TextCounts) -> (NodeRef<'a>, MainPartChoice) {
    let page = counts.of(body);
    let all = body.descendants();
    let landmarks = all.iter().filter(|node| is_landmark(node));
    let landmark = landmarks.max_by_key(|node| counts.of(node).text);
    if let Some(node) = landmark
        && holds(counts.of(node), page, LANDMARK_SHARE)
    {
        return (*node, MainPartChoice::Part);
    }
    let mut articles = all.iter().filter(|node| node.has_name("article"));
    if let (Some(node), None) = (articles.next(), articles.next())
        && keeps(counts.of(node), page, NAMED_SHARE)
    {
        return (*node, MainPartChoice::Part);
    }
    // The last one in document order that is large enough is the innermost.
    let mut named = all.iter().rev().filter(|node| is_named_content(node));
    if let Some(node) = named.find(|node| keeps(counts.of(node), page, NAMED_SHARE)) {
        return (*node, MainPartChoice::Part);
    }
    let mut dense = all.iter().rev().filter(|node| is_container(node));
    let dense = dense.find(|node| keeps(counts.of(node), page, DENSE_SHARE));
    let choice = match (landmark, dense) {
        (Some(_), _) => MainPartChoice::SmallShare,
        (None, Some(_)) => MainPartChoice::Part,
        (None, None) => MainPartChoice::Whole,
    };
    (*dense.unwrap_or(body), choice)
}

/// Returns whether a part keeps a share of the page's prose, and nearly all of its code.
fn keeps(part: TextCount, page: TextCount, share: f64) -> bool {
    // On a page with hardly any prose, such as an index, the text of links counts as well.
    let index = 4 * page.prose() < page.text;
    let prose = part.prose() as f64 >= share * page.prose() as f64;
    let text = part.text as f64 >= share * page.text as f64;
    part.text > 0
        && if index { text } else { prose }
        && part.code as f64 >= CODE_SHARE * page.code as f64
}

/// Returns whether a landmark keeps a share of the page's prose or of its whole text.
///
/// The main part of an index page consists of links, and all prose of the page may be in its
/// footer.
fn holds(part: TextCount, page: TextCount, share: f64) -> bool {
    let linked = part.text as f64 >= share * page.text as f64
        && part.code as f64 >= CODE_SHARE * page.code as f64;
    linked && part.text > 0 || keeps(part, page, share)
}

fn is_landmark(node: &NodeRef<'_>) -> bool {
    node.has_name("main") || node.attr("role").is_some_and(|role| &*role == "main")
}

fn is_container(node: &NodeRef<'_>) -> bool {
    matches!(
        name(node).as_deref(),
        Some("div" | "section" | "td" | "article" | "center" | "form")
    )
}

/// Returns whether `class` or `id` names a container as the content.
fn is_named_content(node: &NodeRef<'_>) -> bool {
    const NAMES: &str = "content main body main-content maincontent page-content pagecontent \
        bodycontent mw-content-text article article-body article-content post post-content \
        post-body entry-content markdown-body document documentation docs-body";
    let called = |words: &str| {
        words
            .to_lowercase()
            .split_whitespace()
            .any(|word| NAMES.split(' ').any(|name| name == word))
    };
    is_container(node)
        && (node.class().is_some_and(|class| called(&class))
            || node.id_attr().is_some_and(|id| called(&id)))
}

/// Removes blocks of links at the start and the end of a part: "previous, up, next".
fn trim_edges(root: &NodeRef<'_>, counts: &TextCounts) {
    let total = counts.of(root).text as f64;
    let blocks: Vec<NodeRef<'_>> = root.element_children();
    let mut removed = 0;
    let mut trim = |node: &NodeRef<'_>, lists: bool| -> bool {
        let count = counts.of(node);
        let text = count.text;
        if text == 0 {
            return true;
        }
        let fits = match name(node).as_deref() {
            Some("div" | "p" | "table" | "a" | "span" | "center") => true,
            Some("ul" | "ol") => lists,
            _ => false,
        };
        let links = fits && count.code == 0 && 2 * count.links >= text;
        if !links || (removed + text) as f64 > EDGE_SHARE * total {
            return false;
        }
        removed += text;
        node.remove_from_parent();
        true
    };
    for node in &blocks {
        if !trim(node, true) {
            break;
        }
    }
    for (index, node) in blocks.iter().enumerate().rev() {
        // Links directly after a heading are content. So is a list at the end: sources, or the
        // pages below this one.
        let announced = index > 0
            && name(&blocks[index - 1]).is_some_and(|name| heading_level(&name).is_some());
        if announced || !trim(node, false) {
            break;
        }
    }
}
