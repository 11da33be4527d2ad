//! Hosts that the crawl remembers, and connections to them that no visit uses.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use frontier::{Entry, ServerKey};
use page::HostId;
use policy::Moment;

use crate::event::ConnectionId;
use crate::host::Host;

/// Hosts kept in memory; the ledger knows the others.
const HOSTS: usize = 20_000;
/// How long a connection stays open that no visit uses.
const IDLE: Duration = Duration::from_secs(30);

/// A connection, as the core knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub id: ConnectionId,
    /// The server that its host had when it was opened.
    pub server: ServerKey,
    /// The other end: the server, or a proxy.
    pub address: IpAddr,
    /// Requests that may be under way at once.
    pub width: usize,
    /// Requests that it served.
    pub served: u32,
}

/// A connection that no visit uses.
struct Idle {
    host: HostId,
    since: Moment,
    link: Link,
}

/// Hosts in memory.
#[derive(Default)]
pub(super) struct Hosts {
    known: HashMap<HostId, Host>,
    /// Those that are idle for longest first.
    idle: VecDeque<Idle>,
}

impl Hosts {
    /// What is remembered of a host.
    pub fn get(&self, id: HostId) -> Option<&Host> {
        self.known.get(&id)
    }

    /// What is remembered of a host.
    pub fn get_mut(&mut self, id: HostId) -> Option<&mut Host> {
        self.known.get_mut(&id)
    }

    /// Remembers a host. Returns the facts of hosts that are forgotten for it.
    pub fn remember(&mut self, id: HostId, host: Host) -> Vec<Entry> {
        let mut facts = Vec::new();
        if self.known.len() >= HOSTS {
            facts = self.facts();
            self.known.clear();
        }
        self.known.entry(id).or_insert(host);
        facts
    }

    /// What is known of all hosts in memory, in the order of their ids.
    pub fn facts(&self) -> Vec<Entry> {
        let mut hosts: Vec<_> = self.known.iter().collect();
        hosts.sort_unstable_by_key(|(id, _)| **id);
        let hosts = hosts.into_iter();
        hosts.filter_map(|(_, host)| host.fact()).collect()
    }

    /// Keeps a connection for the next visit to its host.
    pub fn put_idle(&mut self, host: HostId, link: Link, now: Moment) {
        let since = now;
        self.idle.push_back(Idle { host, since, link });
    }

    /// Takes a connection to a host, if there is one.
    pub fn take_idle(&mut self, host: HostId) -> Option<Link> {
        let place = self.idle.iter().position(|idle| idle.host == host)?;
        self.idle.remove(place).map(|idle| idle.link)
    }

    /// Forgets a connection that its server closed. Returns its host.
    pub fn closed(&mut self, id: ConnectionId) -> Option<HostId> {
        let place = self.idle.iter().position(|idle| idle.link.id == id)?;
        self.idle.remove(place).map(|idle| idle.host)
    }

    /// Takes the connection that was idle for longest, if there are more than so many.
    pub fn take_oldest(&mut self, most: usize) -> Option<(HostId, ConnectionId)> {
        if self.idle.len() <= most {
            return None;
        }
        let idle = self.idle.pop_front()?;
        Some((idle.host, idle.link.id))
    }

    /// Takes a connection that was idle for too long.
    pub fn take_expired(&mut self, now: Moment) -> Option<(HostId, ConnectionId)> {
        let expired = self.next_expiry().is_some_and(|moment| moment <= now);
        expired.then(|| self.take_oldest(0)).flatten()
    }

    /// When the next connection will have been idle for too long.
    pub fn next_expiry(&self) -> Option<Moment> {
        self.idle.front().map(|idle| idle.since + IDLE)
    }

    /// Connections that are open and not in use.
    pub fn idle(&self) -> usize {
        self.idle.len()
    }
}
