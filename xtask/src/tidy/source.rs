//! Does a Rust file read as ours do?
//!
//! **Invariant:** every rule is a plain search in lines. It may be fooled by someone who wants to; it
//! is for those who forgot.

use super::Finding;
use super::code::test_items;

/// A file above 800 lines, its tests not counted, has two ideas.
const LONGEST: usize = 800;

/// Names of drawers.
const DRAWERS: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

/// What is not merged, in halves (this file is checked too), and why.
const UNFINISHED: [([&str; 2], &str); 6] = [
    (["to", "do!"], "unfinished code is not merged"),
    (["unimpl", "emented!"], "unfinished code is not merged"),
    (["TO", "DO"], "what is left to be done is an issue"),
    (["FIX", "ME"], "what is left to be done is an issue"),
    (["#[ig", "nore"], "a test that never runs shows nothing"),
    (["dead", "_code"], "code that nobody calls is removed"),
];

/// Findings in one file.
pub fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line: usize, rule: String, why| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            rule,
            why,
        });
    };
    if !text.starts_with("//!") {
        let why = "a file opens with the question it answers and the invariant it keeps";
        report(1, "does not open with //!".into(), why);
    }
    let length = counted_lines(file, text);
    if length > LONGEST {
        let rule = format!("{length} lines without its tests, over {LONGEST}");
        report(LONGEST + 1, rule, "one file, one idea");
    }
    for name in file
        .trim_end_matches(".rs")
        .split('/')
        .filter(|name| DRAWERS.contains(name))
    {
        report(
            1,
            format!("a drawer called {name}"),
            "a name says what is inside",
        );
    }
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(name) = module(line).filter(|name| DRAWERS.contains(name)) {
            report(
                number,
                format!("a drawer called {name}"),
                "a name says what is inside",
            );
        }
        for (halves, why) in UNFINISHED {
            let sign = halves.concat();
            if line.contains(&sign) {
                report(number, format!("has {sign}"), why);
            }
        }
    }
    findings
}

/// The lines of a file that are not tests.
fn counted_lines(file: &str, text: &str) -> usize {
    if file.ends_with("/tests.rs") || file.contains("/tests/") {
        return 0;
    }
    let lines: Vec<&str> = text.lines().collect();
    let modules = test_items(&lines).into_iter();
    let modules = modules.filter(|item| lines[item.start + 1].ends_with('{'));
    lines.len() - modules.map(|item| item.len()).sum::<usize>()
}

/// The name of the module that a line declares.
fn module(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line
        .strip_prefix("pub ")
        .or_else(|| line.strip_prefix("pub(crate) "))
        .unwrap_or(line);
    let rest = line.strip_prefix("mod ")?;
    Some(rest.trim_end_matches([';', '{', ' ', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(file: &str, text: &str, lines: &[usize]) {
        let found: Vec<_> = check(file, text)
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(found, lines, "{file}: {:?}", check(file, text));
    }

    #[test]
    fn a_file_opens_with_its_question() {
        found("crates/page/src/x.rs", "//! Why?\n", &[]);
        found("crates/page/src/x.rs", "\n//! Why?\n", &[1]);
        found("crates/page/src/x.rs", "/// Not that.\n", &[1]);
        found("crates/page/src/x.rs", "", &[1]);
    }

    #[test]
    fn only_what_is_not_a_test_counts_for_the_length() {
        let body = |lines: usize| format!("//! Why?\n{}", "x\n".repeat(lines - 1));
        let tests = "#[cfg(test)]\nmod tests {\n    fn a() {\n    }\n}\n";
        found("a.rs", &body(LONGEST), &[]);
        found("a.rs", &body(LONGEST + 1), &[LONGEST + 1]);
        found("a.rs", &format!("{}{tests}", body(LONGEST)), &[]);
        found(
            "a.rs",
            &format!("{}{tests}x\n", body(LONGEST)),
            &[LONGEST + 1],
        );
        found(
            "a.rs",
            &format!("{}#[cfg(test)]\nmod laws;\n", body(LONGEST - 1)),
            &[LONGEST + 1],
        );
        found("crates/page/src/url/tests.rs", &body(900), &[]);
        found("crates/page/tests/index.rs", &body(900), &[]);
        found("crates/page/src/contests.rs", &body(900), &[LONGEST + 1]);
    }

    #[test]
    fn drawers_are_found_as_files_folders_and_modules() {
        found("crates/page/src/utils.rs", "//! ?", &[1]);
        found("crates/page/tests/common/mod.rs", "//! ?", &[1]);
        found("crates/page/src/commonplace.rs", "//! ?", &[]);
        found("a.rs", "//! ?\n    mod helpers {\n", &[2]);
        found("a.rs", "//! ?\npub(crate) mod misc;\n", &[2]);
        found("a.rs", "//! ?\nmod miscellany;\n", &[]);
    }

    #[test]
    fn unfinished_code_is_found() {
        for (halves, _) in UNFINISHED {
            found(
                "a.rs",
                &format!("//! ?\nfn a() {{ {} }}\n", halves.concat()),
                &[2],
            );
        }
        found("a.rs", "//! ?\n// Ignores what is done.\n", &[]);
    }

    #[test]
    fn a_finding_says_where_what_and_why() {
        let finding = &check("a/b.rs", "fn main() {}\n")[0];
        let text = finding.to_string();
        assert!(
            text.starts_with("a/b.rs:1: does not open with //! ("),
            "{text}"
        );
    }
}
