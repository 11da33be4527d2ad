//! Writes the plain text of a part of a tree.
//!
//! Each block begins a new line, and the cells of a table row share one. Preformatted text keeps
//! its lines.

use dom_query::NodeRef;

use super::tree::{is_block, is_preformatted, name, push_verbatim};

/// Returns the text below a node.
pub(super) fn plain(root: &NodeRef<'_>) -> String {
    let mut text = String::new();
    push(root, &mut text);
    text.truncate(text.trim_end().len());
    text
}

fn push(node: &NodeRef<'_>, out: &mut String) {
    for child in node.children_it(false) {
        let Some(name) = name(&child) else {
            if child.is_text() {
                push_collapsed(&child.text(), out);
            }
            continue;
        };
        match &*name {
            "br" => end_line(out),
            "td" | "th" => {
                push_space(out);
                push(&child, out);
            }
            name if is_preformatted(name) => {
                end_line(out);
                let mut code = String::new();
                push_verbatim(&child, &mut code);
                out.push_str(code.trim_end());
                end_line(out);
            }
            name if is_block(name) => {
                end_line(out);
                push(&child, out);
                end_line(out);
            }
            _ => push(&child, out),
        }
    }
}

fn push_collapsed(text: &str, out: &mut String) {
    if text.starts_with(char::is_whitespace) {
        push_space(out);
    }
    for (index, word) in text.split_whitespace().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    if text.ends_with(char::is_whitespace) {
        push_space(out);
    }
}

fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}
