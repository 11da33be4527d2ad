//! A ledger that a server reads while no crawl needs it. One process has a store at a time, and a crawl comes first.
//!
//! **Invariant:** a server never keeps a crawl, or any other command, from a store: it has the store while nobody
//! wants it, gives it up within a moment when somebody does, and takes it again when they are done.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, RwLock, Weak};
use std::time::Duration;

use ledger::Ledger;

use crate::panics::POISONED;
use crate::store::{self, InUse, Store};

/// How often it is seen whether somebody wants the store.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// After how many looks a store that is in other hands is tried again.
const TRY_AFTER: u32 = 20;

/// A ledger that is ours while nobody else wants it.
pub struct Lease {
    root: PathBuf,
    held: RwLock<Option<(Ledger, Store)>>,
    /// Why the ledger cannot be opened is logged once.
    warned: Once,
}

impl Lease {
    /// Takes the ledger of the store at `root`, if it is free, and sees to it as long as it is used.
    pub fn start(root: &Path) -> std::io::Result<Arc<Self>> {
        let lease = Arc::new(Self {
            root: root.to_owned(),
            held: RwLock::default(),
            warned: Once::new(),
        });
        lease.take();
        let watched = Arc::downgrade(&lease);
        std::thread::Builder::new()
            .name("lease".into())
            .spawn(move || watch(&watched))?;
        Ok(lease)
    }

    /// Asks the ledger, and the store that it is of; `None`: they are in other hands.
    pub fn ask<T>(&self, question: impl FnOnce(&Ledger, &Store) -> T) -> Option<T> {
        let held = self.held.read().expect(POISONED);
        held.as_ref().map(|(ledger, store)| question(ledger, store))
    }

    /// Whether the store is ours now.
    pub fn is_held(&self) -> bool {
        let held = self.held.read().expect(POISONED);
        held.is_some()
    }

    fn take(&self) {
        match Store::borrow(&self.root).and_then(|store| Ok((store.ledger()?, store))) {
            Ok(taken) => *self.held.write().expect(POISONED) = Some(taken),
            Err(error) if error.is::<InUse>() => {}
            Err(error) => self.warned.call_once(|| {
                tracing::warn!("the server shows no facts of the ledger: {error:#}");
            }),
        }
    }

    fn release(&self) {
        *self.held.write().expect(POISONED) = None;
    }
}

/// Gives and takes, until nobody uses the lease any more.
fn watch(lease: &Weak<Lease>) {
    let mut waited = 0;
    loop {
        std::thread::sleep(LOOK_EVERY);
        let Some(lease) = lease.upgrade() else { return };
        let wanted = store::is_wanted(&lease.root);
        if lease.is_held() {
            waited = 0;
            if wanted {
                lease.release();
            }
        } else if wanted {
            waited = 0;
        } else {
            waited += 1;
            if waited % TRY_AFTER == 0 {
                lease.take();
            }
        }
    }
}
