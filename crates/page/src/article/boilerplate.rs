//! Removes parts of a page that are never its main text: scripts, controls, navigation, footers,
//! permalinks.
//!
//! Navigation and footers are marked by elements and roles (`nav`, `role=navigation`), or by words
//! in `class` and `id`.
//!
//! **Invariant:** an element that is marked as navigation or footer and holds more than half of the
//! page's prose (text outside links) is kept, with two exceptions. It is removed if at least half
//! of its text is links, or if it is a footer without a heading and the page has other text.

use dom_query::NodeRef;

use super::text_count::{TextCount, TextCounts};
use super::tree::{collapsed, heading_level, name};

/// Removes scripts, controls, embedded media, hidden elements, permalinks and line numbers.
pub(super) fn remove_invisible(body: &NodeRef<'_>) {
    for node in body.descendants() {
        let Some(name) = name(&node) else { continue };
        let gone = match &*name {
            "script" | "style" | "noscript" | "template" | "svg" | "iframe" | "object"
            | "embed" | "canvas" | "audio" | "video" | "button" | "select" | "input"
            | "textarea" | "datalist" | "annotation" | "link" | "meta" => true,
            name => is_hidden(&node) || is_permalink(&node, name) || is_line_number(&node, name),
        };
        if gone {
            node.remove_from_parent();
        }
    }
}

/// Removes the chrome: navigation, headers and footers, which surround the text on every page of a
/// site. `page` is the count of the whole body.
pub(super) fn remove_chrome(body: &NodeRef<'_>, counts: &TextCounts, page: TextCount) {
    let titles = body.find(&["h1"]).len();
    let has_title_elsewhere = |header: &NodeRef<'_>| titles > header.find(&["h1"]).len();
    for node in body.descendants() {
        let Some(name) = name(&node) else { continue };
        if matches!(&*name, "body" | "main" | "article" | "html") || heading_level(&name).is_some()
        {
            continue;
        }
        let count = counts.of(&node);
        let chrome = match stated(&node, &name) {
            Some(PageArea::Header) => {
                !has_heading(&node) || !within_text(&node) && has_title_elsewhere(&node)
            }
            Some(PageArea::Chrome) => true,
            // The class may belong to a layout frame around the page: `with-sidebar`.
            None => named(&node, &name) && 10 * count.text < 9 * page.text && !holds_main(&node),
        };
        // Prose is text outside links; navigation has hardly any. On a page of links, a footer
        // may hold most of the prose.
        let small = 2 * count.prose() <= page.prose() || 2 * count.links >= count.text;
        if chrome && (small || is_footer(&node, &name) && count.text < page.text) {
            node.remove_from_parent();
        }
    }
}

/// Removes tables of contents of the page itself: more than half of their links lead to fragments
/// of the page.
///
/// A list of links to other pages is kept, whatever its class is, because it is content.
pub(super) fn remove_contents(root: &NodeRef<'_>) {
    for node in root.descendants() {
        let Some(name) = name(&node) else { continue };
        let listed = matches!(
            &*name,
            "div" | "ul" | "ol" | "dl" | "table" | "details" | "aside"
        );
        if listed && words(&node).any(|word| is_contents(&word)) {
            let links = node.find(&["a"]);
            let links = links.iter().filter_map(|link| link.attr("href"));
            let (within, others): (Vec<_>, Vec<_>) = links.partition(|href| href.starts_with('#'));
            if within.len() > others.len() {
                node.remove_from_parent();
            }
        }
    }
}

/// Returns whether an element is, or contains, an element marked as main text.
fn holds_main(node: &NodeRef<'_>) -> bool {
    is_main(node) || node.descendants_it().any(|below| is_main(&below))
}

fn is_main(node: &NodeRef<'_>) -> bool {
    matches!(name(node).as_deref(), Some("main" | "article"))
        || node.attr("role").is_some_and(|role| &*role == "main")
}

/// Returns whether an element is marked as a footer and has no heading.
fn is_footer(node: &NodeRef<'_>, name: &str) -> bool {
    let called = name == "footer"
        || node
            .attr("role")
            .is_some_and(|role| &*role == "contentinfo")
        || words(node).any(|word| word.ends_with("footer"));
    called && !has_heading(node)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PageArea {
    Chrome,
    Header,
}

/// Returns the area of the page that the role or the name of an element states.
fn stated(node: &NodeRef<'_>, name: &str) -> Option<PageArea> {
    let role = node.attr("role").unwrap_or_default().to_lowercase();
    match role.trim() {
        "navigation" | "search" | "banner" | "contentinfo" | "menu" | "menubar" | "toolbar"
        | "doc-toc" => {
            return Some(PageArea::Chrome);
        }
        _ => {}
    }
    match name {
        "nav" => Some(PageArea::Chrome),
        "footer" if !within_text(node) => Some(PageArea::Chrome),
        "header" => Some(PageArea::Header),
        _ => None,
    }
}

/// Returns whether a word of `class` or `id` marks the element as chrome.
fn named(node: &NodeRef<'_>, name: &str) -> bool {
    match name {
        "div" | "ul" | "ol" | "p" | "table" | "aside" | "span" | "section" | "td" | "center"
        | "form" | "a" => {}
        _ => return false,
    }
    let mut header = false;
    for word in words(node) {
        // Texinfo uses the class "menu" for a list of subsections.
        if word == "menu" && name == "table" {
            continue;
        }
        header |= matches!(&*word, "header" | "pageheader" | "topbar" | "masthead");
        if is_chrome(&word) {
            return true;
        }
    }
    header && !has_heading(node)
}

fn is_chrome(word: &str) -> bool {
    match word {
        "navigation" | "navigator" | "menu" | "menubar" | "footerlinks" | "related"
        | "pagination" | "pager" | "skiplink" | "cookie" | "cookies" | "advertisement"
        | "adsbygoogle" | "newsletter" | "social" | "share" | "sharing" | "copyright"
        | "searchbox" | "searchform" | "toolbar" | "topbar" => true,
        _ => {
            word.starts_with("nav") && !word.starts_with("navig") && word != "nave"
                || word.starts_with("breadcrumb")
                || ["nav", "sidebar", "footer"]
                    .iter()
                    .any(|end| word.ends_with(end))
        }
    }
}

fn is_contents(word: &str) -> bool {
    matches!(word, "toc" | "contents" | "localtoc" | "tableofcontents")
}

/// Returns the words of `class` in lower case, and those of `id` unless the element is a section.
fn words(node: &NodeRef<'_>) -> impl Iterator<Item = String> {
    let class = node.class().unwrap_or_default().to_lowercase();
    let split = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut words = split(&class);
    // Generators derive the id of a section from its title, which may be "Navigation".
    let titled = name(node).is_some_and(|name| &*name == "section")
        || words.iter().any(|word| match word.as_str() {
            "subsection" | "subsubsection" | "chapter" | "appendix" | "unnumbered" | "refsect" => {
                true
            }
            word => word.starts_with("sect") || word.starts_with("level"),
        });
    if !titled && let Some(id) = node.id_attr() {
        words.extend(split(&id.to_lowercase()));
    }
    words.into_iter()
}

/// Returns whether an element is inside an element marked as main text.
fn within_text(node: &NodeRef<'_>) -> bool {
    node.ancestors_it(None).any(|around| is_main(&around))
}

fn has_heading(node: &NodeRef<'_>) -> bool {
    let mut below = node.descendants_it();
    below.any(|node| name(&node).is_some_and(|name| heading_level(&name).is_some()))
}

fn is_hidden(node: &NodeRef<'_>) -> bool {
    if node.has_attr("hidden")
        || node
            .attr("aria-hidden")
            .is_some_and(|value| &*value == "true")
    {
        return true;
    }
    node.attr("style").is_some_and(|style| {
        let style: String = style
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect();
        let style = style.to_lowercase();
        style.contains("display:none") || style.contains("visibility:hidden")
    })
}

/// Returns whether a link is a permalink: its text or its class says that it leads to the heading
/// beside it.
fn is_permalink(node: &NodeRef<'_>, name: &str) -> bool {
    if name != "a" {
        return false;
    }
    let text = collapsed(&node.text());
    let sign = matches!(
        text.as_str(),
        "¶" | "#" | "§" | "🔗" | "⚓" | "∞" | "[link]" | "\u{f0c1}"
    );
    let class = node.class().unwrap_or_default().to_lowercase();
    let classes = [
        "headerlink",
        "permalink",
        "anchor",
        "hashlink",
        "heading-link",
    ];
    let said = classes.iter().any(|word| class.contains(word));
    let words = text.to_lowercase();
    let worded = ["permalink", "link to this", "direct link to", "anchor link"]
        .iter()
        .any(|start| words.starts_with(start));
    let href = node.attr("href").unwrap_or_default();
    href.contains('#') && (sign || worded && (said || href.starts_with('#')))
        || class.split_whitespace().any(|one| one == "headerlink")
}

/// Returns whether an element holds the line numbers of the code beside it.
fn is_line_number(node: &NodeRef<'_>, name: &str) -> bool {
    matches!(name, "td" | "div" | "span" | "pre" | "a")
        && node.class().is_some_and(|class| {
            class.split_whitespace().any(|word| {
                matches!(
                    word,
                    "linenos" | "lineno" | "linenodiv" | "gutter" | "line-numbers-rows"
                )
            })
        })
}
