//! What does an operator want of a crawl, and how is it told?
//!
//! It is written into the store's configuration, at which a running crawl looks: so it holds after a restart, can be read and
//! undone with an editor, and there is one way to change a crawl. **Invariant:** a file is replaced whole, by one that was read
//! as a configuration and whose policies exist; comments and everything that the wish is not about stay as they were.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep, Wishes};
use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::panics::POISONED;
use crate::settings::last_crawl::LastCrawl;
use crate::settings::policies::NO_SOURCES;
use crate::settings::{Layer, Rate, Settings, Usage};
use crawl::scope::{Blocked, Reach, ScopeRules};

/// One at a time: a wish is written on top of the one before.
static WRITING: Mutex<()> = Mutex::new(());

/// The path of the seeds, which the command line gives as URLs.
pub const SEEDS: &str = "crawl.seeds";

/// The key of the seeds that are added here. They are kept apart from those that the operator wrote, which open the gate.
const ADDED: &str = "added_seeds";

/// What an operator wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// So many fetches over time, as people write it.
    Budget(String),
    /// Other policies; what is `None` stays as it is.
    Policy(NewPolicies),
    /// A host is asked no more.
    Block(String),
    /// A host may be asked again.
    Unblock(String),
    /// The crawl begins here too.
    AddSeed(String),
    /// The crawl begins here no more.
    RemoveSeed(String),
}

/// Policies by name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewPolicies {
    /// The ordering of new pages.
    pub order: Option<String>,
    /// The refresh of known pages.
    pub refresh: Option<String>,
    /// The scheduler of sources, or `none`.
    pub sources: Option<String>,
}

/// What came of a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Whether the configuration says something else now.
    pub changed: bool,
    /// In words.
    pub message: String,
}

impl Control {
    /// Returns the paths of the settings that it changes and that a flag can give too.
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

    /// Writes it into a configuration of the store at `root`. What is wrong with the wish is a [`Usage`].
    pub fn write(&self, config: &Path, root: &Path) -> Result<Applied> {
        let _writing = WRITING.lock().expect(POISONED);
        let before = match fs::read_to_string(config) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", config.display()));
            }
        };
        let document: DocumentMut = (before.parse())
            .with_context(|| format!("{} is not right: correct it first", config.display()))?;
        let last = LastCrawl::read(root).ok();
        let scope = last.as_ref().map(|last| last.scope.clone());
        let (after, message) = self.edit(document, &scope.unwrap_or_default())?;
        if let Self::AddSeed(text) = self {
            let read = read(&after)?;
            let allowed = last.is_some_and(|last| last.allow_private);
            pass_gate(&seed(text)?, &read, allowed)?;
        }
        let changed = after != before;
        if changed {
            replace(config, &after)
                .with_context(|| format!("cannot write {}", config.display()))?;
        }
        Ok(Applied { changed, message })
    }

    /// Returns the text of the changed configuration and what changed, in words. `now` is the scope of the
    /// last crawl. What is wrong with the wish is a [`Usage`].
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
                let mut said = Vec::new();
                let each = [
                    ("crawl", "order", &new.order),
                    ("refresh", "policy", &new.refresh),
                    ("source", "policy", &new.sources),
                ];
                for (section, key, name) in each {
                    if let Some(name) = name {
                        set(table(document, section)?, key, value(name.trim()));
                        said.push(format!("{section} by {}", name.trim()));
                    }
                }
                match said.is_empty() {
                    true => Err(wrong("name at least one of order, refresh and sources")),
                    false => Ok(said.join(", ")),
                }
            }
            Self::Block(host) => {
                let host = Blocked::parse(host).map_err(|why| wrong(&why))?.to_string();
                let blocked = list(table(document, "crawl")?, "block")?;
                if !holds(blocked, &host) {
                    blocked.push(host.as_str());
                }
                Ok(format!(
                    "{host} is asked no more; what is known of it stays in the index"
                ))
            }
            Self::Unblock(host) => {
                let host = Blocked::parse(host).map_err(|why| wrong(&why))?.to_string();
                let blocked = list(table(document, "crawl")?, "block")?;
                if !drop_from(blocked, &host) {
                    return Err(wrong(&format!("{host} is not blocked")));
                }
                Ok(format!("{host} may be asked again"))
            }
            Self::AddSeed(text) => {
                let seed = seed(text)?.to_string();
                let crawl = write_seeds(document, now)?;
                if !holds(list(crawl, "seeds")?, &seed) && !holds(list(crawl, ADDED)?, &seed) {
                    list(crawl, ADDED)?.push(seed.as_str());
                }
                Ok(format!("the crawl begins at {seed} too"))
            }
            Self::RemoveSeed(text) => {
                let seed = seed(text)?.to_string();
                let crawl = write_seeds(document, now)?;
                let named = drop_from(list(crawl, "seeds")?, &seed);
                if !drop_from(list(crawl, ADDED)?, &seed) && !named {
                    return Err(wrong(&format!("{seed} is no seed")));
                }
                if list(crawl, "seeds")?.is_empty() && list(crawl, ADDED)?.is_empty() {
                    return Err(wrong(&format!(
                        "{seed} is the only seed: add another first, or pause the crawl"
                    )));
                }
                Ok(format!(
                    "the crawl does not begin at {seed} any more; what is known stays"
                ))
            }
        }
    }
}

/// Returns the section with the seeds. Where those came from elsewhere, they are written down first, with how far the crawl goes
/// from them.
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
            "{text:?} is no URL that could be crawled: write it like https://example.org/"
        ))
    })
}

/// Refuses a seed at which the crawl could not begin: a seed that is added here opens no private address and no port, and its URL
/// alone may tell that it needs one.
fn pass_gate(seed: &PageUrl, config: &Settings, allowed: bool) -> Result<()> {
    let named = config.crawl.seeds.iter().map(|text| PageUrl::parse(text));
    let named: Vec<PageUrl> = named.filter_map(Result::ok).collect();
    let mut settings = fetch::Settings::default();
    let private = allowed || config.fetch.allow_private;
    settings.open_gate(private, &named);
    settings.check_url(seed).map_err(|refused| {
        wrong(&format!(
            "{seed} is refused: {refused}. Whoever runs the crawl can write it into [crawl] seeds in avocet.toml, or set [fetch] allow_private"
        ))
    })
}

fn table<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut Table> {
    let item = document.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_mut()
        .with_context(|| format!("write {name} as a section [{name}] in the configuration"))
}

fn list<'d>(table: &'d mut Table, key: &str) -> Result<&'d mut Array> {
    let item = table.entry(key).or_insert(value(Array::new()));
    item.as_array_mut()
        .with_context(|| format!("{key} is no list in the configuration"))
}

/// Gives a key another value; what is written behind the old one stays.
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

/// A number as a person would write it.
fn rounded(number: f64) -> f64 {
    format!("{number:.9}").parse().unwrap_or(number)
}

/// Reads the text of a configuration.
fn read(text: &str) -> Result<Settings> {
    let layer = Layer::parse(text).map_err(|error| wrong(error.message()))?;
    layer.settings()
}

/// Checks that the policies that the configuration names exist.
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
    // The command line may give the query or the scores that an ordering needs.
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

/// Puts the text in the place of the file, whole, readable by whom the file was.
fn replace(config: &Path, text: &str) -> std::io::Result<()> {
    // A configuration that is kept elsewhere stays there.
    let config: PathBuf = fs::canonicalize(config).unwrap_or_else(|_| config.to_owned());
    let fresh = config.with_extension("toml.new");
    fs::write(&fresh, text)?;
    let mode = match fs::metadata(&config) {
        Ok(old) => old.permissions(),
        // It may get to hold passwords.
        Err(_) => fs::Permissions::from_mode(0o600),
    };
    fs::set_permissions(&fresh, mode)?;
    fs::File::open(&fresh)?.sync_all()?;
    fs::rename(fresh, config)
}

#[cfg(test)]
mod tests;
