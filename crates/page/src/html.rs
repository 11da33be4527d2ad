//! Reads HTML: links, title, visible text, sections, directives and metadata.
//!
//! **Invariant:** one pass and no tree. Time is linear in the input and memory is bounded by
//! [`ReadLimits`], whatever the markup is. On half a megabyte of nested lists, a tree builder took
//! 146 s.

mod attribute;
mod fields;
mod head;
mod invisible;
mod links;
pub(crate) mod open_elements;
mod outline;
mod paths;
mod read;
mod reading;
mod refresh;
pub(crate) mod tag;
mod text;
pub(crate) mod tokenizer;

#[cfg(test)]
mod tests;

pub use fields::Fields;
pub use outline::PageSection;
pub use read::read;
pub use reading::{Cuts, Link, LinkKind, PageParts, PageReading, ReadLimits};
