//! Names for the nodes of the demo.
//!
//! Slots are assigned by a hash of slot and node name. The town has only four sites, in three
//! slots, so with arbitrary names a node often gets none. The demo tries names until every node
//! has one.

use std::time::Duration;

use cluster::member::{Member, MemberSettings};
use cluster::message::NodeName;
use cluster::{Division, Slot};
use policy::Moment;

/// Letters that the names end with.
const LETTERS: u8 = 12;

/// Returns the first names with which each node owns at least one of these slots; `None` if there
/// are fewer slots than nodes.
pub fn choose(sites: &[Slot], division: Division, count: usize) -> Option<Vec<NodeName>> {
    let mut sets = (0..1u16 << LETTERS).filter(|set| set.count_ones() as usize == count);
    sets.find_map(|set| {
        let letters = (0..LETTERS).filter(|letter| set >> letter & 1 == 1);
        let names =
            letters.map(|letter| NodeName::new(&format!("node-{}", (b'a' + letter) as char)));
        let names: Vec<NodeName> = names.collect::<Option<_>>()?;
        let each = names.iter().all(|name| {
            let owned = share(name, &names, division);
            sites.iter().any(|site| owned.contains(site))
        });
        each.then_some(names)
    })
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
    fn every_node_gets_a_site_of_the_town_and_the_names_are_the_first_that_do() {
        let division = Division::new(super::super::SLOTS).unwrap();
        let sites = ["127.10.0.1", "127.10.0.2", "127.10.0.3", "127.10.0.4"].map(|host| {
            let url = page::PageUrl::parse(&format!("http://{host}:8080/")).unwrap();
            division.slot(frontier::Partition::of(&url))
        });
        for count in 2..=3 {
            let names = choose(&sites, division, count).unwrap();
            assert_eq!(names.len(), count);
            let mut owned: Vec<Slot> = Vec::new();
            for name in &names {
                let share = share(name, &names, division);
                assert!(sites.iter().any(|site| share.contains(site)), "{names:?}");
                owned.extend(share);
            }
            owned.sort_unstable();
            assert_eq!(owned, division.slots().collect::<Vec<_>>());
        }
        assert_eq!(choose(&sites, division, 4), None, "two sites share a slot");
    }
}
