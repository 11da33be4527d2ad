//! Checks that every invariant in ARCHITECTURE.md names tests, and that these tests exist.
//!
//! An invariant is a bullet that ends with `(test: name)` or `(test: name, name)`.

use std::collections::HashSet;

use super::TidyFinding;
use super::code::RustFile;

/// The document that lists the invariants.
pub const FILE: &str = "ARCHITECTURE.md";
/// The heading above the list.
const HEADING: &str = "## Rules of the house";

const WHY: &str = "an invariant without a test is broken sooner or later";

/// Returns the findings in the text of ARCHITECTURE.md.
pub fn check(text: &str, sources: &[RustFile<'_>]) -> Vec<TidyFinding> {
    let tests: HashSet<&str> = sources.iter().flat_map(|one| tests(one.text)).collect();
    let mut findings = Vec::new();
    let mut report = |line: usize, rule: String| {
        findings.push(TidyFinding {
            file: FILE.to_owned(),
            line,
            rule,
            why: WHY,
        });
    };
    let rules = rules(text);
    if rules.is_empty() {
        report(1, format!("has no rules below {HEADING:?}"));
    }
    for (line, rule) in rules {
        let named = rule
            .strip_suffix(')')
            .and_then(|rule| rule.rsplit_once("(test: "));
        let Some((_, names)) = named else {
            report(line, "a rule that does not end with (test: name)".into());
            continue;
        };
        for name in names.split(", ").filter(|name| !tests.contains(name)) {
            report(line, format!("there is no test {name}"));
        }
    }
    findings
}

/// Returns the bullets below the heading, each with the line it begins at.
fn rules(text: &str) -> Vec<(usize, String)> {
    let lines = (1..).zip(text.lines());
    let below = lines.skip_while(|(_, line)| *line != HEADING).skip(1);
    let mut rules: Vec<(usize, String)> = Vec::new();
    for (number, line) in below.take_while(|(_, line)| !line.starts_with("## ")) {
        if line.starts_with("- ") {
            rules.push((number, line.to_owned()));
        } else if let (true, Some((_, rule))) = (line.starts_with("  "), rules.last_mut()) {
            rule.push(' ');
            rule.push_str(line.trim());
        }
    }
    rules
}

/// Returns the names of a file's tests: functions below `#[test]`, `#[tokio::test]` and the like.
fn tests(text: &str) -> Vec<&str> {
    let mut is_test = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            let attribute = line.trim_start_matches("#[");
            let end = attribute.find(['(', ']']).unwrap_or(attribute.len());
            is_test |= attribute[..end].rsplit("::").next() == Some("test");
        } else if let Some((before, after)) = line.split_once("fn ") {
            if is_test && (before.is_empty() || before == "async ") {
                found.extend(after.split('(').next());
            }
            is_test = false;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(rules: &str, expected: &[(usize, &str)]) {
        let text = "#[test]\nfn one() {\n}\n#[tokio::test(start_paused = true)]\n#[cfg(unix)]\nasync fn two() {\n}\nfn three() {}\n";
        let source = RustFile {
            file: "crates/x/src/a.rs",
            text,
        };
        let text = format!("# A\n\n- not here\n\n{HEADING}\n\n{rules}\n## Map\n\n- nor here\n");
        let found: Vec<(usize, String)> = check(&text, &[source])
            .into_iter()
            .map(|finding| (finding.line, finding.rule))
            .collect();
        let expected: Vec<(usize, String)> = expected
            .iter()
            .map(|(line, rule)| (*line, (*rule).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_rule_names_tests_that_exist() {
        found(
            "- **A.** Holds. (test: one)\n- **B**\n  holds (test: one, two)\n",
            &[],
        );
        let none = "a rule that does not end with (test: name)";
        found("- **A.** Holds.\n- **B** (test: one)\n", &[(7, none)]);
        found("- **A** (test: one) holds.\n", &[(7, none)]);
        found(
            "- **A** (test: one,\n  three)\n",
            &[(7, "there is no test three")],
        );
        found("", &[(1, "has no rules below \"## Rules of the house\"")]);
    }
}
