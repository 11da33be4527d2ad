//! Cache of hosts, and pool of idle connections.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use frontier::{Entry, ServerKey};
use page::HostId;
use policy::Moment;

use crate::event::ConnectionId;
use crate::host::Host;

/// Maximum number of hosts in memory; the others are only in the ledger.
const HOSTS: usize = 20_000;
/// How long an unused connection stays open.
const IDLE: Duration = Duration::from_secs(30);

/// An open connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostConnection {
    pub id: ConnectionId,
    /// The server of its host when the connection was opened.
    pub server: ServerKey,
    /// The other end: the server, or a proxy.
    pub address: IpAddr,
    /// Requests that may be in flight at once.
    pub width: usize,
    /// Requests that it has served.
    pub served: u32,
}

struct IdleConnection {
    host: HostId,
    since: Moment,
    link: HostConnection,
}

/// Hosts in memory, and connections that no visit uses.
#[derive(Default)]
pub(super) struct HostCache {
    known: HashMap<HostId, Host>,
    /// Longest idle first.
    idle: VecDeque<IdleConnection>,
}

impl HostCache {
    /// Returns what is known in memory about a host.
    pub fn get(&self, id: HostId) -> Option<&Host> {
        self.known.get(&id)
    }

    /// Returns what is known in memory about a host.
    pub fn get_mut(&mut self, id: HostId) -> Option<&mut Host> {
        self.known.get_mut(&id)
    }

    /// Stores a host in memory. If the cache is full, evicts all other hosts and returns their
    /// facts.
    pub fn remember(&mut self, id: HostId, host: Host) -> Vec<Entry> {
        let mut facts = Vec::new();
        if self.known.len() >= HOSTS {
            facts = self.facts();
            self.known.clear();
        }
        self.known.entry(id).or_insert(host);
        facts
    }

    /// Returns the facts of all hosts in memory, in the order of their ids.
    pub fn facts(&self) -> Vec<Entry> {
        let mut hosts: Vec<_> = self.known.iter().collect();
        hosts.sort_unstable_by_key(|(id, _)| **id);
        let hosts = hosts.into_iter();
        hosts.filter_map(|(_, host)| host.fact()).collect()
    }

    /// Keeps a connection open for the next visit to its host.
    pub fn put_idle(&mut self, host: HostId, link: HostConnection, now: Moment) {
        let since = now;
        self.idle.push_back(IdleConnection { host, since, link });
    }

    /// Takes an idle connection to a host, if there is one.
    pub fn take_idle(&mut self, host: HostId) -> Option<HostConnection> {
        let place = self.idle.iter().position(|idle| idle.host == host)?;
        self.idle.remove(place).map(|idle| idle.link)
    }

    /// Removes a connection that its server closed. Returns its host.
    pub fn closed(&mut self, id: ConnectionId) -> Option<HostId> {
        let place = self.idle.iter().position(|idle| idle.link.id == id)?;
        self.idle.remove(place).map(|idle| idle.host)
    }

    /// Takes the connection that was idle longest, if there are more than `most`.
    pub fn take_oldest(&mut self, most: usize) -> Option<(HostId, ConnectionId)> {
        if self.idle.len() <= most {
            return None;
        }
        let idle = self.idle.pop_front()?;
        Some((idle.host, idle.link.id))
    }

    /// Takes a connection that has been idle for 30 s or more.
    pub fn take_expired(&mut self, now: Moment) -> Option<(HostId, ConnectionId)> {
        let expired = self.next_expiry().is_some_and(|moment| moment <= now);
        expired.then(|| self.take_oldest(0)).flatten()
    }

    /// Returns when the next idle connection expires.
    pub fn next_expiry(&self) -> Option<Moment> {
        self.idle.front().map(|idle| idle.since + IDLE)
    }

    /// Number of open connections that are not in use.
    pub fn idle(&self) -> usize {
        self.idle.len()
    }
}
