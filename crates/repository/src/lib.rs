//! What did we keep, and how is it found?
//!
//! The [`archive`] is the truth: every answer of the web, as WARC. The [`index`] is derived from
//! it and can always be made again. The [`log`] has what people searched for. Synchronous; no clock
//! and no chance: time is an argument, and the name of a record follows from what it holds.

pub mod archive;
pub mod index;
pub mod log;
