//! Solves the equation at once for the links of earlier runs.
//!
//! A replay of reads one by one pushes each amount many times. Here all links are stored first.
//! Then sweeps over all read pages push residuals until none is due (Gauss-Seidel iteration).
//!
//! **Invariant:** the result depends on the stored links and their order alone.

use super::{FLOOR, FlowAccount, RankFlow, SHARES, share_to_pass_on};

/// Residuals that a sweep leaves, as a share of those that the flow leaves while a crawl runs.
const FINER: f32 = 0.25;
/// Maximum number of sweeps. Each lowers the residuals by the damping factor or more, so the last
/// ones are smaller than any share.
const SWEEPS: usize = 200;

impl RankFlow {
    /// Begins to store the links of read pages only.
    pub fn begin_replay(&mut self) {
        self.replaying = true;
    }

    /// Solves the equation for all links that were stored.
    pub fn end_replay(&mut self) {
        self.replaying = false;
        let end = self.accounts.all.end();
        let mut settled = vec![0.0f32; end];
        let mut waiting = vec![0.0f32; end];
        for (page, account) in self.accounts.all.iter() {
            waiting[page.index()] = account.settled as f32;
        }
        let damping = self.damping as f32;
        for _ in 0..SWEEPS {
            let mut pushed = false;
            for (page, outgoing) in self.links.all() {
                let Some(residual) = waiting.get(page.index()).copied() else {
                    continue;
                };
                let share = FINER * share_to_pass_on(outgoing.all) as f32;
                if residual <= share * settled[page.index()] + FLOOR as f32 {
                    continue;
                }
                pushed = true;
                waiting[page.index()] = 0.0;
                settled[page.index()] += residual;
                let each = damping * residual / outgoing.all.max(1) as f32;
                for &to in outgoing.links {
                    if let Some(waiting) = waiting.get_mut(to as usize) {
                        *waiting += each;
                    }
                }
            }
            if !pushed {
                break;
            }
        }
        self.covered = 0.0;
        for (page, account) in self.accounts.all.iter_mut() {
            let amounts = (settled[page.index()], waiting[page.index()]);
            match self.links.of(page) {
                Some(outgoing) => {
                    *account = FlowAccount {
                        settled: f64::from(amounts.0),
                        waiting: amounts.1,
                        share: (share_to_pass_on(outgoing.all) * SHARES) as u16,
                        read: true,
                        listed: false,
                    };
                    self.covered += account.settled;
                }
                // The estimate of a page that was never read is all that has arrived.
                None => account.settled = f64::from(amounts.1),
            }
        }
    }
}
