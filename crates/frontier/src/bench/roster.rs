//! Lists the busiest hosts and their states, for status pages.

use std::net::IpAddr;

use page::HostId;
use policy::{Moment, Number};

use super::{Bench, ServerPosition};

/// The state of one host on the bench.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The host.
    pub host: HostId,
    /// The address of its server; `None`: not resolved yet.
    pub address: Option<IpAddr>,
    /// Its state.
    pub state: State,
    /// Number of its pages on the bench.
    pub waiting: usize,
    /// Number of its pages that were claimed in this run.
    pub claimed: u32,
    /// Its best page on the bench, which is claimed next.
    pub first: Option<Number>,
}

/// The state of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A visit to its server is under way.
    Visited,
    /// A request may be made now.
    Ready,
    /// A request may be made from this moment on.
    Later(Moment),
    /// No page waits for it.
    Idle,
    /// Requests to it have stopped for the rest of the run.
    Parked,
}

impl Bench {
    /// Returns up to `most` hosts with the most claimed and waiting pages, in descending order of
    /// their number.
    pub fn busiest(&self, most: usize, now: Moment) -> Vec<Place> {
        let busy = |index: usize| {
            let host = &self.hosts[index];
            host.claimed as usize + host.queue.len()
        };
        let mut order: Vec<(usize, usize)> = (0..self.hosts.len())
            .map(|index| (busy(index), index))
            .filter(|(busy, index)| *busy > 0 || self.hosts[*index].parked)
            .filter(|(_, index)| !self.hosts[*index].is_deferred_queue)
            .collect();
        let by_work = |&(busy, index): &(usize, usize)| (std::cmp::Reverse(busy), index);
        if order.len() > most {
            order.select_nth_unstable_by_key(most, by_work);
            order.truncate(most);
        }
        order.sort_unstable_by_key(by_work);
        order
            .into_iter()
            .map(|(_, index)| self.place(index, now))
            .collect()
    }

    fn place(&self, index: usize, now: Moment) -> Place {
        let host = &self.hosts[index];
        let server = &self.servers[host.server as usize];
        let waiting = host.queue.len();
        let state = match server.position {
            _ if host.parked => State::Parked,
            ServerPosition::Later(moment) if moment > now => State::Later(moment),
            _ if server.seats < self.manners.seats => State::Visited,
            _ if server.ready > now => State::Later(server.ready),
            _ if waiting > 0 => State::Ready,
            _ => State::Idle,
        };
        Place {
            host: host.id,
            address: server.address,
            state,
            waiting,
            claimed: host.claimed,
            first: host.queue.first().map(|entry| entry.number()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policy::Worth;
    use policy::published::server::BreadthFirstServers;

    use super::*;
    use crate::bench::{Manners, Turn};

    #[test]
    fn the_busiest_hosts_come_first_with_their_states() {
        let now = Moment::from_micros(5_000_000);
        let mut bench = Bench::new(Manners::default(), Box::new(BreadthFirstServers));
        for page in 0..6 {
            let host = HostId(u64::from(page % 3 == 0));
            bench.offer(Number(page), host, Worth::new(1.0));
        }
        let hosts = |places: &[Place]| places.iter().map(|place| place.host.0).collect::<Vec<_>>();
        assert_eq!(hosts(&bench.busiest(9, now)), [0, 1]);
        assert_eq!(hosts(&bench.busiest(1, now)), [0]);
        let Turn::Visit(mut visit) = bench.next(now) else {
            panic!("something waits")
        };
        let asked = visit.host;
        let state = |bench: &Bench, host| {
            let places = bench.busiest(9, now);
            let place = places.iter().find(|place| place.host == host);
            place.map(|place| (place.state, place.waiting, place.claimed))
        };
        let first = visit.first().unwrap();
        assert_eq!(visit.worth_of(first), Some(Worth::new(1.0)));
        let (doing, waiting, claimed) = state(&bench, asked).unwrap();
        assert_eq!((doing, claimed), (State::Visited, 1));
        visit.settled(first);
        assert_eq!(visit.worth_of(first), None);
        bench.settle(visit, now, Duration::from_secs(3), false);
        let later = State::Later(now + Duration::from_secs(3));
        assert_eq!(state(&bench, asked), Some((later, waiting, 1)));
        bench.park(asked);
        assert_eq!(state(&bench, asked), Some((State::Parked, 0, 1)));
    }
}
