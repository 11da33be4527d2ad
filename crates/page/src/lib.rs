//! Parsers and measures of what the web sends: URLs, HTML, robots.txt, sitemaps, feeds.
//!
//! The crate is pure: bytes and strings in, values out. It has no I/O, no clock and no
//! randomness. All input may be hostile, so the time and memory of every parser here are bounded.

pub mod article;
mod body_hash;
pub mod charset;
pub mod coding;
#[cfg(test)]
mod conformance;
mod directives;
pub mod fingerprint;
pub mod html;
pub mod language;
pub mod link_header;
pub mod listing;
pub mod media;
pub mod missing;
mod record_location;
pub mod robots;
mod scan;
mod span;
pub mod url;

pub use article::{Article, article};
pub use body_hash::{body_hash, is_body_hash};
pub use directives::Directives;
pub use fingerprint::{Fingerprint, Shingles, Simhash, TextDigest};
pub use html::{Fields, Link, LinkKind, PageParts, PageReading, PageSection, ReadLimits, read};
pub use listing::Listing;
pub use media::Media;
pub use record_location::RecordLocation;
pub use robots::Robots;
pub use scan::char_floor;
pub use span::span;
pub use url::traps::{Rules, Trap};
pub use url::{HostId, PageId, PageUrl, Refusal};
