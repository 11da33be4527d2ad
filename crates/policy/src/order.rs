//! In which order are pages fetched that nobody has seen yet? One file, one ordering.

mod breadth_first;

pub use breadth_first::BreadthFirst;
