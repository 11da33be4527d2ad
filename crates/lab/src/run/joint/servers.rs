//! The servers of a town: each site is a server that takes its own time over a request.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crawl::{ConnectionId, ConnectionState};
use page::{HostId, PageUrl};
use policy::Moment;

use crate::kinds::Town;
use crate::run::driver::{Connections, PendingAnswer};

/// Servers that answer one request over a connection, after the time of their site.
pub(super) struct TownServers {
    times: HashMap<HostId, Duration>,
    open: BTreeMap<ConnectionId, Duration>,
}

impl TownServers {
    pub fn new(town: &Town) -> Self {
        let pages = town.pages.iter().map(|page| (&page.url, page.site));
        let sources = town.sources.iter().map(|source| (&source.url, source.site));
        let sites = pages.chain(sources);
        let time = |site: u32| Duration::from_secs_f64(town.seconds[site as usize]);
        Self {
            times: sites.map(|(url, site)| (url.host(), time(site))).collect(),
            open: BTreeMap::new(),
        }
    }

    fn answer(&self, connection: ConnectionId, open: bool) -> PendingAnswer {
        let took = self.open.get(&connection).copied().unwrap_or_default();
        PendingAnswer {
            after: took,
            took,
            connection: ConnectionState { open, served: 1 },
        }
    }
}

impl Connections for TownServers {
    fn connect(
        &mut self,
        connection: ConnectionId,
        url: &PageUrl,
        _now: Moment,
    ) -> (Duration, usize) {
        let time = self.times.get(&url.host()).copied().unwrap_or_default();
        self.open.insert(connection, time);
        (Duration::ZERO, 1)
    }

    fn send_requests(
        &mut self,
        connection: ConnectionId,
        pages: &[&PageUrl],
    ) -> Vec<PendingAnswer> {
        let served = pages.iter().take(1);
        served.map(|_| self.answer(connection, false)).collect()
    }

    fn send_other_request(&mut self, connection: ConnectionId) -> PendingAnswer {
        self.answer(connection, true)
    }

    fn closed(&mut self, connection: ConnectionId, _now: Moment) {
        self.open.remove(&connection);
    }
}
