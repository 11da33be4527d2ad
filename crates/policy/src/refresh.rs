//! When is a page that we have fetched worth fetching again? One file, one policy.

mod uniform;

pub use uniform::Uniform;
