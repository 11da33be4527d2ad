//! The servers that have work, ordered by when they may next be asked.
//!
//! A server is an address: hosts that share one share its politeness. Until a host is resolved it
//! is a server of its own; [`Bench::bind`] says which one it turned out to be.
//!
//! **Invariant:** a server is on the bench if and only if it has a page ready and a seat free. It
//! has one seat unless the user gave it more, so two visits to one server are not forbidden by a
//! check: they cannot be expressed.

mod host;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use page::{HostId, PageId};
use policy::{Moment, Worth};

use host::Host;

type ServerIndex = u32;
type HostIndex = u32;

/// How servers are treated.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Visits to one server at the same time.
    pub seats: u8,
    /// Pages a visit may fetch one after another from a server that needs no delay.
    pub pages_per_visit: usize,
    /// Pages claimed from one host before the rest is left alone.
    pub pages_per_host: u32,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            seats: 1,
            pages_per_visit: 16,
            pages_per_host: 1_000_000,
        }
    }
}

/// The right, and the duty, to fetch a few pages of one host, one after another.
#[must_use = "a visit that is never settled keeps its server off the bench"]
#[derive(Debug)]
pub struct Visit {
    /// The host to ask.
    pub host: HostId,
    /// What to ask it for, in this order.
    pub pages: Vec<PageId>,
    worths: Vec<Worth>,
    server: ServerIndex,
}

/// What to do now.
#[derive(Debug)]
pub enum Next {
    /// Visit this host.
    Visit(Visit),
    /// Nothing before this moment, unless something is offered or settled.
    WaitUntil(Moment),
    /// Nothing is waiting at all.
    Idle,
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
    /// Hosts with ready pages, in turn.
    rotation: VecDeque<HostIndex>,
    /// Not to be asked before.
    ready: Moment,
    /// The delay of the last visit; zero: pages may follow each other at once.
    pace: Option<Duration>,
    seats: u8,
    /// Its place on the bench, if it is there.
    place: Option<(Moment, u64)>,
}

/// Servers over hosts over pages.
pub struct Bench {
    manners: Manners,
    servers: Vec<Server>,
    addresses: HashMap<IpAddr, ServerIndex>,
    hosts: Vec<Host>,
    names: HashMap<HostId, HostIndex>,
    bench: BTreeSet<(Moment, u64, ServerIndex)>,
    /// Pages that are not due yet.
    calendar: BinaryHeap<Reverse<(Moment, PageId, Worth)>>,
    turn: u64,
    waiting: usize,
    left_alone: usize,
}

impl Bench {
    /// An empty bench.
    pub fn new(manners: Manners) -> Self {
        Self {
            manners,
            servers: Vec::new(),
            addresses: HashMap::new(),
            hosts: Vec::new(),
            names: HashMap::new(),
            bench: BTreeSet::new(),
            calendar: BinaryHeap::new(),
            turn: 0,
            waiting: 0,
            left_alone: 0,
        }
    }

    /// Puts a page on the bench, to be fetched from `due` on.
    pub fn offer(&mut self, page: PageId, worth: Worth, due: Moment, now: Moment) {
        if due > now {
            self.calendar.push(Reverse((due, page, worth)));
            return;
        }
        let index = self.host(page.host());
        let host = &mut self.hosts[index as usize];
        if host.parked {
            self.left_alone += 1;
            return;
        }
        host.push(page.within_host(), worth);
        self.waiting += 1;
        self.list(index);
    }

    /// What to do now.
    pub fn next(&mut self, now: Moment) -> Next {
        while let Some(&Reverse((due, page, worth))) = self.calendar.peek()
            && due <= now
        {
            self.calendar.pop();
            self.offer(page, worth, due, now);
        }
        let due = self.calendar.peek().map(|&Reverse((due, ..))| due);
        let Some(&(ready, _, server)) = self.bench.first() else {
            return due.map_or(Next::Idle, Next::WaitUntil);
        };
        if ready > now {
            return Next::WaitUntil(due.map_or(ready, |due| due.min(ready)));
        }
        Next::Visit(self.claim(server))
    }

    /// Says which address the host of a visit has, of which the first `asked` pages are settled.
    pub fn bind(&mut self, visit: Visit, asked: usize, address: IpAddr, now: Moment) -> Bound {
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
                self.move_host(visit, asked, target, now);
                Bound::Moved
            }
        }
    }

    /// Ends a visit: the server may be asked again after `delay`. The pages of the visit that were
    /// not asked for, those after the first `asked`, wait again where they were.
    pub fn settle(&mut self, visit: Visit, asked: usize, now: Moment, delay: Duration) {
        let server = &mut self.servers[visit.server as usize];
        server.pace = Some(delay);
        server.ready = server.ready.max(now + delay);
        server.seats += 1;
        let index = self.names[&visit.host];
        self.put_back(index, &visit, asked);
        self.seat(visit.server);
    }

    /// Leaves a host alone until the bench is made anew; its pages stay in the ledger.
    pub fn park(&mut self, host: HostId) {
        let index = self.host(host);
        let host = &mut self.hosts[index as usize];
        host.parked = true;
        let dropped = host.clear();
        self.waiting -= dropped;
        self.left_alone += dropped;
    }

    /// Whether a server could be visited now.
    pub fn is_ready(&self, now: Moment) -> bool {
        self.bench.first().is_some_and(|&(ready, ..)| ready <= now)
    }

    /// Pages ready or due later.
    pub fn waiting(&self) -> usize {
        self.waiting + self.calendar.len()
    }

    /// Pages of parked hosts and of hosts over their limit.
    pub fn left_alone(&self) -> usize {
        self.left_alone
    }

    fn claim(&mut self, index: ServerIndex) -> Visit {
        let server = &mut self.servers[index as usize];
        if let Some((ready, turn)) = server.place.take() {
            self.bench.remove(&(ready, turn, index));
        }
        server.seats -= 1;
        let most = if server.pace == Some(Duration::ZERO) {
            self.manners.pages_per_visit
        } else {
            1
        };
        let turn = server.rotation.pop_front();
        let host_index = turn.unwrap_or_else(|| unreachable!("a server on the bench has a host"));
        let host = &mut self.hosts[host_index as usize];
        host.listed = false;
        let mut visit = Visit {
            host: host.id,
            pages: Vec::new(),
            worths: Vec::new(),
            server: index,
        };
        while visit.pages.len() < most
            && let Some((page, worth)) = host.pop()
        {
            visit.pages.push(PageId::new(host.id, page));
            visit.worths.push(worth);
        }
        self.waiting -= visit.pages.len();
        host.claimed = host.claimed.saturating_add(visit.pages.len() as u32);
        if host.claimed >= self.manners.pages_per_host {
            let id = host.id;
            self.park(id);
        } else if !host.is_empty() {
            self.list(host_index);
        }
        self.seat(index);
        visit
    }

    fn put_back(&mut self, index: HostIndex, visit: &Visit, asked: usize) {
        let host = &mut self.hosts[index as usize];
        let rest = visit.pages.len().saturating_sub(asked);
        if host.parked {
            self.left_alone += rest;
            return;
        }
        for (page, worth) in visit.pages.iter().zip(&visit.worths).skip(asked).rev() {
            host.push_front(page.within_host(), *worth);
        }
        host.claimed -= rest as u32;
        self.waiting += rest;
        if rest > 0 {
            self.list(index);
        }
    }

    /// Puts the host into its server's rotation, and the server on the bench.
    fn list(&mut self, index: HostIndex) {
        let host = &mut self.hosts[index as usize];
        let server = host.server;
        if !std::mem::replace(&mut host.listed, true) {
            self.servers[server as usize].rotation.push_back(index);
        }
        self.seat(server);
    }

    /// Makes the invariant true again for one server.
    fn seat(&mut self, index: ServerIndex) {
        let server = &mut self.servers[index as usize];
        while let Some(&first) = server.rotation.front()
            && self.hosts[first as usize].is_empty()
        {
            self.hosts[first as usize].listed = false;
            server.rotation.pop_front();
        }
        let belongs = server.seats > 0 && !server.rotation.is_empty();
        match server.place {
            Some((ready, turn)) if !belongs || ready != server.ready => {
                self.bench.remove(&(ready, turn, index));
                server.place = None;
            }
            Some(_) => return,
            None => {}
        }
        if belongs {
            self.turn += 1;
            server.place = Some((server.ready, self.turn));
            self.bench.insert((server.ready, self.turn, index));
        }
    }

    fn move_host(&mut self, visit: Visit, asked: usize, target: ServerIndex, now: Moment) {
        let index = self.names[&visit.host];
        let from = &mut self.servers[visit.server as usize];
        from.seats += 1;
        from.rotation.retain(|&host| host != index);
        from.ready = from.ready.max(now);
        let host = &mut self.hosts[index as usize];
        host.server = target;
        host.listed = false;
        self.seat(visit.server);
        self.put_back(index, &visit, asked);
        if !self.hosts[index as usize].is_empty() {
            self.list(index);
        }
    }

    fn host(&mut self, id: HostId) -> HostIndex {
        if let Some(&index) = self.names.get(&id) {
            return index;
        }
        let server = self.new_server(None);
        let index = self.hosts.len() as HostIndex;
        self.hosts.push(Host::new(id, server));
        self.names.insert(id, index);
        index
    }

    fn new_server(&mut self, address: Option<IpAddr>) -> ServerIndex {
        let index = self.servers.len() as ServerIndex;
        self.servers.push(Server {
            address,
            rotation: VecDeque::new(),
            ready: Moment::START,
            pace: None,
            seats: self.manners.seats,
            place: None,
        });
        if let Some(address) = address {
            self.addresses.insert(address, index);
        }
        index
    }
}

#[cfg(test)]
mod tests;
