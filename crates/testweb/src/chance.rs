//! Random number streams, one for each purpose.
//!
//! **Invariant:** a stream is determined by a seed and its purpose, never by draws for another
//! purpose. So the text of a page at one moment can be computed without the texts of all others.
//! A new kind of draw changes none of the old ones.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The purpose of a stream of random numbers.
///
/// This crate and the laboratory share the list, so that no two purposes share a stream.
#[derive(Debug, Clone, Copy)]
pub enum For {
    /// Links of an invented web.
    Graph = 1,
    /// Behaviour and latencies of servers.
    Servers,
    /// Birth, death and change rate of pages.
    Lives,
    /// Times of changes.
    Changes,
    /// Words of a page.
    Vocabulary,
    /// Titles.
    Title,
    /// Texts of a page version.
    Text,
    /// Qualities of pages, which follow Zipf's law.
    Quality,
    /// Hosts of an invented graph.
    Hosts,
    /// Links of an invented graph.
    Links,
    /// Lifetimes of pages.
    Lifetimes,
    /// First visits of a run.
    FirstVisits,
    /// Moments at which something is sampled.
    Looks,
    /// Where a crawl starts.
    Starts,
    /// Random orders of visits.
    Orders,
    /// Seeds of several crawlers.
    Seeds,
    /// Sources of articles.
    Sources,
    /// Articles of sources.
    Articles,
    /// When a source shows an article.
    Shown,
    /// Clicks on articles.
    Clicks,
    /// Vocabularies of topics.
    Topics,
    /// Prose on a topic.
    Prose,
    /// Texts of a corpus.
    Texts,
    /// Queries of a corpus.
    Queries,
    /// Islands: groups of pages of one topic with few links between the groups.
    Islands,
    /// Pages of the town.
    Town,
    /// Queries of the town's users.
    Searchers,
    /// Pages that are held out of training.
    HeldOut,
    /// Pairs of pages.
    Pairs,
    /// Sizes of pages.
    Sizes,
    /// Addresses of hosts.
    Addresses,
}

/// Returns the random numbers for one purpose, one object and one part of it.
pub fn stream(seed: u64, purpose: For, object: u64, part: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u64, object, part];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
