//! The names, kinds and text of the nodes of a tree.

use dom_query::{LocalName, NodeRef};

/// Returns the name of an element, or `None` for text and comments.
pub(super) fn name(node: &NodeRef<'_>) -> Option<LocalName> {
    node.element_ref().map(|element| element.name.local.clone())
}

/// Returns the level of a heading, 1 to 6.
pub(super) fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// Returns text with every run of white space as one space, and none at its ends.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether an element begins a line of its own.
pub(super) fn is_block(name: &str) -> bool {
    match name {
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "dd"
        | "details" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure"
        | "footer" | "form" | "header" | "hgroup" | "hr" | "li" | "listing" | "main" | "menu"
        | "nav" | "ol" | "p" | "pre" | "section" | "summary" | "table" | "tbody" | "td"
        | "tfoot" | "th" | "thead" | "tr" | "ul" | "xmp" => true,
        _ => heading_level(name).is_some(),
    }
}

/// Returns whether the white space of an element is significant.
pub(super) fn is_preformatted(name: &str) -> bool {
    matches!(name, "pre" | "listing" | "xmp")
}

/// Appends the text below a node verbatim, for preformatted elements.
///
/// Line breaks, and blocks in which some highlighters wrap lines, begin a new line.
pub(super) fn push_verbatim(node: &NodeRef<'_>, out: &mut String) {
    for child in node.children_it(false) {
        let Some(name) = name(&child) else {
            if child.is_text() {
                out.push_str(&child.text());
            }
            continue;
        };
        if &*name == "br" {
            out.push('\n');
            continue;
        }
        let block = is_block(&name) && !matches!(&*name, "td" | "th");
        if block && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        push_verbatim(&child, out);
        if block && !out.ends_with('\n') {
            out.push('\n');
        }
    }
}
