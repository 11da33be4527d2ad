//! Published baselines: policies of the literature that are here to be compared with.
//!
//! They implement the same traits, obey the same laws and can be picked by name like any other; help and
//! docs list them below a heading of their own.
//!
//! A policy stands at the top of this crate (`order`, `refresh`, `source`, `server`, `focus`) if one of
//! these holds:
//!
//! 1. It is ours: `best-prefix`, `priced`, `holistic`, `user-centric-marginal`, `parent-quality`,
//!    `learned`, `bandit`.
//! 2. It is what the program does by default, or what `docs/guide/crawl-a-site.md` advises for a goal that
//!    no policy of ours serves: `rankmass`, `breadth-first`, `pagerank`, `opic`, `similarity`, `harmonic`.
//! 3. It does what the user says and has no opinion of its own: `location`, `given`, `depth-limited`,
//!    `uniform(DAYS)`, `currency(DAYS)`.
//!
//! All others are here. **Invariant:** only [`catalog`](crate::catalog) names this module, so that no
//! policy at the top depends on a baseline.

pub mod focus;
pub mod order;
pub mod refresh;
pub mod server;
pub mod source;
