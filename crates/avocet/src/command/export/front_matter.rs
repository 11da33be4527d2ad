//! YAML front matter of Markdown files.

use std::fmt::Write;

use node::readable::Readable;

/// Returns the front matter of a page.
pub(super) fn page(page: &Readable) -> String {
    written(page, vec![("url", quoted(&page.url))])
}

/// Returns the front matter of a chunk: its own URL, its position, and the headings above it.
pub(super) fn chunk(
    page: &Readable,
    address: &str,
    index: usize,
    chunks: usize,
    headings: &[&str],
) -> String {
    let headings: Vec<String> = headings.iter().map(|heading| quoted(heading)).collect();
    let lines = vec![
        ("url", quoted(address)),
        ("page", quoted(&page.url)),
        ("index", index.to_string()),
        ("chunks", chunks.to_string()),
        ("headings", format!("[{}]", headings.join(", "))),
    ];
    written(page, lines)
}

fn written(page: &Readable, own: Vec<(&'static str, String)>) -> String {
    let mut lines = vec![("title", quoted(&page.title))];
    lines.extend(own);
    let unknown = || "null".to_owned();
    lines.push((
        "fetched_at",
        page.fetched_at.as_deref().map_or_else(unknown, quoted),
    ));
    lines.push((
        "language",
        page.language.as_deref().map_or_else(unknown, quoted),
    ));
    lines.push(("extraction", page.extraction.to_owned()));
    lines.extend(
        page.extraction_reason
            .map(|reason| ("extraction_reason", reason.to_owned())),
    );
    let lines: String = lines
        .iter()
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect();
    format!("---\n{lines}---\n\n")
}

/// Returns a text as a double-quoted scalar of YAML 1.2 (section 7.3.1), always on one line.
fn quoted(text: &str) -> String {
    let mut scalar = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' => scalar.push_str("\\\""),
            '\\' => scalar.push_str("\\\\"),
            '\n' => scalar.push_str("\\n"),
            '\r' => scalar.push_str("\\r"),
            '\t' => scalar.push_str("\\t"),
            // Characters that are not printable by section 5.1, and line breaks of YAML 1.1.
            '\u{0}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                write!(scalar, "\\u{:04X}", u32::from(letter)).expect("a string takes any text");
            }
            _ => scalar.push(letter),
        }
    }
    scalar.push('"');
    scalar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_title_leaves_its_line() {
        let table = [
            ("plain", "\"plain\""),
            ("a: b # c", "\"a: b # c\""),
            ("\"q\" \\", "\"\\\"q\\\" \\\\\""),
            ("x\n---\ny\r\t", "\"x\\n---\\ny\\r\\t\""),
            (
                "\u{1b}[2J\u{85}\u{2028}\u{7f}",
                "\"\\u001B[2J\\u0085\\u2028\\u007F\"",
            ),
            ("é漢🦆", "\"é漢🦆\""),
        ];
        for (text, expected) in table {
            assert_eq!(quoted(text), expected);
        }
    }
}
