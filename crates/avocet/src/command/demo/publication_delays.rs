//! Measures the delay from the publication of a page to its first appearance in search.
//!
//! **Invariant:** pages are looked up in the index that searchers use. A page that is fetched but
//! not indexed does not count as found.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use page::PageUrl;
use repository::index::Index;
use testweb::site::{PageNumber, ServedWeb};
use tokio::runtime::Runtime;

use node::panics::POISONED;
use node::store;

/// Time between two lookups, which is the resolution of a delay.
const LOOKUP_EVERY: Duration = Duration::from_millis(250);

/// The new pages that were found, each with its delay in seconds.
#[derive(Debug, Clone, Default)]
pub struct PublicationDelays(Arc<Mutex<BTreeMap<PageNumber, f64>>>);

impl PublicationDelays {
    /// Starts to look for new pages, until the runtime ends.
    pub fn start(runtime: &Runtime, root: &Path, web: &Arc<ServedWeb>) -> Self {
        let delays = Self::default();
        let (looking, web, path) = (delays.clone(), web.clone(), store::index(root));
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(LOOKUP_EVERY).await;
                // The list of segments is the last file that is written when an index is created.
                if !path.join("meta.json").exists() {
                    continue;
                }
                let Ok(index) = Index::open(&path) else {
                    continue;
                };
                loop {
                    tokio::time::sleep(LOOKUP_EVERY).await;
                    if let Err(error) = looking.look(&index, &web) {
                        tracing::debug!(%error, "the demo cannot read the index");
                        break;
                    }
                }
            }
        });
        delays
    }

    fn look(&self, index: &Index, web: &ServedWeb) -> Result<(), repository::index::IndexError> {
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

    /// Returns the delays, in seconds, of the pages that were found.
    pub fn of(&self, pages: impl Iterator<Item = PageNumber>) -> Vec<f64> {
        let found = self.0.lock().expect(POISONED);
        pages.filter_map(|page| found.get(&page).copied()).collect()
    }
}

/// Returns the pages that appeared since the start and still exist, each with its time of
/// publication in seconds since the start.
pub fn published(web: &ServedWeb, now: f64) -> Vec<(PageNumber, f64)> {
    (web.web().pages())
        .filter(|page| page.born() > 0.0 && page.exists(now))
        .map(|page| (page.number(), page.born()))
        .collect()
}
