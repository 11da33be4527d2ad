//! Invariants of what a crawl commits: hints, records, and the ledger as a whole.

use std::collections::HashMap;

use crawl::Record;
use frontier::{Entry, Facts, MemoryLedger, PageKey};
use policy::Moment;

use crate::disk::WrittenGroup;
use crate::web::{Directive, SimWeb};

/// Checks that each committed hint is new to its record: the last request is earlier than the
/// reported change.
pub fn check_hints(group: &WrittenGroup, ledger: &MemoryLedger) {
    let mut newer: HashMap<PageKey, Moment> = HashMap::new();
    for fact in &group.facts {
        match fact {
            Entry::Visited(key, visited) => {
                newer.extend(visited.history.asked.map(|asked| (*key, asked)));
            }
            Entry::Signalled(key, at) => {
                let stored = ledger.visited(*key);
                let stored = stored.and_then(|stored| stored.history.asked);
                let asked = newer.get(key).copied().or(stored);
                let news = asked.is_some_and(|asked| asked < *at);
                check!(
                    news,
                    "{key:?} was asked for at {asked:?}, and {at:?} is no news"
                );
            }
            _ => {}
        }
    }
}

/// Checks that a page is indexed, and its links are followed, only if its directives allow it.
pub fn check_record(record: &Record<()>, web: &SimWeb) {
    let directive = web.directive(record.key.page);
    let copy = record.visited.copy.as_ref();
    let indexed = copy.is_some_and(|copy| copy.indexed);
    check!(
        record.text.is_none() || indexed && !record.gone,
        "{} has a text, and is not found",
        record.url
    );
    check!(
        !indexed || !directive.hides(),
        "{} is found in spite of {directive:?}",
        record.url
    );
    let followed = record.admitted.iter().any(
        |fact| matches!(fact, Entry::Admitted(_, found) if found.source == Some(record.key.page)),
    );
    check!(
        !followed || directive != Directive::NoFollow,
        "links of {} are followed in spite of {directive:?}",
        record.url
    );
}

/// Checks that page numbers are unique and dense, and that links lead to known pages.
pub fn check_ledger(ledger: &MemoryLedger) {
    let pages = ledger.pages().filter_map(Result::ok);
    let mut numbers: Vec<u64> = pages.map(|known| known.discovery.order).collect();
    numbers.sort_unstable();
    let count = numbers.len() as u64;
    check!(
        numbers.into_iter().eq(0..count),
        "numbers of pages are not dense"
    );
    for (key, links) in ledger.links().filter_map(Result::ok) {
        let last = links.links().last();
        let known = last.is_none_or(|(to, _)| u64::from(to) < count);
        check!(known, "{key:?} links to a page that is not known");
    }
}
