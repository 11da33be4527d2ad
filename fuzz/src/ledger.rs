//! Fuzz target for records of the ledger.

use std::fmt::Debug;

use frontier::{Discovery, HostFacts, OutLinks, Visited};
use ledger::{decode, encode};
use policy::server::Estimate;
use policy::{Moment, Outcome, Visit};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads the input as a record of the kind that its first byte names.
///
/// The bytes are refused or form a record. A record survives a round trip, and is refused when
/// it is truncated or has an extra byte.
pub fn ledger(data: &[u8]) {
    let Some((kind, record)) = data.split_first() else {
        return;
    };
    match kind % 6 {
        0 => drop(round_trip::<Discovery>(record)),
        1 => {
            let Some(visited) = round_trip::<Visited>(record) else {
                return;
            };
            // Applies further visits to the decoded history.
            let at = Moment::from_micros(1_500_000_000_000_000);
            for outcome in [Outcome::Changed, Outcome::Unchanged, Outcome::Gone] {
                let history = visited.history.after(Visit::new(at, outcome));
                let _ = history.named(3).gained(0.5).signalled(at);
            }
        }
        2 => {
            let Some(links) = round_trip::<OutLinks>(record) else {
                return;
            };
            let last = links.links().last().map(|(page, _)| page);
            links.anchor(last.unwrap_or_default());
        }
        3 => {
            let facts = round_trip::<HostFacts>(record);
            if let Some(speed) = facts.and_then(|facts| facts.speed) {
                let _ = Estimate::from(speed);
            }
        }
        4 => drop(round_trip::<(u32, u64)>(record)),
        _ => drop(round_trip::<u64>(record)),
    }
}

fn round_trip<T: Serialize + DeserializeOwned + Debug>(bytes: &[u8]) -> Option<T> {
    let read = |bytes: &[u8]| decode::<T>(bytes, || "the input".to_owned()).ok();
    let record = read(bytes)?;
    let written = encode(&record);
    let again = read(&written).expect("what was written is read");
    // Compares bytes, because a damaged record may hold NaN, which does not equal itself.
    assert_eq!(encode(&again), written);
    assert_eq!(format!("{again:?}"), format!("{record:?}"));
    assert!(read(&written[..written.len() - 1]).is_none(), "cut short");
    assert!(read(&written[..written.len() / 2]).is_none(), "cut in half");
    assert!(read(&[&written[..], b"\0"].concat()).is_none(), "too long");
    Some(record)
}
