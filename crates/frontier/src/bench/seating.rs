//! Keeps hosts ranked within their server, and servers on the bench.

use std::cmp::Reverse;

use policy::server::{Bid, Line, Queue};
use policy::{Moment, Rank};

use super::{Bench, HostIndex, Seat, ServerIndex};

impl Bench {
    /// Pages that a connection to a host carries.
    pub(super) fn hand(&self, index: HostIndex) -> usize {
        let estimate = self
            .hosts
            .get(index as usize)
            .and_then(|host| host.estimate);
        let carries = estimate.unwrap_or(self.usual).per_connection as usize;
        carries.clamp(1, self.manners.pages_per_visit)
    }

    /// What the next visit to a host is worth; `worths` is room to work in.
    pub(super) fn bid(&self, index: HostIndex, worths: &mut Vec<f32>) -> Bid {
        let host = &self.hosts[index as usize];
        host.queue.best(self.most(index), worths);
        self.strategy.bid(&Queue {
            best: worths,
            estimate: host.estimate.as_ref().unwrap_or(&self.usual),
            line: self.line(host.open),
        })
    }

    /// The same, without asking for room each time.
    pub(super) fn bid_now(&mut self, index: HostIndex) -> Bid {
        let mut worths = std::mem::take(&mut self.worths);
        let bid = self.bid(index, &mut worths);
        self.worths = worths;
        bid
    }

    /// The connection that a visit uses.
    pub(super) fn line(&self, open: bool) -> Line {
        Line {
            open,
            pipelined: self.manners.width > 1,
        }
    }

    /// Whether as many pages of a host were claimed as may be.
    pub(super) fn is_spent(&self, index: HostIndex) -> bool {
        self.hosts[index as usize].claimed >= self.manners.pages_per_host
    }

    /// Pages that the next visit to a host may be for.
    pub(super) fn most(&self, index: HostIndex) -> usize {
        let host = &self.hosts[index as usize];
        let pace = self.servers[host.server as usize].pace;
        if pace.is_some_and(|pace| !pace.is_zero()) {
            return 1;
        }
        let allowed = self.manners.pages_per_host.saturating_sub(host.claimed);
        self.hand(index).min(allowed as usize)
    }

    /// Ranks a host anew among those of its server, and the server on the bench.
    pub(super) fn list(&mut self, index: HostIndex) {
        let host = &self.hosts[index as usize];
        let server = host.server;
        if host.queue.is_empty() || host.is_shelf || self.is_spent(index) {
            self.unlist(index);
            self.seat(server);
            return;
        }
        let bid = self.bid_now(index);
        match self.hosts[index as usize].listed {
            Some((rank, _)) if rank == bid.rank => return,
            Some((_, turn)) => {
                self.unlist(index);
                self.enlist(index, bid.rank, turn);
            }
            None => {
                self.turn += 1;
                self.enlist(index, bid.rank, self.turn);
            }
        }
        self.seat(server);
    }

    fn enlist(&mut self, index: HostIndex, rank: Rank, turn: u64) {
        let host = &mut self.hosts[index as usize];
        host.listed = Some((rank, turn));
        let hosts = &mut self.servers[host.server as usize].hosts;
        hosts.insert((Reverse(rank), turn, index));
    }

    pub(super) fn unlist(&mut self, index: HostIndex) {
        let host = &mut self.hosts[index as usize];
        if let Some((rank, turn)) = host.listed.take() {
            let hosts = &mut self.servers[host.server as usize].hosts;
            hosts.remove(&(Reverse(rank), turn, index));
        }
    }

    /// Makes the invariant true again for one server.
    pub(super) fn seat(&mut self, index: ServerIndex) {
        let server = &mut self.servers[index as usize];
        let wanted = match server.hosts.first() {
            Some(_) if server.seats == 0 => Seat::Away,
            Some(_) if server.ready > Moment::START => Seat::Later(server.ready),
            Some(&(Reverse(rank), turn, _)) => Seat::Ready(rank, turn),
            None => Seat::Away,
        };
        let before = std::mem::replace(&mut server.place, wanted);
        if before == wanted {
            return;
        }
        match before {
            Seat::Away => {}
            Seat::Later(ready) => drop(self.later.remove(&(ready, index))),
            Seat::Ready(rank, turn) => drop(self.ready.remove(&(Reverse(rank), turn, index))),
        }
        match wanted {
            Seat::Away => {}
            Seat::Later(ready) => drop(self.later.insert((ready, index))),
            Seat::Ready(rank, turn) => drop(self.ready.insert((Reverse(rank), turn, index))),
        }
    }
}
