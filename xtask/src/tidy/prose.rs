//! Checks the language of comments, messages and documents.
//!
//! Three rules: a comment line has at most 100 columns, the first sentence of a doc comment is not
//! a question, and some vague phrases are banned.

use super::TidyFinding;
use super::code::{RustFile, comments, strings, test_files};
use super::markdown;

/// Maximum number of columns of a comment line. A longer line is hard to read beside a second
/// window.
const WIDEST: usize = 100;

/// Phrases that hide who does what, or how much.
///
/// Written in halves, because this file is checked too.
const BANNED: [[&str; 2]; 7] = [
    ["so ma", "ny"],
    ["nob", "ody"],
    ["who", "ever"],
    ["an", "ew"],
    ["takes no", "te"],
    ["is to", "ld"],
    ["it is thou", "ght"],
];

/// Documents whose phrases are not checked.
const KEPT: [&str; 2] = ["docs/science/theory.md", "docs/design/hostile-web.md"];

/// Returns the findings in all Rust files.
pub fn check(sources: &[RustFile<'_>]) -> Vec<TidyFinding> {
    let tests = test_files(sources);
    let mut findings = Vec::new();
    for source in sources {
        findings.extend(question_summaries(source));
        findings.extend(wide_comments(source));
        findings.extend(phrases(source.file, &comment_lines(source.text)));
        if !tests.contains(&source.file) {
            for (line, string) in strings(source.text) {
                findings.extend(phrases(source.file, &string_lines(line, string)));
            }
        }
    }
    findings
}

/// Returns the findings in one document.
pub fn check_document(file: &str, text: &str) -> Vec<TidyFinding> {
    let is_document = matches!(file, "README.md" | "ARCHITECTURE.md")
        || file.starts_with("docs/") && file.ends_with(".md");
    if !is_document || KEPT.contains(&file) {
        return Vec::new();
    }
    let lines = markdown::lines(text).into_iter();
    let lines: Vec<_> = lines.map(|(line, text)| (line, text.to_owned())).collect();
    phrases(file, &lines)
}

/// Finds lines that hold only a comment and are too wide. A line with a URL is exempt.
fn wide_comments(source: &RustFile<'_>) -> Vec<TidyFinding> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut findings = Vec::new();
    for (number, _) in comments(source.text) {
        let line = lines[number - 1];
        let columns = line.chars().count();
        let is_comment = line.trim_start().starts_with("//");
        if is_comment && columns > WIDEST && !line.contains("://") {
            findings.push(TidyFinding {
                file: source.file.to_owned(),
                line: number,
                rule: format!("a comment of {columns} columns, over {WIDEST}"),
                why: "it is read beside a second window",
            });
        }
    }
    findings
}

/// Finds doc comments (`///`, `//!`) whose first sentence is a question.
fn question_summaries(source: &RustFile<'_>) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut before = None;
    let comments = comments(source.text);
    for (at, (line, comment)) in comments.iter().enumerate() {
        let kind = doc_kind(comment);
        let begins = kind.is_some() && before != Some((line - 1, kind));
        before = Some((*line, kind));
        let sentence = first_sentence(&comments[at..]);
        if begins && sentence.ends_with('?') {
            findings.push(TidyFinding {
                file: source.file.to_owned(),
                line: *line,
                rule: format!("a summary that is a question: {sentence}"),
                why: "a summary states what something is or does",
            });
        }
    }
    findings
}

/// Returns `///` or `//!` if a comment is one.
fn doc_kind(comment: &str) -> Option<&str> {
    let kind = comment.get(..3)?;
    let is_doc = matches!(kind, "///" | "//!") && !comment.starts_with("////");
    is_doc.then_some(kind)
}

/// Returns the first sentence of the doc comment that these comments begin with.
///
/// A paragraph without a full stop is one sentence.
fn first_sentence(comments: &[(usize, &str)]) -> String {
    let (first, kind) = comments
        .first()
        .map_or((0, None), |(line, comment)| (*line, doc_kind(comment)));
    let block = (first..).zip(comments);
    let block = block
        .take_while(|(expected, (line, comment))| expected == line && doc_kind(comment) == kind);
    let texts = block.map(|(_, (_, comment))| comment_text(comment));
    let paragraph: Vec<&str> = texts.take_while(|text| !text.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let ends = [". ", "? "].map(|mark| paragraph.find(mark));
    let end = ends.into_iter().flatten().min();
    end.map_or(paragraph.as_str(), |end| &paragraph[..=end])
        .to_owned()
}

/// Returns a line comment without its slashes.
fn comment_text(comment: &str) -> &str {
    comment.trim_start_matches(['/', '!', '*']).trim()
}

/// Returns the text of the comments of a file, line by line.
fn comment_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    for (first, comment) in comments(text) {
        let texts = comment.lines().map(|line| comment_text(line.trim_start()));
        lines.extend((first..).zip(texts.map(str::to_owned)));
    }
    lines
}

/// Returns the text of a string literal, line by line, with spaces for its line breaks.
fn string_lines(first: usize, string: &str) -> Vec<(usize, String)> {
    let texts = string.lines().map(|line| {
        let continued = line.strip_suffix('\\').unwrap_or(line);
        continued.replace("\\n", "  ")
    });
    (first..).zip(texts).collect()
}

/// Finds the banned phrases in lines of text, in upper or lower case, also across a line break.
fn phrases(file: &str, lines: &[(usize, String)]) -> Vec<TidyFinding> {
    let words: Vec<(usize, String)> = lines
        .iter()
        .flat_map(|(line, text)| {
            let words = text.split_whitespace();
            words.map(|word| (*line, word.to_lowercase()))
        })
        .collect();
    let mut findings = Vec::new();
    for phrase in BANNED.map(|halves| halves.concat()) {
        for window in words.windows(phrase.split(' ').count()) {
            let (first, last) = (window[0].0, window[window.len() - 1].0);
            let text: Vec<&str> = window.iter().map(|(_, word)| word.as_str()).collect();
            if last <= first + 1 && has_words(&text.join(" "), &phrase) {
                findings.push(TidyFinding {
                    file: file.to_owned(),
                    line: first,
                    rule: format!("says \"{phrase}\""),
                    why: "name the actor, and give numbers",
                });
            }
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

/// Returns whether a text holds a phrase as whole words.
fn has_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        ![before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/x/src/a.rs";

    #[track_caller]
    fn found(text: &str, expected: &[(usize, &str)]) {
        let source = RustFile { file: FILE, text };
        let findings = check(&[source]);
        let found: Vec<(usize, &str)> = findings
            .iter()
            .map(|finding| (finding.line, finding.rule.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comment_lines_have_at_most_100_columns() {
        let wide = |start: &str, columns: usize| {
            let filled = "x".repeat(columns - start.chars().count());
            format!("a\n{start}{filled}\n")
        };
        let finding = |columns: usize| format!("a comment of {columns} columns, over 100");
        for start in ["//! ", "    /// ", "// ", "/// Δ "] {
            found(&wide(start, 100), &[]);
            found(&wide(start, 101), &[(2, &finding(101))]);
        }
        found(&wide("/// <https://example.org/", 120), &[]);
        found(&wide("let x = \"// ", 120), &[]);
        found(&wide("let x = 1; // ", 120), &[]);
    }

    #[test]
    fn summaries_are_no_questions() {
        let asks = |question: &str| format!("a summary that is a question: {question}");
        for (text, question) in [
            ("//! Why?\n", "Why?"),
            ("//! Why?\n//!\n//! Because.\n", "Why?"),
            ("//! Why? Because.\n", "Why?"),
            ("//! Why\n//! not?\n", "Why not?"),
            ("    /// Is it?\n    fn a() {}\n", "Is it?"),
        ] {
            found(text, &[(1, &asks(question))]);
        }
        let second = "//! A.\n\n/// Is it?\nfn b() {}\n";
        found(second, &[(3, &asks("Is it?"))]);
        for text in [
            "//! Answers why.\n//!\n//! Why?\n",
            "//! Answers \"why?\" at once.\n",
            "/// A. Why?\nfn a() {}\n",
            "/// A.\n/// Why?\nfn a() {}\n",
            "// Why?\n",
            "//// Why?\n",
            "/// A\na,\n// Why?\n",
            "/// A\na,\n\n/// B\n// Why?\n",
            "let a = \"/// Why?\";\n",
        ] {
            found(text, &[]);
        }
    }

    #[test]
    fn banned_phrases_are_found_in_comments_and_strings() {
        for halves in BANNED {
            let phrase = halves.concat();
            let rule = format!("says \"{phrase}\"");
            let two_lines = phrase.replacen(' ', "\n/// ", 1);
            let in_string = phrase.replacen(' ', " \\\n  ", 1);
            for text in [
                format!("/// A {phrase}.\n"),
                format!("/* {} */\n", phrase.to_uppercase()),
                format!("a; // ({phrase})\n"),
                format!("/// A\n/// {two_lines}.\n"),
                format!("f(\"{phrase}'s {{a}}\\n\");\n"),
                format!("f(\"a\\n{phrase}\");\n"),
                format!("f(\"a {in_string} b\");\n"),
            ] {
                let findings = check(&[RustFile {
                    file: FILE,
                    text: &text,
                }]);
                assert_eq!(findings.len(), 1, "{text}");
                assert_eq!(findings[0].rule, rule, "{text}");
            }
            let word = phrase.replace(' ', "_");
            found(&format!("fn {word}() {{}}\n"), &[]);
            found(&format!("// x{phrase}\n// {phrase}x\n"), &[]);
            let test = format!("#[cfg(test)]\nmod tests {{\n    f(\"{phrase}\");\n}}\n");
            found(&test, &[]);
            found(&test.replace("f(\"", "// (\""), &[(3, &rule)]);
        }
    }

    #[test]
    fn banned_phrases_are_found_in_documents() {
        let phrase = BANNED[0].concat();
        let lines: Vec<_> = ["a", &phrase].map(str::to_owned).into();
        let lines: Vec<_> = (1..).zip(lines).collect();
        assert_eq!(phrases("README.md", &lines)[0].line, 2);
        for file in ["CHANGELOG.md", "crates/x/a.md", "docs/a.txt", KEPT[0]] {
            assert_eq!(check_document(file, &phrase), [], "{file}");
        }
    }
}
