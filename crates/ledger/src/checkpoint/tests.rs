//! Law: after any commits, reopenings and damage, a checkpoint has the facts of the ledger.

use frontier::{Discovery, Partition, Visited};
use page::PageId;
use policy::{History, Outcome, Visit};
use proptest::prelude::*;

use super::*;
use crate::Batch;

#[derive(Debug, Clone)]
enum CheckpointStep {
    /// Commits facts: a kind, a page and a number each.
    Commit(Vec<(u8, u64, u64)>),
    /// Opens the store again, as after a kill, and then the checkpoint.
    Reopen,
    /// Opens the store again without the checkpoint, as other commands do.
    Leave,
    /// Cuts off the file at this share of its length.
    Cut(u8),
    /// Changes a byte.
    Flip(prop::sample::Index, u8),
    /// Appends what a commit that failed would leave.
    Append,
    /// Puts a file of another ledger in its place.
    Exchange,
    /// Deletes the pages of a partition.
    Delete(u8),
    /// Waits for a new base.
    Finish,
    /// Changes the archive locations.
    Relocate,
}

fn steps() -> impl Strategy<Value = Vec<CheckpointStep>> {
    let fact = (0u8..4, 0u64..40, any::<u64>());
    let step = prop_oneof![
        10 => prop::collection::vec(fact, 0..20).prop_map(CheckpointStep::Commit),
        4 => Just(CheckpointStep::Reopen),
        1 => Just(CheckpointStep::Leave),
        1 => any::<u8>().prop_map(CheckpointStep::Cut),
        1 => (any::<prop::sample::Index>(), 1u8..).prop_map(|(at, byte)| CheckpointStep::Flip(at, byte)),
        1 => Just(CheckpointStep::Append),
        1 => Just(CheckpointStep::Exchange),
        1 => (0u8..3).prop_map(CheckpointStep::Delete),
        2 => Just(CheckpointStep::Finish),
        2 => Just(CheckpointStep::Relocate),
    ];
    prop::collection::vec(step, 1..16)
}

fn key(page: u64) -> PageKey {
    PageKey {
        partition: Partition((page % 3) as u8),
        page: PageId::new(HostId(page % 3 + 7 * (page % 2)), page),
    }
}

fn discovery(page: u64, number: u64) -> Entry {
    let discovery = Discovery {
        url: format!("http://a.example/{page}"),
        order: page,
        at: Moment::from_micros(number % (1 << 50)),
        depth: 3,
        hops: 0,
        source: number.is_multiple_of(2).then_some(PageId(7)),
        absent: None,
    };
    Entry::Admitted(key(page), discovery)
}

fn fact(kind: u8, page: u64, number: u64) -> Entry {
    let at = Moment::from_micros(number % (1 << 50));
    match kind {
        0 => discovery(page, number),
        1 => {
            let visit = Visit::new(at, Outcome::Changed);
            let visited = Visited {
                history: History::discovered(at, 3).after(visit),
                status: Some(200),
                ..Visited::default()
            };
            Entry::Visited(key(page), Box::new(visited))
        }
        2 => {
            let links = (0..(number % 5) as u32).map(|to| (to, "text".to_owned()));
            Entry::Links(key(page), OutLinks::new(9, links.collect()))
        }
        _ => Entry::Signalled(key(page), at),
    }
}

/// A store of the test: a ledger, and a file.
struct TestStore {
    directory: tempfile::TempDir,
    ledger: Option<Ledger>,
    /// Whether commits are appended to the checkpoint.
    open: bool,
}

impl TestStore {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Self {
            directory,
            ledger: None,
            open: false,
        };
        store.reopen();
        store
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("checkpoint")
    }

    fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        drop(self.ledger.take());
        self.ledger = Some(Ledger::open(&self.directory.path().join("ledger")).unwrap());
        self.open = false;
    }

    fn open_checkpoint(&mut self) -> Checkpoint {
        let checkpoint = self.ledger().open_checkpoint(&self.path()).unwrap();
        let mut writer = self.ledger().checkpoint.lock().unwrap();
        writer.as_mut().unwrap().set_small_tail(300);
        drop(writer);
        self.open = true;
        checkpoint
    }

    fn commit(&self, facts: &[(u8, u64, u64)]) {
        // A page is discovered before anything else is known about it.
        let fact = |&(kind, page, number): &(u8, u64, u64)| {
            let known = kind == 0 || self.ledger().discovery(key(page)).unwrap().is_some();
            let first = (!known).then(|| discovery(page, number));
            first.into_iter().chain([fact(kind, page, number)])
        };
        let batch = Batch {
            entries: facts.iter().flat_map(fact).collect(),
            ..Batch::default()
        };
        self.ledger().commit(&batch).unwrap();
    }
}

fn facts_of(facts: &impl Facts<Error = LedgerError>) -> (Vec<Known>, Vec<(PageKey, OutLinks)>) {
    let pages = facts.pages().map(|page| page.unwrap().for_start());
    let links = facts.links().map(Result::unwrap).collect();
    (
        pages
            .map(|page| Known {
                pattern: None,
                ..page
            })
            .collect(),
        links,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_checkpoint_has_the_facts_of_the_ledger_whatever_happens(steps in steps()) {
        let mut store = TestStore::new();
        store.open_checkpoint();
        for step in steps {
            let path = store.path();
            match step {
                CheckpointStep::Commit(facts) => store.commit(&facts),
                CheckpointStep::Reopen => {
                    store.reopen();
                    let checkpoint = store.open_checkpoint();
                    prop_assert_eq!(facts_of(&checkpoint.facts(store.ledger())), facts_of(store.ledger()));
                }
                CheckpointStep::Leave => store.reopen(),
                CheckpointStep::Cut(share) => {
                    store.reopen();
                    let file = File::options().write(true).open(&path).unwrap();
                    let length = file.metadata().unwrap().len();
                    file.set_len(length * u64::from(share) / 255).unwrap();
                }
                CheckpointStep::Flip(at, byte) => {
                    store.reopen();
                    let mut bytes = fs::read(&path).unwrap();
                    if !bytes.is_empty() {
                        let at = at.index(bytes.len());
                        bytes[at] ^= byte;
                        fs::write(&path, bytes).unwrap();
                    }
                }
                CheckpointStep::Append => {
                    if let Some(writer) = &mut *store.ledger().checkpoint.lock().unwrap() {
                        let sequence = store.ledger().sequence().unwrap() + 1;
                        writer.append(&[fact(0, 3, 5), fact(1, 3, 5)], sequence).unwrap();
                    }
                    store.reopen();
                }
                CheckpointStep::Exchange => {
                    store.reopen();
                    let mut other = TestStore::new();
                    other.open_checkpoint();
                    other.commit(&[(1, 8, 9)]);
                    drop(other.ledger.take());
                    fs::copy(other.path(), &path).unwrap();
                }
                CheckpointStep::Delete(partition) => {
                    store.ledger().delete(partition..=partition).unwrap();
                }
                CheckpointStep::Relocate => {
                    store.ledger().relocate(Some, None, &[]).unwrap();
                }
                CheckpointStep::Finish => {
                    if let Some(writer) = &mut *store.ledger().checkpoint.lock().unwrap() {
                        writer.finish().unwrap();
                    }
                }
            }
        }
        store.reopen();
        let checkpoint = store.open_checkpoint();
        prop_assert_eq!(facts_of(&checkpoint.facts(store.ledger())), facts_of(store.ledger()));
    }
}

/// Returns why the checkpoint of a store is made again, if it is.
fn made(store: &mut TestStore) -> Option<String> {
    store.reopen();
    let checkpoint = store.open_checkpoint();
    assert_eq!(
        facts_of(&checkpoint.facts(store.ledger())),
        facts_of(store.ledger())
    );
    checkpoint.made().map(str::to_owned)
}

#[test]
fn a_checkpoint_is_made_again_only_if_it_does_not_count_and_says_why() {
    let mut store = TestStore::new();
    assert_eq!(made(&mut store).as_deref(), Some("there is none"));
    store.commit(&[(1, 5, 9), (2, 5, 4)]);
    assert_eq!(made(&mut store), None);
    // A kill after a frame was written, and before its commit.
    let mut writer = store.ledger().checkpoint.lock().unwrap();
    writer
        .as_mut()
        .unwrap()
        .append(&[fact(0, 3, 5)], 2)
        .unwrap();
    drop(writer);
    assert_eq!(made(&mut store), None);
    store.commit(&[(1, 6, 9)]);
    assert_eq!(made(&mut store), None, "the frame before does not count");
    store.ledger().delete(0..=1).unwrap();
    store.commit(&[(1, 9, 9)]);
    assert_eq!(made(&mut store), None, "deletions are in the tail");
    store.ledger().relocate(Some, None, &[]).unwrap();
    store.ledger().delete(2..=2).unwrap();
    store.commit(&[(1, 12, 9)]);
    store.reopen();
    store.ledger().relocate(Some, None, &[]).unwrap();
    assert_eq!(made(&mut store), None);
    store.reopen();
    store.commit(&[(1, 7, 9)]);
    assert_eq!(
        made(&mut store).as_deref(),
        Some("it lacks the last commit")
    );
    let length = fs::metadata(store.path()).unwrap().len();
    let file = File::options().write(true).open(store.path()).unwrap();
    file.set_len(length - 1).unwrap();
    assert!(made(&mut store).is_some());
    let mut bytes = fs::read(store.path()).unwrap();
    bytes[60] ^= 1;
    fs::write(store.path(), &bytes).unwrap();
    assert_eq!(made(&mut store).as_deref(), Some("a checksum is wrong"));
    fs::write(store.path(), "avocet checkpoint 0").unwrap();
    assert_eq!(made(&mut store).as_deref(), Some("it is too short"));
    fs::write(store.path(), [b'x'; 90]).unwrap();
    assert_eq!(made(&mut store).as_deref(), Some("it has another format"));
    store.ledger().forget(&[key(6)], &[], &[]).unwrap();
    assert_eq!(
        made(&mut store).as_deref(),
        Some("it belongs to another ledger")
    );
    assert_eq!(made(&mut store), None);
}

#[test]
fn a_long_tail_becomes_a_new_base_while_commits_go_on() {
    let mut store = TestStore::new();
    store.open_checkpoint();
    let length = |store: &TestStore| fs::metadata(store.path()).unwrap().len();
    let (mut longest, mut written) = (0, 0);
    for round in 0..400 {
        let before = length(&store);
        store.commit(&[(1, round % 20, round), (2, round % 20, round)]);
        longest = longest.max(length(&store));
        written += length(&store).saturating_sub(before);
        if round % 50 == 49 {
            let mut writer = store.ledger().checkpoint.lock().unwrap();
            writer.as_mut().unwrap().finish().unwrap();
        }
    }
    assert!(longest < written / 2, "{longest} of {written} bytes");
    store.ledger().close_checkpoint();
    assert_eq!(made(&mut store), None);
}
