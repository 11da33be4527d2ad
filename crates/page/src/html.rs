//! What does an HTML page say: its links, title, readable text and directives?
//!
//! **Invariant:** one pass, no tree, time linear in the input and memory bounded by [`Limits`],
//! whatever the markup. Half a megabyte of nested lists took a tree builder 146 s.

mod attribute;
mod fields;
mod head;
mod invisible;
mod links;
mod meta;
pub(crate) mod open;
mod outline;
mod paths;
mod read;
mod reading;
pub(crate) mod tag;
mod text;
pub(crate) mod tokenizer;

#[cfg(test)]
mod tests;

pub use fields::Fields;
pub use meta::RobotsMeta;
pub use outline::Section;
pub use read::read;
pub use reading::{Cuts, Limits, Link, LinkKind, Reading};
