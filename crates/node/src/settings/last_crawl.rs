//! The policies, the scope and the contact of the last crawl: `crawl.json` in the store.
//!
//! They are not facts, so they are not in the ledger. `avocet explain` answers by these policies. A
//! crawl that is started without seeds takes over the scope and the contact. Its policies come from
//! its own settings.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::DomainLimits;
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::policies::PolicySettings;
use crate::store;
use crawl::scope::{Reach, ScopeRules};

/// The policies, the scope and the contact of the last crawl.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastCrawl {
    /// Its policies; the default ones if an older version of Avocet wrote the file.
    #[serde(default)]
    pub policies: PolicySettings,
    /// Its scope.
    pub scope: ScopeRules,
    /// Whether it was allowed to fetch from private addresses, by flag or file.
    #[serde(default)]
    pub allow_private: bool,
    /// Page budgets of domains that have no seed; `None` if unlimited.
    #[serde(default)]
    pub domains: Option<DomainLimits>,
    /// The contact that it sent with every request.
    #[serde(default)]
    pub contact: Option<String>,
}

impl LastCrawl {
    /// Returns whether the store was ever crawled.
    pub fn exists(store: &Path) -> bool {
        path(store).exists()
    }

    /// Writes `crawl.json`.
    pub fn write(&self, store: &Path) -> Result<()> {
        let path = path(store);
        store::replace_durably(&path, &serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads `crawl.json`. For a file that is empty or damaged, returns the default policies and a
    /// scope that holds every page of the ledger.
    pub fn read(store: &Path) -> Result<Self> {
        let path = path(store);
        let text = fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => NeverCrawled(path.display().to_string()).into(),
            _ => anyhow::Error::from(error).context(format!("cannot read {}", path.display())),
        })?;
        Ok(serde_json::from_slice(&text).unwrap_or_else(|error| {
            warn!(path = %path.display(), %error, "the settings of the last crawl cannot be read: the next crawl writes them again");
            Self {
                policies: PolicySettings::default(),
                scope: ScopeRules {
                    reach: Reach::Any,
                    ..ScopeRules::default()
                },
                allow_private: false,
                domains: None,
                contact: None,
            }
        }))
    }
}

/// The error for a store that was never crawled, for example because an import created it.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {0}: the store was never crawled")]
pub struct NeverCrawled(String);

fn path(store: &Path) -> PathBuf {
    store.join("crawl.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_crawl_is_read_back_and_an_empty_file_gives_defaults() {
        let directory = tempfile::tempdir().unwrap();
        assert!(LastCrawl::read(directory.path()).is_err());
        let mut policies = PolicySettings::default();
        policies.crawl.order = Some("pagerank*2 + backlink".into());
        let scope = ScopeRules::default();
        let domains = Some(DomainLimits::default());
        let last = LastCrawl {
            policies,
            scope,
            domains,
            allow_private: false,
            contact: Some("mailto:me@example.org".into()),
        };
        last.write(directory.path()).unwrap();
        let read = LastCrawl::read(directory.path()).unwrap();
        assert_eq!(read.policies, last.policies);
        assert_eq!((read.domains, read.contact), (domains, last.contact));
        // After a power cut the file may be empty.
        fs::write(path(directory.path()), "").unwrap();
        let read = LastCrawl::read(directory.path()).unwrap();
        assert_eq!(read.policies, PolicySettings::default());
        assert_eq!(read.scope.reach, Reach::Any);
    }

    #[test]
    fn the_scope_in_a_file_of_an_older_version_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let older = r#"{"ranking": {"order": "backlink", "servers": "best-prefix", "query": null,
            "location": [], "scores": null, "threshold": null},
            "scope": {"seeds": ["http://e.org/"], "reach": "domain", "include": [], "exclude": [],
            "depth": 3}, "allow_private": true}"#;
        fs::write(path(directory.path()), older).unwrap();
        let read = LastCrawl::read(directory.path()).unwrap();
        assert_eq!(read.scope.seeds, ["http://e.org/"]);
        assert_eq!((read.scope.depth, read.allow_private), (Some(3), true));
    }
}
