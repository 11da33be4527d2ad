//! The settings that controls of a running crawl have changed, in a file of their own in the store.
//!
//! The file is a layer over the configuration, which may be read-only. Each entry remembers the
//! value that the configuration had when the control was made.
//!
//! **Invariant:** a control holds until the configuration changes the same setting: a later edit of
//! the configuration wins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Settings;
use super::declared::declared;
use super::layer::Layer;
use super::setting::Setting;
use crate::store::replace_durably;

const HEAD: &str = "\
# Written by the dashboard and the API. Remove an entry to undo a control; avocet.toml applies again.
# [replaced] has the values of avocet.toml when the controls were made. If one changes there, its control is void.
";

/// The section with the values of the configuration.
const REPLACED: &str = "replaced";

/// The settings that controls have changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ControlsFile {
    settings: Layer,
    /// The value that the configuration had, by the path of the setting. A path that is missing had
    /// none.
    replaced: Table,
}

impl ControlsFile {
    /// Returns the path of the file in the store at `root`.
    pub fn path(root: &Path) -> PathBuf {
        root.join("controls.toml")
    }

    /// Reads the file of the store at `root`. Returns an empty one if it does not exist.
    pub fn read(root: &Path) -> Result<Self> {
        let path = Self::path(root);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let invalid = || {
            let path = path.display();
            format!("{path} is not valid: correct it, or remove it to undo all controls")
        };
        let mut table: Table = text.parse().with_context(invalid)?;
        let replaced = table.remove(REPLACED);
        let replaced = replaced.and_then(|value| value.as_table().cloned());
        Ok(Self {
            settings: Layer::parse(&table.to_string()).with_context(invalid)?,
            replaced: replaced.unwrap_or_default(),
        })
    }

    /// Returns the controls that hold over a configuration.
    pub fn over(&self, config: &Layer) -> Layer {
        let mut holding = Layer::default();
        for setting in declared() {
            if let Some(value) = self.settings.get(setting.section, setting.key)
                && self.holds(&setting, config)
            {
                holding.put(&setting, value.clone());
            }
        }
        holding
    }

    /// Returns whether the configuration still has the values that it had when the control of a
    /// setting was made.
    fn holds(&self, setting: &Setting, config: &Layer) -> bool {
        keys(setting)
            .all(|(path, key)| config.get(setting.section, key) == self.replaced.get(&path))
    }

    /// Records that a control sets a setting. `None`: it removes the setting.
    pub fn set(&mut self, setting: &Setting, value: Option<Value>, config: &Layer) {
        match value {
            Some(value) => self.settings.put(setting, value),
            None => self.settings.remove(setting),
        }
        for (path, key) in keys(setting) {
            match config.get(setting.section, key) {
                Some(value) => _ = self.replaced.insert(path, value.clone()),
                None => _ = self.replaced.remove(&path),
            }
        }
    }

    /// Replaces the file of the store at `root`.
    pub fn write(&self, root: &Path) -> Result<()> {
        let path = Self::path(root);
        let mut table = self.settings.table();
        if !self.replaced.is_empty() {
            table.insert(REPLACED.to_owned(), Value::Table(self.replaced.clone()));
        }
        let text = format!("{HEAD}\n{table}");
        replace_durably(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Returns path and key of a setting, and of those that it excludes.
fn keys(setting: &Setting) -> impl Iterator<Item = (String, &'static str)> {
    let all = [&[setting.key], setting.excludes].concat();
    let section = setting.section;
    all.into_iter()
        .map(move |key| (format!("{section}.{key}"), key))
}

impl Settings {
    /// Returns the controls of a store that hold over a configuration.
    pub fn controls(store: &Path, config: &Layer) -> Result<Layer> {
        Ok(ControlsFile::read(store)?.over(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_holds_until_the_configuration_changes_its_setting() {
        let root = tempfile::tempdir().unwrap();
        let layer = |text: &str| Layer::parse(text).unwrap();
        let config = layer("[budget]\nfetches_per_second = 1.0\n[crawl]\ndepth = 3\n");
        let all = declared();
        let setting = |path: &str| all.iter().find(|one| one.path() == path).unwrap();
        let mut file = ControlsFile::read(root.path()).unwrap();
        file.set(
            setting("budget.fetches_per_day"),
            Some(Value::Float(9.0)),
            &config,
        );
        file.set(
            setting("crawl.block"),
            Some(Value::Array(vec!["e.org".into()])),
            &config,
        );
        file.write(root.path()).unwrap();
        let file = ControlsFile::read(root.path()).unwrap();
        let settings = |config: &Layer| file.over(config).over(config).settings().unwrap();
        let now = settings(&config);
        assert_eq!((now.budget(), now.crawl.depth), (9.0 / 86_400.0, Some(3)));
        assert_eq!(now.crawl.block, ["e.org"]);
        // The operator edits the budget: that control is void, the other one holds.
        let edited = settings(&layer("[budget]\nfetches_per_second = 2.0\n"));
        assert_eq!(
            (edited.budget(), edited.crawl.block),
            (2.0, vec!["e.org".to_owned()])
        );
        fs::write(ControlsFile::path(root.path()), "[crawl\n").unwrap();
        let error = ControlsFile::read(root.path()).unwrap_err().to_string();
        assert!(error.contains("undo all controls"), "{error}");
    }
}
