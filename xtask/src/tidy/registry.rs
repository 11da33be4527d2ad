//! Checks that no file names a package registry. Only the `source` lines of a Cargo.lock may:
//! each must name the public index that every cargo knows.
//!
//! The workspace must build on any machine, whatever mirror its cargo is configured for.

use super::TidyFinding;

const WHY: &str = "each machine configures its own package registry";

/// The source line in Cargo.lock of a crate from the public index.
const PUBLIC: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;

/// Hosts that serve packages, and settings that name such a host.
///
/// Written in halves, because this file is checked too.
const SIGNS: [[&str; 2]; 10] = [
    ["index.", "crates.io"],
    ["static.", "crates.io"],
    ["pypi", ".org"],
    ["python", "hosted.org"],
    ["registry.", "npmjs.org"],
    ["deb.", "debian.org"],
    ["index", "-url"],
    ["replace", "-with"],
    ["[source", "."],
    ["[registries", "."],
];

/// Returns the findings in one file.
pub fn check(file: &str, text: &str) -> Vec<TidyFinding> {
    let signs = SIGNS.map(|halves| halves.concat());
    let lines = text.lines().enumerate();
    let finding = |(number, line): (usize, &str)| {
        let rule = if file.ends_with("Cargo.lock") && line.starts_with("source = ") {
            (line != PUBLIC).then(|| "a source that is not the public index".to_owned())
        } else {
            let sign = signs.iter().find(|sign| line.contains(sign.as_str()));
            sign.map(|sign| format!("names a package registry: {sign}"))
        };
        rule.map(|rule| TidyFinding {
            file: file.to_owned(),
            line: number + 1,
            rule,
            why: WHY,
        })
    };
    lines.filter_map(finding).collect()
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
        assert_eq!(found, lines, "{file}: {text}");
    }

    #[test]
    fn package_hosts_and_their_settings_are_found_with_their_line() {
        for halves in SIGNS {
            found("README.md", &format!("a\nb {} c", halves.concat()), &[2]);
        }
        found("README.md", "published on crates.io, indexed by url", &[]);
    }

    #[test]
    fn the_lock_file_names_the_public_index_only() {
        found("Cargo.lock", PUBLIC, &[]);
        found(
            "Cargo.lock",
            r#"source = "registry+https://mirror.example/index""#,
            &[1],
        );
        found(
            "Cargo.lock",
            r#"source = "sparse+https://mirror.example/""#,
            &[1],
        );
        found(
            "fuzz/Cargo.lock",
            r#"source = "git+https://example.org/fork""#,
            &[1],
        );
    }
}
