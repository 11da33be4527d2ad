//! Published baselines: policies from the literature, to compare with.
//!
//! They implement the same traits and obey the same laws as all other policies. Users can select
//! them by name. Help and docs list them under a heading of their own.
//!
//! A policy is at the top level of this crate (`order`, `refresh`, `source`, `server`, `focus`)
//! if one of these holds:
//!
//! 1. It is our own: `best-prefix`, `priced`, `holistic`, `user-centric-marginal`,
//!    `parent-quality`, `learned`, `bandit`.
//! 2. It is a default of the program, or the guide recommends it for a goal that no policy of
//!    ours serves: `rankmass`, `breadth-first`, `pagerank`, `opic`, `similarity`, `harmonic`.
//! 3. The user sets its decisions: `location`, `given`, `depth-limited`, `uniform(DAYS)`,
//!    `currency(DAYS)`.
//!
//! All others are here.
//!
//! **Invariant:** in this crate, outside tests, only [`catalog`](crate::catalog) uses this module.
//! So no top-level policy depends on a baseline.

pub mod focus;
pub mod order;
pub mod refresh;
pub mod server;
pub mod source;
