//! What nodes tell each other about web servers: how long a server wants no requests, and which
//! addresses a node requests pages from.
//!
//! Each node has one message on the broker, of which only the last version is kept. A node that
//! takes over a slot reads the messages of all nodes, dead ones too, so it keeps the waits that
//! their servers asked for. Nodes that request pages from one address divide its rate.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use frontier::ServerFacts;
use frontier::bench::ServerKey;
use page::HostId;
use policy::Moment;
use serde::{Deserialize, Serialize};

use crate::error::BrokerError;
use crate::log::{AppendError, SlotLog};
use crate::message::{NodeName, Unreadable, compress, decompress};

/// Most waits of a message, and most addresses: about 250 KB each. The node keeps the other waits
/// in its ledger, and does not divide the rates of the other addresses.
const MOST: usize = 10_000;

/// A [`ServerKey`] on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum WireServer {
    Address(IpAddr),
    Host(HostId),
}

impl From<ServerKey> for WireServer {
    fn from(key: ServerKey) -> Self {
        match key {
            ServerKey::Address(address) => Self::Address(address),
            ServerKey::Host(host) => Self::Host(host),
        }
    }
}

impl From<WireServer> for ServerKey {
    fn from(server: WireServer) -> Self {
        match server {
            WireServer::Address(address) => Self::Address(address),
            WireServer::Host(host) => Self::Host(host),
        }
    }
}

/// What one node tells about servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerNotes {
    waits: BTreeMap<WireServer, ServerFacts>,
    addresses: BTreeSet<IpAddr>,
}

impl ServerNotes {
    /// Reads a message.
    pub fn decode(message: &[u8]) -> Result<Self, Unreadable> {
        decompress(message)
    }

    /// Returns the servers that want no requests, with their politeness records.
    pub fn waits(&self) -> impl Iterator<Item = (ServerKey, ServerFacts)> {
        let waits = self.waits.iter();
        waits.map(|(server, facts)| ((*server).into(), *facts))
    }

    /// Adds a wait, unless a longer one of the server is known.
    fn wait(&mut self, server: WireServer, facts: ServerFacts) -> bool {
        let known = self.waits.get(&server);
        let news = known.is_none_or(|known| end(known) < end(&facts));
        let room = known.is_some() || self.waits.len() < MOST;
        if news && room {
            self.waits.insert(server, facts);
        }
        news && room
    }
}

/// Returns when a server may be asked again.
fn end(facts: &ServerFacts) -> Moment {
    facts.asked + facts.wait
}

/// Returns whether a server still wants no requests.
pub fn is_open(facts: &ServerFacts, now: Moment) -> bool {
    end(facts) > now
}

/// The notes of this node and of the others.
#[derive(Debug, Default)]
pub(crate) struct NoteBoard {
    own: Mutex<OwnNotes>,
    others: Mutex<BTreeMap<NodeName, ServerNotes>>,
}

#[derive(Debug, Default)]
struct OwnNotes {
    notes: ServerNotes,
    /// Number of changes so far, and how many of them the broker has.
    changes: (u64, u64),
    /// The sequence of the message on the broker; `None`: it was not read yet.
    sequence: Option<u64>,
}

impl NoteBoard {
    /// Notes that a server wants no requests.
    pub(crate) fn wait(&self, server: ServerKey, facts: ServerFacts) {
        let mut own = self.own();
        if own.notes.wait(server.into(), facts) {
            own.changes.0 += 1;
        }
    }

    /// Notes that this node requests pages from an address.
    pub(crate) fn address(&self, address: IpAddr) {
        let mut own = self.own();
        let address = address.to_canonical();
        if own.notes.addresses.len() < MOST && own.notes.addresses.insert(address) {
            own.changes.0 += 1;
        }
    }

    /// A term begins: no address is in use.
    pub(crate) fn clear_addresses(&self) {
        let mut own = self.own();
        if !own.notes.addresses.is_empty() {
            own.notes.addresses.clear();
            own.changes.0 += 1;
        }
    }

    /// Stores the notes of this node with the broker, if they have changed. Returns the size of the
    /// message.
    pub(crate) async fn publish<B: SlotLog>(
        &self,
        broker: &B,
        node: &NodeName,
        now: Moment,
    ) -> Result<Option<usize>, BrokerError> {
        if self.own().is_published() {
            return Ok(None);
        }
        let known = self.own().sequence;
        let expected = match known {
            Some(sequence) => sequence,
            None => self.resume(broker, node).await?,
        };
        let (message, changes) = {
            let mut own = self.own();
            own.notes.waits.retain(|_, facts| is_open(facts, now));
            (Bytes::from(compress(&own.notes)), own.changes.0)
        };
        match broker.put_notes(node, expected, &message).await {
            Ok(sequence) => {
                let mut own = self.own();
                own.sequence = Some(sequence);
                own.changes.1 = changes;
                Ok(Some(message.len()))
            }
            // A message without an answer has arrived, or another process has the name.
            Err(AppendError::Fenced) => {
                self.own().sequence = None;
                Err(BrokerError::request("store notes", AppendError::Fenced))
            }
            Err(AppendError::Full) => Err(BrokerError::request("store notes", AppendError::Full)),
            Err(AppendError::Broker(error)) => {
                self.own().sequence = None;
                Err(error)
            }
        }
    }

    /// Takes the waits of the message that is stored, which an earlier process may have written.
    /// Returns the sequence of that message.
    async fn resume<B: SlotLog>(&self, broker: &B, node: &NodeName) -> Result<u64, BrokerError> {
        let stored = broker.notes().await?.remove(node);
        let mut own = self.own();
        let mut sequence = 0;
        if let Some((number, message)) = stored {
            sequence = number;
            for (server, facts) in ServerNotes::decode(&message)?.waits {
                own.notes.wait(server, facts);
            }
        }
        own.sequence = Some(sequence);
        Ok(sequence)
    }

    /// Reads the notes of all nodes. Returns the waits that are not over.
    pub(crate) async fn read<B: SlotLog>(
        &self,
        broker: &B,
        node: &NodeName,
        now: Moment,
    ) -> Result<Vec<(ServerKey, ServerFacts)>, BrokerError> {
        let mut all = BTreeMap::new();
        for (name, (_, message)) in broker.notes().await? {
            all.insert(name, ServerNotes::decode(&message)?);
        }
        let waits = all.values().flat_map(ServerNotes::waits);
        let open = waits.filter(|(_, facts)| is_open(facts, now)).collect();
        all.remove(node);
        *self.others() = all;
        Ok(open)
    }

    /// Returns the addresses of this node from which other nodes request pages too, with the number
    /// of these nodes. `living`: the other nodes that are alive.
    pub(crate) fn shared(&self, living: &BTreeSet<NodeName>) -> BTreeMap<IpAddr, u32> {
        let others = self.others();
        let others = others.iter().filter(|(name, _)| living.contains(name));
        let others: Vec<&ServerNotes> = others.map(|(_, notes)| notes).collect();
        let own = self.own();
        let count = |address: &IpAddr| {
            let users = others
                .iter()
                .filter(|notes| notes.addresses.contains(address));
            users.count() as u32
        };
        let counted = own.notes.addresses.iter();
        let counted = counted.map(|address| (*address, count(address)));
        counted.filter(|(_, others)| *others > 0).collect()
    }

    fn own(&self) -> MutexGuard<'_, OwnNotes> {
        self.own.lock().expect("no change of the notes panics")
    }

    fn others(&self) -> MutexGuard<'_, BTreeMap<NodeName, ServerNotes>> {
        let others = self.others.lock();
        others.expect("a map is changed in one call")
    }
}

impl OwnNotes {
    fn is_published(&self) -> bool {
        self.changes.0 == self.changes.1
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(second: u64) -> Moment {
        Moment::from_micros(second * 1_000_000)
    }

    fn facts(asked: u64, wait: u64) -> ServerFacts {
        ServerFacts {
            asked: at(asked),
            wait: Duration::from_secs(wait),
            refusals: 1,
        }
    }

    #[test]
    fn the_longest_wait_of_a_server_survives_the_wire() {
        let mut notes = ServerNotes::default();
        let [host, address] = [
            ServerKey::Host(HostId(7)),
            ServerKey::Address("192.0.2.1".parse().unwrap()),
        ];
        assert!(notes.wait(host.into(), facts(10, 60)));
        assert!(!notes.wait(host.into(), facts(20, 5)), "it ends earlier");
        assert!(notes.wait(address.into(), facts(10, 30)));
        assert!(notes.wait(address.into(), facts(20, 30)));
        let read = ServerNotes::decode(&compress(&notes)).unwrap();
        let waits: Vec<_> = read.waits().collect();
        assert_eq!(waits, [(address, facts(20, 30)), (host, facts(10, 60))]);
        assert!(is_open(&facts(10, 60), at(69)) && !is_open(&facts(10, 60), at(70)));
    }

    #[test]
    fn an_address_is_shared_with_the_living_nodes_that_use_it() {
        let board = NoteBoard::default();
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        board.address(address(1));
        board.address("::ffff:192.0.2.2".parse().unwrap());
        let name = |name: &str| NodeName::new(name).unwrap();
        let notes = |addresses: &[u8]| ServerNotes {
            addresses: addresses.iter().map(|last| address(*last)).collect(),
            ..ServerNotes::default()
        };
        *board.others() = BTreeMap::from([
            (name("b"), notes(&[1, 2, 3])),
            (name("c"), notes(&[2])),
            (name("dead"), notes(&[1, 2])),
        ]);
        let living = BTreeSet::from([name("b"), name("c")]);
        let shared = board.shared(&living);
        assert_eq!(shared, BTreeMap::from([(address(1), 1), (address(2), 2)]));
        board.clear_addresses();
        assert!(board.shared(&living).is_empty());
    }
}
