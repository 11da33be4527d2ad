//! `cargo xtask tidy`: checks rules of this workspace that neither the compiler nor clippy knows.
//!
//! **Invariant:** a rule is a pure function from texts to findings, tested on lines that break it.
//! Only this module reads files and prints; only [`graph`] runs cargo. A finding names the file,
//! the line, the rule and its reason.

mod code;
mod graph;
mod invariants;
mod links;
mod markdown;
mod modules;
mod prose;
mod purity;
mod references;
mod registry;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use code::RustFile;

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TidyFinding {
    /// The path of the file from the root of the workspace.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// What was found.
    pub rule: String,
    /// The reason for the rule.
    pub why: &'static str,
}

/// Checks every file that git tracks or would add, and the dependencies between the crates.
///
/// Prints the findings and fails if there are any.
pub fn run() -> Result<()> {
    let root = crate::workspace();
    let mut findings = graph::check(&graph::read(&root)?);
    let mut files = files(&root)?;
    // git still lists a file that was deleted without `git rm`.
    files.retain(|file| root.join(file).exists());
    let mut texts = Vec::new();
    for file in &files {
        let bytes = fs::read(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        texts.push((file, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let documents: Vec<links::Document<'_>> = texts
        .iter()
        .map(|(file, text)| (file.as_str(), text.as_str()))
        .collect();
    for (file, text) in &texts {
        findings.extend(links::check((file, text), &documents));
        findings.extend(prose::check_document(file, text));
        findings.extend(registry::check(file, text));
        findings.extend(references::check(file, text, &files));
        if file.ends_with(".rs") {
            findings.extend(source::check(file, text));
        }
    }
    let rust = texts.iter().filter(|(file, _)| file.ends_with(".rs"));
    let sources: Vec<RustFile<'_>> = rust.map(|(file, text)| RustFile { file, text }).collect();
    findings.extend(modules::check(&sources));
    findings.extend(prose::check(&sources));
    findings.extend(purity::check(&sources));
    for (_, text) in texts.iter().filter(|(file, _)| *file == invariants::FILE) {
        findings.extend(invariants::check(text, &sources));
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!(
            "{} findings; each line above names the file, the rule and its reason",
            findings.len()
        );
    }
    println!("{} files keep the rules", files.len());
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
    let names =
        String::from_utf8(listed.stdout).context("git lists a file name that is not Unicode")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {} ({})",
            self.file, self.line, self.rule, self.why
        )
    }
}
