//! Assignment of pages to crawlers.
//!
//! As in production, a registrable domain is hashed to one of 256 partitions ([`Partition`]), so
//! that all hosts of one owner stay together. If one domain holds more than half of the pages,
//! two crawlers could not share the work evenly. In that case the host is hashed instead.
//!
//! **Invariant:** a host is never split.

use std::collections::{HashMap, HashSet};

use frontier::Partition;
use page::HostId;

use crate::run::Division;
use crate::world::Graph;

/// A web and its division into partitions.
pub(super) struct DividedWeb {
    pub division: Division,
    /// Number of partitions that have pages.
    pub parts: usize,
    by_host: bool,
    hosts: usize,
}

impl DividedWeb {
    pub fn of(graph: &Graph) -> Self {
        let mut numbers: HashMap<HostId, Owned<'_>> = HashMap::new();
        let mut sizes: HashMap<&str, usize> = HashMap::new();
        let (mut shares, mut hosts) = (Vec::new(), Vec::new());
        for page in 0..graph.pages() {
            let url = graph.url(page);
            let next = numbers.len() as u32;
            let owned = numbers.entry(url.host()).or_insert_with(|| Owned {
                host: next,
                domain: url.registrable_domain(),
                share: Partition::of(url).0,
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
        Self {
            by_host,
            hosts: numbers.len(),
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
    share: u8,
}

/// Returns the partition of a host: the most significant byte of its id, which is already a hash.
fn share_of(host: HostId) -> u8 {
    (host.0 >> 56) as u8
}
