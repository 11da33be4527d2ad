//! Readers of the ledger of a running crawl, and loans of its store to commands that write.
//!
//! A reader gets the ledger while the crawl goes on. A command that writes gets the whole store:
//! the crawl ends its requests, commits and closes the store, waits until the command is done, and
//! goes on.
//!
//! **Invariant:** while the store is reserved or lent, no reader has the ledger open.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::panics::POISONED;

/// Time between two checks of a waiting thread or task.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Who uses the store of a running crawl.
#[derive(Debug, Default)]
pub struct Loans {
    state: Mutex<LoanState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LoanState {
    readers: usize,
    /// Commands that wait for the store.
    waiting: usize,
    phase: LoanPhase,
    /// Whether the crawl has ended, so that all requests fail.
    ended: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LoanPhase {
    /// The crawl uses the store, and readers may read the ledger.
    #[default]
    Crawling,
    /// The crawl is about to close the store, or does work that no reader may see.
    Reserved,
    /// The store is closed, and the next command that waits may have it.
    Offered,
    /// A command has the store.
    Lent,
}

/// The right to read the ledger, until it is dropped.
#[derive(Debug)]
pub struct ReadPermit<'a>(&'a Loans);

/// The right to use the store, until it is dropped.
#[derive(Debug)]
pub struct StoreLoan<'a>(&'a Loans);

impl Loans {
    /// Waits until the ledger may be read. Returns `None` if the crawl ends or `alive` becomes
    /// false meanwhile.
    pub fn read(&self, alive: impl Fn() -> bool) -> Option<ReadPermit<'_>> {
        let mut state = self.wait(|state| state.phase == LoanPhase::Crawling, &alive)?;
        state.readers += 1;
        Some(ReadPermit(self))
    }

    /// Waits until the crawl has lent the store. Returns `None` if the crawl ends or `alive`
    /// becomes false meanwhile.
    pub fn borrow(&self, alive: impl Fn() -> bool) -> Option<StoreLoan<'_>> {
        self.lock().waiting += 1;
        let offered = self.wait(|state| state.phase == LoanPhase::Offered, &alive);
        let loan = offered.map(|mut state| {
            state.phase = LoanPhase::Lent;
            StoreLoan(self)
        });
        self.lock().waiting -= 1;
        loan
    }

    /// Completes when a command waits for the store and no reader has the ledger. The store is
    /// reserved then.
    pub async fn wanted(&self) {
        self.reserved_if(|state| state.waiting > 0).await;
    }

    /// Completes when no reader has the ledger. The store is reserved then.
    pub async fn reserved(&self) {
        self.reserved_if(|_| true).await;
    }

    async fn reserved_if(&self, is_due: impl Fn(&LoanState) -> bool) {
        loop {
            {
                let mut state = self.lock();
                let is_free = state.readers == 0 && state.phase == LoanPhase::Crawling;
                if is_free && is_due(&state) {
                    state.phase = LoanPhase::Reserved;
                    return;
                }
            }
            tokio::time::sleep(CHECK_EVERY).await;
        }
    }

    /// Lends the reserved store, which the crawl has closed. Completes when no command has it or
    /// waits for it any more.
    pub async fn lend(&self) {
        loop {
            {
                let mut state = self.lock();
                match state.phase {
                    LoanPhase::Lent => {}
                    _ if state.waiting == 0 => return,
                    LoanPhase::Offered => {}
                    LoanPhase::Reserved | LoanPhase::Crawling => {
                        state.phase = LoanPhase::Offered;
                        self.changed.notify_all();
                    }
                }
            }
            tokio::time::sleep(CHECK_EVERY).await;
        }
    }

    /// Lets readers read again: the crawl has opened the store.
    pub fn release(&self) {
        self.lock().phase = LoanPhase::Crawling;
        self.changed.notify_all();
    }

    /// Ends all waiting: the crawl has ended.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn wait(
        &self,
        is_due: impl Fn(&LoanState) -> bool,
        alive: &impl Fn() -> bool,
    ) -> Option<MutexGuard<'_, LoanState>> {
        let mut state = self.lock();
        while !state.ended && alive() {
            if is_due(&state) {
                return Some(state);
            }
            state = (self.changed.wait_timeout(state, CHECK_EVERY))
                .expect(POISONED)
                .0;
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, LoanState> {
        self.state.lock().expect(POISONED)
    }
}

impl Drop for ReadPermit<'_> {
    fn drop(&mut self) {
        self.0.lock().readers -= 1;
    }
}

impl Drop for StoreLoan<'_> {
    fn drop(&mut self) {
        self.0.lock().phase = LoanPhase::Reserved;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(300);

    #[tokio::test]
    async fn a_store_is_lent_when_no_reader_is_left_and_readers_wait_until_it_is_back() {
        let loans = Arc::new(Loans::default());
        let reader = loans.read(|| true).unwrap();
        let (borrowing, reading) = (loans.clone(), loans.clone());
        let (give_back, back) = std::sync::mpsc::channel::<()>();
        let borrower = std::thread::spawn(move || {
            let loan = borrowing.borrow(|| true).unwrap();
            back.recv().unwrap();
            drop(loan);
        });
        let early = tokio::time::timeout(MOMENT, loans.wanted()).await;
        assert!(early.is_err(), "a reader has the ledger open");
        drop(reader);
        loans.wanted().await;
        let second = std::thread::spawn(move || reading.read(|| true).is_some());
        let lent = tokio::time::timeout(MOMENT, loans.lend()).await;
        assert!(lent.is_err(), "the command has the store");
        assert!(!second.is_finished(), "a reader waits meanwhile");
        give_back.send(()).unwrap();
        loans.lend().await;
        assert!(!second.is_finished(), "the store is not open yet");
        loans.release();
        assert!(second.join().unwrap());
        borrower.join().unwrap();
    }

    #[tokio::test]
    async fn a_command_that_goes_away_or_a_crawl_that_ends_leaves_no_one_waiting() {
        let loans = Loans::default();
        assert!(loans.borrow(|| false).is_none());
        let idle = tokio::time::timeout(MOMENT, loans.wanted()).await;
        assert!(idle.is_err(), "no command waits any more");
        loans.reserved().await;
        assert!(loans.read(|| false).is_none());
        // No command wants the store: it is back at once.
        loans.lend().await;
        loans.release();
        loans.end();
        assert!(loans.read(|| true).is_none() && loans.borrow(|| true).is_none());
    }
}
