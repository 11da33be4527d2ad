//! Layers of settings: defaults, then `avocet.toml`, then flags; an upper layer wins.
//!
//! A layer is the part of the settings that the file or the flags give, as a TOML table. Layers are
//! merged as tables and read into [`Settings`] once, so no setting is merged by hand. Controls of a
//! running crawl edit the file. When the file changes a setting, a flag for it no longer applies
//! ([`Layer::without_outdated`]).

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use toml::{Table, Value};

use super::Settings;
use super::declared::declared;
use super::setting::{Effect, Setting};
use super::usage::Usage;

/// The settings that the file or the flags give.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer(Table);

impl Layer {
    /// Reads a file. Fails if a key is unknown or a value has the wrong type. Ranges are checked
    /// later, for all layers together.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not valid", path.display()))
    }

    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str::<Settings>(text)?;
        Ok(Self(text.parse()?))
    }

    /// Parses the text of a file without the keys that are unknown or have a value of a wrong type.
    /// Returns each of these keys with the error. Fails only if the text is not TOML.
    pub(super) fn parse_valid(
        text: &str,
    ) -> Result<(Self, Vec<(String, String)>), toml::de::Error> {
        let mut wrong = Vec::new();
        let mut valid = |path: &str, part: Table| {
            let error = Settings::deserialize(part).err();
            let is_valid = error.is_none();
            wrong.extend(error.map(|error| (path.to_owned(), error.message().to_owned())));
            is_valid
        };
        let mut file: Table = text.parse()?;
        file.retain(|section, value| {
            let keys = match value {
                Value::Table(keys) if valid(section, one(section, Table::new())) => keys,
                Value::Table(_) => return false,
                other => return valid(section, one(section, other.clone())),
            };
            keys.retain(|key, value| {
                let path = format!("{section}.{key}");
                valid(&path, one(section, one(key, value.clone())))
            });
            true
        });
        Ok((Self(file), wrong))
    }

    /// Returns the value of a setting, if this layer gives one.
    pub fn get(&self, section: &str, key: &str) -> Option<&Value> {
        self.0.get(section)?.get(key)
    }

    /// Sets a setting. If its value is a list, adds the value to the list.
    pub fn set(&mut self, setting: &Setting, value: Value) {
        let appends = matches!(&setting.flag, Some(flag) if flag.effect == Effect::Append);
        let section = self.section(setting.section);
        match section.get_mut(setting.key).and_then(Value::as_array_mut) {
            Some(list) => list.push(value),
            None if appends => {
                section.insert(setting.key.to_owned(), Value::Array(vec![value]));
            }
            None => {
                section.insert(setting.key.to_owned(), value);
            }
        }
    }

    /// Sets a setting to a value, also if it is a list.
    pub(super) fn put(&mut self, setting: &Setting, value: Value) {
        self.section(setting.section)
            .insert(setting.key.to_owned(), value);
    }

    /// Removes a setting.
    pub(super) fn remove(&mut self, setting: &Setting) {
        self.section(setting.section).remove(setting.key);
    }

    /// Returns the layer as a table, without empty sections.
    pub(super) fn table(&self) -> Table {
        let is_empty = |value: &Value| value.as_table().is_some_and(Table::is_empty);
        let sections = self.0.iter().filter(|(_, section)| !is_empty(section));
        sections
            .map(|(name, section)| (name.clone(), section.clone()))
            .collect()
    }

    /// Returns the layer as the text of a file.
    pub fn text(&self) -> String {
        self.table().to_string()
    }

    /// Returns a copy of the layer with these seeds in place of its own, if there are any.
    pub fn with_seeds(&self, seeds: Vec<String>) -> Self {
        let mut layer = self.clone();
        if !seeds.is_empty() {
            let seeds = seeds.into_iter().map(Value::String).collect();
            layer
                .section("crawl")
                .insert("seeds".into(), Value::Array(seeds));
        }
        layer
    }

    /// Returns the paths (`section.key`) of all settings that this layer gives.
    pub fn paths(&self) -> Vec<String> {
        let sections = self.0.iter().filter_map(|(name, section)| {
            let keys = section.as_table()?.keys();
            Some(keys.map(move |key| format!("{name}.{key}")))
        });
        sections.flatten().collect()
    }

    /// Returns this layer on top of another. Settings of this layer win, and remove the settings
    /// that they [exclude](Setting::excludes) from the layer below.
    pub fn over(&self, below: &Self) -> Self {
        let mut merged = below.clone();
        for setting in &declared() {
            if self.get(setting.section, setting.key).is_some() {
                for excluded in setting.excludes {
                    merged.section(setting.section).remove(*excluded);
                }
            }
        }
        for (name, value) in &self.0 {
            match value.as_table() {
                Some(keys) => merged.section(name).extend(keys.clone()),
                None => {
                    merged.0.insert(name.clone(), value.clone());
                }
            }
        }
        merged
    }

    /// Returns these flags without those that the file has overruled since the program started.
    ///
    /// `overruled` has the paths of settings that a control has written, even if the file had the
    /// same value before.
    pub fn without_outdated(&self, before: &Self, now: &Self, overruled: &[&str]) -> Self {
        let mut kept = self.clone();
        for setting in &declared() {
            if self.get(setting.section, setting.key).is_none() {
                continue;
            }
            let keys = [&[setting.key], setting.excludes].concat();
            let changed = keys.iter().any(|key| {
                let [before, now] = [before, now].map(|layer| layer.get(setting.section, key));
                now.is_some() && now != before
            });
            if changed || overruled.contains(&setting.path().as_str()) {
                kept.section(setting.section).remove(setting.key);
            }
        }
        kept
    }

    /// Reads the layer on top of the defaults. A value out of its range is a [`Usage`] error.
    pub fn settings(&self) -> Result<Settings> {
        let settings = self.deserialized()?;
        match self.wrong_values().first() {
            Some((path, why)) => Err(Usage(format!("{path} {why}")).into()),
            None => Ok(settings),
        }
    }

    /// Reads the layer on top of the defaults, without a check of ranges.
    pub(super) fn deserialized(&self) -> Result<Settings, toml::de::Error> {
        Settings::deserialize(self.0.clone())
    }

    /// Returns the path of each setting whose value is out of range or excluded by another, and
    /// what to write.
    pub fn wrong_values(&self) -> Vec<(String, String)> {
        let found = declared().into_iter().filter_map(|setting| {
            let value = self.get(setting.section, setting.key)?;
            Some((setting.path(), setting.check(value).err()?))
        });
        let mut found: Vec<(String, String)> = found.collect();
        let by = ["fetches_per_second", "fetches_per_day"];
        if by.iter().all(|key| self.get("budget", key).is_some()) {
            let why = "and budget.fetches_per_second exclude each other: write one, not both";
            found.push(("budget.fetches_per_day".into(), why.into()));
        }
        found
    }

    fn section(&mut self, name: &str) -> &mut Table {
        let section = self.0.entry(name).or_insert(Value::Table(Table::new()));
        section
            .as_table_mut()
            .expect("only [[host]] and [[webhook]] are lists, and no setting of them has a flag or excludes another")
    }
}

/// Returns a table with one entry.
fn one(key: &str, value: impl Into<Value>) -> Table {
    Table::from_iter([(key.to_owned(), value.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> Layer {
        Layer::parse(text).unwrap()
    }

    #[test]
    fn an_upper_layer_wins_and_removes_the_settings_that_it_excludes() {
        let file = layer(
            "[crawl]\nfocus = \"learned\"\ntopic = \"rust\"\nconnections = 3\ninclude = [\"/a\"]\n\
             [budget]\nfetches_per_day = 10.0\n[[host]]\norigin = \"https://e.org\"\n",
        );
        let flags = layer(
            "[crawl]\norder = \"backlinks\"\ninclude = [\"/b\"]\n[budget]\nfetches_per_second = 2.0\n",
        );
        let settings = flags.over(&file).settings().unwrap();
        assert_eq!(settings.crawl.order.as_deref(), Some("backlinks"));
        assert_eq!(settings.crawl.focus, None);
        assert_eq!(settings.crawl.topic.as_deref(), Some("rust"));
        assert_eq!(settings.crawl.include, ["/b"]);
        assert_eq!(settings.crawl.connections, 3);
        assert_eq!(settings.budget(), 2.0);
        assert_eq!(settings.host.len(), 1);
        let settings = Layer::default().over(&file).settings().unwrap();
        assert_eq!(settings.budget(), 10.0 / 86_400.0);
        assert_eq!(settings.crawl.focus.as_deref(), Some("learned"));
    }

    #[test]
    fn flags_that_may_be_repeated_add_up() {
        let mut flags = Layer::default();
        let all = declared();
        let setting = |path: &str| all.iter().find(|one| one.path() == path).unwrap();
        for text in ["/a", "/b"] {
            let include = setting("crawl.include");
            flags.set(include, include.read(text).unwrap());
        }
        let depth = setting("crawl.depth");
        flags.set(depth, depth.read("3").unwrap());
        let settings = flags.settings().unwrap();
        assert_eq!(settings.crawl.include, ["/a", "/b"]);
        assert_eq!(settings.crawl.depth, Some(3));
        assert_eq!(flags.paths(), ["crawl.depth", "crawl.include"]);
    }

    #[test]
    fn a_later_change_of_the_file_overrules_a_flag() {
        let flags = layer(
            "[budget]\nfetches_per_second = 5.0\n[refresh]\npolicy = \"uniform\"\n[crawl]\ndepth = 3\n",
        );
        let before = layer("[budget]\nfetches_per_day = 1.0\n[refresh]\npolicy = \"age\"\n");
        assert_eq!(flags.without_outdated(&before, &before, &[]), flags);
        let faster = layer("[budget]\nfetches_per_day = 2.0\n[refresh]\npolicy = \"age\"\n");
        let kept = flags.without_outdated(&before, &faster, &[]);
        assert_eq!(kept.paths(), ["crawl.depth", "refresh.policy"]);
        // A control writes the same value that the file had from the start.
        let kept = flags.without_outdated(&before, &before, &["refresh.policy"]);
        assert_eq!(kept.paths(), ["budget.fetches_per_second", "crawl.depth"]);
        // A setting that is removed from the file does not undo a flag.
        assert_eq!(
            flags.without_outdated(&before, &Layer::default(), &[]),
            flags
        );
        let seeds = layer("[crawl]\nseeds = [\"http://e.org/\"]\n");
        let added = layer("[crawl]\nadded_seeds = [\"http://f.org/\"]\n");
        let kept = seeds.without_outdated(&Layer::default(), &added, &[]);
        assert_eq!(kept.paths(), Vec::<String>::new());
    }

    #[test]
    fn values_out_of_range_are_named() {
        let why = |text: &str| layer(text).settings().unwrap_err().to_string();
        assert_eq!(
            why("[crawl]\nconnections = 0\n"),
            "crawl.connections must be 1 to 10000, and is 0"
        );
        assert_eq!(
            why("[source]\nshare = 1.5\n"),
            "source.share must be above 0 and at most 1, and is 1.5"
        );
        let both = "[budget]\nfetches_per_day = 1.0\nfetches_per_second = 1.0\n";
        assert!(why(both).contains("not both"), "{}", why(both));
    }
}
