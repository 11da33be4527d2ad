//! Names for the nodes of the demo.
//!
//! Slots are assigned by a hash of slot and node name. The town has only four sites, so with
//! arbitrary names a node often gets none. The demo tries names until as many nodes as possible
//! have one.

use std::collections::BTreeSet;
use std::time::Duration;

use cluster::member::{Member, MemberSettings};
use cluster::message::NodeName;
use cluster::{Division, Slot};
use policy::Moment;

/// Letters that the names end with.
const LETTERS: u8 = 12;

/// Returns the first names with which as many nodes as possible own at least one of these slots.
/// Sites of one slot have the same owner.
pub fn choose(sites: &BTreeSet<Slot>, division: Division, count: usize) -> Vec<NodeName> {
    let sets = (0..1u16 << LETTERS).filter(|set| set.count_ones() as usize == count);
    let mut best = (0, Vec::new());
    for set in sets {
        let names = named(set);
        let with_site = names.iter().filter(|name| {
            let owned = share(name, &names, division);
            owned.iter().any(|slot| sites.contains(slot))
        });
        let served = with_site.count();
        if best.1.is_empty() || served > best.0 {
            best = (served, names);
        }
        if best.0 == sites.len().min(count) {
            break;
        }
    }
    best.1
}

/// Returns the names of a set of letters.
fn named(set: u16) -> Vec<NodeName> {
    let letters = (0..LETTERS).filter(|letter| set >> letter & 1 == 1);
    let name = |letter: u8| NodeName::new(&format!("node-{}", (b'a' + letter) as char));
    letters.filter_map(name).collect()
}

/// Returns the slots that a node claims if all nodes are alive.
fn share(name: &NodeName, names: &[NodeName], division: Division) -> Vec<Slot> {
    // Long after the time in which a node only listens, and long before the silence.
    let now = Moment::from_micros(10_000_000);
    let member = |name: &NodeName| {
        let settings = MemberSettings {
            name: name.clone(),
            incarnation: 0,
            capacity: 1.0,
            division,
            silence: Duration::from_secs(60),
            fixed: None,
        };
        Member::new(settings, Moment::START)
    };
    let mut own = member(name);
    for other in names {
        own.hear(member(other).heartbeat(), now);
    }
    own.to_claim(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_nodes_as_possible_get_a_site_and_the_names_are_the_first_that_do() {
        let division = Division::new(super::super::SLOTS).unwrap();
        let sites = ["127.10.0.1", "127.10.0.2", "127.10.0.3", "127.10.0.4"].map(|host| {
            let url = page::PageUrl::parse(&format!("http://{host}:8080/")).unwrap();
            division.slot(frontier::Partition::of(&url))
        });
        let sites = BTreeSet::from(sites);
        assert!(sites.len() >= 3, "three nodes can have a site each");
        for count in 2..=4 {
            let names = choose(&sites, division, count);
            assert_eq!(names.len(), count);
            let (mut owned, mut served) = (Vec::new(), 0);
            for name in &names {
                let share = share(name, &names, division);
                served += usize::from(share.iter().any(|slot| sites.contains(slot)));
                owned.extend(share);
            }
            assert_eq!(served, sites.len().min(count), "{names:?}");
            owned.sort_unstable();
            assert_eq!(owned, division.slots().collect::<Vec<_>>());
        }
    }
}
