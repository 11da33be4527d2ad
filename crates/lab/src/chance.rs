//! Which random numbers does a part of a world draw?
//!
//! **Invariant:** every draw comes from a seed and the name of what it is for, never from
//! what was drawn before for something else. So a page's text at one moment can be had without the
//! texts of all others, and a new kind of draw changes none of the old ones.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for.
#[derive(Clone, Copy)]
pub(crate) enum For {
    Graph = 1,
    Servers,
    Lives,
    Changes,
    Vocabulary,
    Title,
    Text,
    Quality,
    Hosts,
    Links,
    Lifetimes,
    FirstVisits,
    Looks,
    Starts,
    Orders,
    Seeds,
    Sources,
    Articles,
    Shown,
    Clicks,
    Topics,
    Prose,
    Texts,
    Queries,
    Islands,
    Town,
    Searchers,
    HeldOut,
    Pairs,
}

/// The random numbers for one purpose, one object and one part of it.
pub(crate) fn stream(seed: u64, purpose: For, object: u64, part: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u64, object, part];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
