//! Writes a part of a tree as Markdown (CommonMark with GitHub's tables).
//!
//! Preformatted elements become fenced blocks, with their language where the markup states it.
//! Tables keep all cells. A table that has one column, or contains code, headings or other tables,
//! is layout; its cells are written one after another. Lists are tight. The URLs of links and
//! images are absolute.
//!
//! **Invariant:** the output is at most a constant times the length of the page plus a constant:
//! indentation ends at [`MAX_INDENT`] levels, and the URLs of links and images have a budget.

mod inline;
mod table;

use std::collections::HashMap;

use ::url::Url;
use dom_query::{NodeId, NodeRef};

use super::language_class::language;
use super::tree::{collapsed, heading_level, is_block, is_preformatted, name, push_verbatim};

/// Maximum number of levels of lists and quotations that are indented. Deeper ones are written at
/// the last level.
const MAX_INDENT: usize = 12;

/// A heading of the text, outside lists and quotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The text without markup, on one line.
    pub text: String,
    /// The fragment that leads to it, if the page has one.
    pub id: Option<String>,
    /// The byte offset in the Markdown.
    pub start: usize,
}

/// Returns the text below `root` as Markdown, and its headings in order.
///
/// `link_bytes` is the budget for URLs in bytes. A link or image whose URL exceeds the rest of the
/// budget is written as its text only.
pub(super) fn write(root: &NodeRef<'_>, base: &Url, link_bytes: usize) -> (String, Vec<Heading>) {
    let mut writer = MarkdownWriter {
        base,
        link_bytes,
        shapes: HashMap::new(),
        headings: Vec::new(),
        anchor: None,
    };
    writer.survey(root);
    let mut blocks = Vec::new();
    writer.flow(root, 0, &mut blocks);
    let mut headings = writer.headings.into_iter();
    let mut placed = Vec::new();
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if block.kind == BlockKind::Heading
            && let Some(heading) = headings.next()
        {
            placed.push(Heading {
                start: text.len(),
                ..heading
            });
        }
        text.push_str(&block.text);
    }
    (text, placed)
}

/// The kinds of content of an element, which decide how it is written.
#[derive(Clone, Copy, Default)]
struct ElementShape {
    /// Whether it is or contains a block.
    block: bool,
    /// Whether it is or contains something that a Markdown table cell cannot hold: code, a
    /// heading, a table.
    complex: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Paragraph,
    Heading,
    Code,
    List,
    Table,
    Quotation,
}

struct MarkdownBlock {
    kind: BlockKind,
    text: String,
}

impl BlockKind {
    fn of(self, text: String) -> MarkdownBlock {
        MarkdownBlock { kind: self, text }
    }
}

struct MarkdownWriter<'a> {
    base: &'a Url,
    link_bytes: usize,
    shapes: HashMap<NodeId, ElementShape>,
    headings: Vec<Heading>,
    /// The last `id` since the last text, such as the id of a section or of an empty anchor. A
    /// heading without an id takes it.
    anchor: Option<String>,
}

impl MarkdownWriter<'_> {
    /// Records the shape of every element below `node`.
    fn survey(&mut self, node: &NodeRef<'_>) -> ElementShape {
        let mut shape = ElementShape::default();
        for child in node.children_it(false) {
            if child.is_element() {
                let below = self.survey(&child);
                shape.block |= below.block;
                shape.complex |= below.complex;
            }
        }
        if let Some(name) = name(node) {
            shape.block |= is_block(&name);
            shape.complex |=
                is_preformatted(&name) || &*name == "table" || heading_level(&name).is_some();
        }
        self.shapes.insert(node.id, shape);
        shape
    }

    fn shape(&self, node: &NodeRef<'_>) -> ElementShape {
        self.shapes.get(&node.id).copied().unwrap_or_default()
    }

    /// Appends the blocks below `node`. Text between blocks becomes paragraphs.
    fn flow(&mut self, node: &NodeRef<'_>, indent: usize, out: &mut Vec<MarkdownBlock>) {
        let mut run = String::new();
        for child in node.children_it(false) {
            if self.shape(&child).block {
                self.paragraph(&mut run, out);
                self.block(&child, indent, out);
            } else {
                self.inline(&child, &mut run, inline::InlineContext::Text);
            }
        }
        self.paragraph(&mut run, out);
    }

    fn paragraph(&mut self, run: &mut String, out: &mut Vec<MarkdownBlock>) {
        let text = inline::lines(&std::mem::take(run));
        if !text.is_empty() {
            self.anchor = None;
            out.push(BlockKind::Paragraph.of(text));
        }
    }

    fn block(&mut self, node: &NodeRef<'_>, indent: usize, out: &mut Vec<MarkdownBlock>) {
        let Some(name) = name(node) else { return };
        if let Some(level) = heading_level(&name) {
            return self.heading(node, level, indent, out);
        }
        if let Some(id) = node.id_attr() {
            self.anchor = Some(id.to_string());
        }
        match &*name {
            name if is_preformatted(name) => out.extend(code(node)),
            "ul" | "ol" | "menu" | "dir" => self.list(node, &name, indent, out),
            "dt" => self.term(node, indent, out),
            "blockquote" => self.quotation(node, indent, out),
            "table" => self.table(node, indent, out),
            "hr" => {}
            _ => self.flow(node, indent, out),
        }
    }

    fn heading(
        &mut self,
        node: &NodeRef<'_>,
        level: u8,
        indent: usize,
        out: &mut Vec<MarkdownBlock>,
    ) {
        let mut run = String::new();
        let before = self.anchor.take();
        for child in node.children_it(false) {
            self.inline(&child, &mut run, inline::InlineContext::Line);
        }
        let within = self.anchor.take();
        let text = run.trim();
        if text.is_empty() {
            return;
        }
        // A trailing `#` would be parsed as the end of the heading.
        let text = match text.strip_suffix('#') {
            Some(rest) => format!("{rest}\\#"),
            None => text.to_owned(),
        };
        let kind = if indent == 0 {
            let own = node.id_attr().map(|id| id.to_string());
            self.headings.push(Heading {
                level,
                text: collapsed(&node.text()),
                id: own.or(within).or(before).filter(|id| !id.is_empty()),
                start: 0,
            });
            BlockKind::Heading
        } else {
            BlockKind::Paragraph
        };
        let text = format!("{} {text}", "#".repeat(level.into()));
        out.push(MarkdownBlock { kind, text });
    }

    /// Writes a term of a definition list: bold, unless it has markup of its own.
    fn term(&mut self, node: &NodeRef<'_>, indent: usize, out: &mut Vec<MarkdownBlock>) {
        let from = out.len();
        self.flow(node, indent, out);
        if let [only] = &mut out[from..]
            && only.kind == BlockKind::Paragraph
            && !only.text.contains(['*', '`', '\n', '[', '\\'])
        {
            only.text = format!("**{}**", only.text);
        }
    }

    fn list(
        &mut self,
        node: &NodeRef<'_>,
        name: &str,
        indent: usize,
        out: &mut Vec<MarkdownBlock>,
    ) {
        let start = node.attr("start").and_then(|start| start.parse().ok());
        let mut number: u32 = start.unwrap_or(1);
        let mut list = String::new();
        for item in node.children_it(false) {
            let mut blocks = Vec::new();
            if item.is_element() {
                self.block(&item, (indent + 1).min(MAX_INDENT), &mut blocks);
            } else if item.is_text() {
                let mut run = String::new();
                self.inline(&item, &mut run, inline::InlineContext::Text);
                self.paragraph(&mut run, &mut blocks);
            }
            let text = tight(&blocks);
            if text.is_empty() {
                continue;
            }
            if indent >= MAX_INDENT {
                // Beyond the limit, items become blocks of the list around them.
                out.extend(blocks);
                continue;
            }
            let marker = if name == "ol" {
                format!("{number}. ")
            } else {
                "- ".to_owned()
            };
            number = number.saturating_add(1);
            if !list.is_empty() {
                list.push('\n');
            }
            list.push_str(&marker);
            push_prefixed(&text, &" ".repeat(marker.len()), &mut list);
        }
        if !list.is_empty() {
            out.push(BlockKind::List.of(list));
        }
    }

    fn quotation(&mut self, node: &NodeRef<'_>, indent: usize, out: &mut Vec<MarkdownBlock>) {
        if indent >= MAX_INDENT {
            return self.flow(node, indent, out);
        }
        let mut blocks = Vec::new();
        self.flow(node, indent + 1, &mut blocks);
        // Many pages use a quotation only to indent code and lists.
        let is_indented =
            |kind| matches!(kind, BlockKind::Code | BlockKind::List | BlockKind::Table);
        if blocks.iter().all(|block| is_indented(block.kind)) {
            out.extend(blocks);
            return;
        }
        let mut text = "> ".to_owned();
        push_prefixed(&spaced(&blocks), "> ", &mut text);
        out.push(BlockKind::Quotation.of(text));
    }
}

/// Returns a fenced block for a preformatted element; `None` if it is empty.
fn code(node: &NodeRef<'_>) -> Option<MarkdownBlock> {
    let mut code = String::new();
    push_verbatim(node, &mut code);
    let code = code.trim_end();
    let code = code.strip_prefix('\n').unwrap_or(code);
    if code.trim().is_empty() {
        return None;
    }
    let fence = "`".repeat(inline::longest_run(code, '`').max(2) + 1);
    let language = language(node).unwrap_or_default();
    Some(BlockKind::Code.of(format!("{fence}{language}\n{code}\n{fence}")))
}

/// Joins blocks with an empty line between them.
fn spaced(blocks: &[MarkdownBlock]) -> String {
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
    texts.join("\n\n")
}

/// Joins the blocks of a list item, with an empty line only where they would merge otherwise.
fn tight(blocks: &[MarkdownBlock]) -> String {
    let mut text = String::new();
    let mut last = None;
    for block in blocks {
        text.push_str(match (last, block.kind) {
            (None, _) => "",
            (Some(BlockKind::Code), _)
            | (Some(BlockKind::Paragraph), BlockKind::Code | BlockKind::List) => "\n",
            _ => "\n\n",
        });
        text.push_str(&block.text);
        last = Some(block.kind);
    }
    text
}

/// Appends `text` with `prefix` before every line but the first. Empty lines get no trailing
/// spaces.
fn push_prefixed(text: &str, prefix: &str, out: &mut String) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
            let prefix = if line.is_empty() {
                prefix.trim_end()
            } else {
                prefix
            };
            out.push_str(prefix);
        }
        out.push_str(line);
    }
}

/// Escapes plain text for Markdown, so that no line begins like a heading, a list or a fence.
pub(super) fn guarded(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(inline::guarded).collect();
    lines.join("\n")
}
