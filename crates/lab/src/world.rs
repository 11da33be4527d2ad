//! Webs that policies are judged on. One file, one kind.

mod graph;

pub use graph::Graph;
