//! The rules of the house that a machine can check.
//!
//! **Invariant:** a rule looks at text and answers findings; it reads no file and prints nothing, so
//! each is tested on lines that break it. Every finding says where, which rule, and why there is one.

mod code;
mod graph;
mod invariants;
mod modules;
mod purity;
mod references;
mod registry;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use code::Source;

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
    let mut files = files(&root)?;
    // A file that was deleted and not yet removed from git has no rules to keep.
    files.retain(|file| root.join(file).exists());
    let mut texts = Vec::new();
    for file in &files {
        let bytes = fs::read(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        texts.push((file, String::from_utf8_lossy(&bytes).into_owned()));
    }
    for (file, text) in &texts {
        findings.extend(registry::check(file, text));
        findings.extend(references::check(file, text, &files));
        if file.ends_with(".rs") {
            findings.extend(source::check(file, text));
        }
    }
    let rust = texts.iter().filter(|(file, _)| file.ends_with(".rs"));
    let sources: Vec<Source<'_>> = rust.map(|(file, text)| Source { file, text }).collect();
    findings.extend(modules::check(&sources));
    findings.extend(purity::check(&sources));
    for (_, text) in texts.iter().filter(|(file, _)| *file == invariants::FILE) {
        findings.extend(invariants::check(text, &sources));
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
