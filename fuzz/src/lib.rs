//! The properties that every parser of untrusted bytes must have, one function per fuzz target.
//!
//! Each function takes any bytes and panics when a property is violated. cargo-fuzz calls it
//! from `fuzz_targets/` with generated inputs. The test `replay` calls it with the files of
//! `corpus/` and with mutated copies of them. `README.md` has the commands.

#[cfg(feature = "config")]
mod config;
mod document;
mod html;
mod http;
mod ledger;
mod listing;
mod predicate;
mod robots;
mod url;
mod warc;

use page::PageUrl;

#[cfg(feature = "config")]
pub use config::config;
pub use document::document;
pub use html::{article, html};
pub use http::http;
pub use ledger::ledger;
pub use listing::listing;
pub use predicate::predicate;
pub use robots::robots;
pub use url::url;
pub use warc::warc;

/// Returns the URL at which the targets place every page, listing and robots.txt.
fn found_at() -> PageUrl {
    PageUrl::parse("https://www.example.org/docs/index.html?q=1").expect("it is a URL")
}
