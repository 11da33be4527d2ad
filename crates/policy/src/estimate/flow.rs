//! How much importance has flowed to each page, when pages pass theirs on along their links?
//!
//! The equation is x = source + d·Σ x(t)/c(t) over the pages t that were read and link here, c(t) all
//! links of t. It is solved by forward push (Andersen, Chung & Lang, "Local graph partitioning using
//! PageRank vectors", FOCS 2006; on graphs that change: Zhang, Lofgren & Goel, "Approximate
//! personalized PageRank on dynamic graphs", KDD 2016): what arrives at a page waits; when it is more
//! than a share of what the page has, it is settled and d/c of it goes on to each link. A page that is
//! read again takes back what its old links got.
//!
//! **Invariant:** a page that was read has passed on exactly what it has settled, at its present
//! links. Hence x = settled + what the waiting amounts would still bring, at any moment: nothing
//! drifts, however often pages are read again.
//!
//! **Error:** what waits is a small share of what is settled ([`PASS_ON`], [`ANNOUNCE`]). In a web of 3,000
//! pages with 20 links each by Zipf's law, no link outside, half of the readings repeated, an estimate is
//! 1.0% off the full solve on average, 4% for one page in a hundred, 6% at worst
//! (`tests::the_error_is_as_stated`). A ring of pages that link to nobody else is the worst case: an amount
//! that waits there would have gone round 1/(1−d) times.

use std::collections::VecDeque;

use super::{Column, Links};
use crate::{Number, Read, Worth};

/// A page never read is stated anew when it has changed by more than this share. Saves the queue moves
/// that would change no decision.
const ANNOUNCE: f64 = 1.0 / 128.0;

/// A page with c links passes on what has arrived when it is more than √c times this share of what it has.
/// Passing on costs c steps and an amount that waits is wrong by itself, whatever c is; the least error at
/// a given cost has shares that grow with √c. The factor was chosen by measurement: with 20 links a page
/// and a million pages, shares of 1/32 and 1/64 took 9 and 16 µs a page (`cargo xtask bench order`).
const PASS_ON: f64 = 1.0 / 128.0;

/// No page keeps more than this share.
const MOST: f64 = 1.0 / 8.0;

/// So many links are passed in one go, and the rest with the next reading: a page that much has come to
/// before it is read can stir a whole web, which without this took .2 s of a million pages.
const AT_ONCE: usize = 1 << 14;

/// With every reading so many accounts are looked at in turn, and the little that waits there is passed on
/// too. So small webs, where little goes round and round, are solved to [`FINE`].
const LOOKS: usize = 512;

/// The looking ends when it has passed on along so many links, as it soon has in a large web.
const SWEEP: usize = 128;

/// What waits and is less than this share stays even then.
const FINE: f64 = 1.0 / 4096.0;

/// Less than this is not passed on: it is the least worth there is.
const FLOOR: f64 = 1e-12;

/// The importance of all pages.
#[derive(Debug, Clone)]
pub struct Flow {
    damping: f64,
    accounts: Column<Account>,
    links: Links,
    /// Pages that were read and have something to pass on.
    queue: VecDeque<Number>,
    /// The account that is looked at next.
    hand: u32,
    /// What the pages that were read have settled.
    covered: f64,
    /// What waits to be taken back from pages that were read.
    debt: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    /// What has arrived and was counted; if the page was read, all of it was passed on.
    settled: f64,
    /// What has arrived since; negative where links were taken back.
    waiting: f32,
    /// Which share of what is settled may wait, in [`SHARES`].
    share: u16,
    read: bool,
    /// In the queue, or among those that moved.
    noted: bool,
}

/// Parts of a whole.
const SHARES: f64 = 65536.0;

impl Account {
    fn is_due(&self) -> bool {
        self.exceeds(f64::from(self.share) / SHARES)
    }

    fn exceeds(&self, share: f64) -> bool {
        f64::from(self.waiting.abs()) > share * self.settled.abs() + FLOOR
    }

    /// Counts what waits. Returns how much it was.
    fn count(&mut self) -> f64 {
        let amount = f64::from(std::mem::take(&mut self.waiting));
        self.settled += amount;
        amount
    }

    fn debt(&self) -> f64 {
        f64::from((-self.waiting).max(0.0))
    }
}

impl Flow {
    /// Nothing flows yet. `damping` is the share that a page passes on, below one.
    pub fn new(damping: f64) -> Self {
        Self {
            damping,
            accounts: Column::default(),
            links: Links::default(),
            queue: VecDeque::new(),
            hand: 0,
            covered: 0.0,
            debt: 0.0,
        }
    }

    /// A page was heard of that has this much of its own.
    pub fn add(&mut self, page: Number, source: f64) {
        let account = Account {
            settled: source,
            share: (ANNOUNCE * SHARES) as u16,
            ..Account::default()
        };
        self.accounts.add(page, account);
    }

    /// A page was read. Returns the pages never read whose estimate changed, each once.
    pub fn read(&mut self, read: &Read<'_>) -> Vec<Number> {
        let mut moved = Vec::new();
        let Some(account) = self.accounts.get(read.page) else {
            return moved;
        };
        if account.read {
            self.pass_on(read.page, -account.settled, &mut moved);
        }
        // Its own old links may have taken from it just now.
        if let Some(account) = self.accounts.get_mut(read.page) {
            let before = if account.read { account.settled } else { 0.0 };
            self.debt -= if account.read { account.debt() } else { 0.0 };
            account.count();
            account.read = true;
            let share = PASS_ON * f64::from(read.out_links).max(1.0).sqrt();
            account.share = (share.min(MOST) * SHARES) as u16;
            self.covered += account.settled - before;
            let settled = account.settled;
            self.links.replace(read);
            self.pass_on(read.page, settled, &mut moved);
        }
        self.sweep(&mut moved);
        let mut passed = 0;
        while passed < AT_ONCE
            && let Some(page) = self.queue.pop_front()
        {
            passed += self.settle(page, Account::is_due, &mut moved);
        }
        moved.retain(|&page| self.announce(page));
        moved
    }

    /// The importance of a page, as far as it is settled.
    pub fn estimate(&self, page: Number) -> f64 {
        self.accounts
            .get(page)
            .map_or(0.0, |account| account.settled)
    }

    /// What a page never read is worth.
    pub fn worth(&self, page: Number) -> Worth {
        Worth::new(self.estimate(page)).max(Worth::LEAST)
    }

    /// The importance of all pages that were read: no more than they have, whatever the pages not
    /// read yet link to, since these can only add.
    ///
    /// An amount that waits to be taken back has gone on from page to page, 1/(1−d) times in all.
    pub fn covered(&self) -> f64 {
        (self.covered - self.debt.max(0.0) / (1.0 - self.damping)).max(0.0)
    }

    /// Passes on a little of what waits.
    fn sweep(&mut self, moved: &mut Vec<Number>) {
        let mut passed = 0;
        for _ in 0..LOOKS {
            if passed >= SWEEP {
                return;
            }
            let page = Number(self.hand);
            self.hand = (self.hand + 1) % self.accounts.len().max(1) as u32;
            if self.accounts.get(page).is_some_and(|account| account.read) {
                passed += self.settle(page, |account| account.exceeds(FINE), moved);
            }
        }
    }

    /// Counts what waits at a page that was read, and passes it on, if it is `enough`. Returns how many
    /// links it went along.
    fn settle(
        &mut self,
        page: Number,
        enough: impl Fn(&Account) -> bool,
        moved: &mut Vec<Number>,
    ) -> usize {
        let Some(account) = self.accounts.get_mut(page) else {
            return 0;
        };
        account.noted = false;
        if !enough(account) {
            return 0;
        }
        self.debt -= account.debt();
        let amount = account.count();
        self.covered += amount;
        self.pass_on(page, amount, moved)
    }

    /// Counts what waits at a page never read. Returns whether that is worth saying.
    fn announce(&mut self, page: Number) -> bool {
        let Some(account) = self.accounts.get_mut(page) else {
            return false;
        };
        account.noted = false;
        let due = account.is_due();
        if due {
            account.count();
        }
        due
    }

    /// Lets `amount` flow along the links of a page that was read. Returns how many they are.
    fn pass_on(&mut self, page: Number, amount: f64, moved: &mut Vec<Number>) -> usize {
        let Some(outgoing) = self.links.of(page) else {
            return 0;
        };
        let each = (self.damping * amount / f64::from(outgoing.all.max(1))) as f32;
        for &to in outgoing.links {
            let Some(account) = self.accounts.get_mut(Number(to)) else {
                continue;
            };
            let debt = account.debt();
            account.waiting += each;
            if account.read {
                self.debt += account.debt() - debt;
            }
            if !account.noted && account.is_due() {
                account.noted = true;
                if account.read {
                    self.queue.push_back(Number(to));
                } else {
                    moved.push(Number(to));
                }
            }
        }
        outgoing.links.len()
    }
}

#[cfg(test)]
mod tests;
