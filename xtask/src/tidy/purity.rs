//! Checks that pure crates use no clock, randomness, thread, lock, file or socket, and that the
//! server names no file system and no ledger.
//!
//! The code of a crate, without its tests, must not name any of these. Plain values such as
//! `std::net::IpAddr` and `std::time::Duration` are allowed.

use super::TidyFinding;
use super::code::{CodePath, RustFile, paths, test_files};

/// What some files may not name.
struct PurityRule {
    /// Prefixes of the files that the rule is for.
    places: &'static [&'static str],
    /// Prefixes of code paths that are refused.
    prefixes: &'static [&'static str],
    /// Segments that are refused anywhere in a code path.
    segments: &'static [&'static str],
    why: &'static str,
}

const RULES: [PurityRule; 2] = [
    PurityRule {
        places: &[
            "crates/crawl/src/",
            "crates/document/src/",
            "crates/figure/src/",
            "crates/frontier/src/",
            "crates/page/src/",
            "crates/policy/src/",
        ],
        prefixes: &[
            "rand::rng",
            "std::env",
            "std::fs",
            "std::net::TcpListener",
            "std::net::TcpStream",
            "std::net::ToSocketAddrs",
            "std::net::UdpSocket",
            "std::os",
            "std::process",
            "std::thread",
            "tokio",
        ],
        segments: &[
            "Condvar",
            "Instant",
            "Mutex",
            "RwLock",
            "SystemTime",
            "thread_rng",
        ],
        why: "a pure crate gets time, randomness and input as arguments",
    },
    PurityRule {
        places: &["crates/server/src/"],
        prefixes: &["std::fs", "tokio::fs"],
        segments: &["Ledger", "ledger"],
        why: "the server knows a crawl only through snapshots and commands",
    },
];

/// Returns the findings in all files.
pub fn check(sources: &[RustFile<'_>]) -> Vec<TidyFinding> {
    let tests = test_files(sources);
    let mut findings = Vec::new();
    for source in sources.iter().filter(|one| !tests.contains(&one.file)) {
        let begins = |place: &&str| source.file.starts_with(*place);
        let applies = |rule: &&PurityRule| rule.places.iter().any(begins);
        for rule in RULES.iter().filter(applies) {
            let refused = paths(source.text)
                .into_iter()
                .filter(|path| rule.refuses(path));
            findings.extend(refused.map(|path| TidyFinding {
                file: source.file.to_owned(),
                line: path.line,
                rule: format!("names {}", path.segments.join("::")),
                why: rule.why,
            }));
        }
    }
    findings
}

impl PurityRule {
    fn refuses(&self, path: &CodePath) -> bool {
        let named = |segment: &String| self.segments.contains(&segment.as_str());
        self.prefixes.iter().any(|prefix| path.starts_with(prefix))
            || path.segments.iter().any(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(file: &str, text: &str, lines: &[usize]) {
        let found = check(&[RustFile { file, text }]);
        let found_lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(found_lines, lines, "{file}: {text}: {found:?}");
    }

    #[test]
    fn clocks_threads_files_and_sockets_are_found_in_pure_crates() {
        for code in [
            "use std::fs;",
            "use std::{fmt, thread};",
            "let x = std::net::TcpStream::connect(y);",
            "use std::time::{Duration, Instant};",
            "let now = SystemTime::now();",
            "static X: std::sync::Mutex<u8> = y;",
            "tokio::spawn(x);",
            "let x = rand::rng();",
        ] {
            let text = format!("//! ?\n{code}\n");
            found("crates/policy/src/a.rs", &text, &[2]);
            found("crates/page/src/html/a.rs", &text, &[2]);
            found("crates/frontier/src/bench/host.rs", &text, &[2]);
            found("crates/frontier/src/price.rs", &text, &[2]);
            found("crates/ledger/src/lib.rs", &text, &[]);
            found("crates/page/examples/read_speed.rs", &text, &[]);
            found("crates/page/src/tests.rs", &text, &[]);
        }
        let values = "use std::net::{IpAddr, Ipv4Addr};\nuse std::time::Duration;\n";
        found("crates/page/src/a.rs", values, &[]);
        found("crates/page/src/a.rs", "// An Instant, std::fs.\n", &[]);
    }

    #[test]
    fn the_server_reads_no_file_and_no_ledger() {
        for code in [
            "use std::fs::File;",
            "tokio::fs::read(x);",
            "use frontier::{Ledger, SeenSet};",
            "use node::ledger;",
        ] {
            found("crates/server/src/a.rs", code, &[1]);
            found("crates/node/src/a.rs", code, &[]);
        }
        found("crates/server/src/a.rs", "use std::sync::Mutex;", &[]);
    }
}
