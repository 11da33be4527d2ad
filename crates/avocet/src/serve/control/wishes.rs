//! What the server does about a wish: it is written into the store, where the crawl looks.

use std::sync::Arc;

use anyhow::{Context, Result};

use crate::config::Config;
use crate::live::pause;
use crate::live::wish::{Granted, Topic, Wish};
use crate::ranking::{LastCrawl, NeverCrawled};
use crate::scope::ScopeRules;
use crate::serve::App;

impl App {
    /// Grants a wish, and says what holds when.
    pub async fn wish(self: &Arc<Self>, wish: Wish) -> Result<Granted> {
        let app = self.clone();
        let work = move || {
            let topics = wish.topics();
            if let Some(live) = &app.live {
                live.wished(&topics);
            }
            let mut granted = wish.write(&app.config(), &app.root)?;
            let flags = app.live.as_ref().map(|live| live.flags(&topics));
            let flags = flags.unwrap_or_default();
            if !flags.is_empty() {
                granted.message += &format!(
                    " (the command line says otherwise: {} will hold again when the program is started anew)",
                    flags.join(", ")
                );
            } else if !granted.changed && app.live.is_none() {
                granted.message += " (the configuration said so already; flags of a crawl that runs elsewhere win over it)";
            }
            Ok(granted)
        };
        self.readers.read(work).await
    }

    /// Has the crawl pause.
    pub async fn pause(&self) -> Result<String> {
        let root = self.root.clone();
        let new = tokio::task::spawn_blocking(move || pause::pause(&root)).await?;
        Ok(match new.context("cannot write into the store")? {
            true => "the crawl pauses: what is under way ends and is committed".into(),
            false => "the crawl was paused before".into(),
        })
    }

    /// Has the crawl go on.
    pub async fn resume(&self) -> Result<String> {
        let root = self.root.clone();
        let was = tokio::task::spawn_blocking(move || pause::resume(&root)).await?;
        Ok(match was.context("cannot write into the store")? {
            true => "the crawl goes on".into(),
            false => "the crawl was not paused".into(),
        })
    }

    /// Where the crawl begins, what belongs to it, and what is blocked: what was wished for last, also where the crawl has not
    /// looked yet.
    pub async fn scope(&self) -> Result<ScopeRules> {
        let (root, config) = (self.root.clone(), self.config());
        let work = move || (LastCrawl::read(&root), Config::load(Some(&config), &root));
        let (last, config) = tokio::task::spawn_blocking(work).await?;
        let scope = last.map(|last| last.scope);
        let unset = |error: anyhow::Error| match error.is::<NeverCrawled>() {
            true => Ok(ScopeRules::default()),
            false => Err(error),
        };
        let (mut scope, config) = (scope.or_else(unset)?, config.unwrap_or_default());
        let live = self.live.as_ref();
        let by_flags = live.is_some_and(|live| {
            !live.flags(&[Topic::Seeds]).is_empty() && !live.was_wished(Topic::Seeds)
        });
        let seeds = config.crawl.all_seeds();
        if !seeds.is_empty() && !by_flags {
            scope.seeds = seeds;
        }
        scope.block = config.crawl.block;
        Ok(scope)
    }
}
