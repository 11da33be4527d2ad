//! When could a new page first be found by search?
//!
//! **Invariant:** looked up in the index as searchers see it, not in what the crawl knows: fetched is not yet found.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use page::PageUrl;
use repository::index::Index;
use testweb::site::{PageNumber, Serving};
use tokio::runtime::Runtime;

use node::panics::POISONED;
use node::store;

/// How often it is looked; a delay is known to within this.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// New pages that were found, each with the delay since it appeared, in seconds.
#[derive(Debug, Clone, Default)]
pub struct Noticed(Arc<Mutex<BTreeMap<PageNumber, f64>>>);

impl Noticed {
    /// Looks for as long as the runtime runs.
    pub fn start(runtime: &Runtime, root: &Path, web: &Arc<Serving>) -> Self {
        let noticed = Self::default();
        let (looking, web, path) = (noticed.clone(), web.clone(), store::index(root));
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                // The list of an index is the last thing that is made of it.
                if !path.join("meta.json").exists() {
                    continue;
                }
                let Ok(index) = Index::open(&path) else {
                    continue;
                };
                loop {
                    tokio::time::sleep(LOOK_EVERY).await;
                    if let Err(error) = looking.look(&index, &web) {
                        tracing::debug!(%error, "the demo could not look into the index");
                        break;
                    }
                }
            }
        });
        noticed
    }

    fn look(&self, index: &Index, web: &Serving) -> Result<(), repository::index::IndexError> {
        index.refresh()?;
        let now = web.now();
        let mut found = self.0.lock().expect(POISONED);
        for (page, born) in published(web, now) {
            let url = PageUrl::parse(&web.url(page));
            if let Some(url) = url.ok().filter(|_| !found.contains_key(&page))
                && index.kept(url.id())?.is_some()
            {
                found.insert(page, now - born);
            }
        }
        Ok(())
    }

    /// The delays, in seconds.
    pub fn delays(&self) -> Vec<f64> {
        let found = self.0.lock().expect(POISONED);
        found.values().copied().collect()
    }
}

/// Pages that appeared since the demo began and exist, with the moment.
pub fn published(web: &Serving, now: f64) -> Vec<(PageNumber, f64)> {
    (web.web().pages())
        .filter(|page| page.born() > 0.0 && page.exists(now))
        .map(|page| (page.number(), page.born()))
        .collect()
}
