//! What the delivery of webhooks needs from a store: how far each receiver is, and a way to post.
//!
//! **Invariant:** one process delivers at a time. It holds an advisory lock, which ends with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bytes::Bytes;
use fetch::{AllowPrivate, FetchOptions, Fetcher, HttpMode, Ports};
use page::PageUrl;
use rustix::fs::{FlockOperation, flock};

use crate::settings::Settings;
use crate::store;

/// How far each receiver is, in a file of the store.
#[derive(Debug)]
pub struct Deliveries {
    path: PathBuf,
    /// The number of the last change that each receiver has got, by its URL.
    done: BTreeMap<String, u64>,
    _lock: File,
}

impl Deliveries {
    /// Opens the file; `None` if another process delivers.
    pub fn open(root: &Path) -> Result<Option<Self>> {
        let lock = root.join("webhooks.lock");
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock);
        let file = file.with_context(|| format!("cannot open {}", lock.display()))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let path = root.join("webhooks.json");
        Ok(Some(Self {
            done: store::read_json(&path).unwrap_or_default(),
            path,
            _lock: file,
        }))
    }

    /// Returns the number of the last change that a receiver has got. A new receiver starts at
    /// `last`.
    pub fn done(&mut self, url: &str, last: u64) -> Result<u64> {
        if !self.done.contains_key(url) {
            self.got(url, last)?;
        }
        Ok(self.done[url])
    }

    /// Stores that a receiver has got all changes up to a number.
    pub fn got(&mut self, url: &str, number: u64) -> Result<()> {
        self.done.insert(url.to_owned(), number);
        let text = serde_json::to_vec(&self.done)?;
        store::replace(&self.path, &text)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Posts to receivers.
#[derive(Clone)]
pub struct Poster(Fetcher);

impl Poster {
    /// Returns a poster with the proxy and the certificates of the settings. The operator names the
    /// receivers, so private addresses and all ports are allowed. Must be called within a tokio
    /// runtime.
    pub fn new(settings: &Settings) -> Result<Self> {
        let options = FetchOptions {
            http: HttpMode::Http11,
            allow_private: AllowPrivate::Always,
            ports: Ports::Any,
            cookies: false,
            ..settings.requests()?
        };
        Ok(Self(Fetcher::new(options)?))
    }

    /// Posts JSON. Returns the status, or why there is no answer.
    pub async fn post(
        &self,
        url: &PageUrl,
        fields: &[(&'static str, String)],
        body: String,
    ) -> Result<u16, String> {
        let posted = self.0.post(url, fields, Bytes::from(body)).await;
        posted.map_err(|trouble| trouble.to_string())
    }
}
