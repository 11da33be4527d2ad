//! Refreshes pages whose past refreshes gained most for searchers.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), 5.1: the priority of a page is
//! `δQ_A(p)·(t − LR(p))`, where LR is the time of the last refresh, and δQ_A is the gain per unit
//! of time of past refreshes in a sliding window.

use crate::estimate::HostGains;
use crate::moment::DAY;
use crate::{Curve, Fact, Needs, Page, Refresh, Term};

/// Before any gain was measured, a page is assumed to gain its importance in this number of
/// seconds: 138.7 days, the mean lifetime of a page by Brewington & Cybenko (2000).
const LIFETIME: f64 = 138.7 * DAY;

/// How δQ_A is computed from measured gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowMean {
    /// `(ΣΔQ_A + δ·ḡ)/(Σgap + ḡ)` over all measured revisits, not only those in the window. The
    /// mean δ of the host counts as one more revisit, after a gap of ḡ = Σgap/revisits.
    ///
    /// Without this prior, a page whose only revisit gained nothing would never be visited
    /// again.
    Robust,
    /// The mean of the ratios `ΔQ_A/gap` over the window, as in the paper.
    ///
    /// It diverges for short gaps, and a page that gained nothing is never visited again.
    Printed,
}

/// Worth is `δQ_A·τ`, in the unit of ΔQ_A. New pages come first, because the paper does not
/// treat them.
#[derive(Debug, Clone)]
pub struct UserCentric {
    mean: WindowMean,
    gains: HostGains,
}

struct LinearWorth {
    slope: f64,
}

impl UserCentric {
    /// Creates the policy with this kind of mean.
    pub fn new(mean: WindowMean) -> Self {
        Self {
            mean,
            gains: HostGains::default(),
        }
    }

    fn line(&self, page: Page<'_>, importance: f64) -> LinearWorth {
        let unknown = || importance / LIFETIME;
        let host = self.gains.per_second(page.number);
        let own = match self.mean {
            WindowMean::Robust => host.and_then(|host| robust(page, host)),
            WindowMean::Printed => printed(page),
        };
        let slope = own.or(host).unwrap_or_else(unknown);
        LinearWorth { slope }
    }
}

/// Returns the robust mean; `None` if the gain of no revisit was measured. A revisit without a
/// change counts as measured.
fn robust(page: Page<'_>, host: f64) -> Option<f64> {
    let measured = &page.history.measured;
    let seconds = f64::from(measured.seconds);
    let gap = seconds / f64::from(page.history.revisits);
    (seconds > 0.0).then(|| (f64::from(measured.gain) + host * gap) / (seconds + gap))
}

/// Returns the mean as printed; `None` if the gain of no revisit in the window was measured. A
/// revisit without a change counts as measured.
fn printed(page: Page<'_>) -> Option<f64> {
    let measured = page.history.recent.iter().filter_map(|visit| {
        let gain = f64::from(visit.gain?);
        (visit.gap > 0.0).then(|| gain / f64::from(visit.gap))
    });
    let (sum, count) = measured.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

impl Curve for LinearWorth {
    fn at(&self, age: f64) -> f64 {
        self.slope * age
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth / self.slope)
    }
}

impl Refresh for UserCentric {
    fn needs(&self) -> Needs {
        Needs {
            visits: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.gains.discovered(discovered),
            Fact::Visited(visited) => self.gains.visited(visited),
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.line(page, importance))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let slope = self.line(page, importance).slope;
        vec![Term::new("gain a day", slope * DAY)]
    }
}
