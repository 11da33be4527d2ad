//! Incremental PageRank: the importance of each page, updated with every read.
//!
//! [`RankFlow`] solves x = source + d·Σ x(t)/c(t) for each page. The sum is over the read pages t
//! that link to it, and c(t) is the number of links of t. The method is forward push (Andersen,
//! Chung & Lang, "Local graph partitioning using PageRank vectors", FOCS 2006; on changing graphs:
//! Zhang, Lofgren & Goel, "Approximate personalized PageRank on dynamic graphs", KDD 2016). An
//! amount that arrives at a page waits there as a residual. When the residual exceeds a share of
//! the page's settled amount, it is settled, and d/c of it is pushed to each link. When a page is
//! read again, the amounts that its old links got are taken back.
//!
//! **Invariant:** a page that was read has pushed exactly its settled amount along its present
//! links. Hence x = settled + the effect of all residuals at any moment. Nothing drifts,
//! however often pages are read again.
//!
//! **Error:** a residual is settled once it exceeds a share of the settled amount ([`PASS_ON`],
//! [`ANNOUNCE`]). Measured in a web of 3,000 pages with up to 20 Zipf-distributed links each, no
//! outside links, and 6,000 reads: an estimate differs from the full solution by 1.0 % on average,
//! by 4 % or more for one page in a hundred, and by 6 % at worst. The test
//! `the_error_is_below_1_5_percent_on_average_and_below_10_percent_at_worst` repeats this. The
//! worst case is a cycle of pages without other links: there a residual r would add r/(1−d) in
//! total.

mod replay;

use std::collections::VecDeque;

use super::{Column, Links};
use crate::{Number, Read, Worth};

/// A page never read is reported when its estimate has changed by more than this share. This
/// avoids queue moves that would change no decision.
const ANNOUNCE: f64 = 1.0 / 128.0;

/// A read page with c links pushes its residual when the residual exceeds √c times this share of
/// the page's settled amount.
///
/// A push costs c steps, while the error of a residual does not depend on c. For a given cost
/// the error is least if the shares grow with √c. The factor was chosen by measurement: with 20
/// links per page and a million pages, pushes above 1/32 of the settled amount took 9 µs per page,
/// and pushes above 1/64 took 16 µs (`cargo xtask bench order`).
const PASS_ON: f64 = 1.0 / 128.0;

/// Maximum share of the settled amount that a residual of a read page may reach, for any c.
const MOST: f64 = 1.0 / 8.0;

/// Number of links after which a read stops pushing and leaves the rest to the next read. A
/// page with a large residual can affect the whole web when it is read; without this limit that
/// took 0.2 s with a million pages.
const AT_ONCE: usize = 1 << 14;

/// Maximum number of accounts that each read examines in turn, to push small residuals too. A small
/// web is solved to a precision of [`FINE`] in this way.
const EXAMINED: usize = 512;

/// Number of links after which this examination stops.
const SWEEP: usize = 128;

/// The examination leaves residuals up to this share of the settled amount.
const FINE: f64 = 1.0 / 4096.0;

/// A residual up to this amount is settled only when its page is read. It equals
/// [`Worth::LEAST`].
const FLOOR: f64 = 1e-12;

/// The importance of all pages.
#[derive(Debug, Clone)]
pub struct RankFlow {
    damping: f64,
    accounts: FlowAccounts,
    links: Links,
    /// The account that is examined next.
    hand: u32,
    /// Sum of the settled amounts of read pages.
    covered: f64,
    /// Amounts that the page being read has pushed along each of its replaced links, and pushes
    /// along each of its new links.
    shares: (f32, f32),
    /// Whether reads only store links, because the facts of earlier runs are replayed.
    replaying: bool,
}

/// The accounts of all pages.
#[derive(Debug, Clone, Default)]
struct FlowAccounts {
    all: Column<FlowAccount>,
    /// Read pages with a residual to push.
    queue: VecDeque<Number>,
    /// Sum of the negative residuals of read pages, as a positive amount.
    debt: f64,
}

impl FlowAccounts {
    /// Adds an amount to the residual of a page. Lists the page if the residual is now due: a
    /// read page in the queue, another in `moved`.
    fn arrive(&mut self, to: Number, amount: f32, moved: &mut Vec<Number>) {
        let Some(account) = self.all.get_mut(to) else {
            return;
        };
        let debt = account.debt();
        account.waiting += amount;
        if account.read {
            self.debt += account.debt() - debt;
        }
        if !account.listed && account.is_due() {
            account.listed = true;
            if account.read {
                self.queue.push_back(to);
            } else {
                moved.push(to);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct FlowAccount {
    /// The settled amount. If the page was read, all of it was pushed.
    settled: f64,
    /// The residual: what has arrived since. Negative if links were removed.
    waiting: f32,
    /// The share of the settled amount that the residual may reach, in units of 1/[`SHARES`].
    share: u16,
    read: bool,
    /// Whether the page is in the queue, or in the list of changed pages.
    listed: bool,
}

/// Number of units of [`FlowAccount::share`] that make a share of 1.
const SHARES: f64 = 65536.0;

impl FlowAccount {
    fn is_due(&self) -> bool {
        self.exceeds(f64::from(self.share) / SHARES)
    }

    fn exceeds(&self, share: f64) -> bool {
        f64::from(self.waiting.abs()) > share * self.settled.abs() + FLOOR
    }

    /// Settles the residual and returns it.
    fn count(&mut self) -> f64 {
        let amount = f64::from(std::mem::take(&mut self.waiting));
        self.settled += amount;
        amount
    }

    fn debt(&self) -> f64 {
        f64::from((-self.waiting).max(0.0))
    }
}

/// Returns the share of its settled amount that the residual of a read page with this number of
/// links may reach.
fn share_to_pass_on(links: u32) -> f64 {
    let share = PASS_ON * f64::from(links).max(1.0).sqrt();
    share.min(MOST)
}

impl RankFlow {
    /// Creates an empty flow. `damping` is the share that a page passes on, below one.
    pub fn new(damping: f64) -> Self {
        Self {
            damping,
            accounts: FlowAccounts::default(),
            links: Links::default(),
            hand: 0,
            covered: 0.0,
            shares: (0.0, 0.0),
            replaying: false,
        }
    }

    /// Adds a page with this source amount.
    pub fn add(&mut self, page: Number, source: f64) {
        let account = FlowAccount {
            settled: source,
            share: (ANNOUNCE * SHARES) as u16,
            ..FlowAccount::default()
        };
        self.accounts.all.add(page, account);
    }

    /// Updates the links of a page that was read. Returns the pages never read whose estimate
    /// changed, each once.
    ///
    /// If the read comes in parts, each part announces changes. So estimates of pages never read
    /// may differ from those after a whole read, by twice the share [`ANNOUNCE`] at most.
    pub fn read(&mut self, read: &Read<'_>) -> Vec<Number> {
        let mut moved = Vec::new();
        if self.replaying {
            self.links.replace(read);
            return moved;
        }
        let Some(account) = self.accounts.all.get_mut(read.page) else {
            return moved;
        };
        if read.part.is_first() {
            let before = if account.read { account.settled } else { 0.0 };
            self.accounts.debt -= if account.read { account.debt() } else { 0.0 };
            account.count();
            account.read = true;
            account.share = (share_to_pass_on(read.out_links) * SHARES) as u16;
            self.covered += account.settled - before;
            let settled = account.settled;
            let old = self.links.of(read.page).map_or(0, |old| old.all);
            let new = read.out_links.max(read.known_links() as u32);
            self.shares = (self.share(before, old), self.share(settled, new));
        }
        let (old, new) = self.shares;
        for to in self.links.replace(read) {
            self.accounts.arrive(Number(to), -old, &mut moved);
        }
        for link in read.links {
            self.accounts.arrive(link.to, new, &mut moved);
        }
        if read.part.is_last() {
            self.sweep(&mut moved);
            let mut passed = 0;
            while passed < AT_ONCE
                && let Some(page) = self.accounts.queue.pop_front()
            {
                passed += self.settle(page, FlowAccount::is_due, &mut moved);
            }
        }
        moved.retain(|&page| self.announce(page));
        moved
    }

    /// Returns what each of `links` links gets of an amount.
    fn share(&self, amount: f64, links: u32) -> f32 {
        (self.damping * amount / f64::from(links.max(1))) as f32
    }

    /// Returns the settled importance of a page.
    pub fn estimate(&self, page: Number) -> f64 {
        self.accounts
            .all
            .get(page)
            .map_or(0.0, |account| account.settled)
    }

    /// Returns the worth of a page that was never read, at least [`Worth::LEAST`].
    pub fn worth(&self, page: Number) -> Worth {
        Worth::new(self.estimate(page)).max(Worth::LEAST)
    }

    /// Returns a lower bound on the importance of all pages that were read. Links of pages not
    /// read yet can only add importance.
    ///
    /// The settled amounts do not include negative residuals yet. Pushed from page to page, these
    /// lower the sum by at most 1/(1−d) times their amount.
    pub fn covered(&self) -> f64 {
        (self.covered - self.accounts.debt.max(0.0) / (1.0 - self.damping)).max(0.0)
    }

    /// Examines the next [`EXAMINED`] accounts. Pushes the residual of a read page if it exceeds
    /// the share [`FINE`] of the settled amount. Stops after [`SWEEP`] links.
    fn sweep(&mut self, moved: &mut Vec<Number>) {
        let mut passed = 0;
        for _ in 0..EXAMINED {
            if passed >= SWEEP {
                return;
            }
            let page = Number(self.hand);
            self.hand = (self.hand + 1) % self.accounts.all.len().max(1) as u32;
            if self
                .accounts
                .all
                .get(page)
                .is_some_and(|account| account.read)
            {
                passed += self.settle(page, |account| account.exceeds(FINE), moved);
            }
        }
    }

    /// Settles and pushes the residual of a read page, if `enough` holds. Returns the number of
    /// links that it was pushed along.
    fn settle(
        &mut self,
        page: Number,
        enough: impl Fn(&FlowAccount) -> bool,
        moved: &mut Vec<Number>,
    ) -> usize {
        let Some(account) = self.accounts.all.get_mut(page) else {
            return 0;
        };
        account.listed = false;
        if !enough(account) {
            return 0;
        }
        self.accounts.debt -= account.debt();
        let amount = account.count();
        self.covered += amount;
        self.pass_on(page, amount, moved)
    }

    /// Settles the residual of a page that was never read, if the residual is due. Returns whether
    /// it was due.
    fn announce(&mut self, page: Number) -> bool {
        let Some(account) = self.accounts.all.get_mut(page) else {
            return false;
        };
        account.listed = false;
        let due = account.is_due();
        if due {
            account.count();
        }
        due
    }

    /// Pushes `amount` along the links of a read page. Returns the number of links to known pages.
    fn pass_on(&mut self, page: Number, amount: f64, moved: &mut Vec<Number>) -> usize {
        let Some(outgoing) = self.links.of(page) else {
            return 0;
        };
        let each = self.share(amount, outgoing.all);
        for &to in outgoing.links {
            self.accounts.arrive(Number(to), each, moved);
        }
        outgoing.links.len()
    }
}

#[cfg(test)]
mod tests;
