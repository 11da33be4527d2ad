//! Law: base and tail give the facts of the ledger, wherever the base ends.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use page::{PageUrl, RecordLocation, TextDigest};
use policy::{History, Outcome, Visit};
use proptest::prelude::*;

use super::*;
use crate::memory::MemoryLedger;
use crate::record::{Discovery, Entry, PageCopy, Visited};

/// A fact, in numbers: its kind, its page, and a number from which its content follows.
type FactSeed = (u8, u16, u32);

fn url(page: u16) -> PageUrl {
    let (host, path) = (page % 5, page / 5);
    PageUrl::parse(&format!("http://h{host}.example/section/{path}")).unwrap()
}

fn moment(number: u32) -> Moment {
    Moment::from_micros(1_700_000_000_000_000 + u64::from(number) * 1_000_003)
}

fn visited(page: u16, number: u32) -> Visited {
    let outcomes = [Outcome::Changed, Outcome::Unchanged, Outcome::Gone];
    let mut history = History::discovered(moment(number), page % 7);
    for visit in 0..number % 4 {
        let at = moment(number) + Duration::from_secs(u64::from(visit) * 3_600);
        history = history.after(Visit::new(at, outcomes[(number + visit) as usize % 3]));
    }
    if number.is_multiple_of(5) {
        history.measured.changes = number;
    }
    let text = TextDigest::of(&format!(
        "the text of page {page}, version {number}, in words"
    ));
    let copy = PageCopy {
        at: moment(number),
        etag: Some("etag".to_owned()),
        text: (!number.is_multiple_of(3)).then_some(text),
        place: Some(RecordLocation::default()),
        ..PageCopy::default()
    };
    Visited {
        history,
        status: Some(200),
        error: number
            .is_multiple_of(11)
            .then(|| "buffer:dropped".to_owned()),
        bytes: 9,
        copy: (!number.is_multiple_of(7)).then_some(copy),
        ..Visited::default()
    }
}

fn fact((kind, page, number): FactSeed) -> Entry {
    let key = PageKey::of(&url(page));
    match kind {
        0..=3 => {
            let source = (!number.is_multiple_of(9)).then(|| url((number % 90) as u16).id());
            let discovery = Discovery {
                url: url(page).as_str().to_owned(),
                order: u64::from(number),
                at: moment(number / 2),
                depth: page % 300,
                hops: (number % 3) as u8,
                source,
                absent: number.is_multiple_of(4).then(|| moment(number / 3)),
            };
            Entry::Admitted(key, discovery)
        }
        4 | 5 => Entry::Visited(key, Box::new(visited(page, number))),
        6 => {
            let links = (0..number % 40).map(|to| (to * to + number % 1000, "words".to_owned()));
            Entry::Links(key, OutLinks::new(number, links.collect()))
        }
        7 => Entry::Signalled(key, moment(number)),
        8 => Entry::Seed(url(page).as_str().to_owned()),
        _ => Entry::Host(key.partition, key.page.host(), HostFacts::default()),
    }
}

/// Returns the facts of these seeds. A page is discovered before anything else is known about it.
fn facts(seeds: &[FactSeed], ledger: &MemoryLedger) -> Vec<Entry> {
    let mut known: HashSet<u16> = HashSet::new();
    let fact = |seed: &FactSeed| {
        let (_, page, number) = *seed;
        let discovered = ledger.discovery(PageKey::of(&url(page))).is_some();
        let admitted = (known.insert(page) && !discovered).then(|| fact((0, page, number)));
        admitted.into_iter().chain([fact(*seed)])
    };
    seeds.iter().flat_map(fact).collect()
}

fn facts_of<F: Facts<Error = Infallible>>(facts: &F) -> (Vec<Known>, Vec<(PageKey, OutLinks)>) {
    let pages = facts.pages().map(|page| page.unwrap()).collect();
    let links = facts.links().map(|links| links.unwrap()).collect();
    (pages, links)
}

fn commits() -> impl Strategy<Value = Vec<Vec<FactSeed>>> {
    let fact = (0u8..10, 0u16..80, any::<u32>());
    prop::collection::vec(prop::collection::vec(fact, 0..30), 0..12)
}

proptest! {
    #[test]
    fn base_and_tail_give_the_facts_of_the_ledger(
        commits in commits(),
        base_ends in 0usize..12,
        next_base_ends in 0usize..12,
    ) {
        let mut ledger = MemoryLedger::default();
        let mut base = MemoryBase::default();
        let mut tail = TailEvents::default();
        for (number, seeds) in commits.iter().enumerate() {
            let entries = facts(seeds, &ledger);
            ledger.commit(&entries);
            tail.push(&tail_block(&entries)).unwrap();
            if number == base_ends {
                base = MemoryBase::of(&ledger).unwrap();
                tail = TailEvents::default();
            }
            if number == next_base_ends {
                // A later base is made from the checkpoint, without the ledger.
                tail.sort();
                base = MemoryBase::of(&CheckpointFacts::new(&base, &tail, &ledger)).unwrap();
                tail = TailEvents::default();
            }
        }
        tail.sort();
        let (pages, links) = facts_of(&CheckpointFacts::new(&base, &tail, &ledger));
        let (known, all_links) = facts_of(&ledger);
        let known: Vec<Known> = known.into_iter().map(Known::for_start).collect();
        for page in &pages {
            let of_url = PageUrl::parse(&page.discovery.url).unwrap().pattern();
            prop_assert!(page.pattern.is_none_or(|pattern| pattern == of_url));
        }
        let pages: Vec<Known> = pages.into_iter().map(|page| Known { pattern: None, ..page }).collect();
        prop_assert_eq!(pages, known);
        prop_assert_eq!(links, all_links.clone());
        let (_, bare) = facts_of(&CheckpointFacts::new(&base, &tail, &ledger).without_anchors());
        let all_links = all_links.into_iter().map(|(key, links)| (key, links.without_anchors()));
        prop_assert_eq!(bare, all_links.collect::<Vec<_>>());
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_as_some_facts_but_do_no_harm(
        commits in commits(),
        place: prop::sample::Index,
        byte: u8,
    ) {
        let mut ledger = MemoryLedger::default();
        let seeds: Vec<FactSeed> = commits.into_iter().flatten().collect();
        let entries = facts(&seeds, &ledger);
        ledger.commit(&entries);
        let mut base = MemoryBase::of(&ledger).unwrap();
        let mut block = tail_block(&entries);
        for bytes in base.pages.iter_mut().chain(&mut base.links).chain([&mut block]) {
            if !bytes.is_empty() {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let mut tail = TailEvents::default();
        tail.push(&block).ok();
        tail.sort();
        let pages = MergedPages::new(PageRecords::new(&base), &tail);
        let links = MergedLinks::new(LinkRecords::new(&base, true), &tail, true);
        let most = 2 * entries.len() + 1000;
        pages.take(most).take_while(Result::is_ok).for_each(drop);
        links.take(most).take_while(Result::is_ok).for_each(drop);
    }
}

#[test]
fn a_base_of_many_blocks_is_read_to_its_end() {
    let mut ledger = MemoryLedger::default();
    let fact = |page: u16| {
        let key = PageKey::of(&url(page));
        [
            fact((0, page, u32::from(page))),
            Entry::Visited(key, Box::new(visited(page, 2))),
        ]
    };
    let entries: Vec<Entry> = (0..3_000).flat_map(fact).collect();
    ledger.commit(&entries);
    let base = MemoryBase::of(&ledger).unwrap();
    assert!(base.pages.len() > 1);
    let tail = TailEvents::default();
    let (pages, _) = facts_of(&CheckpointFacts::new(&base, &tail, &ledger));
    assert_eq!(pages.len(), 3_000);
}
