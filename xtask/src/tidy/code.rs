//! The paths in the code of Rust files, without comments, strings and tests; and the comments.
//!
//! **Invariant:** a small lexer, not a parser. It knows what hides code from a search (comments,
//! strings, characters) and how `use` trees are written; it relies on rustfmt for the extent of an item.

use std::ops::Range;

/// A Rust file: its path from the root of the workspace, and its text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'t> {
    /// The path.
    pub file: &'t str,
    /// The text.
    pub text: &'t str,
}

/// A path in the code of a file: `std::fs::read`, or a name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePath {
    /// Its segments.
    pub segments: Vec<String>,
    /// The line, from one.
    pub line: usize,
}

impl CodePath {
    /// Whether it begins with these segments, which are separated by `::`.
    pub fn starts_with(&self, prefix: &str) -> bool {
        let mut segments = self.segments.iter();
        prefix
            .split("::")
            .all(|part| segments.next().is_some_and(|segment| segment == part))
    }
}

/// Returns all paths of a file outside of comments, strings and tests; `use` trees are written out.
pub fn paths(text: &str) -> Vec<CodePath> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = test_items(&lines);
    let is_test = |line: usize| tests.iter().any(|range| range.contains(&(line - 1)));
    let mut tokens = tokens(text);
    tokens.retain(|token| !is_test(token.line) && !matches!(token.kind, Kind::Comment(_)));
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_name = matches!(tokens[at].kind, Kind::Name(_));
        // A field or a method is no path.
        let is_member = at > 0 && tokens[at - 1].kind == Kind::Mark('.');
        if is_name && !is_member {
            at = read_path(&tokens, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Returns the comments of a file, each with the line it begins at.
pub fn comments(text: &str) -> Vec<(usize, &str)> {
    let tokens = tokens(text).into_iter();
    let comments = tokens.filter_map(|token| match token.kind {
        Kind::Comment(comment) => Some((token.line, comment)),
        _ => None,
    });
    comments.collect()
}

/// Returns the files that only tests compile: `tests.rs`, what is below `tests/`, and modules that are
/// declared after `#[cfg(test)]`.
pub fn test_files<'t>(sources: &[Source<'t>]) -> Vec<&'t str> {
    let declared: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            let stem = source.file.trim_end_matches(".rs");
            let folder = match stem.rsplit_once('/') {
                Some((folder, "lib" | "main" | "mod")) => folder,
                _ => stem,
            };
            let lines: Vec<&str> = source.text.lines().collect();
            let items = test_items(&lines).into_iter();
            let modules = items.filter_map(move |range| {
                let last = lines[range.end - 1].trim();
                let name = last.strip_suffix(';')?.rsplit_once("mod ")?.1;
                Some(format!("{folder}/{name}"))
            });
            modules.collect::<Vec<_>>()
        })
        .collect();
    let is_test = |file: &str| {
        let stem = file.trim_end_matches(".rs");
        let below = |module: &String| {
            stem.strip_prefix(module.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        file.ends_with("/tests.rs") || file.contains("/tests/") || declared.iter().any(below)
    };
    let files = sources.iter().map(|source| source.file);
    files.filter(|file| is_test(file)).collect()
}

/// The items that are compiled for tests only, from their attribute to their last line.
pub fn test_items(lines: &[&str]) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.trim() != "#[cfg(test)]" {
            at += 1;
            continue;
        }
        let margin = &line[..line.len() - line.trim_start().len()];
        // rustfmt puts the brace that closes an item below its attribute, and nothing before it there.
        let closing = ["}", "};", ");"].map(|brace| format!("{margin}{brace}"));
        let begin = at + 1;
        let is_attribute = |line: &&&str| line.trim_start().starts_with("#[");
        let attributes = lines[begin..].iter().take_while(is_attribute).count();
        let first = begin + attributes;
        let one_line = lines
            .get(first)
            .is_some_and(|line| line.ends_with(';') || line.ends_with('}'));
        let end = if one_line {
            first + 1
        } else {
            let is_closing = |line: &&str| closing.iter().any(|brace| brace == line);
            let end = lines[first.min(lines.len())..].iter().position(is_closing);
            end.map_or(lines.len(), |length| first + length + 1)
        };
        items.push(at..end);
        at = end;
    }
    items
}

/// Reads a path from a name on, with the segments before it, and returns where it ends.
fn read_path(
    tokens: &[Token<'_>],
    mut at: usize,
    before: &[String],
    found: &mut Vec<CodePath>,
) -> usize {
    let mut segments = before.to_vec();
    let line = tokens[at].line;
    while let Some(Kind::Name(name)) = tokens.get(at).map(|token| token.kind) {
        segments.push(name.to_owned());
        at += 1;
        if tokens.get(at).map(|token| token.kind) != Some(Kind::Separator) {
            break;
        }
        at += 1;
        if tokens.get(at).map(|token| token.kind) == Some(Kind::Mark('{')) {
            return read_group(tokens, at + 1, &segments, found);
        }
    }
    found.push(CodePath { segments, line });
    at
}

/// Reads the branches of a `use` tree behind its opening brace, and returns where it ends.
fn read_group(
    tokens: &[Token<'_>],
    mut at: usize,
    before: &[String],
    found: &mut Vec<CodePath>,
) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.kind {
            Kind::Mark('}') => return at + 1,
            Kind::Name("as") => at += 2,
            Kind::Name(_) => at = read_path(tokens, at, before, found),
            _ => at += 1,
        }
    }
    at
}

#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    kind: Kind<'t>,
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'t> {
    Name(&'t str),
    /// `::`
    Separator,
    Comment(&'t str),
    /// Any other character.
    Mark(char),
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") || rest.starts_with("/*") => {
                let length = if rest.starts_with("//") {
                    rest.find('\n')
                } else {
                    rest.find("*/").map(|end| end + 2)
                };
                let length = length.unwrap_or(rest.len());
                let kind = Kind::Comment(&rest[..length]);
                tokens.push(Token { kind, line });
                length
            }
            '"' => string_length(rest),
            '\'' => character_length(rest),
            ':' if rest.starts_with("::") => {
                let kind = Kind::Separator;
                tokens.push(Token { kind, line });
                2
            }
            '_' | 'a'..='z' | 'A'..='Z' => {
                let length = name_length(rest);
                match raw_string_length(rest, length) {
                    Some(length) => length,
                    None => {
                        let kind = Kind::Name(&rest[..length]);
                        tokens.push(Token { kind, line });
                        length
                    }
                }
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let kind = Kind::Mark(first);
                tokens.push(Token { kind, line });
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

fn name_length(text: &str) -> usize {
    let is_other = |c: char| c != '_' && !c.is_alphanumeric();
    text.find(is_other).unwrap_or(text.len())
}

/// The length of `"…"`, with what is escaped in it.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string, if a name of this length is its prefix (`r`, `br`).
fn raw_string_length(text: &str, prefix: usize) -> Option<usize> {
    if !matches!(&text[..prefix], "r" | "br") {
        return None;
    }
    let rest = &text[prefix..];
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    rest[hashes..].starts_with('"').then(|| {
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = prefix + hashes + 1;
        let length = text[inside..].find(&end);
        length.map_or(text.len(), |length| inside + length + end.len())
    })
}

/// The length of a character, `'x'`; of a lifetime only its mark.
fn character_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            // What is escaped may be the mark itself.
            let end = text[3..].find('\'');
            end.map_or(text.len(), |length| 3 + length + 1)
        }
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, expected: &[&str]) {
        let found: Vec<String> = paths(text)
            .iter()
            .map(|path| path.segments.join("::"))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn use_trees_are_written_out() {
        found(
            "use std::{fs, net::{IpAddr as Ip, *}};",
            &["use", "std::fs", "std::net::IpAddr"],
        );
        found("x.lock(crate::a::b(c))", &["x", "crate::a::b", "c"]);
        let line = paths("use a::{\n    b,\n    c,\n};\n")[2].line;
        assert_eq!(line, 3);
    }

    #[test]
    fn comments_strings_characters_and_lifetimes_are_no_code() {
        let text = "// a::b\n/* c::d */ e \"// f\"";
        found(text, &["e"]);
        assert_eq!(comments(text), [(1, "// a::b"), (2, "/* c::d */")]);
        found(r#"f("a::b \" c", 'x', '\'', '"', y)"#, &["f", "y"]);
        found("r#\"a \" b\"# c br\"d\" e", &["c", "e"]);
        found("&'a str", &["a", "str"]);
    }

    #[test]
    fn what_only_tests_compile_is_left_out() {
        found(
            "a;\n#[cfg(test)]\nmod tests {\n    b::c();\n}\nd;\n",
            &["a", "d"],
        );
        found("#[cfg(test)]\nmod laws;\nd;\n", &["d"]);
        found(
            "    #[cfg(test)]\n    fn a() {\n        b;\n    }\n    c;\n",
            &["c"],
        );
        found(
            "#[cfg(test)]\n#[expect(x)]\nuse a::{\n    b,\n};\nc;\n",
            &["c"],
        );
    }

    #[test]
    fn files_of_tests_are_known_by_name_and_by_declaration() {
        let source = |file, text| Source { file, text };
        let sources = [
            source("crates/x/src/lib.rs", "#[cfg(test)]\nmod laws;\nmod a;\n"),
            source("crates/x/src/laws.rs", ""),
            source("crates/x/src/laws/one.rs", ""),
            source("crates/x/src/lawsuit.rs", ""),
            source("crates/x/src/a.rs", "#[cfg(test)]\npub(crate) mod laws;\n"),
            source("crates/x/src/a/laws.rs", ""),
            source("crates/x/src/a/tests.rs", ""),
            source("crates/x/tests/b.rs", ""),
        ];
        let expected = [
            "crates/x/src/laws.rs",
            "crates/x/src/laws/one.rs",
            "crates/x/src/a/laws.rs",
            "crates/x/src/a/tests.rs",
            "crates/x/tests/b.rs",
        ];
        assert_eq!(test_files(&sources), expected);
    }
}
