//! Splits a page into chunks for retrieval: each is a section, or a part of one, with the
//! headings above it.

use super::Heading;

/// A chunk of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The headings above it, outermost first, its own last.
    pub headings: Vec<&'a str>,
    /// The fragment of the nearest heading that has one.
    pub fragment: Option<&'a str>,
    /// Its Markdown, including its own heading if it begins with one.
    pub markdown: &'a str,
}

/// Splits Markdown at its headings, and longer sections between blocks, into chunks of at most
/// `limit` characters.
///
/// A fenced block, a table, a paragraph and a list item are never split, and a heading stays with
/// the block after it, so a chunk can exceed the limit. A section that is only a heading gives no
/// chunk: the chunks below it name the heading. A text of headings alone is split between its
/// headings.
pub fn chunks<'a>(text: &'a str, headings: &'a [Heading], limit: usize) -> Vec<Chunk<'a>> {
    let mut pieces = Vec::new();
    let mut above: Vec<(u8, &str, Option<&str>)> = Vec::new();
    let starts = headings.iter().map(|heading| heading.start);
    let ends = starts.clone().chain([text.len()]);
    let first = ends.clone().next().unwrap_or(text.len());
    push_section(&text[..first], 0, &above, limit, &mut pieces);
    for ((heading, start), end) in headings.iter().zip(starts).zip(ends.skip(1)) {
        while above
            .last()
            .is_some_and(|(level, ..)| *level >= heading.level)
        {
            above.pop();
        }
        above.push((heading.level, &heading.text, heading.id.as_deref()));
        let section = &text[start..end];
        let head = section.find('\n').unwrap_or(section.len());
        if !section[head..].trim().is_empty() {
            push_section(section, head, &above, limit, &mut pieces);
        }
    }
    if pieces.is_empty() && !text.trim().is_empty() {
        push_section(text, 0, &above, limit, &mut pieces);
    }
    pieces
}

/// Appends the chunks of a section, whose first `head` bytes are its heading.
fn push_section<'a>(
    section: &'a str,
    head: usize,
    above: &[(u8, &'a str, Option<&'a str>)],
    limit: usize,
    pieces: &mut Vec<Chunk<'a>>,
) {
    let mut push = |piece: &'a str| {
        let markdown = piece.trim_matches('\n');
        if !markdown.trim().is_empty() {
            pieces.push(Chunk {
                headings: above.iter().map(|(_, text, _)| *text).collect(),
                fragment: above.iter().rev().find_map(|(.., id)| *id),
                markdown,
            });
        }
    };
    let (mut start, mut length) = (0, 0);
    for (from, to) in blocks(section, true) {
        let letters = section[from..to].chars().count();
        // A heading stays with the block that follows it.
        let alone = from == start || start == 0 && section[..from].trim().len() <= head;
        if length + letters > limit && !alone {
            push(&section[start..from]);
            (start, length) = (from, 0);
        }
        length += letters;
    }
    push(&section[start..]);
}

/// Returns the start and end of each top-level block; with `items`, also of each list item.
///
/// Contents of an item or a quotation are indented or prefixed. A block therefore begins at a
/// line without indentation that follows an empty line or starts an item. Within a fenced block
/// there are no boundaries.
pub(super) fn blocks(text: &str, items: bool) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut fence: Option<usize> = None;
    let mut after_empty = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let begins = after_empty && !bare.is_empty() && !line.starts_with(' ');
        if fence.is_none() && (begins || items && is_item(line)) && start < at {
            blocks.push((start, at));
            start = at;
        }
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && ticks == bare.len() => fence = None,
            None if ticks >= 3 && !bare[ticks..].contains('`') => fence = Some(ticks),
            _ => {}
        }
        after_empty = bare.is_empty();
        at += line.len();
    }
    if start < text.len() {
        blocks.push((start, text.len()));
    }
    blocks
}

/// Returns whether a line begins an item of a top-level list.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    line.starts_with("- ") || number.len() < line.len() && number.starts_with(". ")
}
