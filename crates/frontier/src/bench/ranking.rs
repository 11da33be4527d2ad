//! Keeps hosts ranked within their server, and ready servers ranked on the bench.

use std::cmp::Reverse;

use policy::server::{Bid, ConnectionSlot, Queue};
use policy::{Moment, Rank};

use super::{Bench, HostIndex, ServerIndex, ServerPosition};

impl Bench {
    /// Returns the size of a host's hand: the number of pages that one connection to it carries, at
    /// most [`pages_per_visit`](super::Manners::pages_per_visit).
    pub(super) fn hand(&self, index: HostIndex) -> usize {
        let estimate = self
            .hosts
            .get(index as usize)
            .and_then(|host| host.estimate);
        let carries = estimate.unwrap_or(self.usual).per_connection as usize;
        carries.clamp(1, self.manners.pages_per_visit)
    }

    /// Returns the rank and size of the next visit to a host. `worths` is a scratch buffer.
    pub(super) fn bid(&self, index: HostIndex, worths: &mut Vec<f32>) -> Bid {
        let host = &self.hosts[index as usize];
        host.queue.best(self.most(index), worths);
        self.strategy.bid(&Queue {
            best: worths,
            estimate: host.estimate.as_ref().unwrap_or(&self.usual),
            line: self.line(host.open),
        })
    }

    /// Returns the result of [`bid`](Self::bid), with the bench's own scratch buffer.
    pub(super) fn bid_now(&mut self, index: HostIndex) -> Bid {
        let mut worths = std::mem::take(&mut self.worths);
        let bid = self.bid(index, &mut worths);
        self.worths = worths;
        bid
    }

    /// Describes the connection that a visit uses, for the strategy.
    pub(super) fn line(&self, open: bool) -> ConnectionSlot {
        ConnectionSlot {
            open,
            pipelined: self.manners.width > 1,
        }
    }

    /// Returns whether the claims of a host have reached their limit.
    pub(super) fn is_spent(&self, index: HostIndex) -> bool {
        self.hosts[index as usize].claimed >= self.manners.pages_per_host
    }

    /// Returns the maximum number of pages that the next visit to a host is ranked for. At a server
    /// that needs a delay, this is at most a burst.
    pub(super) fn most(&self, index: HostIndex) -> usize {
        let host = &self.hosts[index as usize];
        let pace = self.servers[host.server as usize].pace;
        let allowed = self.manners.pages_per_host.saturating_sub(host.claimed);
        let most = pace.unwrap_or(usize::MAX).min(allowed as usize);
        self.hand(index).min(most)
    }

    /// Updates the rank of a host within its server, and that of the server on the bench.
    pub(super) fn list(&mut self, index: HostIndex) {
        let host = &self.hosts[index as usize];
        let server = host.server;
        if host.queue.is_empty() || host.is_deferred_queue || self.is_spent(index) {
            self.unlist(index);
            self.update_position(server);
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
        self.update_position(server);
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

    /// Puts a server on the bench or takes it off, as the invariant of the bench requires.
    pub(super) fn update_position(&mut self, index: ServerIndex) {
        let server = &mut self.servers[index as usize];
        let wanted = match server.hosts.first() {
            Some(_) if server.seats == 0 => ServerPosition::Away,
            Some(_) if server.ready > Moment::START => ServerPosition::Later(server.ready),
            Some(&(Reverse(rank), turn, _)) => ServerPosition::Ready(rank, turn),
            None => ServerPosition::Away,
        };
        let before = std::mem::replace(&mut server.position, wanted);
        if before == wanted {
            return;
        }
        match before {
            ServerPosition::Away => {}
            ServerPosition::Later(ready) => {
                self.later.remove(&(ready, index));
            }
            ServerPosition::Ready(rank, turn) => {
                self.ready.remove(&(Reverse(rank), turn, index));
            }
        }
        match wanted {
            ServerPosition::Away => {}
            ServerPosition::Later(ready) => {
                self.later.insert((ready, index));
            }
            ServerPosition::Ready(rank, turn) => {
                self.ready.insert((Reverse(rank), turn, index));
            }
        }
    }
}
