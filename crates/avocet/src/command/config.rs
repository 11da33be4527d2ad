//! `avocet config`: what can be set, and whether what is set is right.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cli::ConfigWish;
use node::settings::config::Config;
use node::settings::config::check::check;
use node::settings::config::reference::reference;

/// Prints the reference, or what is wrong with a file.
pub fn run(root: &Path, json: bool, wish: &ConfigWish) -> Result<()> {
    let file = match wish {
        ConfigWish::Reference => {
            outln!("{}", reference().trim_end());
            return Ok(());
        }
        ConfigWish::Check { file } => file.clone().unwrap_or_else(|| Config::path(root)),
    };
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read the configuration {}", file.display()))?;
    let wrong = check(&text);
    if json {
        let wrong: Vec<_> = (wrong.iter())
            .map(|one| json!({ "line": one.line, "key": one.key, "why": one.why }))
            .collect();
        outln!("{}", json!({ "file": file, "wrong": wrong }));
    }
    if wrong.is_empty() {
        if !json {
            outln!("{} is right", file.display());
        }
        return Ok(());
    }
    for one in wrong.iter().filter(|_| !json) {
        outln!("{}:{one}", file.display());
    }
    match wrong.len() {
        1 => bail!("one thing is wrong in {}", file.display()),
        count => bail!("{count} things are wrong in {}", file.display()),
    }
}
