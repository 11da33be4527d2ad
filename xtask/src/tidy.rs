//! Does the workspace keep the rules of the house?
//!
//! **Invariant:** a rule looks at text and answers findings; it reads no file and prints nothing, so
//! each is tested on lines that break it. Every finding says where, which rule, and why there is one.

mod graph;
mod registry;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the root of the workspace.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// The rule, with what was found.
    pub rule: String,
    /// Why there is such a rule.
    pub why: &'static str,
}

/// Checks every file that git knows or would take, and the graph of the crates.
pub fn run() -> Result<()> {
    let root = crate::workspace();
    let mut findings = graph::check(&graph::read(&root)?);
    let files = files(&root)?;
    for file in &files {
        // A file that was deleted and not yet removed from git has no rules to keep.
        let Ok(bytes) = fs::read(root.join(file)) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        findings.extend(registry::check(file, &text));
        if file.ends_with(".rs") {
            findings.extend(source::check(file, &text));
        }
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("rules of the house are broken: {} findings", findings.len());
    }
    println!("{} files are tidy", files.len());
    Ok(())
}

fn files(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    ensure!(
        listed.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let names = String::from_utf8(listed.stdout).context("a file's name is not Unicode")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {} ({})",
            self.file, self.line, self.rule, self.why
        )
    }
}
