//! The servers that have work, ordered by what a visit to them is worth.
//!
//! A server is an address: hosts that share one share its politeness. Until a host is resolved it
//! is a server of its own; [`Bench::bind`] says which one it turned out to be. Pages wait in a queue a
//! host, hosts are ranked within their server, and servers that may be asked now are ranked by their
//! best host. Which rank that is, is the [`Strategy`]'s to say.
//!
//! **Invariant:** a server is on the bench if and only if it has a page ready and a seat free. It
//! has one seat unless the user gave it more, so two visits to one server are not forbidden by a
//! check: they cannot be expressed.

mod claims;
mod entry;
mod heap;
mod host;
mod places;
mod queue;
pub mod roster;
mod seating;
mod shelf;
mod standing;
mod visit;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use page::HostId;
use policy::server::{Estimate, Strategy};
use policy::{Moment, Number, Rank, Worth};

use entry::Entry;
use host::Host;
use places::{Place, Places};

pub use standing::Standing;
pub use visit::Visit;

pub(crate) type ServerIndex = u32;
pub(crate) type HostIndex = u32;

/// How servers are treated.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Visits to one server at the same time.
    pub seats: u8,
    /// Pages a visit may be for at a server that needs no delay.
    pub pages_per_visit: usize,
    /// Pages claimed from one host before the rest is left alone.
    pub pages_per_host: u32,
    /// Requests that may be under way on one connection: so many pages are claimed at a time, so that
    /// what is found meanwhile can come before the rest.
    pub width: usize,
    /// How long a crawl waits for a server if there is nothing else to do. Pages of servers that want to be left
    /// alone for longer stay on the bench, and [`Bench::next`] is idle.
    pub patience: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            seats: 1,
            pages_per_visit: 100,
            pages_per_host: 1_000_000,
            width: 1,
            patience: Duration::MAX,
        }
    }
}

/// What to do now.
#[derive(Debug)]
pub enum Turn {
    /// Visit this host.
    Visit(Visit),
    /// Nothing before this moment, unless something is offered or settled.
    WaitUntil(Moment),
    /// Nothing is waiting at all.
    Idle,
}

/// What a server is known by through restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKey {
    /// Its address.
    Address(IpAddr),
    /// The one host on it: a proxy resolves the name, or nothing has resolved it yet.
    Host(HostId),
}

/// Whether a visit may go on, now that the address is known.
#[derive(Debug)]
pub enum Bound {
    /// Go on: the address is this visit's alone.
    Go(Visit),
    /// Another host has this address: the pages now wait there.
    Moved,
}

struct Server {
    address: Option<IpAddr>,
    /// Hosts with ready pages, the best first, equals in turn.
    hosts: BTreeSet<(Reverse<Rank>, u64, HostIndex)>,
    /// Not to be asked before.
    ready: Moment,
    /// The delay of the last visit; zero: pages may follow each other at once.
    pace: Option<Duration>,
    /// Requests in a row that it refused because it is busy.
    refusals: u16,
    seats: u8,
    place: Seat,
}

/// Where a server is.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
    /// Off the bench.
    Away,
    /// On it, and to be asked from this moment on.
    Later(Moment),
    /// On it, with this rank and turn.
    Ready(Rank, u64),
}

/// Servers over hosts over pages.
pub struct Bench {
    manners: Manners,
    strategy: Box<dyn Strategy>,
    servers: Vec<Server>,
    addresses: HashMap<IpAddr, ServerIndex>,
    hosts: Vec<Host>,
    names: HashMap<HostId, HostIndex>,
    ready: BTreeSet<(Reverse<Rank>, u64, ServerIndex)>,
    later: BTreeSet<(Moment, ServerIndex)>,
    places: Places,
    /// What is expected of a server that nobody has asked.
    usual: Estimate,
    worths: Vec<f32>,
    turn: u64,
    waiting: usize,
    deferred: usize,
    left_alone: usize,
    /// Visits under way.
    visits: usize,
}

impl Bench {
    /// An empty bench.
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
            places: Places::default(),
            usual: Estimate::default(),
            worths: Vec::new(),
            turn: 0,
            waiting: 0,
            deferred: 0,
            left_alone: 0,
            visits: 0,
        }
    }

    /// Keeps track of where pages wait, so that they can be [moved](Bench::change): eight bytes a page.
    pub fn track(&mut self) {
        self.places = Places::tracked();
    }

    /// Puts a page on the bench.
    pub fn offer(&mut self, page: Number, host: HostId, worth: Worth) {
        let index = self.host(host);
        let entry = Entry::new(page, worth);
        self.places.set_host(page, index);
        if self.hosts[index as usize].parked {
            self.places.set(page, Place::Nowhere);
            self.left_alone += 1;
            return;
        }
        self.waiting += 1;
        self.push(index, entry);
    }

    /// Whether a page waits here; one of a host that is left alone does not, though it was offered. Only of a bench that is [tracked](Self::track).
    pub fn waits(&self, page: Number) -> bool {
        matches!(self.places.get(page), Place::Hand | Place::Heap(_))
    }

    /// Takes note of a page that is not worth its price so far.
    pub fn hold(&mut self, page: Number, host: HostId) {
        let index = self.host(host);
        self.places.set_host(page, index);
        self.places.set(page, Place::Held);
    }

    /// Gives a waiting page another worth. Returns the host of a page that was held and now pays
    /// `least`; it is to be offered.
    pub fn change(&mut self, page: Number, worth: Worth, least: Worth) -> Option<HostId> {
        let place = self.places.get(page);
        let index = self.places.host(page);
        let most = self.hand(index);
        let entry = Entry::new(page, worth);
        let queue = &mut self.hosts.get_mut(index as usize)?.queue;
        match place {
            Place::Nowhere => return None,
            Place::Held => return (worth >= least).then(|| self.hosts[index as usize].id),
            Place::Heap(at) if queue.change(at as usize, entry, &mut self.places) => return None,
            Place::Heap(_) | Place::Hand => {}
        }
        queue.remove(page, place, &mut self.places);
        queue.fill(most, &mut self.places);
        queue.push(entry, most, &mut self.places);
        self.list(index);
        None
    }

    /// Takes a waiting page off the bench; it is held from then on. Returns whether it waited.
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
        self.places.set(page, Place::Held);
        self.waiting -= 1;
        self.list(index);
        true
    }

    /// What to do now.
    pub fn next(&mut self, now: Moment) -> Turn {
        self.wake(now);
        if let Some(&(_, _, server)) = self.ready.first() {
            return Turn::Visit(self.claim(server));
        }
        let ready = self.later.first().map(|&(ready, _)| ready);
        let ready = ready.filter(|ready| ready.since(now) <= self.manners.patience);
        ready.map_or(Turn::Idle, Turn::WaitUntil)
    }

    /// What the server of a visit is known by.
    pub fn server(&self, visit: &Visit) -> ServerKey {
        let address = self.servers[visit.server as usize].address;
        address.map_or(ServerKey::Host(visit.host), ServerKey::Address)
    }

    /// Counts a request that the server of a visit refused, or forgets all of them: it served one.
    pub fn count_refusal(&mut self, visit: &mut Visit, refused: bool) {
        let server = &mut self.servers[visit.server as usize];
        server.refusals = if refused {
            server.refusals.saturating_add(1)
        } else {
            0
        };
        visit.refusals = server.refusals;
    }

    /// Leaves a server alone until a moment, as an earlier run has to: it has refused this many requests in a row.
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
        self.seat(server);
    }

    /// Says which address the host of a visit has.
    pub fn bind(&mut self, visit: Visit, address: IpAddr) -> Bound {
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

    /// Ends a visit: the server may be asked again after `delay`; `open` says whether the connection
    /// is. The pages of the visit that are left wait again where they were.
    pub fn settle(&mut self, visit: Visit, now: Moment, delay: Duration, open: bool) {
        let server = &mut self.servers[visit.server as usize];
        server.pace = Some(delay);
        if !delay.is_zero() {
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
        self.seat(server);
    }

    /// Takes note of what an earlier run learned of a host's speed.
    pub fn recall(&mut self, host: HostId, estimate: Estimate) {
        let index = self.host(host);
        self.hosts[index as usize].estimate = Some(estimate);
        self.refill(index);
    }

    /// Takes note that no connection to a host is open any more.
    pub fn closed(&mut self, host: HostId) {
        let index = self.host(host);
        self.hosts[index as usize].open = false;
        self.list(index);
    }

    /// Leaves a host alone until the bench is made anew; its pages stay in the ledger.
    pub fn park(&mut self, host: HostId) {
        let index = self.host(host);
        let host = &mut self.hosts[index as usize];
        host.parked = true;
        let id = host.id;
        let dropped = host.queue.clear(&mut self.places);
        self.waiting -= dropped;
        self.left_alone += dropped + self.clear_shelf(id);
        self.list(index);
    }

    /// Whether a server could be visited now.
    pub fn is_ready(&self, now: Moment) -> bool {
        !self.ready.is_empty() || self.later.first().is_some_and(|&(ready, _)| ready <= now)
    }

    /// Whether no visit is under way.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.visits == 0
    }

    /// Pages that are ready, as far as their servers are.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The host of an index.
    pub(crate) fn host_id(&self, index: HostIndex) -> HostId {
        self.hosts[index as usize].id
    }

    /// Pages of parked hosts and of hosts over their limit.
    pub fn left_alone(&self) -> usize {
        self.left_alone
    }

    /// The number of a host, in the order in which they were heard of.
    pub fn host(&mut self, id: HostId) -> HostIndex {
        if let Some(&index) = self.names.get(&id) {
            return index;
        }
        let server = self.new_server(None);
        let index = self.hosts.len() as HostIndex;
        self.hosts.push(Host::new(id, server));
        self.names.insert(id, index);
        index
    }

    /// Makes servers ready whose delay is over.
    fn wake(&mut self, now: Moment) {
        while let Some(&(ready, server)) = self.later.first()
            && ready <= now
        {
            self.later.pop_first();
            self.servers[server as usize].ready = Moment::START;
            self.servers[server as usize].place = Seat::Away;
            self.seat(server);
        }
    }

    fn push(&mut self, index: HostIndex, entry: Entry) {
        let most = self.hand(index);
        let queue = &mut self.hosts[index as usize].queue;
        if queue.push(entry, most, &mut self.places) {
            self.list(index);
        }
    }

    /// Fills a host's hand, and ranks the host by it.
    fn refill(&mut self, index: HostIndex) {
        self.fill(index);
        self.list(index);
    }

    fn fill(&mut self, index: HostIndex) {
        let most = self.hand(index);
        let queue = &mut self.hosts[index as usize].queue;
        queue.fill(most, &mut self.places);
    }

    fn move_host(&mut self, visit: Visit, target: ServerIndex) {
        let (index, server) = (visit.index, visit.server);
        self.unlist(index);
        self.visits -= 1;
        self.servers[server as usize].seats += 1;
        self.seat(server);
        self.hosts[index as usize].server = target;
        self.put_back(visit);
        self.refill(index);
    }

    fn new_server(&mut self, address: Option<IpAddr>) -> ServerIndex {
        let index = self.servers.len() as ServerIndex;
        self.servers.push(Server {
            address,
            hosts: BTreeSet::new(),
            ready: Moment::START,
            pace: None,
            refusals: 0,
            seats: self.manners.seats,
            place: Seat::Away,
        });
        if let Some(address) = address {
            self.addresses.insert(address, index);
        }
        index
    }
}

#[cfg(test)]
mod tests;
