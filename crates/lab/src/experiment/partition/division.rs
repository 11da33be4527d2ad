//! Assignment of pages to crawlers.
//!
//! As in production, a registrable domain is hashed to one of 256 partitions ([`Partition`]), so
//! that all hosts of one owner stay together. If one domain holds more than half of the pages,
//! two crawlers could not share the work evenly. In that case the host is hashed instead.
//!
//! The second division is that of Baldi, Frasconi & Smyth (2003), §6.3: the IP address of the host
//! as a number, modulo the number of crawlers. No world has addresses, so they are drawn.
//!
//! **Invariant:** a host is never split.

use std::collections::{HashMap, HashSet};

use frontier::Partition;
use page::HostId;
use rand::RngExt;
use testweb::chance::{For, stream};

use crate::run::Division;
use crate::world::Graph;

/// A web and its division into partitions.
pub(super) struct DividedWeb {
    /// By the hash of a name.
    pub division: Division,
    /// By IP address.
    pub by_address: Division,
    /// Number of partitions that have pages.
    pub parts: usize,
    by_host: bool,
    hosts: usize,
}

impl DividedWeb {
    /// Divides a web. The seed is that of the addresses.
    pub fn of(graph: &Graph, hosts_per_address: f64, seed: u64) -> Self {
        let mut numbers: HashMap<HostId, Owned<'_>> = HashMap::new();
        let mut sizes: HashMap<&str, usize> = HashMap::new();
        let (mut shares, mut hosts) = (Vec::new(), Vec::new());
        for page in 0..graph.pages() {
            let url = graph.url(page);
            let next = numbers.len() as u32;
            let owned = numbers.entry(url.host()).or_insert_with(|| Owned {
                host: next,
                domain: url.registrable_domain(),
                share: Partition::of(url).0.into(),
            });
            *sizes.entry(owned.domain).or_default() += 1;
            shares.push(owned.share);
            hosts.push(owned.host);
        }
        let largest = sizes.values().max().copied().unwrap_or(0);
        let by_host = largest * 2 > graph.pages();
        if by_host {
            let share = |page: usize| share_of(graph.url(page).host());
            shares = (0..graph.pages()).map(share).collect();
        }
        let parts = shares.iter().collect::<HashSet<_>>().len();
        let addresses = addresses(numbers.len(), hosts_per_address, seed);
        let by_address = hosts.iter().map(|&host| addresses[host as usize]).collect();
        Self {
            by_host,
            hosts: numbers.len(),
            by_address: Division {
                shares: by_address,
                hosts: hosts.clone(),
            },
            division: Division { shares, hosts },
            parts,
        }
    }

    /// Returns a note for the reader if the division is unusual.
    pub fn note(&self) -> Option<String> {
        let note = match (self.hosts, self.by_host) {
            (0 | 1, _) => {
                "this web has one host, which is never divided: one crawler of a static or dynamic team does all \
                 the work, and BK6 is not judged"
            }
            (_, true) => {
                "more than half of this web is of one registrable domain, which production would leave to one \
                 crawler: here the hash is of the host"
            }
            _ => return None,
        };
        Some(note.to_owned())
    }
}

/// A host, its domain and its partition.
struct Owned<'a> {
    host: u32,
    domain: &'a str,
    share: u32,
}

/// Returns the partition of a host: the most significant byte of its id, which is already a hash.
fn share_of(host: HostId) -> u32 {
    (host.0 >> 56) as u32
}

/// Draws the IPv4 address of each host, as a number. Each host is at one of `hosts/per_address`
/// addresses, all with the same probability.
fn addresses(hosts: usize, per_address: f64, seed: u64) -> Vec<u32> {
    let count = ((hosts as f64 / per_address).ceil() as u64).max(1);
    let address = |host: u64| {
        // With one host per address, no two hosts share one.
        let place = match per_address > 1.0 {
            true => stream(seed, For::Addresses, host, 0).random_range(0..count),
            false => host,
        };
        stream(seed, For::Addresses, place, 1).random()
    };
    (0..hosts as u64).map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_share_as_many_addresses_as_were_set() {
        let distinct = |per_address: f64, seed: u64| {
            let drawn = addresses(1_000, per_address, seed);
            drawn.iter().collect::<HashSet<_>>().len()
        };
        assert_eq!(distinct(1.0, 1), 1_000);
        // A random host misses each of the hundred addresses with probability .99.
        assert_eq!(distinct(10.0, 1), 100);
        assert_eq!(distinct(1e9, 1), 1);
        assert_ne!(addresses(9, 1.0, 1), addresses(9, 1.0, 2));
    }
}
