//! Do dependencies point one way?
//!
//! **Invariant:** the map of ARCHITECTURE.md, as a table. A crate that is not in it, or an arrow that is
//! not, is a finding. Development dependencies may point anywhere: tests reach users' crates no faster.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Finding;

/// What each crate may depend on, of ours.
const MAP: [(&str, &[&str]); 16] = [
    ("policy", &[]),
    ("page", &[]),
    ("figure", &[]),
    ("frontier", &["policy", "page"]),
    ("ledger", &["policy", "page", "frontier"]),
    ("crawl", &["policy", "page", "frontier"]),
    ("fetch", &["page"]),
    ("repository", &["policy", "page"]),
    ("testweb", &["figure"]),
    (
        "lab",
        &["page", "policy", "figure", "frontier", "crawl", "testweb"],
    ),
    (
        "node",
        &[
            "policy",
            "page",
            "frontier",
            "ledger",
            "crawl",
            "fetch",
            "repository",
        ],
    ),
    (
        "server",
        &[
            "policy",
            "page",
            "figure",
            "frontier",
            "crawl",
            "repository",
            "node",
        ],
    ),
    (
        "avocet",
        &[
            "policy",
            "page",
            "figure",
            "frontier",
            "ledger",
            "crawl",
            "fetch",
            "repository",
            "testweb",
            "lab",
            "node",
            "server",
        ],
    ),
    (
        "bench",
        &[
            "policy",
            "page",
            "figure",
            "frontier",
            "ledger",
            "crawl",
            "repository",
            "testweb",
            "lab",
            "node",
        ],
    ),
    (
        "fuzz",
        &[
            "policy",
            "page",
            "frontier",
            "ledger",
            "crawl",
            "fetch",
            "repository",
            "node",
        ],
    ),
    ("xtask", &[]),
];

/// Crates that may depend on nothing else than this, ours or not.
const PURE: [(&str, &[&str]); 2] = [("policy", &["serde"]), ("figure", &[])];

/// The packages of the workspace.
#[derive(Debug, Deserialize)]
pub struct Graph {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `None`: a normal one.
    kind: Option<String>,
    /// Where a crate of ours is.
    path: Option<String>,
}

/// Asks cargo.
pub fn read(root: &Path) -> Result<Graph> {
    let asked = Command::new(crate::cargo())
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(
        asked.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&asked.stderr)
    );
    serde_json::from_slice(&asked.stdout).context("cannot read what cargo metadata says")
}

/// Findings in the graph.
pub fn check(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &graph.packages {
        let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == package.name) else {
            let rule = format!("{} is not on the map", package.name);
            findings.push(package.finding(
                rule,
                "a crate keeps a promise of purity, isolates a heavy dependency or has two users",
            ));
            continue;
        };
        let pure = PURE.iter().find(|(name, _)| *name == package.name);
        for dependency in package
            .dependencies
            .iter()
            .filter(|other| other.kind.as_deref() != Some("dev"))
        {
            let name = dependency.name.as_str();
            if dependency.path.is_some() && !allowed.contains(&name) {
                let rule = format!("{} may not depend on {name}", package.name);
                findings.push(package.finding(rule, "dependencies point one way, as on the map"));
            } else if pure.is_some_and(|(_, others)| !others.contains(&name)) {
                let rule = format!("{} may not depend on {name}", package.name);
                findings.push(package.finding(rule, "pure: needs numbers only"));
            }
        }
    }
    findings
}

impl Package {
    fn finding(&self, rule: String, why: &'static str) -> Finding {
        let folder = match self.name.as_str() {
            "fuzz" | "xtask" => self.name.clone(),
            name => format!("crates/{name}"),
        };
        Finding {
            file: format!("{folder}/Cargo.toml"),
            line: 1,
            rule,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with one dependency, as cargo describes it.
    fn one(name: &str, dependency: &str, kind: &str, ours: bool) -> Vec<Finding> {
        let path = if ours { r#""/w/crates/x""# } else { "null" };
        let text = format!(
            r#"{{"packages":[{{"name":"{name}","dependencies":[{{"name":"{dependency}","kind":{kind},"path":{path}}}]}}]}}"#
        );
        check(&serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn arrows_of_the_map_are_allowed_and_no_others() {
        for (from, allowed) in MAP {
            for (to, _) in MAP {
                let found = one(from, to, "null", true);
                assert_eq!(
                    found.is_empty(),
                    allowed.contains(&to),
                    "{from} -> {to}: {found:?}"
                );
            }
        }
        assert_eq!(one("page", "policy", r#""build""#, true).len(), 1);
        assert_eq!(one("page", "policy", r#""dev""#, true).len(), 0);
        assert_eq!(
            one("common", "serde", "null", false).len(),
            1,
            "not on the map"
        );
    }

    #[test]
    fn the_map_has_no_cycle() {
        for (at, (name, allowed)) in MAP.iter().enumerate() {
            let below = &MAP[..at];
            for other in *allowed {
                assert!(
                    below.iter().any(|(lower, _)| lower == other),
                    "{name} -> {other}"
                );
            }
        }
    }

    #[test]
    fn a_pure_crate_stays_bare() {
        assert_eq!(one("policy", "serde", "null", false), []);
        assert_eq!(one("policy", "rand", "null", false).len(), 1);
        assert_eq!(one("policy", "proptest", r#""dev""#, false), []);
        assert_eq!(one("page", "url", "null", false), []);
    }
}
