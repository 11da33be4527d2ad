//! Controls: changes that an operator makes to a running crawl.
//!
//! A control is written into a file of its own in the store, over the configuration, which may be
//! read-only. A running crawl watches both files. So a control survives a restart and can be undone
//! with an editor.
//!
//! **Invariant:** the file of controls is replaced atomically, and only if the configuration with
//! all controls is valid. The configuration is never written.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep, Wishes};
use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::panics::POISONED;
use crate::settings::last_crawl::LastCrawl;
use crate::settings::policies::NO_SOURCES;
use crate::settings::{ControlsFile, Layer, Rate, Setting, Settings, Usage, declared};
use crawl::scope::{Blocked, Reach, ScopeRules};

/// Serializes controls: each one edits the result of the one before.
static WRITING: Mutex<()> = Mutex::new(());

/// The path of the setting for seeds, which the command line gives as URLs.
pub const SEEDS: &str = "crawl.seeds";

/// The key of the seeds that controls add. They are kept apart from the seeds that the operator
/// wrote into the file: only seeds of the operator allow private addresses and unusual ports.
const ADDED: &str = "added_seeds";

/// A change that an operator wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Control {
    /// Sets the budget, written like `2/s` or `50000/day`.
    Budget(String),
    /// Sets policies. A policy whose new name is `None` stays as it is.
    Policy(NewPolicies),
    /// Blocks a host: no more requests go to it.
    Block(String),
    /// Unblocks a host.
    Unblock(String),
    /// Adds a seed.
    AddSeed(String),
    /// Removes a seed.
    RemoveSeed(String),
}

/// The names of new policies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewPolicies {
    /// The ordering of new pages.
    pub order: Option<String>,
    /// The refresh policy of known pages.
    pub refresh: Option<String>,
    /// The scheduler of sources, or `none`.
    pub sources: Option<String>,
}

/// The result of a control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Whether the configuration has changed.
    pub changed: bool,
    /// A description for the operator.
    pub message: String,
}

impl Control {
    /// Returns the paths of the settings that the control changes and that a flag can set too.
    pub fn settings(&self) -> Vec<&'static str> {
        match self {
            Self::Budget(_) => vec!["budget.fetches_per_second"],
            Self::Policy(new) => [
                new.order.as_ref().map(|_| "crawl.order"),
                new.refresh.as_ref().map(|_| "refresh.policy"),
                new.sources.as_ref().map(|_| "source.policy"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::AddSeed(_) | Self::RemoveSeed(_) => vec![SEEDS],
            Self::Block(_) | Self::Unblock(_) => Vec::new(),
        }
    }

    /// Writes the control into the store at `root`, over the configuration. An invalid control is a
    /// [`Usage`] error.
    pub fn write(&self, config: &Path, root: &Path) -> Result<Applied> {
        let _writing = WRITING.lock().expect(POISONED);
        let text = match fs::read_to_string(config) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", config.display()));
            }
        };
        let invalid = || format!("{} is not valid: correct it first", config.display());
        let file = Layer::parse(&text).with_context(invalid)?;
        let mut controls = ControlsFile::read(root)?;
        let before = controls.over(&file).over(&file);
        let document: DocumentMut = before.text().parse().with_context(invalid)?;
        let last = LastCrawl::read(root).ok();
        let scope = last.as_ref().map(|last| last.scope.clone());
        let (after, message) = self.edit(document, &scope.unwrap_or_default())?;
        if let Self::AddSeed(text) = self {
            let read = read(&after)?;
            let allowed = last.is_some_and(|last| last.allow_private);
            pass_gate(&seed(text)?, &read, allowed)?;
        }
        let after = Layer::parse(&after)?;
        let all = declared();
        let of =
            |layer: &Layer, setting: &Setting| layer.get(setting.section, setting.key).cloned();
        let differs = |setting: &&Setting| of(&before, setting) != of(&after, setting);
        let changes: Vec<&Setting> = all.iter().filter(differs).collect();
        let changed = !changes.is_empty();
        for setting in &all {
            // A setting hides those of the configuration that it excludes, so they are kept too.
            let is_hidden = changes.iter().any(|other| {
                other.section == setting.section && other.excludes.contains(&setting.key)
            });
            let now = of(&after, setting);
            if differs(&setting) || is_hidden && now.is_some() {
                controls.set(setting, now, &file);
            }
        }
        if changed {
            controls.write(root)?;
        }
        Ok(Applied { changed, message })
    }

    /// Returns the text of the changed configuration and a description of the change. `now` is the
    /// scope of the last crawl. An invalid control is a [`Usage`] error.
    pub fn edit(&self, mut document: DocumentMut, now: &ScopeRules) -> Result<(String, String)> {
        let message = self.put(&mut document, now)?;
        let after = document.to_string();
        check(&read(&after)?)?;
        Ok((after, message))
    }

    fn put(&self, document: &mut DocumentMut, now: &ScopeRules) -> Result<String> {
        match self {
            Self::Budget(text) => {
                let rate: Rate = text.parse().map_err(|why: String| wrong(&why))?;
                let budget = table(document, "budget")?;
                let by_day = text.contains("/d");
                let (key, other, fetches) = match by_day {
                    true => (
                        "fetches_per_day",
                        "fetches_per_second",
                        rate.per_second * 86_400.0,
                    ),
                    false => ("fetches_per_second", "fetches_per_day", rate.per_second),
                };
                budget.remove(other);
                set(budget, key, value(rounded(fetches)));
                Ok(format!("the budget is {text}"))
            }
            Self::Policy(new) => {
                let mut changes = Vec::new();
                let each = [
                    ("crawl", "order", &new.order),
                    ("refresh", "policy", &new.refresh),
                    ("source", "policy", &new.sources),
                ];
                for (section, key, name) in each {
                    if let Some(name) = name {
                        set(table(document, section)?, key, value(name.trim()));
                        changes.push(format!("{section}.{key} is {}", name.trim()));
                    }
                }
                match changes.is_empty() {
                    true => Err(wrong("name at least one of order, refresh and sources")),
                    false => Ok(changes.join(", ")),
                }
            }
            Self::Block(host) => {
                let host = Blocked::parse(host).map_err(|why| wrong(&why))?.to_string();
                let blocked = list(table(document, "crawl")?, "block")?;
                if !holds(blocked, &host) {
                    blocked.push(host.as_str());
                }
                Ok(format!(
                    "{host} is blocked: no more requests go to it; its pages stay in the index"
                ))
            }
            Self::Unblock(host) => {
                let host = Blocked::parse(host).map_err(|why| wrong(&why))?.to_string();
                let blocked = list(table(document, "crawl")?, "block")?;
                if !drop_from(blocked, &host) {
                    return Err(wrong(&format!("{host} is not blocked")));
                }
                Ok(format!("{host} is no longer blocked"))
            }
            Self::AddSeed(text) => {
                let seed = seed(text)?.to_string();
                let crawl = write_seeds(document, now)?;
                if !holds(list(crawl, "seeds")?, &seed) && !holds(list(crawl, ADDED)?, &seed) {
                    list(crawl, ADDED)?.push(seed.as_str());
                }
                Ok(format!("{seed} is a seed now"))
            }
            Self::RemoveSeed(text) => {
                let seed = seed(text)?.to_string();
                let crawl = write_seeds(document, now)?;
                let named = drop_from(list(crawl, "seeds")?, &seed);
                if !drop_from(list(crawl, ADDED)?, &seed) && !named {
                    return Err(wrong(&format!("{seed} is not a seed")));
                }
                if list(crawl, "seeds")?.is_empty() && list(crawl, ADDED)?.is_empty() {
                    return Err(wrong(&format!(
                        "{seed} is the only seed: add another first, or pause the crawl"
                    )));
                }
                Ok(format!(
                    "{seed} is no longer a seed; pages that are known stay"
                ))
            }
        }
    }
}

/// Returns the section with the seeds.
///
/// If there are no seeds yet, first writes the seeds and the scope of the last crawl.
fn write_seeds<'d>(document: &'d mut DocumentMut, now: &ScopeRules) -> Result<&'d mut Table> {
    let crawl = table(document, "crawl")?;
    if list(crawl, "seeds")?.is_empty() && list(crawl, ADDED)?.is_empty() {
        let reach = match now.reach {
            Reach::Host => "host",
            Reach::Domain => "domain",
            Reach::Prefix => "prefix",
            Reach::Any => "any",
        };
        let texts = |texts: &[String]| texts.iter().collect::<Array>();
        let mut usual = |key: &str, item: Item| {
            if !crawl.contains_key(key) {
                crawl.insert(key, item);
            }
        };
        usual("scope", value(reach));
        if !now.include.is_empty() {
            usual("include", value(texts(&now.include)));
        }
        if !now.exclude.is_empty() {
            usual("exclude", value(texts(&now.exclude)));
        }
        if let Some(depth) = now.depth {
            usual("depth", value(i64::from(depth)));
        }
        crawl.insert("seeds", value(texts(&now.named())));
        crawl.insert(ADDED, value(texts(&now.added)));
    }
    Ok(crawl)
}

fn seed(text: &str) -> Result<PageUrl> {
    PageUrl::parse(text.trim()).map_err(|_| {
        wrong(&format!(
            "{text:?} is not a URL that can be crawled: write it like https://example.org/"
        ))
    })
}

/// Refuses a seed that the crawl could not fetch.
///
/// A control must not open private addresses or unusual ports. So a seed whose URL needs one is
/// refused, unless the configuration already allows it.
fn pass_gate(seed: &PageUrl, config: &Settings, allowed: bool) -> Result<()> {
    let named = config.crawl.seeds.iter().map(|text| PageUrl::parse(text));
    let named: Vec<PageUrl> = named.filter_map(Result::ok).collect();
    let mut settings = fetch::FetchOptions::default();
    let private = allowed || config.fetch.allow_private;
    settings.open_gate(private, &named);
    settings.check_url(seed).map_err(|refused| {
        wrong(&format!(
            "{seed} is refused: {refused}. To allow it, add it to [crawl] seeds in avocet.toml, or set [fetch] allow_private"
        ))
    })
}

fn table<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut Table> {
    let item = document.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_mut()
        .with_context(|| format!("{name} is not a section in the configuration: write [{name}]"))
}

fn list<'d>(table: &'d mut Table, key: &str) -> Result<&'d mut Array> {
    let item = table.entry(key).or_insert(value(Array::new()));
    item.as_array_mut()
        .with_context(|| format!("{key} is not a list in the configuration: write [\"…\"]"))
}

/// Sets the value of a key. A comment behind the old value stays.
fn set(table: &mut Table, key: &str, mut new: Item) {
    let decor = table
        .get(key)
        .and_then(Item::as_value)
        .map(|old| old.decor().clone());
    if let (Some(decor), Some(new)) = (decor, new.as_value_mut()) {
        *new.decor_mut() = decor;
    }
    table.insert(key, new);
}

fn holds(list: &Array, text: &str) -> bool {
    list.iter().any(|one| one.as_str() == Some(text))
}

fn drop_from(list: &mut Array, text: &str) -> bool {
    let before = list.len();
    list.retain(|one| one.as_str() != Some(text));
    list.len() < before
}

/// Rounds a number to nine decimal places.
fn rounded(number: f64) -> f64 {
    format!("{number:.9}").parse().unwrap_or(number)
}

/// Parses the text of a configuration.
fn read(text: &str) -> Result<Settings> {
    let layer = Layer::parse(text).map_err(|error| wrong(error.message()))?;
    layer.settings()
}

/// Checks that the policies that the configuration names exist. The ordering is not checked if the
/// configuration gives a query or scores.
fn check(config: &Settings) -> Result<()> {
    let catalog = Catalog::standard();
    let found = |error: anyhow::Error| wrong(&format!("{error:#}"));
    let upkeep = Upkeep {
        budget: Some(config.budget()),
        ..Upkeep::default()
    };
    catalog
        .refresh(&config.refresh.policy, &upkeep)
        .map_err(|error| found(error.into()))?;
    if config.source.policy != NO_SOURCES {
        catalog
            .scheduler(&config.source.policy)
            .map_err(|error| found(error.into()))?;
    }
    let plain = config.crawl.query.is_none() && config.crawl.scores.is_none();
    if let Some(name) = config.crawl.order.as_ref().filter(|_| plain) {
        let wishes = Wishes {
            location: config.crawl.location.clone(),
            ..Wishes::default()
        };
        catalog
            .order(name, &wishes)
            .map_err(|error| found(error.into()))?;
    }
    Ok(())
}

fn wrong(why: &str) -> anyhow::Error {
    Usage(why.to_owned()).into()
}

#[cfg(test)]
mod tests;
