//! Assigns pages to partitions of the web.
//!
//! All hosts of a registrable domain, and so of one owner, are in one partition. Ledger keys
//! begin with the partition, so that a partition can be moved without touching the rest.

use page::PageUrl;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// One of 256 parts of the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partition(pub u8);

impl Partition {
    /// Returns the partition of a URL's registrable domain.
    pub fn of(url: &PageUrl) -> Self {
        Self((xxh3_64(url.registrable_domain().as_bytes()) >> 56) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_owner_stay_together() {
        let of = |url: &str| Partition::of(&PageUrl::parse(url).unwrap());
        assert_eq!(
            of("https://a.example.co.uk/x"),
            of("http://b.c.example.co.uk:8080/")
        );
        let spread: std::collections::HashSet<_> = (0..2000)
            .map(|n| of(&format!("http://site{n}.org/")))
            .collect();
        assert_eq!(spread.len(), 256);
    }
}
