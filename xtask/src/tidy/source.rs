//! Checks the form of Rust files: header, length, module names, and signs of unfinished code.
//!
//! Every rule is a plain text search. It catches oversights, not attempts to evade it.

use super::TidyFinding;
use super::code::test_items;

/// Maximum number of lines of a file, its tests not counted. A longer file usually does two jobs.
const LONGEST: usize = 800;

/// Module names that do not say what the module holds.
const VAGUE_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];

/// The only folder whose doc comments may have examples of Rust code.
///
/// Every crate with such examples makes CI take longer, because each example is compiled as a
/// program of its own.
const DOC_TESTED: &str = "crates/lab/";

/// Signs of unfinished code, and why each is refused.
///
/// Written in halves, because this file is checked too.
const UNFINISHED: [([&str; 2], &str); 6] = [
    (["to", "do!"], "unfinished code is not merged"),
    (["unimpl", "emented!"], "unfinished code is not merged"),
    (["TO", "DO"], "work that is left to do belongs in an issue"),
    (["FIX", "ME"], "work that is left to do belongs in an issue"),
    (["#[ig", "nore"], "a test that never runs proves nothing"),
    (["dead", "_code"], "unused code is removed"),
];

/// Returns the findings in one Rust file.
pub fn check(file: &str, text: &str) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut report = |line: usize, rule: String, why| {
        findings.push(TidyFinding {
            file: file.to_owned(),
            line,
            rule,
            why,
        });
    };
    if !text.starts_with("//!") {
        let why = "a file opens with a sentence that says what it is and does";
        report(1, "does not open with //!".into(), why);
    }
    let length = counted_lines(file, text);
    if length > LONGEST {
        let rule = format!("{length} lines without its tests, over {LONGEST}");
        report(LONGEST + 1, rule, "a long file does two jobs: split it");
    }
    for name in file
        .trim_end_matches(".rs")
        .split('/')
        .filter(|name| VAGUE_NAMES.contains(name))
    {
        report(
            1,
            format!("a module called {name}"),
            "a name says what the module holds",
        );
    }
    if !file.starts_with(DOC_TESTED) {
        for number in doc_examples(text) {
            let rule = format!("an example in a doc comment outside of {DOC_TESTED}");
            report(number, rule, "doc tests are slow to compile: write a test");
        }
    }
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(name) = module(line).filter(|name| VAGUE_NAMES.contains(name)) {
            report(
                number,
                format!("a module called {name}"),
                "a name says what the module holds",
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

/// Returns the lines at which doc comments begin a block of Rust code.
fn doc_examples(text: &str) -> Vec<usize> {
    let mut inside = false;
    let mut begins = |line: &str| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let fence = comment.and_then(|comment| comment.trim().strip_prefix("```"));
        inside ^= fence.is_some();
        // A block in another language begins with the name of the language.
        let is_rust = |name: &str| !["text", "console", "toml", "json"].contains(&name);
        inside && fence.is_some_and(is_rust)
    };
    let lines = (1..).zip(text.lines());
    let begun = lines.filter(|(_, line)| begins(line));
    begun.map(|(number, _)| number).collect()
}

/// Returns the number of lines of a file that are not tests.
fn counted_lines(file: &str, text: &str) -> usize {
    if file.ends_with("/tests.rs") || file.contains("/tests/") {
        return 0;
    }
    let lines: Vec<&str> = text.lines().collect();
    let modules = test_items(&lines).into_iter();
    let modules = modules.filter(|item| lines[item.start + 1].ends_with('{'));
    lines.len() - modules.map(|item| item.len()).sum::<usize>()
}

/// Returns the name of the module that a line declares.
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
    fn a_file_without_a_header_in_its_first_line_is_found() {
        found("crates/page/src/x.rs", "//! A.\n", &[]);
        found("crates/page/src/x.rs", "\n//! A.\n", &[1]);
        found("crates/page/src/x.rs", "/// Not that.\n", &[1]);
        found("crates/page/src/x.rs", "", &[1]);
    }

    #[test]
    fn tests_do_not_count_for_the_length_of_a_file() {
        let body = |lines: usize| format!("//! A.\n{}", "x\n".repeat(lines - 1));
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
    fn vague_names_are_found_as_files_folders_and_modules() {
        found("crates/page/src/utils.rs", "//! A.", &[1]);
        found("crates/page/tests/common/mod.rs", "//! A.", &[1]);
        found("crates/page/src/commonplace.rs", "//! A.", &[]);
        found("a.rs", "//! A.\n    mod helpers {\n", &[2]);
        found("a.rs", "//! A.\npub(crate) mod misc;\n", &[2]);
        found("a.rs", "//! A.\nmod miscellany;\n", &[]);
    }

    #[test]
    fn rust_examples_in_doc_comments_outside_of_the_lab_are_found() {
        let text = "//! A.\n//! ```text\n//! a\n//! ```\n    /// ```\n    /// a();\n    /// ```\n";
        found("crates/page/src/a.rs", text, &[5]);
        found("crates/lab/src/a.rs", text, &[]);
        let fails = "//! A.\n//! ```compile_fail\n//! a();\n//! ```\n";
        found("crates/page/src/a.rs", fails, &[2]);
    }

    #[test]
    fn unfinished_code_is_found() {
        for (halves, _) in UNFINISHED {
            found(
                "a.rs",
                &format!("//! A.\nfn a() {{ {} }}\n", halves.concat()),
                &[2],
            );
        }
        found("a.rs", "//! A.\n// Ignores what is done.\n", &[]);
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
