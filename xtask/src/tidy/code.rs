//! A small lexer for Rust files: finds the paths in their code, their comments and their strings.
//!
//! It is no parser. It knows what hides code from a search (comments, strings, characters) and how
//! `use` trees are written. It relies on the layout of rustfmt to find where an item ends.

use std::ops::Range;

/// A Rust file: its path from the root of the workspace, and its text.
#[derive(Debug, Clone, Copy)]
pub struct RustFile<'t> {
    /// The path.
    pub file: &'t str,
    /// The text.
    pub text: &'t str,
}

/// A path in the code of a file: `std::fs::read`, or a name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePath {
    /// The parts between `::`.
    pub segments: Vec<String>,
    /// The line, from one.
    pub line: usize,
}

impl CodePath {
    /// Returns whether the path begins with these segments, written with `::`.
    pub fn starts_with(&self, prefix: &str) -> bool {
        let mut segments = self.segments.iter();
        prefix
            .split("::")
            .all(|part| segments.next().is_some_and(|segment| segment == part))
    }
}

/// Returns all paths of a file outside of comments, strings and tests.
///
/// A `use` tree gives one path per branch.
pub fn paths(text: &str) -> Vec<CodePath> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = test_items(&lines);
    let is_test = |line: usize| tests.iter().any(|range| range.contains(&(line - 1)));
    let mut tokens = tokens(text);
    let is_code =
        |kind: &TokenKind<'_>| !matches!(kind, TokenKind::Comment(_) | TokenKind::Text(_));
    tokens.retain(|token| !is_test(token.line) && is_code(&token.kind));
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_name = matches!(tokens[at].kind, TokenKind::Name(_));
        // A field or a method does not begin a path.
        let is_member = at > 0 && tokens[at - 1].kind == TokenKind::Mark('.');
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
        TokenKind::Comment(comment) => Some((token.line, comment)),
        _ => None,
    });
    comments.collect()
}

/// Returns the string literals of a file outside of tests, each with the line it begins at.
///
/// The quotes are included, and escapes stay as they are written.
pub fn strings(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = test_items(&lines);
    let is_test = |line: usize| tests.iter().any(|range| range.contains(&(line - 1)));
    let tokens = tokens(text).into_iter();
    let strings = tokens.filter_map(|token| match token.kind {
        TokenKind::Text(string) if !is_test(token.line) => Some((token.line, string)),
        _ => None,
    });
    strings.collect()
}

/// Returns the files that only tests compile.
///
/// These are files called `tests.rs`, files below `tests/`, and modules declared after
/// `#[cfg(test)]`.
pub fn test_files<'t>(sources: &[RustFile<'t>]) -> Vec<&'t str> {
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

/// Returns the line ranges, from zero, of the items below `#[cfg(test)]`, with the attribute.
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
        // rustfmt indents the closing brace of an item as its attribute.
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

/// Adds the path, or `use` tree, that begins at a token. Returns the index of the token after it.
///
/// `before` holds the segments of the enclosing `use` tree.
fn read_path(
    tokens: &[RustToken<'_>],
    mut at: usize,
    before: &[String],
    found: &mut Vec<CodePath>,
) -> usize {
    let mut segments = before.to_vec();
    let line = tokens[at].line;
    while let Some(TokenKind::Name(name)) = tokens.get(at).map(|token| token.kind) {
        segments.push(name.to_owned());
        at += 1;
        if tokens.get(at).map(|token| token.kind) != Some(TokenKind::Separator) {
            break;
        }
        at += 1;
        if tokens.get(at).map(|token| token.kind) == Some(TokenKind::Mark('{')) {
            return read_group(tokens, at + 1, &segments, found);
        }
    }
    found.push(CodePath { segments, line });
    at
}

/// Adds the paths of a `use` group, from the token `at` after its opening brace. Returns the index
/// of the token after the group.
fn read_group(
    tokens: &[RustToken<'_>],
    mut at: usize,
    before: &[String],
    found: &mut Vec<CodePath>,
) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.kind {
            TokenKind::Mark('}') => return at + 1,
            TokenKind::Name("as") => at += 2,
            TokenKind::Name(_) => at = read_path(tokens, at, before, found),
            _ => at += 1,
        }
    }
    at
}

#[derive(Debug, Clone, Copy)]
struct RustToken<'t> {
    kind: TokenKind<'t>,
    line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind<'t> {
    Name(&'t str),
    /// `::`
    Separator,
    Comment(&'t str),
    /// A string literal, with its quotes.
    Text(&'t str),
    /// Any other character.
    Mark(char),
}

fn tokens(text: &str) -> Vec<RustToken<'_>> {
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
                let kind = TokenKind::Comment(&rest[..length]);
                tokens.push(RustToken { kind, line });
                length
            }
            '"' => {
                let length = string_length(rest);
                let kind = TokenKind::Text(&rest[..length]);
                tokens.push(RustToken { kind, line });
                length
            }
            '\'' => character_length(rest),
            ':' if rest.starts_with("::") => {
                let kind = TokenKind::Separator;
                tokens.push(RustToken { kind, line });
                2
            }
            '_' | 'a'..='z' | 'A'..='Z' => {
                let length = name_length(rest);
                let (kind, length) = match raw_string_length(rest, length) {
                    Some(length) => (TokenKind::Text(&rest[..length]), length),
                    None => (TokenKind::Name(&rest[..length]), length),
                };
                tokens.push(RustToken { kind, line });
                length
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let kind = TokenKind::Mark(first);
                tokens.push(RustToken { kind, line });
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

/// Returns the length of a string literal with its quotes.
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

/// Returns the length of a raw string literal if the name of this length is its prefix (`r`, `br`).
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

/// Returns the length of a character literal such as `'x'`, or 1 for the apostrophe of a lifetime.
fn character_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            // The escaped character may be an apostrophe: start the search after it.
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
    fn a_use_tree_gives_one_path_per_branch() {
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
        let text = "a(\"b\",\n  r#\"c\"#);\n#[cfg(test)]\nmod tests {\n    d(\"e\");\n}\n";
        assert_eq!(strings(text), [(1, "\"b\""), (2, "r#\"c\"#")]);
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
        let source = |file, text| RustFile { file, text };
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
