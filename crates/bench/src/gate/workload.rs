//! The workloads of the gate.
//!
//! **Invariant:** each run executes nearly the same instructions. Pages, URLs and queries are
//! functions of their number. No workload reads a clock or waits for another process. Threads are
//! those of the production code: of the index writer and of the ledger.

mod committing;
mod deciding;
mod discovery;
mod document;
mod indexing;
mod judging;
mod reading;

use std::path::Path;

use anyhow::Result;

/// Runs a workload in a directory of its own; if the flag is set, only its set-up.
type Work = fn(&Path, bool) -> Result<()>;

/// The workload that searches an index, which [`prepare`] writes.
const SEARCH: &str = "search-300-times";

/// The workloads, roughly the longest first, so that the cores end at about the same time.
///
/// A name has the size of the work, since counts of different sizes cannot be compared.
pub const WORKLOADS: [(&str, Work); 8] = [
    // Puts 1,000 pages into the index, with four commits.
    ("put-1000-pages", indexing::put),
    // Searches such an index 300 times, for one to three words.
    (SEARCH, indexing::search),
    // Parses 300 HTML pages of 26 kB: links, text, sections, fields and language.
    ("read-300-pages", |_, only_set_up| {
        reading::read(only_set_up)
    }),
    // Judges 300 such pages for a crawl without archive and index.
    ("judge-300-pages", |_, only_set_up| {
        judging::judge(only_set_up)
    }),
    // Compresses and hashes 300 such pages for the archive.
    ("seal-300-pages", |_, only_set_up| {
        judging::seal_all(only_set_up)
    }),
    // Admits the links of 1,334 pages, one in five of them new: scope, frontier, policy.
    ("discover-100000-links", |_, only_set_up| {
        discovery::discover(only_set_up)
    }),
    // Commits 1,000 fetched pages to archive and ledger, in groups of 20.
    ("commit-1000-pages", committing::commit),
    // Claims and settles 9,550 pages in a crawl, and 450 under a budget, where a decision costs
    // more.
    ("decide-10000-times", |_, only_set_up| {
        deciding::decide(only_set_up)
    }),
];

/// Prepares the directory of a workload; not counted.
pub fn prepare(workload: &str, place: &Path) -> Result<()> {
    match workload {
        SEARCH => indexing::make_index(place),
        _ => Ok(()),
    }
}
