//! Checks that relative links in the documents lead to files that exist, and fragments to headings.
//!
//! The documents are README.md, ARCHITECTURE.md, CHANGELOG.md, CONTRIBUTING.md, and the Markdown
//! files below docs/.
//!
//! Links are `[text](target)`, `[label]: target`, and `src` or `href` attributes of HTML. Code is
//! left out. Links to other sites are not followed.

use super::TidyFinding;
use super::markdown;

/// Attributes of HTML that hold a target.
const ATTRIBUTES: [&str; 2] = ["src=\"", "href=\""];

const WHY: &str = "a reader follows the link";

/// A file of the repository: its path from the root, and its text.
pub type Document<'t> = (&'t str, &'t str);

/// Returns whether the links of a file are checked.
pub fn is_checked(file: &str) -> bool {
    matches!(
        file,
        "README.md" | "ARCHITECTURE.md" | "CHANGELOG.md" | "CONTRIBUTING.md"
    ) || file.starts_with("docs/") && file.ends_with(".md")
}

/// Returns the findings in one document, given all files of the repository.
pub fn check((file, text): Document<'_>, documents: &[Document<'_>]) -> Vec<TidyFinding> {
    if !is_checked(file) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, text) in markdown::lines(text) {
        for target in targets(text) {
            findings.extend(broken(file, &target, documents).map(|rule| TidyFinding {
                file: file.to_owned(),
                line,
                rule,
                why: WHY,
            }));
        }
    }
    findings
}

/// Returns the targets of the links in a line.
fn targets(line: &str) -> Vec<String> {
    let line = markdown::without_code(line);
    let mut targets: Vec<&str> = Vec::new();
    for (at, sign) in line.match_indices("](") {
        targets.extend(line[at + sign.len()..].split([')', ' ']).next());
    }
    for attribute in ATTRIBUTES {
        for (at, _) in line.match_indices(attribute) {
            targets.extend(line[at + attribute.len()..].split('"').next());
        }
    }
    if let Some((label, target)) = line.trim_start().split_once("]: ")
        && label.starts_with('[')
    {
        targets.extend(target.split_whitespace().next());
    }
    let trimmed = targets.into_iter().map(|one| one.trim_matches(['<', '>']));
    trimmed.map(str::to_owned).collect()
}

/// Returns what is wrong with a link, if anything is.
fn broken(file: &str, target: &str, documents: &[Document<'_>]) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = match target.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (target, None),
    };
    let Some(path) = resolve(file, path) else {
        return Some(format!(
            "links to {target}, which is outside the repository"
        ));
    };
    let is_below = |name: &str| {
        let rest = name.strip_prefix(&path);
        path.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let found = documents.iter().find(|(name, _)| *name == path);
    match (found, fragment) {
        (Some((name, text)), Some(fragment)) if name.ends_with(".md") => {
            let exists = markdown::anchors(text).iter().any(|name| name == fragment);
            (!exists).then(|| format!("links to {target}, but {path} has no such heading"))
        }
        (Some(_), _) => None,
        (None, _) if documents.iter().any(|(name, _)| is_below(name)) => None,
        (None, _) => Some(format!("links to {target}, which does not exist")),
    }
}

/// Returns the path from the root that a link in a file leads to; `None` if it leads outside the
/// repository.
fn resolve(file: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(file.to_owned());
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    if path.starts_with('/') {
        parts.clear();
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(file: &str, text: &str, expected: &[&str]) {
        let documents = [
            ("README.md", "# Avocet\n## Why not\n"),
            ("docs/guide/first.md", "# First crawl\n"),
            ("docs/images/page.png", ""),
            ("crates/page/src/lib.rs", "//! Pages.\n"),
            (file, text),
        ];
        let found: Vec<String> = check((file, text), &documents)
            .into_iter()
            .map(|finding| finding.rule)
            .collect();
        assert_eq!(found, expected, "{file}: {text}");
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for text in [
            "[a](guide/first.md) and [b](./guide/first.md#first-crawl \"title\")",
            "[a](../README.md#why-not), [b](/README.md), [c](<../README.md>)",
            "![a](images/page.png) <img src=\"images/page.png\">",
            "[a](../crates/page/src/lib.rs#L3) [b](guide) [c](guide/) [d](..)",
            "[a](https://example.org/none.md#x) [b](mailto:a@example.org)",
            "[a]: guide/first.md\n# Here\n[b](#here)",
            "`[a](none.md)`\n```\n[a](none.md)\n```",
        ] {
            found("docs/a.md", text, &[]);
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for (text, target) in [
            ("[a](none.md)", "none.md"),
            ("[a](first.md)", "first.md"),
            ("![a](images/none.png)", "images/none.png"),
            ("<img src=\"page.png\">", "page.png"),
            ("[a]: none.md", "none.md"),
            ("[a](guid)", "guid"),
        ] {
            let rule = format!("links to {target}, which does not exist");
            found("docs/a.md", text, &[&rule]);
        }
        let no_heading = "links to #x, but docs/a.md has no such heading";
        found("docs/a.md", "[a](#x)", &[no_heading]);
        let no_heading = "links to ../README.md#how, but README.md has no such heading";
        found("docs/a.md", "[a](../README.md#how)", &[no_heading]);
        let outside = "links to ../../a.md, which is outside the repository";
        found("docs/a.md", "[a](../../a.md)", &[outside]);
    }

    #[test]
    fn only_links_of_documents_at_the_root_and_below_docs_are_checked() {
        for file in [
            "CHANGELOG.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "docs/b/c.md",
        ] {
            found(
                file,
                "[a](none.md)",
                &["links to none.md, which does not exist"],
            );
        }
        found("crates/page/notes.md", "[a](none.md)", &[]);
        found("docs/a.txt", "[a](none.md)", &[]);
    }
}
