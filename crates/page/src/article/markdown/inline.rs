//! Writes the text within a block: emphasis, code, links, images, and the escapes that keep text
//! from becoming markup.

use ::url::Url;
use dom_query::NodeRef;

use super::super::tree::{collapsed, name};
use super::MarkdownWriter;

/// Placeholder for a line break of the page, until the block is complete.
const BREAK: char = '\u{1}';

/// Stands for the unknown character after the last word of a text, because the next element may
/// continue that word.
const UNKNOWN: char = '\u{0}';

/// The context of inline text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InlineContext {
    /// A paragraph, which may have line breaks.
    Text,
    /// A heading, which may not have line breaks.
    Line,
    /// A link.
    Link,
}

impl MarkdownWriter<'_> {
    pub(super) fn inline(&mut self, node: &NodeRef<'_>, out: &mut String, place: InlineContext) {
        if node.is_text() {
            return push_text(&node.text(), out, place);
        }
        let Some(name) = name(node) else { return };
        let named = |node: &NodeRef<'_>| node.id_attr().or_else(|| node.attr("name"));
        if out.trim().is_empty()
            && let Some(id) = named(node)
        {
            self.anchor = Some(id.to_string());
        }
        match &*name {
            "br" => match place {
                InlineContext::Text => {
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push(BREAK);
                }
                InlineContext::Line | InlineContext::Link => push_space(out),
            },
            "b" | "strong" => self.marked(node, "**", out, place),
            "i" | "em" | "cite" | "dfn" | "var" => self.marked(node, "*", out, place),
            "del" | "s" | "strike" => self.marked(node, "~~", out, place),
            "code" | "tt" | "kbd" | "samp" => push_code(&node.text(), out),
            "a" => self.link(node, out, place),
            "img" => self.image(node, out),
            // A space separates a block inside a heading or link from the text before it.
            _ => {
                if self.shape(node).block {
                    push_space(out);
                }
                self.inlines(node, out, place);
            }
        }
    }

    fn inlines(&mut self, node: &NodeRef<'_>, out: &mut String, place: InlineContext) {
        for child in node.children_it(false) {
            self.inline(&child, out, place);
        }
    }

    /// Writes text between two emphasis marks. The marks must touch the text, so white space at
    /// its ends goes outside.
    fn marked(&mut self, node: &NodeRef<'_>, mark: &str, out: &mut String, place: InlineContext) {
        let mut inner = String::new();
        self.inlines(node, &mut inner, place);
        let text = inner.trim_matches([' ', BREAK]);
        // Emphasis marks inside or next to other marks would not be parsed as emphasis.
        let clash =
            text.starts_with(['*', '~']) || text.ends_with(['*', '~']) || out.ends_with(['*', '~']);
        if text.is_empty() || clash || text.contains(BREAK) {
            push_joined(&inner, out);
            return;
        }
        if inner.starts_with(' ') {
            push_space(out);
        }
        out.push_str(mark);
        out.push_str(text);
        out.push_str(mark);
        if inner.ends_with(' ') {
            out.push(' ');
        }
    }

    fn link(&mut self, node: &NodeRef<'_>, out: &mut String, place: InlineContext) {
        let mut inner = String::new();
        self.inlines(node, &mut inner, InlineContext::Link);
        let target = node.attr("href");
        // In a heading, a link to a fragment leads to the table of contents or to the heading
        // itself, and is dropped.
        let target = target.filter(|href| place != InlineContext::Line || !href.starts_with('#'));
        let target = target.and_then(|href| self.address(&href));
        let text = inner.trim();
        let Some(target) = target.filter(|_| place != InlineContext::Link && !text.is_empty())
        else {
            return push_joined(&inner, out);
        };
        if inner.starts_with(' ') {
            push_space(out);
        }
        out.push_str(&format!("[{text}]({target})"));
        if inner.ends_with(' ') {
            out.push(' ');
        }
    }

    /// Writes an image with its `alt` text. An image without one is decoration and is dropped.
    fn image(&mut self, node: &NodeRef<'_>, out: &mut String) {
        let alt = collapsed(&node.attr_or("alt", ""));
        if alt.is_empty() {
            return;
        }
        let source = node.attr("src").and_then(|src| self.address(&src));
        match source {
            Some(source) => {
                let mut text = String::new();
                push_text(&alt, &mut text, InlineContext::Link);
                out.push_str(&format!("![{text}]({source})"));
            }
            None => push_text(&alt, out, InlineContext::Text),
        }
    }

    /// Returns the absolute URL of a link and subtracts its length from `link_bytes`.
    ///
    /// Returns `None` if the link is empty or not a valid URL, if its scheme is not acceptable, or
    /// if the URL is longer than `link_bytes`.
    fn address(&mut self, link: &str) -> Option<String> {
        let link = link.trim();
        if link.is_empty() {
            return None;
        }
        let url = self.base.join(link).ok()?;
        if !matches!(url.scheme(), "http" | "https" | "mailto" | "ftp" | "file") {
            return None;
        }
        let text = written(&url);
        self.link_bytes = self.link_bytes.checked_sub(text.len())?;
        Some(text)
    }
}

/// Escapes parentheses and spaces, which could end the URL of a Markdown link.
fn written(url: &Url) -> String {
    url.as_str()
        .replace('(', "%28")
        .replace(')', "%29")
        .replace(' ', "%20")
}

fn push_space(out: &mut String) {
    if !out.ends_with([' ', BREAK]) {
        out.push(' ');
    }
}

/// Appends inline Markdown without doubling the space before it.
fn push_joined(text: &str, out: &mut String) {
    let rest = text.trim_start_matches(' ');
    if rest.len() < text.len() {
        push_space(out);
    }
    out.push_str(rest);
}

/// Appends text with single spaces and the necessary escapes.
fn push_text(text: &str, out: &mut String, place: InlineContext) {
    if text.starts_with(char::is_whitespace) {
        push_space(out);
    }
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let apart = words.peek().is_some() || text.ends_with(char::is_whitespace);
        push_word(word, if apart { ' ' } else { UNKNOWN }, out, place);
        if words.peek().is_some() {
            out.push(' ');
        }
    }
    if text.ends_with(char::is_whitespace) && !text.trim().is_empty() {
        push_space(out);
    }
}

/// Appends a word; `next` is the character after it.
fn push_word(word: &str, next: char, out: &mut String, place: InlineContext) {
    let mut before = out.chars().next_back().unwrap_or(' ');
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(next);
        let within_word = before.is_alphanumeric() && after.is_alphanumeric();
        let escape = match letter {
            '*' => before != ' ' || after != ' ',
            '_' => !within_word,
            '`' => true,
            '[' | ']' if place == InlineContext::Link => true,
            ']' => matches!(after, '(' | '[' | ':'),
            '<' => after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?'),
            '~' => after == '~' || before == '~',
            '\\' => after.is_ascii_punctuation() || after == UNKNOWN,
            '&' => after == '#' || after.is_ascii_alphabetic(),
            _ => false,
        };
        // Control characters are dropped. One of them serves as the placeholder for line breaks.
        if letter.is_control() {
            continue;
        }
        if escape {
            out.push('\\');
        }
        out.push(letter);
        before = letter;
    }
}

/// Appends a code span. Its fence is longer than any run of backticks inside.
fn push_code(text: &str, out: &mut String) {
    let code: String = text.chars().filter(|&letter| letter != BREAK).collect();
    if text.starts_with(char::is_whitespace) {
        push_space(out);
    }
    let code = collapsed(&code);
    if code.is_empty() {
        return;
    }
    // Two adjacent spans would be parsed as one.
    if out.ends_with('`') {
        out.push(' ');
    }
    let fence = "`".repeat(longest_run(&code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') {
        " "
    } else {
        ""
    };
    out.push_str(&format!("{fence}{pad}{code}{pad}{fence}"));
    if text.ends_with(char::is_whitespace) {
        out.push(' ');
    }
}

/// Returns the length of the longest run of a character.
pub(super) fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Returns a finished paragraph: line breaks written, and no line that begins like a block.
pub(super) fn lines(run: &str) -> String {
    let lines = run.trim_matches([' ', BREAK]).split(BREAK);
    let lines: Vec<String> = lines
        .map(|line| guarded(line.trim()))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("  \n")
}

/// Escapes what would make a line a heading, a list, a quotation, a table, a rule or a fence.
pub(super) fn guarded(line: &str) -> String {
    let digits = line.len()
        - line
            .trim_start_matches(|digit: char| digit.is_ascii_digit())
            .len();
    let rest = &line[digits..];
    if (1..=9).contains(&digits)
        && let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '.' | ')'))
        && rest[1..].chars().next().is_none_or(|after| after == ' ')
    {
        return format!("{}\\{mark}{}", &line[..digits], &rest[1..]);
    }
    let first = line.chars().next().unwrap_or(' ');
    let second = line[first.len_utf8().min(line.len())..]
        .chars()
        .next()
        .unwrap_or(' ');
    let block = match first {
        '#' => second == '#' || second == ' ',
        '-' | '=' | '+' => second == ' ' || second == first,
        '>' | '|' => true,
        '~' => line.starts_with("~~~"),
        '`' => line.starts_with("```") && !line.trim_start_matches('`').contains('`'),
        _ => false,
    };
    if block {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}
