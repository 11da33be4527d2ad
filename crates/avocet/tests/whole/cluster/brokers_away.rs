//! Tests of the NATS servers: all of them away, and appends that compete.

use std::time::{Duration, Instant};

use bytes::Bytes;
use cluster::Slot;
use cluster::log::{AppendError, SlotLog};
use cluster::message::{Header, Kind, NodeName, encode_header};

use super::processes::SLOTS;
use super::{cluster, no_published_page_repeated};

/// The silence is 3 s, and the servers stay away for twice as long: each node takes all others for
/// dead when they come back.
#[tokio::test(flavor = "multi_thread")]
async fn while_all_nats_servers_are_away_all_nodes_pause_and_then_go_on_by_themselves() {
    let Some(mut cluster) = cluster(20, "3s").await else {
        return;
    };
    for _ in 0..3 {
        cluster.join(None).await;
    }
    cluster.until_seen(cluster.web.pages() / 4).await;
    let published = cluster.facts().await;
    for number in 0..cluster.brokers.count() {
        cluster.brokers.kill(number);
    }
    let down = Instant::now();
    let quiet = || async {
        let last = cluster.web.requests().last().map(|request| request.at);
        last.is_some_and(|last| last.max(down).elapsed() > Duration::from_secs(2))
    };
    cluster.until("all nodes pause", quiet).await;
    let since = Instant::now();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let late = cluster.web.requests().into_iter();
    let late: Vec<_> = late.filter(|request| request.at > since).collect();
    assert!(late.is_empty(), "{late:?}");
    let before = cluster.web.seen();
    assert!(before < cluster.web.pages());

    for number in 0..cluster.brokers.count() {
        cluster.brokers.restart(number).unwrap();
    }
    let facts = cluster.until_complete().await;
    assert_eq!(facts.refused, 0);
    no_published_page_repeated(&cluster, &published);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_claims_at_once_the_nats_servers_accept_one() {
    let Some(cluster) = cluster(1, "3s").await else {
        return;
    };
    let broker = &cluster.broker;
    let claim = |node: &str| -> Bytes {
        let header = Header {
            node: NodeName::new(node).unwrap(),
            epoch: 1,
            kind: Kind::Claim {
                numbered_from: None,
            },
        };
        encode_header(&header).into()
    };
    let (a, b) = (claim("a"), claim("b"));
    // While the other claim is under way, a server refuses with another error than afterwards. It
    // may be this node's own claim, so the agent and the publisher try again.
    let append = async |slot, claim| loop {
        match broker.append(slot, 0, claim).await {
            Err(AppendError::Broker(error)) => eprintln!("{error}; tries again"),
            decided => return decided,
        }
    };
    for slot in (0..SLOTS).map(Slot) {
        let (of_a, of_b) = tokio::join!(append(slot, &a), append(slot, &b));
        let winner = match (of_a, of_b) {
            (Ok(_), Err(AppendError::Fenced)) => "a",
            (Err(AppendError::Fenced), Ok(_)) => "b",
            both => panic!("{slot:?}: {both:?}"),
        };
        let head = broker.head(slot).await.unwrap();
        assert_eq!(head.owner, NodeName::new(winner));
    }

    // The notes of a node are replaced in the same way, and only the last ones are kept.
    let name = NodeName::new("a").unwrap();
    assert!(broker.notes().await.unwrap().is_empty());
    let (first, second) = (Bytes::from_static(b"1"), Bytes::from_static(b"2"));
    let sequence = broker.put_notes(&name, 0, &first).await.unwrap();
    let stale = broker.put_notes(&name, 0, &second).await;
    assert!(matches!(stale, Err(AppendError::Fenced)), "{stale:?}");
    let later = broker.put_notes(&name, sequence, &second).await.unwrap();
    let notes: Vec<_> = broker.notes().await.unwrap().into_iter().collect();
    assert_eq!(notes, [(name, (later, second))]);
}
