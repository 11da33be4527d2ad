//! Checks that the crates of the workspace depend on each other only as ARCHITECTURE.md allows.
//!
//! A crate that is missing from the table below ([`MAP`]) is a finding, and so is a dependency that
//! the table does not list. Development dependencies are exempt: no user compiles them.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::TidyFinding;

/// The crates of the workspace, and after each those that it may depend on.
///
/// A crate comes after its dependencies.
const MAP: [(&str, &str); 18] = [
    ("policy", ""),
    ("page", ""),
    ("figure", ""),
    ("document", ""),
    ("frontier", "policy page"),
    ("ledger", "policy page frontier"),
    ("crawl", "policy page frontier"),
    ("cluster", "policy page frontier crawl"),
    ("fetch", "page"),
    ("repository", "policy page"),
    ("testweb", "figure"),
    ("lab", "page policy figure frontier crawl testweb"),
    (
        "node",
        "policy page document frontier ledger crawl cluster fetch repository",
    ),
    (
        "server",
        "policy page figure frontier crawl repository node",
    ),
    (
        "avocet",
        "policy page figure frontier ledger crawl cluster fetch repository testweb lab node server",
    ),
    (
        "bench",
        "policy page figure frontier ledger crawl repository testweb lab node",
    ),
    (
        "fuzz",
        "policy page document frontier ledger crawl fetch repository node",
    ),
    ("xtask", ""),
];

/// Pure crates, and all crates that they may depend on, external ones included.
const PURE: [(&str, &[&str]); 2] = [("policy", &["serde"]), ("figure", &[])];

/// The packages of the workspace, as `cargo metadata` lists them.
#[derive(Debug, Deserialize)]
pub struct CrateGraph {
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
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
    /// The directory of a crate of the workspace; `None` for an external crate.
    path: Option<String>,
}

/// Runs `cargo metadata` and returns the packages of the workspace.
pub fn read(root: &Path) -> Result<CrateGraph> {
    let output = crate::cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("cannot parse the output of cargo metadata")
}

/// Returns the findings in the graph.
pub fn check(graph: &CrateGraph) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for package in &graph.packages {
        let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == package.name) else {
            let rule = format!("{} is not in the table of crates (MAP)", package.name);
            findings.push(package.finding(
                rule,
                "a new crate must be pure, isolate a heavy dependency, or have two users",
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
            let is_allowed = allowed.split(' ').any(|other| other == name);
            if dependency.path.is_some() && !is_allowed {
                let rule = format!("{} may not depend on {name}", package.name);
                findings
                    .push(package.finding(rule, "dependencies follow the map in ARCHITECTURE.md"));
            } else if pure.is_some_and(|(_, others)| !others.contains(&name)) {
                let rule = format!("{} may not depend on {name}", package.name);
                findings.push(
                    package.finding(rule, "this crate is pure and stays without dependencies"),
                );
            }
        }
    }
    findings
}

impl Package {
    fn finding(&self, rule: String, why: &'static str) -> TidyFinding {
        let folder = match self.name.as_str() {
            "fuzz" | "xtask" => self.name.clone(),
            name => format!("crates/{name}"),
        };
        TidyFinding {
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

    /// Returns the findings for a crate with one dependency.
    fn one(name: &str, dependency: &str, kind: &str, ours: bool) -> Vec<TidyFinding> {
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
                    allowed.split(' ').any(|other| other == to),
                    "{from} -> {to}: {found:?}"
                );
            }
        }
        assert_eq!(one("page", "policy", r#""build""#, true).len(), 1);
        assert_eq!(one("page", "policy", r#""dev""#, true).len(), 0);
        assert_eq!(
            one("common", "serde", "null", false).len(),
            1,
            "not in the table"
        );
    }

    #[test]
    fn the_map_has_no_cycle() {
        for (at, (name, allowed)) in MAP.iter().enumerate() {
            let below = &MAP[..at];
            for other in allowed.split_whitespace() {
                assert!(
                    below.iter().any(|(lower, _)| *lower == other),
                    "{name} -> {other}"
                );
            }
        }
    }

    #[test]
    fn a_pure_crate_has_no_other_dependencies() {
        assert_eq!(one("policy", "serde", "null", false), []);
        assert_eq!(one("policy", "rand", "null", false).len(), 1);
        assert_eq!(one("policy", "proptest", r#""dev""#, false), []);
        assert_eq!(one("page", "url", "null", false), []);
    }
}
