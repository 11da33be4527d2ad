//! `avocet config`: prints the reference, shows settings, and checks a file.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cli::ConfigAction;
use node::number::counted;
use node::settings::check::check;
use node::settings::reference::reference;
use node::settings::{Layer, Settings, in_force};

/// Prints the reference, the settings in force, or the errors of a file.
pub fn run(root: &Path, json: bool, action: &ConfigAction) -> Result<()> {
    match action {
        ConfigAction::Reference if json => {
            let settings = in_force(&Layer::default(), &Layer::default(), &Layer::default());
            outln!("{}", json!({ "settings": settings }));
            Ok(())
        }
        ConfigAction::Reference => {
            outln!("{}", reference().trim_end());
            Ok(())
        }
        ConfigAction::Show { file } => show(root, json, file.as_deref()),
        ConfigAction::Check { file } => {
            let own = Settings::path(root);
            if file.is_none() && !own.exists() {
                if json {
                    outln!("{}", json!({ "file": own, "wrong": [] }));
                    return Ok(());
                }
                outln!(
                    "{} does not exist: the defaults are in force",
                    own.display()
                );
                return Ok(());
            }
            check_file(root, json, file.as_deref().unwrap_or(&own))
        }
    }
}

/// Prints every setting with its value and the layer that gives it: default or file.
fn show(root: &Path, json: bool, file: Option<&Path>) -> Result<()> {
    let file = Settings::config(file, root)?;
    let controls = Settings::controls(root, &file)?;
    controls.over(&file).settings()?;
    let settings = in_force(&Layer::default(), &controls, &file);
    if json {
        outln!("{}", json!({ "settings": settings }));
        return Ok(());
    }
    for one in settings {
        let value = one.value.map(|value| value.to_string());
        let value = value.or(one.default).unwrap_or_else(|| "-".into());
        outln!("{:<28} {value}   ({})", one.setting, one.origin.name());
    }
    Ok(())
}

fn check_file(root: &Path, json: bool, file: &Path) -> Result<()> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the configuration {}", file.display()))?;
    let wrong = check(&text, root);
    if json {
        let wrong: Vec<_> = (wrong.iter())
            .map(|one| json!({ "line": one.line, "key": one.key, "why": one.why }))
            .collect();
        outln!("{}", json!({ "file": file, "wrong": wrong }));
    }
    if wrong.is_empty() {
        if !json {
            outln!("{} has no errors", file.display());
        }
        return Ok(());
    }
    for one in wrong.iter().filter(|_| !json) {
        outln!("{}:{one}", file.display());
    }
    bail!("{} has {}", file.display(), counted(wrong.len(), "error"))
}
