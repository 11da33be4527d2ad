//! Pages whose refreshes gave most to searchers, as printed.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), 5.1: priority is `δQ_A(p)·(t − LR(p))`, where δQ_A is what past
//! refreshes in a sliding window gave in unit time.

use crate::estimate::{Gains, Window};
use crate::moment::DAY;
use crate::{Curve, Fact, Needs, Page, Refresh, Term, Visited};

/// Before any gain was measured, a page gains its importance in so many seconds: 138.7 days, the mean lifetime
/// of Brewington & Cybenko (2000).
const LIFETIME: f64 = 138.7 * DAY;

/// How δQ_A is made of the gains in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mean {
    /// `(ΣΔQ_A + δ·ḡ)/(Σgap + ḡ)`: the host's mean δ counts as one more revisit after a gap ḡ like the others.
    /// Without it a page whose one revisit found nothing would never be visited again.
    Robust,
    /// The mean of the ratios `ΔQ_A/gap`, as the paper has it. It explodes on short gaps, and a page that gave nothing
    /// is given up.
    Printed,
}

/// Worth is `δQ_A·τ`, in the unit of ΔQ_A. New pages come first: the paper says nothing of them.
#[derive(Debug, Clone)]
pub struct UserCentric {
    mean: Mean,
    gains: Gains,
}

struct Line {
    slope: f64,
}

impl UserCentric {
    /// The policy with gains averaged so.
    pub fn new(mean: Mean) -> Self {
        Self {
            mean,
            gains: Gains::default(),
        }
    }

    fn line(&self, page: Page<'_>, importance: f64) -> Line {
        let unknown = || importance / LIFETIME;
        let host = self.gains.per_second(page.number);
        let own = match self.mean {
            Mean::Robust => host.and_then(|host| robust(page, host)),
            Mean::Printed => printed(page),
        };
        let slope = own.or(host).unwrap_or_else(unknown);
        Line { slope }
    }
}

/// `None` if nothing was measured.
fn robust(page: Page<'_>, host: f64) -> Option<f64> {
    let window = Window::of(page.history);
    let seconds = window.seconds(page.history);
    let gap = seconds / page.history.recent.len() as f64;
    (seconds > 0.0).then(|| (window.gain + host * gap) / (seconds + gap))
}

/// `None` if nothing was measured.
fn printed(page: Page<'_>) -> Option<f64> {
    let measured = page.history.recent.iter().filter_map(|visit| {
        let gain = f64::from(visit.gain?);
        (visit.gap > 0.0).then(|| gain / f64::from(visit.gap))
    });
    let (sum, count) = measured.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

impl Curve for Line {
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
        if let Fact::Discovered(discovered) = fact {
            self.gains.discovered(discovered);
        }
    }

    fn weigh(&mut self, visited: &Visited<'_>, importance: f64) {
        self.gains.visited(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(self.line(page, importance))
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        let slope = self.line(page, importance).slope;
        vec![Term::new("gain a day", slope * DAY)]
    }
}
