//! The live driver of a crawl: engine, committer, recovery, store and settings.
//!
//! The crate `server` and the program `avocet` are built on it. Nothing here reads a command line,
//! draws a progress bar or answers an HTTP request.

pub mod access;
pub mod answer;
pub mod clock;
pub mod cluster_seat;
pub mod copies;
pub mod documents;
pub mod dry_run;
pub mod engine;
pub mod explain;
pub mod fault;
pub mod forget;
pub mod handle;
pub mod live;
pub mod membership;
pub mod memory;
pub mod number;
pub mod page_freshness;
pub mod page_links;
pub mod page_text;
pub mod panics;
pub mod planning;
pub mod process;
pub mod readable;
pub mod recovery;
pub mod replay;
pub mod reports;
pub mod retention;
pub mod searcher_choices;
pub mod settings;
pub mod sites;
pub mod slot_note;
pub mod slots;
pub mod socket;
pub mod store;
pub mod topics;
pub mod webhooks;
pub mod whole_crawl;
pub mod whole_search;
pub mod work_progress;
