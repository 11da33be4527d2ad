//! How is a web divided among crawlers?
//!
//! As production divides it: a registrable domain, and so every host that one owner pays for, hashes to
//! one of 256 shares ([`Partition`]). Where one domain has more than half of the pages, not even two
//! crawlers could share the work, so there the hash is of the host. **Invariant:** a host is never
//! divided.

use std::collections::{HashMap, HashSet};

use frontier::Partition;
use page::HostId;

use crate::run::Division;
use crate::world::Graph;

/// A web and how it is divided.
pub(super) struct Divided {
    pub division: Division,
    /// Shares that have a page.
    pub parts: usize,
    by_host: bool,
    hosts: usize,
}

impl Divided {
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

    /// What a reader must know of it.
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

/// A host and whose it is.
struct Owned<'a> {
    host: u32,
    domain: &'a str,
    share: u8,
}

/// A host's id is a hash already, of which the first byte is a share.
fn share_of(host: HostId) -> u8 {
    (host.0 >> 56) as u8
}
