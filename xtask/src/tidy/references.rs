//! Checks that the files which comments and documents mention exist in the repository.
//!
//! A mention may be the end of a path, and may leave out `crates` and `src`:
//! `engine/committer.rs`, `frontier/budget.rs`. If it fits several files, one of them must be in
//! the crate that mentions it.

use super::TidyFinding;
use super::code::comments;
use super::markdown;

/// Extensions by which a word is recognized as a file name.
const KINDS: [&str; 14] = [
    "css", "html", "js", "json", "md", "ndjson", "png", "py", "rs", "svg", "toml", "tsv", "txt",
    "yml",
];

/// Files that are not in the repository but in stores, in recorded worlds, or on web servers.
const ELSEWHERE: [&str; 21] = [
    "articles.tsv",
    "avocet.toml",
    "bodies.ndjson",
    "clicks.tsv",
    "controls.toml",
    "crawl.json",
    "edges.tsv",
    "index.html",
    "links.tsv",
    "live.json",
    "nodes.tsv",
    "openapi.json",
    "pages.tsv",
    "queries.tsv",
    "robots.txt",
    "sources.json",
    "sources.tsv",
    "state.json",
    "webhooks.json",
    "versions.tsv",
    "views.tsv",
];

/// Files that most crates have, so that the name alone says nothing.
const GENERIC: [&str; 5] = ["Cargo.toml", "lib.rs", "main.rs", "mod.rs", "tests.rs"];

/// The changelog may mention files that were deleted since.
const HISTORY: &str = "CHANGELOG.md";

const WHY: &str = "a reader needs no file outside the repository";

/// Returns the findings in one file, given the paths of all files of the repository.
pub fn check(file: &str, text: &str, files: &[String]) -> Vec<TidyFinding> {
    let read: fn(&str) -> Vec<(usize, &str)> = match file.rsplit_once('.') {
        Some((_, "rs")) => comments,
        Some((_, "md")) if file != HISTORY => markdown::lines,
        _ => return Vec::new(),
    };
    let mut findings = Vec::new();
    for (line, text) in read(text) {
        for name in names(text) {
            let fitting: Vec<&String> = files.iter().filter(|one| fits(one, name)).collect();
            let is_near = |one: &&String| crate_of(one) == crate_of(file);
            let rule = match fitting.len() {
                0 => format!("names {name}, which is not in the repository"),
                2.. if !fitting.iter().any(is_near) => {
                    format!("names {name}, which may be any of {}", fitting.len())
                }
                _ => continue,
            };
            findings.push(TidyFinding {
                file: file.to_owned(),
                line,
                rule,
                why: WHY,
            });
        }
    }
    findings
}

/// Returns the file names in a line.
///
/// Leaves out URLs, placeholders in capitals (`NAME.tsv`), and the files of [`GENERIC`] and
/// [`ELSEWHERE`].
fn names(line: &str) -> impl Iterator<Item = &str> {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !"_-./:@*<>{}".contains(c);
    line.split(is_other).filter_map(|word| {
        let word = word.trim_end_matches(['.', ':', '-', '/']);
        let word = word.trim_start_matches("./");
        let (stem, kind) = word.rsplit_once('.')?;
        let name = stem.rsplit('/').next()?;
        // An absolute path belongs to a machine or to a web server.
        let is_file = KINDS.contains(&kind)
            && !name.is_empty()
            && !word.starts_with('/')
            && !word.contains([':', '@', '*', '<', '>', '{', '}']);
        let is_placeholder = |part: &str| part.len() > 2 && !part.contains(char::is_lowercase);
        let last = word.rsplit('/').next()?;
        (is_file && !is_placeholder(name) && !GENERIC.contains(&last) && !ELSEWHERE.contains(&last))
            .then_some(word)
    })
}

/// Returns whether a mention fits the path of a file.
fn fits(file: &str, name: &str) -> bool {
    let parts = |path: &'_ str| -> Vec<String> {
        let parts = path
            .split('/')
            .filter(|part| !matches!(*part, "crates" | "src" | ".."));
        parts.map(str::to_owned).collect()
    };
    let (file, name) = (parts(file), parts(name));
    file.ends_with(&name)
}

/// Returns the name of the crate, or of the top directory, that a file is in.
fn crate_of(file: &str) -> &str {
    let below = file.strip_prefix("crates/").unwrap_or(file);
    below.split_once('/').map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 6] = [
        "README.md",
        "docs/science/theory.md",
        "crates/frontier/src/budget.rs",
        "crates/policy/src/plan/budget.rs",
        "crates/lab/src/world/news.rs",
        "crates/avocet/tests/whole/crash.rs",
    ];

    #[track_caller]
    fn found(file: &str, text: &str, expected: &[(usize, &str)]) {
        let found: Vec<(usize, String)> = check(file, text, &FILES.map(str::to_owned))
            .into_iter()
            .map(|finding| (finding.line, finding.rule))
            .collect();
        let expected: Vec<(usize, String)> = expected
            .iter()
            .map(|(line, rule)| (*line, format!("names {rule}")))
            .collect();
        assert_eq!(found, expected, "{file}: {text}");
    }

    #[test]
    fn a_file_that_is_named_exists() {
        let gone = |name: &str| format!("{name}, which is not in the repository");
        found("a.rs", "x; // As in theory.md, §2.\n", &[]);
        found("a.rs", "//! See `lab/world/news.rs`.\n", &[]);
        found(
            "a.rs",
            "\n/// See [x](../../docs/science/theory.md).\n",
            &[],
        );
        found("a.rs", "\n/// See style.md.\n", &[(2, &gone("style.md"))]);
        found("a.rs", "// lab/news.rs\n", &[(1, &gone("lab/news.rs"))]);
        found("README.md", "`tests/whole/crash.rs`\n", &[]);
        found(
            "README.md",
            "`torture/crash.rs`\n",
            &[(1, &gone("torture/crash.rs"))],
        );
        found("CHANGELOG.md", "`torture/crash.rs`\n", &[]);
    }

    #[test]
    fn a_name_of_several_files_is_accepted_only_in_the_crate_of_one_of_them() {
        found("README.md", "`frontier/budget.rs`\n", &[]);
        found(
            "README.md",
            "`budget.rs`\n",
            &[(1, "budget.rs, which may be any of 2")],
        );
        found("crates/policy/src/a.rs", "// budget.rs\n", &[]);
        found(
            "crates/lab/src/a.rs",
            "// budget.rs\n",
            &[(1, "budget.rs, which may be any of 2")],
        );
    }

    #[test]
    fn other_words_are_no_files() {
        found("a.rs", "let x = \"y.rs\";\n", &[]);
        found("a.rs", "let x = \"http://a.org/y.html\";\n", &[]);
        found(
            "a.rs",
            "// http://a.org/y.html, robots.txt, NAME.tsv, *.html, 1.5\n",
            &[],
        );
        found(
            "README.md",
            "```\ncat my.tsv\n```\nthe store's `avocet.toml`\n",
            &[],
        );
    }
}
