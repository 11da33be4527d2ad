//! Tests of the ledger: agreement with a map through reopenings, and the encoding of records.

use std::collections::BTreeMap;

use frontier::Discovery;
use page::{HostId, PageId};
use policy::Moment;
use proptest::prelude::*;

use super::*;
use crate::codec::decode_visit;

fn key(partition: u8, host: u64, page: u64) -> PageKey {
    PageKey {
        partition: Partition(partition),
        page: PageId::new(HostId(host), page),
    }
}

fn discovery(order: u64) -> Discovery {
    Discovery {
        url: format!("http://a/{order}"),
        order,
        at: Moment::from_micros(order),
        depth: 3,
        hops: 0,
        source: order.is_multiple_of(2).then_some(PageId(7)),
        absent: None,
    }
}

fn visited(number: u64) -> Visited {
    Visited {
        bytes: number,
        status: Some(200),
        ..Visited::default()
    }
}

#[derive(Debug, Clone)]
enum LedgerStep {
    Commit(Vec<(bool, u8, u64, u64, u64)>),
    Reopen,
}

fn step() -> impl Strategy<Value = LedgerStep> {
    let fact = (any::<bool>(), 0u8..3, 0u64..3, 0u64..6, 0u64..1000);
    prop_oneof![
        4 => prop::collection::vec(fact, 0..12).prop_map(LedgerStep::Commit),
        1 => Just(LedgerStep::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn agrees_with_a_map(steps in prop::collection::vec(step(), 1..14)) {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = Some(Ledger::open(directory.path()).unwrap());
        let mut model: BTreeMap<PageKey, (Option<Discovery>, Option<Visited>)> = BTreeMap::new();
        let mut sequence = 0;
        for step in steps {
            match step {
                LedgerStep::Reopen => {
                    drop(ledger.take());
                    ledger = Some(Ledger::open(directory.path()).unwrap());
                }
                LedgerStep::Commit(facts) => {
                    sequence += 1;
                    let mut batch = Batch { archive_end: Some((1, sequence)), ..Batch::default() };
                    for (visit, partition, host, page, number) in facts {
                        let key = key(partition, host, page);
                        let known = model.entry(key).or_default();
                        if visit {
                            let record = Visited { sequence, ..visited(number) };
                            known.1 = Some(record.clone());
                            batch.entries.push(Entry::Visited(key, Box::new(record)));
                        } else {
                            known.0 = Some(discovery(number));
                            batch.entries.push(Entry::Admitted(key, discovery(number)));
                        }
                    }
                    prop_assert_eq!(ledger.as_ref().unwrap().commit(&batch).unwrap(), sequence);
                }
            }
            let ledger = ledger.as_ref().unwrap();
            prop_assert_eq!(ledger.sequence().unwrap(), sequence);
            prop_assert_eq!(ledger.archive_end().unwrap(), (sequence > 0).then_some((1, sequence)));
            let scanned: Vec<_> = ledger.scan().map(Result::unwrap).collect();
            let expected: Vec<_> = model.iter().filter_map(|(key, (discovery, visited))| {
                Some(Known { key: *key, discovery: discovery.clone()?, visited: visited.clone(), pattern: None })
            }).collect();
            prop_assert_eq!(&scanned, &expected);
            for (key, (discovery, visited)) in &model {
                prop_assert_eq!(&ledger.discovery(*key).unwrap(), discovery);
                prop_assert_eq!(&ledger.visited(*key).unwrap(), visited);
            }
        }
    }
}

#[test]
fn the_last_facts_of_a_server_are_kept_by_address_or_host() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let facts = |refusals| ServerFacts {
        asked: Moment::from_micros(7),
        wait: std::time::Duration::from_millis(1500),
        refusals,
    };
    let keys = [
        ServerKey::Host(HostId(u64::MAX - 1)),
        ServerKey::Address("10.1.2.3".parse().unwrap()),
        ServerKey::Address("2001:db8::7".parse().unwrap()),
    ];
    for refusals in [0, 9] {
        for key in keys {
            let now = || Moment::from_micros(8);
            ledger.keep_server(key, &facts(refusals), now).unwrap();
        }
    }
    assert_eq!(ledger.sequence().unwrap(), 0, "no batch was committed");
    drop(ledger);
    let ledger = Ledger::open(directory.path()).unwrap();
    let kept: Vec<_> = Facts::servers(&ledger).map(Result::unwrap).collect();
    assert_eq!(kept.len(), keys.len());
    for key in keys {
        assert!(kept.contains(&(key, facts(9))), "{key:?}: {kept:?}");
    }
}

#[test]
fn links_and_their_words_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let page = key(1, 2, 3);
    let links = [
        (900, "far"),
        (7, ""),
        (0, "near"),
        (u32::MAX, ""),
        (7, "later"),
    ];
    let links = links.map(|(to, words)| (to, words.to_owned())).to_vec();
    let entries = vec![Entry::Links(page, OutLinks::new(9, links))];
    let batch = Batch {
        entries,
        ..Batch::default()
    };
    ledger.commit(&batch).unwrap();
    let kept = LedgerReader::links(&ledger, page).unwrap().unwrap();
    assert_eq!(kept.out_links, 9);
    let expected = [(0, "near"), (7, ""), (900, "far"), (u32::MAX, "")];
    assert!(kept.links().eq(expected));
    assert_eq!(
        (kept.anchor(900), kept.anchor(7), kept.anchor(1)),
        ("far", "", "")
    );
    assert!(ledger.all_links().map(Result::unwrap).eq([(page, kept)]));
    assert_eq!(LedgerReader::links(&ledger, key(1, 2, 4)).unwrap(), None);
}

#[test]
fn a_record_that_is_cut_off_or_of_another_version_is_refused() {
    let bytes = encode(&discovery(1));
    assert_eq!(
        decode::<Discovery>(&bytes, String::new).unwrap(),
        discovery(1)
    );
    let mut other = bytes.clone();
    other[0] += 1;
    for damaged in [&other[..], &bytes[..bytes.len() - 1], &[]] {
        let error = decode::<Discovery>(damaged, || "page 1".into()).unwrap_err();
        assert!(error.to_string().contains("page 1"), "{error}");
    }
}

#[test]
fn visits_keep_the_sums_of_their_gains_and_old_records_start_with_their_window() {
    let day = std::time::Duration::from_secs(86_400);
    let start = policy::History::discovered(Moment::START, 0);
    let history = (0..20).fold(start, |history, number| {
        let at = Moment::START + day * number;
        let visit = policy::Visit::new(at, policy::Outcome::Changed);
        history.after(visit).gained(2.0)
    });
    let visited = Visited {
        history,
        ..Visited::default()
    };
    let bytes = encode_visit(&visited, visited.sequence);
    assert_eq!(decode_visit(&bytes, String::new).unwrap(), visited);
    // Format 4 had no sums, format 5 had sums of squares.
    let squares = postcard::to_extend(&(40.0f32, 80.0f32, 19u32, 1.0f32), encode(&visited));
    for old in [encode(&visited), squares.unwrap()] {
        let old = decode_visit(&old, String::new).unwrap();
        assert_eq!(old.history.measured.gain, 16.0);
        assert_eq!(old.history.recent, history.recent);
    }
    let other_version = [&[5], &bytes[1..]].concat();
    for damaged in [
        &bytes[..bytes.len() - 1],
        &[&bytes[..], &[0]].concat(),
        &[],
        &other_version,
    ] {
        assert!(decode_visit(damaged, String::new).is_err());
    }
}

#[test]
fn a_hint_is_stored_only_if_it_is_later_than_the_last_visit_to_its_page() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let (page, other) = (key(0, 1, 1), key(0, 1, 2));
    let at = Moment::from_micros;
    let visit = |moment| {
        let history = policy::History::discovered(at(1), 0);
        let visit = policy::Visit::new(at(moment), policy::Outcome::Changed);
        Visited {
            history: history.after(visit),
            ..Visited::default()
        }
    };
    let commit = |entries: Vec<Entry>| {
        let batch = Batch {
            note: None,
            entries,
            archive_end: None,
        };
        ledger.commit(&batch).unwrap();
        let signals = |key| {
            ledger
                .visited(key)
                .unwrap()
                .map(|visited| visited.history.signals.since)
        };
        (signals(page), signals(other))
    };
    let visited = |key, moment| Entry::Visited(key, Box::new(visit(moment)));
    assert_eq!(commit(vec![visited(page, 10)]), (Some(0), None));
    let signal = |key, moment| Entry::Signalled(key, at(moment));
    assert_eq!(
        commit(vec![signal(page, 9), signal(other, 9)]),
        (Some(0), None),
        "it is older than the visit"
    );
    assert_eq!(commit(vec![signal(page, 11), signal(page, 12)]).0, Some(2));
    assert_eq!(
        commit(vec![signal(page, 13), visited(page, 20), signal(page, 21)]).0,
        Some(1)
    );
}

#[test]
fn a_range_of_partitions_is_deleted_and_its_numbers_are_not_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let entries = [(3, 1, 10), (4, 2, 11), (5, 3, 40)].map(|(partition, page, order)| {
        [
            Entry::Admitted(key(partition, 1, page), discovery(order)),
            Entry::Visited(key(partition, 1, page), Box::new(visited(page))),
            Entry::Links(key(partition, 1, page), OutLinks::new(0, Vec::new())),
            Entry::Host(Partition(partition), HostId(1), HostFacts::default()),
        ]
    });
    let batch = Batch {
        entries: entries.concat(),
        note: Some(b"one".to_vec()),
        ..Batch::default()
    };
    ledger.commit(&batch).unwrap();
    let pages = |partitions| -> Vec<u8> {
        let scan = ledger.scan_partitions(partitions);
        scan.map(|known| known.unwrap().key.partition.0).collect()
    };
    assert_eq!(pages(4..=255), [4, 5]);
    assert_eq!(
        (ledger.free_number().unwrap(), ledger.first_free().unwrap()),
        (41, 0)
    );
    ledger.delete(4..=5).unwrap();
    assert_eq!(pages(0..=255), [3]);
    assert!(ledger.is_empty(4..=255).unwrap() && !ledger.is_empty(3..=4).unwrap());
    assert_eq!(ledger.all_links().count(), 1);
    assert_eq!(
        (ledger.free_number().unwrap(), ledger.first_free().unwrap()),
        (41, 41)
    );
    assert_eq!(ledger.note().unwrap().as_deref(), Some(&b"one"[..]));
    ledger.set_note(b"two").unwrap();
    assert_eq!(ledger.note().unwrap().as_deref(), Some(&b"two"[..]));
}

/// Answers requests as another process does: from a snapshot, through the encoding.
struct OtherProcess(LedgerReader);

impl RemoteRecords for OtherProcess {
    fn ask(&self, request: &RecordsRequest) -> io::Result<RecordsAnswer> {
        let request = postcard::to_stdvec(request).unwrap();
        let answer = self.0.answer(&postcard::from_bytes(&request).unwrap());
        let answer = postcard::to_stdvec(&answer).unwrap();
        Ok(postcard::from_bytes(&answer).unwrap())
    }
}

#[test]
fn a_snapshot_read_from_another_process_is_the_ledger_at_that_moment() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let add = |numbers: std::ops::Range<u64>| {
        let mut batch = Batch::default();
        for number in numbers {
            let page = key((number % 200) as u8, number % 7, number);
            // Long URLs: the pages come in several pieces.
            let found = Discovery {
                url: format!("http://a/{number}?{}", "x".repeat(500)),
                ..discovery(number)
            };
            batch.entries.push(Entry::Admitted(page, found));
            if number % 3 == 0 {
                let visit = Box::new(visited(number));
                batch.entries.push(Entry::Visited(page, visit));
            }
        }
        batch.entries.push(Entry::Seed("http://seed/".into()));
        batch.archive_end = Some((1, 77));
        ledger.commit(&batch).unwrap();
    };
    add(0..2000);
    let pages: Vec<Known> = ledger.scan().map(Result::unwrap).collect();
    let there = OtherProcess(ledger.snapshot());
    let reader = LedgerReader::remote(std::sync::Arc::new(there));
    add(2000..2300);
    let read: Vec<Known> = reader.scan().map(Result::unwrap).collect();
    assert_eq!(read.len(), 2000);
    assert_eq!(read, pages, "later commits are not seen");
    assert_eq!(ledger.scan().count(), 2300);
    assert_eq!(
        (reader.sequence().unwrap(), ledger.sequence().unwrap()),
        (1, 2)
    );
    assert_eq!(reader.pages_known().unwrap(), 2000);
    assert_eq!(reader.seeds().unwrap(), ["http://seed/"]);
    assert_eq!(reader.archive_end().unwrap(), Some((1, 77)));
    let first = pages[0].key;
    assert_eq!(
        reader.discovery(first).unwrap(),
        ledger.discovery(first).unwrap()
    );
    assert_eq!(reader.visited(key(9, 9, 9)).unwrap(), None);
    assert_eq!(reader.disk_bytes().unwrap(), ledger.disk_bytes().unwrap());
}
