//! Checks that the top-level modules of a crate do not depend on each other in a cycle.
//!
//! A module is a file or directory directly below `src`. It depends on another module if its code,
//! without its tests, names `crate::other`, `super::other` at the root, or an item that `lib.rs`
//! re-exports from it.

use std::collections::{BTreeMap, BTreeSet};

use super::TidyFinding;
use super::code::{CodePath, RustFile, paths, test_files};

/// For each module the modules that it depends on, each with the file and line of its first
/// mention.
type Edges<'t> = BTreeMap<&'t str, BTreeMap<&'t str, (&'t str, usize)>>;

/// Returns the findings in all crates.
pub fn check(sources: &[RustFile<'_>]) -> Vec<TidyFinding> {
    let mut crates: BTreeMap<&str, Vec<RustFile<'_>>> = BTreeMap::new();
    let tests = test_files(sources);
    for source in sources {
        if let Some((name, _)) = split(source.file)
            && !tests.contains(&source.file)
        {
            crates.entry(name).or_default().push(*source);
        }
    }
    let sources = crates.into_values();
    sources
        .flat_map(|sources| cycles(&edges(&sources)))
        .collect()
}

/// Splits the path of a file below `src` into its crate and the path from `src`.
///
/// Returns `None` for binaries and for files elsewhere.
fn split(file: &str) -> Option<(&str, &str)> {
    let (root, path) = file.split_once("/src/")?;
    let name = root.strip_prefix("crates/").unwrap_or(root);
    let outside = name.contains('/') || path == "main.rs" || path.starts_with("bin/");
    (!outside).then_some((name, path))
}

/// Returns the modules that a file belongs to, outermost first; none for `lib.rs`.
fn place(path: &str) -> Vec<&str> {
    let stem = path.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    stem.split('/').filter(|part| *part != "lib").collect()
}

fn edges<'t>(sources: &[RustFile<'t>]) -> Edges<'t> {
    let mut files = Vec::new();
    for source in sources {
        let Some((_, path)) = split(source.file) else {
            continue;
        };
        files.push((source, place(path), paths(source.text)));
    }
    let modules: BTreeSet<&str> = files
        .iter()
        .filter_map(|(_, place, _)| place.first().copied())
        .collect();
    // The module of each item that lib.rs re-exports, by the name of the item.
    let mut exported: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, place, paths) in &files {
        if place.is_empty() {
            for path in paths.iter().filter(|path| path.segments.len() > 1) {
                let first = path.segments.iter().find(|part| !is_relative(part));
                let module = first.and_then(|first| modules.get(first.as_str()));
                if let (Some(module), Some(name)) = (module, path.segments.last()) {
                    exported.insert(name, module);
                }
            }
        }
    }
    let mut edges = Edges::new();
    for (source, place, paths) in &files {
        let Some(from) = place.first() else { continue };
        for path in paths {
            let Some(name) = at_root(path, place.len()) else {
                continue;
            };
            let to = modules.get(name).or_else(|| exported.get(name));
            if let Some(to) = to.filter(|to| *to != from) {
                let targets = edges.entry(from).or_default();
                targets.entry(to).or_insert((source.file, path.line));
            }
        }
    }
    edges
}

fn is_relative(segment: &str) -> bool {
    matches!(segment, "crate" | "self" | "super")
}

/// Returns the crate-level name that a path leads to, if it is written in a module of this depth.
fn at_root(path: &CodePath, depth: usize) -> Option<&str> {
    let up = path.segments.iter().take_while(|part| *part == "super");
    let up = up.count();
    let skipped = match path.segments[0].as_str() {
        "crate" => 1,
        "super" if up == depth => up,
        _ => return None,
    };
    path.segments.get(skipped).map(String::as_str)
}

/// Returns a finding for each shortest cycle from a module that is in no cycle found before.
fn cycles(edges: &Edges<'_>) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut reported: BTreeSet<&str> = BTreeSet::new();
    for &from in edges.keys() {
        if reported.contains(from) {
            continue;
        }
        if let Some(cycle) = shortest_cycle(edges, from) {
            let (file, line) = edges[cycle[0]][cycle[1]];
            findings.push(TidyFinding {
                file: file.to_owned(),
                line,
                rule: format!("modules form a cycle: {}", cycle.join(" -> ")),
                why: "modules of a cycle cannot be read or tested one at a time",
            });
            reported.extend(cycle);
        }
    }
    findings
}

/// Returns the shortest path from a module back to itself, by breadth-first search.
fn shortest_cycle<'t>(edges: &Edges<'t>, from: &'t str) -> Option<Vec<&'t str>> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while let Some(way) = ways.get(next).cloned() {
        next += 1;
        let last = way.last().copied().unwrap_or(from);
        for &to in edges.get(last).into_iter().flat_map(BTreeMap::keys) {
            let mut longer = way.clone();
            longer.push(to);
            if to == from {
                return Some(longer);
            }
            if seen.insert(to) {
                ways.push(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(files: &[(&str, &str)], expected: &[&str]) {
        let source = |&(file, text)| RustFile { file, text };
        let sources: Vec<RustFile<'_>> = files.iter().map(source).collect();
        let found: Vec<String> = check(&sources)
            .into_iter()
            .map(|finding| format!("{}:{} {}", finding.file, finding.line, finding.rule))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_cycle_is_found_however_it_is_written() {
        let a = ("crates/x/src/a.rs", "\nuse crate::{b::B, c};\n");
        let cycle = ["crates/x/src/a.rs:2 modules form a cycle: a -> b -> a"];
        found(
            &[a, ("crates/x/src/b.rs", "fn f(x: crate::a::A) {}")],
            &cycle,
        );
        found(&[a, ("crates/x/src/b.rs", "use super::a;")], &cycle);
        found(
            &[a, ("crates/x/src/b/d.rs", "use super::super::a::A;")],
            &cycle,
        );
        let b = [
            a,
            ("crates/x/src/b.rs", ""),
            ("crates/x/src/c.rs", "use crate::d::D;"),
        ];
        found(
            &[&b[..], &[("crates/x/src/d.rs", "use crate::a::A;")]].concat(),
            &["crates/x/src/a.rs:2 modules form a cycle: a -> c -> d -> a"],
        );
        found(
            &[
                ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
                ("crates/x/src/a.rs", "use crate::b::B;"),
                ("crates/x/src/b.rs", "use crate::A;"),
            ],
            &["crates/x/src/a.rs:1 modules form a cycle: a -> b -> a"],
        );
    }

    #[test]
    fn other_paths_are_no_cycle() {
        let a = ("crates/x/src/a.rs", "use crate::b::B;\n");
        found(&[a, ("crates/x/src/b.rs", "")], &[]);
        // A path within one module, in a test, in a comment, and in another crate.
        found(&[a, ("crates/x/src/b/d.rs", "use super::a;")], &[]);
        found(
            &[
                a,
                (
                    "crates/x/src/b.rs",
                    "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
                ),
            ],
            &[],
        );
        found(&[a, ("crates/x/src/b/tests.rs", "use crate::a;")], &[]);
        found(&[a, ("crates/x/src/b.rs", "//! See crate::a.\n")], &[]);
        found(&[a, ("crates/y/src/b.rs", "use crate::a;")], &[]);
        found(&[a, ("crates/x/tests/b.rs", "use crate::a;")], &[]);
    }
}
