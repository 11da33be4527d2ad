//! Claims pages for visits and puts unused claims back.

use std::cmp::Reverse;
use std::collections::VecDeque;

use policy::server::Queue;
use policy::{Moment, Worth};

use super::{Bench, HostIndex, HostVisit, ServerIndex};

impl Bench {
    /// Claims the next pages for a visit whose connection is open and whose server needs no
    /// delay now. Returns whether it claimed any.
    ///
    /// It claims pages, at most as many as may be in flight, while one of these holds:
    ///
    /// - The visit has fewer pages than it was ranked for.
    /// - No rival waits for the connection. A rival is another host of this server or, unless
    ///   another connection is `free`, another server.
    /// - The strategy prefers to stay with this host rather than serve the best rival.
    pub fn more(&mut self, visit: &mut HostVisit, free: bool, now: Moment) -> bool {
        self.wake(now);
        let siblings = self.servers[visit.server as usize].hosts.iter();
        let mut rivals = siblings.filter(|&&(.., host)| host != visit.index);
        let sibling = rivals.next().map(|&(Reverse(rank), ..)| rank);
        let server = self.ready.first().map(|&(Reverse(rank), ..)| rank);
        let rival = sibling.max(server.filter(|_| !free));
        let line = self.line(true);
        let mut taken = false;
        for _ in 0..self.manners.width {
            let next = self.hosts[visit.index as usize].queue.first();
            let Some(next) = next.filter(|_| !self.is_spent(visit.index)) else {
                break;
            };
            let queue = Queue {
                best: &[],
                estimate: &visit.estimate,
                line,
            };
            let stays = visit.claimed < visit.planned
                || rival.is_none_or(|rank| self.strategy.stays(next.worth(), &queue, rank));
            if !stays {
                break;
            }
            self.take(visit, 1);
            taken = true;
        }
        if self.hosts[visit.index as usize].listed.is_some() {
            // The host is listed for a further visit, and its best page may have left the queue.
            self.list(visit.index);
        }
        taken
    }

    /// Returns the worth of the first page of the next visit; `None`: no server is ready.
    pub(crate) fn ready(&mut self, now: Moment) -> Option<Worth> {
        self.wake(now);
        let &(_, _, server) = self.ready.first()?;
        let &(.., host) = self.servers[server as usize].hosts.first()?;
        let first = self.hosts[host as usize].queue.first()?;
        Some(Worth::new(f64::from(first.worth())))
    }

    /// Returns the worth of the best page that waits for this host or for the host that is
    /// visited next.
    pub(crate) fn best(&self, host: HostIndex) -> Option<Worth> {
        let next = self.ready.first().map(|&(_, _, server)| server);
        let hosts = next.and_then(|server| self.servers[server as usize].hosts.first());
        let hosts = [Some(host), hosts.map(|&(.., host)| host)];
        let first = |host: HostIndex| self.hosts[host as usize].queue.first();
        let best = hosts.into_iter().flatten().filter_map(first).max();
        best.map(|entry| Worth::new(f64::from(entry.worth())))
    }

    /// Starts a visit to the best host of a server that is ready.
    pub(super) fn claim(&mut self, server: ServerIndex) -> HostVisit {
        let first = self.servers[server as usize].hosts.first();
        let &(_, _, index) =
            first.unwrap_or_else(|| unreachable!("a server on the bench has no host"));
        let bid = self.bid_now(index);
        let host = &self.hosts[index as usize];
        let mut visit = HostVisit {
            host: host.id,
            estimate: host.estimate.unwrap_or(self.usual.expected()),
            burst: self.manners.burst,
            refusals: self.servers[server as usize].refusals,
            claims: VecDeque::new(),
            planned: bid.pages,
            claimed: 0,
            server,
            index,
        };
        let paced = self.servers[server as usize].pace.is_some();
        self.visits += 1;
        self.servers[server as usize].seats -= 1;
        self.unlist(index);
        // A server whose delay is unknown gets a single request first: it may need a delay.
        let pages = if paced { self.manners.width } else { 1 };
        self.take(&mut visit, pages.min(bid.pages));
        if self.servers[server as usize].seats > 0 {
            self.refill(index);
        }
        self.update_position(server);
        visit
    }

    /// Moves up to `pages` of the host's best pages into a visit.
    fn take(&mut self, visit: &mut HostVisit, pages: usize) {
        for _ in 0..pages {
            if self.is_spent(visit.index) {
                break;
            }
            let host = &mut self.hosts[visit.index as usize];
            let Some(entry) = host.queue.pop(&mut self.places) else {
                break;
            };
            host.claimed += 1;
            let empty = host.queue.is_empty();
            self.waiting -= 1;
            visit.claimed += 1;
            visit.claims.push_back(entry);
            if empty {
                self.fill(visit.index);
            }
        }
    }

    /// Puts the unsettled pages of a visit back into the queue of their host. Drops and counts them
    /// if the host was parked meanwhile.
    pub(super) fn put_back(&mut self, visit: HostVisit) {
        self.learn(&visit);
        let host = &mut self.hosts[visit.index as usize];
        let rest = visit.claims.len();
        if host.parked {
            self.left_alone += rest;
            return;
        }
        host.claimed -= rest as u32;
        self.waiting += rest;
        for entry in visit.claims {
            self.push(visit.index, entry);
        }
    }

    fn learn(&mut self, visit: &HostVisit) {
        self.usual.approach(&visit.estimate);
        self.hosts[visit.index as usize].estimate = Some(visit.estimate);
    }
}
