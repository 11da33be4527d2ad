//! A disk in memory: a ledger, and a committer that writes groups of work with a delay, or
//! fails.

use std::collections::VecDeque;
use std::convert::Infallible;

use crawl::verdict::DROPPED;
use crawl::{Distance, Gain, Record, Work};
use frontier::checkpoint::tail_block;
use frontier::{
    CheckpointFacts, Entry, Facts, MemoryBase, MemoryLedger, PageKey, TailEvents, Visited,
};
use policy::Moment;

use crate::random::SimRandom;

/// Work to write, in order.
pub enum DiskItem {
    /// A politeness record of a server.
    Keep(Distance),
    /// Work that the core hands over.
    Work(Work<()>),
}

/// The ledger and the work that is not written yet.
#[derive(Default)]
pub struct SimDisk {
    pub ledger: MemoryLedger,
    waiting: VecDeque<DiskItem>,
    writing: Vec<DiskItem>,
    /// Whether a write has failed. Nothing more is written then.
    pub broken: bool,
    /// The checkpoint, in a simulation whose nodes start from one.
    pub checkpoint: Option<SimCheckpoint>,
}

/// A checkpoint in memory. Its base is made again after every fifth commit, from itself.
#[derive(Default)]
pub struct SimCheckpoint {
    base: MemoryBase,
    tail: TailEvents,
    commits: u32,
}

impl SimCheckpoint {
    /// Returns its facts.
    pub fn facts<'a>(&'a self, ledger: &'a MemoryLedger) -> impl Facts<Error = Infallible> + 'a {
        CheckpointFacts::new(&self.base, &self.tail, ledger)
    }

    fn commit(&mut self, facts: &[Entry], ledger: &MemoryLedger) {
        self.tail.push(&tail_block(facts)).expect("a block");
        self.tail.sort();
        self.commits += 1;
        if self.commits.is_multiple_of(5) {
            let Ok(base) = MemoryBase::of(&self.facts(ledger));
            self.base = base;
            self.tail = TailEvents::default();
        }
    }
}

/// A group that was written.
pub struct WrittenGroup {
    pub facts: Vec<Entry>,
    pub requests: usize,
    pub gains: Vec<Gain>,
    /// Visits that are durable now: the pages, and when they were requested.
    pub visits: Vec<(PageKey, Option<Moment>)>,
}

impl SimDisk {
    /// Returns an empty disk. `checkpoints`: it has a checkpoint beside the ledger.
    pub fn new(checkpoints: bool) -> Self {
        Self {
            checkpoint: checkpoints.then(SimCheckpoint::default),
            ..Self::default()
        }
    }

    /// Queues an item.
    pub fn push(&mut self, item: DiskItem) {
        if !self.broken {
            self.waiting.push_back(item);
        }
    }

    /// Begins to write all queued items. Returns `false` if there are none, or a group is being
    /// written.
    pub fn begin_group(&mut self) -> bool {
        if !self.writing.is_empty() || self.waiting.is_empty() {
            return false;
        }
        self.writing = self.waiting.drain(..).collect();
        true
    }

    /// Returns whether everything is written.
    pub fn is_idle(&self) -> bool {
        self.writing.is_empty() && self.waiting.is_empty()
    }

    /// Drops what is not written, as a kill does. Politeness records are stored one by one, so
    /// the first ones of a group may be written.
    pub fn lose(&mut self, random: &mut SimRandom, clock: Moment) {
        for item in std::mem::take(&mut self.writing) {
            match item {
                DiskItem::Keep(distance) if random.chance(0.7) => {
                    self.ledger
                        .keep_server(distance.server, distance.facts, clock);
                }
                _ => break,
            }
        }
        self.waiting.clear();
        self.broken = false;
    }

    /// Fails to write the group, and everything that comes later.
    pub fn fail(&mut self) {
        self.waiting.clear();
        self.writing.clear();
        self.broken = true;
    }

    /// Writes the group, as the committer of the crate `node` does.
    pub fn end_group(&mut self, random: &mut SimRandom, clock: Moment) -> WrittenGroup {
        let mut group = WrittenGroup {
            facts: Vec::new(),
            requests: 0,
            gains: Vec::new(),
            visits: Vec::new(),
        };
        for item in std::mem::take(&mut self.writing) {
            match item {
                DiskItem::Keep(distance) => {
                    self.ledger
                        .keep_server(distance.server, distance.facts, clock);
                }
                DiskItem::Work(Work::Facts(facts)) => group.facts.extend(facts),
                DiskItem::Work(Work::Drop(pages)) => {
                    pages
                        .iter()
                        .for_each(|page| self.drop_page(*page, &mut group.facts));
                }
                DiskItem::Work(Work::Pages(records)) => {
                    records
                        .into_iter()
                        .for_each(|record| group.take(record, random));
                }
            }
        }
        self.ledger.commit(&group.facts);
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.commit(&group.facts, &self.ledger);
        }
        group
    }

    fn drop_page(&self, page: PageKey, facts: &mut Vec<Entry>) {
        let unwritten = facts.iter_mut().rev().find_map(|entry| match entry {
            Entry::Visited(key, visited) if *key == page => Some(&mut **visited),
            _ => None,
        });
        if let Some(visited) = unwritten {
            forget(visited);
        } else if let Some(visited) = self.ledger.visited(page) {
            let mut visited = visited.clone();
            forget(&mut visited);
            facts.push(Entry::Visited(page, Box::new(visited)));
        }
    }
}

impl WrittenGroup {
    fn take(&mut self, mut record: Record<()>, random: &mut SimRandom) {
        self.requests += usize::from(record.asked);
        if record.text.is_some() && random.chance(0.2) {
            let before = record.visited.history;
            record.visited.history = before.gained(0.5);
            self.gains.push(Gain {
                page: record.key.page,
                before,
                after: record.visited.history,
            });
        }
        self.visits.push((record.key, record.visited.history.asked));
        self.facts.extend(record.admitted);
        let visited = Box::new(record.visited);
        self.facts.push(Entry::Visited(record.key, visited));
    }
}

fn forget(visited: &mut Visited) {
    visited.error = Some(DROPPED.to_owned());
    visited.copy = None;
}
