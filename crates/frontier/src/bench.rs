//! The servers that have work, ordered by what a visit to them is worth.
//!
//! A server is an IP address; all hosts behind it share one politeness delay. A host whose name
//! is not resolved yet counts as a server of its own, until [`Bench::bind`] sets its address.
//! Each host has a queue of pages. Hosts are ranked within their server, and the servers that
//! are ready now are ranked by their best host. The [`Strategy`] computes the rank.
//!
//! **Invariant:** a server is on the bench if and only if it has a page waiting and a free
//! visit slot. A server has one slot unless the user allows more. So a second visit to a busy
//! server is impossible by construction; no check is needed.

mod claims;
mod deferred;
mod entry;
mod host;
mod places;
mod queue;
mod ranking;
pub mod roster;
mod standing;
mod visit;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use page::HostId;
use policy::server::{Estimate, Strategy};
use policy::{Moment, Number, Rank, Worth};

use entry::QueueEntry;
use host::BenchHost;
use places::{PagePlace, PagePlaces};

pub use standing::Standing;
pub use visit::HostVisit;

pub(crate) type ServerIndex = u32;
pub(crate) type HostIndex = u32;

/// Politeness settings of the bench.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Number of visit slots of a server: the maximum number of visits at the same time.
    pub seats: u8,
    /// Maximum number of pages that a visit is ranked for, at a server that needs no delay. The
    /// visit may continue beyond them ([`Bench::more`]).
    pub pages_per_visit: usize,
    /// Maximum number of pages that a visit is ranked for, at a server that needs a delay.
    pub burst: usize,
    /// Maximum number of pages that a run claims from one host. The others stay in the ledger.
    pub pages_per_host: u32,
    /// Maximum number of requests in flight on one connection. A visit claims at most this many
    /// pages at a time, so that better pages found in the meantime come before the rest.
    pub width: usize,
    /// Maximum wait for a server when nothing else can be fetched. If all servers with waiting
    /// pages need a longer wait, [`Bench::next`] returns [`Turn::Idle`]; their pages stay on
    /// the bench.
    pub patience: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            seats: 1,
            pages_per_visit: 100,
            burst: 1,
            pages_per_host: 1_000_000,
            width: 1,
            patience: Duration::MAX,
        }
    }
}

/// The next step of a crawl, as the bench decides it.
#[derive(Debug)]
pub enum Turn {
    /// Visit this host.
    Visit(HostVisit),
    /// Wait until this moment, unless a page is offered or a visit is settled before.
    WaitUntil(Moment),
    /// No page is waiting, or all servers need a longer wait than the settings allow.
    Idle,
}

/// The key of a server in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKey {
    /// Its address.
    Address(IpAddr),
    /// The only host of the server, if a proxy resolves its name or it is not resolved yet.
    Host(HostId),
}

/// Whether a visit may continue, now that the address is known.
#[derive(Debug)]
pub enum Bound {
    /// Continue: the visit has a slot of the server with this address.
    Go(HostVisit),
    /// The address belongs to another server entry. The pages now wait there.
    Moved,
}

struct BenchServer {
    address: Option<IpAddr>,
    /// Hosts with waiting pages, the best first. Among equals the one that waits longest is
    /// first.
    hosts: BTreeSet<(Reverse<Rank>, u64, HostIndex)>,
    /// The earliest moment of the next request.
    ready: Moment,
    /// Most pages of the next visit, by the delay that the server needs: all, or a burst. `None`:
    /// no visit has ended, so the delay is not known.
    pace: Option<usize>,
    /// Consecutive requests that the server refused because it is overloaded.
    refusals: u16,
    /// Free visit slots.
    seats: u8,
    position: ServerPosition,
}

/// The position of a server relative to the bench.
#[derive(Clone, Copy, PartialEq)]
enum ServerPosition {
    /// Off the bench.
    Away,
    /// On the bench, ready from this moment on.
    Later(Moment),
    /// On the bench and ready, with this rank and turn number.
    Ready(Rank, u64),
}

/// The waiting pages: servers contain hosts, hosts contain pages.
pub struct Bench {
    manners: Manners,
    strategy: Box<dyn Strategy>,
    servers: Vec<BenchServer>,
    addresses: HashMap<IpAddr, ServerIndex>,
    hosts: Vec<BenchHost>,
    names: HashMap<HostId, HostIndex>,
    ready: BTreeSet<(Reverse<Rank>, u64, ServerIndex)>,
    later: BTreeSet<(Moment, ServerIndex)>,
    places: PagePlaces,
    /// The estimate for a host without measurements: a moving average over all visits.
    usual: Estimate,
    /// Scratch buffer of [`Bench::bid_now`].
    worths: Vec<f32>,
    /// The last turn number. Turn numbers order hosts and servers of equal rank.
    turn: u64,
    waiting: usize,
    deferred: usize,
    /// Pages that were dropped because their host is parked or over its page limit.
    left_alone: usize,
    /// Visits under way.
    visits: usize,
}

impl Bench {
    /// Returns an empty bench.
    pub fn new(manners: Manners, strategy: Box<dyn Strategy>) -> Self {
        Self {
            manners,
            strategy,
            servers: Vec::new(),
            addresses: HashMap::new(),
            hosts: Vec::new(),
            names: HashMap::new(),
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
            places: PagePlaces::default(),
            usual: Estimate::default(),
            worths: Vec::new(),
            turn: 0,
            waiting: 0,
            deferred: 0,
            left_alone: 0,
            visits: 0,
        }
    }

    /// Starts to record where each page waits, so that [`Bench::change`] can move it. This
    /// costs 8 bytes per page.
    pub fn track(&mut self) {
        self.places = PagePlaces::tracked();
    }

    /// Puts a page on the bench.
    pub fn offer(&mut self, page: Number, host: HostId, worth: Worth) {
        let index = self.host(host);
        let entry = QueueEntry::new(page, worth);
        self.places.set_host(page, index);
        if self.hosts[index as usize].parked {
            self.places.set(page, PagePlace::Nowhere);
            self.left_alone += 1;
            return;
        }
        self.waiting += 1;
        self.push(index, entry);
    }

    /// Returns whether a page is on the bench or deferred. A page that was offered for a parked
    /// host is neither. Always `false` without [tracking](Self::track).
    pub fn waits(&self, page: Number) -> bool {
        matches!(self.places.get(page), PagePlace::Hand | PagePlace::Heap(_))
    }

    /// Records that the worth of a page of this host is below the price. [`Bench::change`] then
    /// reports when it has reached the price.
    pub fn hold(&mut self, page: Number, host: HostId) {
        let index = self.host(host);
        self.places.set_host(page, index);
        self.places.set(page, PagePlace::Held);
    }

    /// Changes the worth of a waiting page. Returns the host of a [held](Self::hold) page whose
    /// worth has reached `least`: the caller then offers the page.
    pub fn change(&mut self, page: Number, worth: Worth, least: Worth) -> Option<HostId> {
        let place = self.places.get(page);
        let index = self.places.host(page);
        let most = self.hand(index);
        let entry = QueueEntry::new(page, worth);
        let queue = &mut self.hosts.get_mut(index as usize)?.queue;
        match place {
            PagePlace::Nowhere => return None,
            PagePlace::Held => return (worth >= least).then(|| self.hosts[index as usize].id),
            PagePlace::Heap(at) if queue.change(at as usize, entry, &mut self.places) => {
                return None;
            }
            PagePlace::Heap(_) | PagePlace::Hand => {}
        }
        queue.remove(page, place, &mut self.places);
        queue.fill(most, &mut self.places);
        queue.push(entry, most, &mut self.places);
        self.list(index);
        None
    }

    /// Removes a waiting page from the bench and [holds](Self::hold) it. Returns whether it was
    /// waiting.
    pub fn withdraw(&mut self, page: Number) -> bool {
        if !self.waits(page) {
            return false;
        }
        let place = self.places.get(page);
        let index = self.places.host(page);
        let most = self.hand(index);
        let queue = &mut self.hosts[index as usize].queue;
        queue.remove(page, place, &mut self.places);
        queue.fill(most, &mut self.places);
        self.places.set(page, PagePlace::Held);
        self.waiting -= 1;
        self.list(index);
        true
    }

    /// Decides the next step of the crawl: a visit to the best server that is ready, if there is
    /// one.
    pub fn next(&mut self, now: Moment) -> Turn {
        self.wake(now);
        if let Some(&(_, _, server)) = self.ready.first() {
            return Turn::Visit(self.claim(server));
        }
        let ready = self.later.first().map(|&(ready, _)| ready);
        let ready = ready.filter(|ready| ready.since(now) <= self.manners.patience);
        ready.map_or(Turn::Idle, Turn::WaitUntil)
    }

    /// Returns the ledger key of the server of a visit.
    pub fn server(&self, visit: &HostVisit) -> ServerKey {
        let address = self.servers[visit.server as usize].address;
        address.map_or(ServerKey::Host(visit.host), ServerKey::Address)
    }

    /// Updates the server's count of consecutive refusals: adds one if it refused, else resets
    /// it.
    pub fn count_refusal(&mut self, visit: &mut HostVisit, refused: bool) {
        let server = &mut self.servers[visit.server as usize];
        server.refusals = if refused {
            server.refusals.saturating_add(1)
        } else {
            0
        };
        visit.refusals = server.refusals;
    }

    /// Restores the politeness state of a server from an earlier run: the earliest moment of
    /// the next request, and the number of consecutive refusals.
    pub fn recall_server(&mut self, key: ServerKey, ready: Moment, refusals: u16) {
        let server = match key {
            ServerKey::Host(host) => {
                let index = self.host(host);
                self.hosts[index as usize].server
            }
            ServerKey::Address(address) => match self.addresses.get(&address) {
                Some(known) => *known,
                None => self.new_server(Some(address)),
            },
        };
        let known = &mut self.servers[server as usize];
        known.ready = known.ready.max(ready);
        known.refusals = refusals;
        self.update_position(server);
    }

    /// Assigns the address that the host of a visit resolved to.
    pub fn bind(&mut self, visit: HostVisit, address: IpAddr) -> Bound {
        let here = &mut self.servers[visit.server as usize];
        if here.address == Some(address) {
            return Bound::Go(visit);
        }
        match self.addresses.get(&address) {
            None if here.address.is_none() => {
                here.address = Some(address);
                self.addresses.insert(address, visit.server);
                Bound::Go(visit)
            }
            known => {
                let target = known
                    .copied()
                    .unwrap_or_else(|| self.new_server(Some(address)));
                self.move_host(visit, target);
                Bound::Moved
            }
        }
    }

    /// Keeps the server of a visit from other visits until this moment.
    pub fn rest(&mut self, visit: &HostVisit, until: Moment) {
        let server = &mut self.servers[visit.server as usize];
        server.ready = server.ready.max(until);
        self.update_position(visit.server);
    }

    /// Ends a visit. The server is ready again after `delay`; `open` is whether the connection
    /// stays open. Pages of the visit that were not requested go back to the queue
    /// of their host.
    pub fn settle(&mut self, visit: HostVisit, now: Moment, delay: Duration, open: bool) {
        let server = &mut self.servers[visit.server as usize];
        server.pace = Some(usize::MAX);
        if !delay.is_zero() {
            server.pace = Some(visit.burst);
            server.ready = server.ready.max(now + delay);
        }
        server.seats += 1;
        self.visits -= 1;
        let (index, server) = (visit.index, visit.server);
        let host = visit.host;
        self.hosts[index as usize].open = open;
        self.put_back(visit);
        if self.is_spent(index) {
            self.park(host);
        }
        self.refill(index);
        self.update_position(server);
    }

    /// Sets the most pages of a visit to the server of a host, if its delay is known before the
    /// first visit.
    pub fn recall_pace(&mut self, host: HostId, pages: usize) {
        let index = self.host(host);
        let server = self.hosts[index as usize].server;
        self.servers[server as usize].pace = Some(pages);
        self.list(index);
    }

    /// Restores the speed of a host that an earlier run measured.
    pub fn recall(&mut self, host: HostId, estimate: Estimate) {
        let index = self.host(host);
        self.hosts[index as usize].estimate = Some(estimate);
        self.refill(index);
    }

    /// Records that no connection to a host is open any more.
    pub fn closed(&mut self, host: HostId) {
        let index = self.host(host);
        self.hosts[index as usize].open = false;
        self.list(index);
    }

    /// Stops requests to a host for the rest of the run. Its pages stay in the ledger.
    pub fn park(&mut self, host: HostId) {
        let index = self.host(host);
        let host = &mut self.hosts[index as usize];
        host.parked = true;
        let id = host.id;
        let dropped = host.queue.clear(&mut self.places);
        self.waiting -= dropped;
        self.left_alone += dropped + self.clear_deferred(id);
        self.list(index);
    }

    /// Returns whether a server can be visited now.
    pub fn is_ready(&self, now: Moment) -> bool {
        !self.ready.is_empty() || self.later.first().is_some_and(|&(ready, _)| ready <= now)
    }

    /// Returns whether no visit is under way.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.visits == 0
    }

    /// Number of pages on the bench, whether or not their servers are ready.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    pub(crate) fn host_id(&self, index: HostIndex) -> HostId {
        self.hosts[index as usize].id
    }

    /// Number of pages that were dropped because their host is parked or over its page limit.
    pub fn left_alone(&self) -> usize {
        self.left_alone
    }

    /// Returns the index of a host and adds the host if it is new.
    pub fn host(&mut self, id: HostId) -> HostIndex {
        if let Some(&index) = self.names.get(&id) {
            return index;
        }
        let server = self.new_server(None);
        let index = self.hosts.len() as HostIndex;
        self.hosts.push(BenchHost::new(id, server));
        self.names.insert(id, index);
        index
    }

    /// Makes servers ready whose delay has passed.
    fn wake(&mut self, now: Moment) {
        while let Some(&(ready, server)) = self.later.first()
            && ready <= now
        {
            self.later.pop_first();
            self.servers[server as usize].ready = Moment::START;
            self.servers[server as usize].position = ServerPosition::Away;
            self.update_position(server);
        }
    }

    fn push(&mut self, index: HostIndex, entry: QueueEntry) {
        let most = self.hand(index);
        let queue = &mut self.hosts[index as usize].queue;
        if queue.push(entry, most, &mut self.places) {
            self.list(index);
        }
    }

    /// Refills a host's hand (the list of its best pages) and updates the host's rank.
    fn refill(&mut self, index: HostIndex) {
        self.fill(index);
        self.list(index);
    }

    fn fill(&mut self, index: HostIndex) {
        let most = self.hand(index);
        let queue = &mut self.hosts[index as usize].queue;
        queue.fill(most, &mut self.places);
    }

    fn move_host(&mut self, visit: HostVisit, target: ServerIndex) {
        let (index, server) = (visit.index, visit.server);
        self.unlist(index);
        self.visits -= 1;
        self.servers[server as usize].seats += 1;
        self.update_position(server);
        self.hosts[index as usize].server = target;
        self.put_back(visit);
        self.refill(index);
    }

    fn new_server(&mut self, address: Option<IpAddr>) -> ServerIndex {
        let index = self.servers.len() as ServerIndex;
        self.servers.push(BenchServer {
            address,
            hosts: BTreeSet::new(),
            ready: Moment::START,
            pace: None,
            refusals: 0,
            seats: self.manners.seats,
            position: ServerPosition::Away,
        });
        if let Some(address) = address {
            self.addresses.insert(address, index);
        }
        index
    }
}

#[cfg(test)]
mod tests;
