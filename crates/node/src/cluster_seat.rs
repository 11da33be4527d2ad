//! The place of a crawl in a cluster, for the parts of the program that show and steer it.

use std::sync::{Arc, Mutex};

use crate::panics::POISONED;
use crate::whole_crawl::WholeCrawl;
use crate::whole_search::WholeSearch;

/// The place of a crawl in a cluster. It is empty until the crawl joins, and stays empty if the
/// crawl runs on one machine.
#[derive(Default)]
pub struct ClusterSeat(Mutex<Option<(Arc<WholeSearch>, Arc<WholeCrawl>)>>);

impl ClusterSeat {
    /// Records that the crawl is part of a cluster.
    pub fn take(&self, search: WholeSearch, crawl: Arc<WholeCrawl>) {
        *self.0.lock().expect(POISONED) = Some((Arc::new(search), crawl));
    }

    /// Returns the search over all nodes; `None` if the crawl runs on one machine.
    pub fn search(&self) -> Option<Arc<WholeSearch>> {
        let seat = self.0.lock().expect(POISONED);
        seat.as_ref().map(|(search, _)| search.clone())
    }

    /// Returns the crawl of all nodes; `None` if the crawl runs on one machine.
    pub fn crawl(&self) -> Option<Arc<WholeCrawl>> {
        let seat = self.0.lock().expect(POISONED);
        seat.as_ref().map(|(_, crawl)| crawl.clone())
    }
}
