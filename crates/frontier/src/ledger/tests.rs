//! The ledger against a map, through reopenings.

use std::collections::BTreeMap;

use page::{HostId, PageId};
use policy::Moment;
use proptest::prelude::*;

use super::*;

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
        anchor: format!("link {order}"),
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
enum Step {
    Commit(Vec<(bool, u8, u64, u64, u64)>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let fact = (any::<bool>(), 0u8..3, 0u64..3, 0u64..6, 0u64..1000);
    prop_oneof![
        4 => prop::collection::vec(fact, 0..12).prop_map(Step::Commit),
        1 => Just(Step::Reopen),
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
                Step::Reopen => {
                    drop(ledger.take());
                    ledger = Some(Ledger::open(directory.path()).unwrap());
                }
                Step::Commit(facts) => {
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
                Some(Known { key: *key, discovery: discovery.clone()?, visited: visited.clone() })
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
fn links_and_their_words_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path()).unwrap();
    let (page, other) = (key(1, 2, 3), key(1, 2, 4));
    let link = |number| InLink {
        source: PageId(number),
        anchor: format!("words {number}"),
    };
    let targets = vec![900, 7, 0, u32::MAX, 7];
    let entries = vec![
        Entry::Links(page, OutLinks::new(9, targets)),
        Entry::InLink(other, 0, link(1)),
        Entry::InLink(other, 1, link(2)),
        Entry::InLink(other, 0, link(3)),
    ];
    let batch = Batch {
        entries,
        ..Batch::default()
    };
    ledger.commit(&batch).unwrap();
    let links = ledger.links(page).unwrap().unwrap();
    assert_eq!(links.out_links, 9);
    assert!(links.targets().eq([0, 7, 900, u32::MAX]));
    assert_eq!(ledger.all_links().count(), 1);
    assert_eq!(ledger.in_links(other).unwrap(), [link(3), link(2)]);
    assert_eq!(ledger.in_links(page).unwrap(), []);
    assert_eq!(ledger.all_in_links().count(), 2);
}

#[test]
fn a_record_of_another_version_is_refused() {
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
