//! A lease on the ledger, which a server holds while no other process wants the store.
//!
//! Only one process can have a store open, and every other command has priority over a server.
//!
//! **Invariant:** a server never blocks another command. The lease releases the store within 100 ms
//! of a request, plus the time of reads under way. It opens the store again within about two
//! seconds after the other process is done.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, RwLock, Weak};
use std::time::Duration;

use ledger::Ledger;

use crate::panics::POISONED;
use crate::store::{self, InUse, Store};

/// How often the lease checks whether another process wants the store.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Number of checks after which the lease tries again to open a store that is in use: two seconds.
const TRY_AFTER: u32 = 20;

/// A ledger that this process has open while no other process wants it.
pub struct Lease {
    root: PathBuf,
    held: RwLock<Option<(Arc<Ledger>, Store)>>,
    /// A failure to open the ledger is logged only once.
    warned: Once,
}

impl Lease {
    /// Opens the ledger of the store at `root`, if it is free, and starts the thread that releases
    /// and reopens it.
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

    /// Runs `question` on the ledger and its store; `None` if another process has them.
    pub fn ask<T>(&self, question: impl FnOnce(&Ledger, &Store) -> T) -> Option<T> {
        let held = self.held.read().expect(POISONED);
        held.as_ref().map(|(ledger, store)| question(ledger, store))
    }

    /// Returns whether this process has the store open now.
    pub fn is_held(&self) -> bool {
        let held = self.held.read().expect(POISONED);
        held.is_some()
    }

    fn take(&self) {
        match Store::borrow(&self.root).and_then(|store| Ok((store.ledger()?, store))) {
            Ok(taken) => *self.held.write().expect(POISONED) = Some(taken),
            Err(error) if error.is::<InUse>() => {}
            Err(error) => self.warned.call_once(|| {
                tracing::warn!("the server cannot show data of the ledger: {error:#}");
            }),
        }
    }

    fn release(&self) {
        *self.held.write().expect(POISONED) = None;
    }
}

/// Releases and reopens the store as other processes need it, until the lease is dropped.
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
