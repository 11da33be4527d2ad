//! Divides the budget between first copies, polls and refreshes, for the crawls that the one price
//! is compared with.
//!
//! The core fetches what is worth most. A division therefore multiplies the worth of each kind of
//! fetch by a factor, or puts one kind first. Within each kind the order of worth stays that of the
//! production policies. A factor is the ratio of two prices. So a crawl with a quota fetches the
//! best pages that this quota allows, as far as the estimates of worth are right.
//!
//! A quota is kept by an integrator. A fetch of a kind that has more than its share lowers the
//! factor of that kind a little, and a fetch of another kind raises it. So the quota holds on
//! average over about one round (one fetch of every page), not fetch by fetch. That favours quotas:
//! within a round the better kind may go first. A share that a kind cannot use, because no new page
//! waits, goes to the other kinds in equal parts.
//!
//! **Invariant:** with [`Split::OnePrice`] every worth is that of the policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use policy::source::{Estimation, NewPage, Outlook, Scheduler};
use policy::{Curve, Fact, Needs, Number, Page, Refresh, Term, VisitFact, Worth};

use super::served::FetchKind;

/// How the budget is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// Not at all: all fetches have one price.
    OnePrice,
    /// By fixed shares.
    Quota(QuotaShares),
    /// The share of discovery (first copies and polls) is computed every day by WebFountain's
    /// optimization ([`discovery_share`](super::discovery_share)).
    OldNewRatio,
    /// A page is refreshed before any discovery if it is expected to have changed at least once
    /// since its last visit.
    RefreshFirst,
    /// New pages are fetched before any refresh, and so are sources that are expected to name a
    /// new page.
    DiscoveryFirst,
}

/// Shares of the budget. Refreshes have the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuotaShares {
    /// Share of first copies.
    pub new: f64,
    /// Share of polls.
    pub polls: f64,
}

impl QuotaShares {
    /// Returns the share of a kind.
    pub(super) fn of(self, kind: FetchKind) -> f64 {
        match kind {
            FetchKind::First => self.new,
            FetchKind::Poll => self.polls,
            FetchKind::Refresh => 1.0 - self.new - self.polls,
        }
    }
}

/// Factor on the worth of what comes first.
const FIRST: f64 = 1e12;

/// By how much the logarithm of a factor moves if all fetches of a round are of one kind.
const PER_ROUND: f64 = 20.0;

/// Largest logarithm of a factor. `e^20` exceeds the ratio of any two worths of one kind.
const LARGEST: f64 = 20.0;

/// A division, shared by the wrappers of the policies and the world that counts fetches.
#[derive(Debug, Clone)]
pub(super) struct Division {
    split: Split,
    /// Step of the integrator, for each fetch.
    step: f64,
    /// Bits of the logarithms of the factors on the worth of first copies and polls. The factor
    /// of refreshes is 1.
    factors: Arc<[AtomicU64; 2]>,
    /// Bits of the share of discovery that WebFountain's optimization gives.
    share: Arc<AtomicU64>,
}

impl Division {
    /// Creates a division for a crawl of this number of pages.
    pub fn new(split: Split, pages: f64) -> Self {
        let zero = || AtomicU64::new(0.0_f64.to_bits());
        Self {
            split,
            step: PER_ROUND / pages.max(100.0),
            factors: Arc::new([zero(), zero()]),
            share: Arc::new(AtomicU64::new(0.5_f64.to_bits())),
        }
    }

    pub fn split(&self) -> Split {
        self.split
    }

    /// Sets the share of discovery that WebFountain's optimization gives.
    pub fn set_share(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Counts a fetch, for the integrator of a quota.
    pub fn count(&self, kind: FetchKind) {
        let count = |of: FetchKind| f64::from(u8::from(of == kind));
        let errors = match self.split {
            Split::Quota(shares) => {
                let error = |of: FetchKind| shares.of(of) - count(of);
                let refresh = error(FetchKind::Refresh);
                [FetchKind::First, FetchKind::Poll].map(|of| error(of) - refresh)
            }
            Split::OldNewRatio => {
                let share = f64::from_bits(self.share.load(Ordering::Relaxed));
                [share - 1.0 + count(FetchKind::Refresh); 2]
            }
            Split::OnePrice | Split::RefreshFirst | Split::DiscoveryFirst => return,
        };
        for (factor, error) in self.factors.iter().zip(errors) {
            let before = f64::from_bits(factor.load(Ordering::Relaxed));
            let after = (before + self.step * error).clamp(-LARGEST, LARGEST);
            factor.store(after.to_bits(), Ordering::Relaxed);
        }
    }

    /// Returns the factor on the worth of a kind.
    fn factor(&self, kind: FetchKind) -> f64 {
        if let Split::Quota(shares) = self.split
            && shares.of(kind) <= 0.0
        {
            return 0.0;
        }
        let [new, polls] = &*self.factors;
        let factor = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed)).exp();
        match kind {
            FetchKind::First => factor(new),
            FetchKind::Poll => factor(polls),
            FetchKind::Refresh => 1.0,
        }
    }
}

/// The refresh policy of a town, with the worth of its division.
pub(super) struct DividedRefresh {
    pub policy: Box<dyn Refresh>,
    /// Number of sources, which have the first page numbers. Searchers do not click on them, so
    /// their copies are worth nothing; the scheduler says what polls are worth.
    pub sources: usize,
    pub division: Division,
}

/// The worth of a refresh, scaled.
struct DividedCurve<'a> {
    curve: Box<dyn Curve + 'a>,
    factor: f64,
    /// Age in seconds from which the page comes first.
    first: f64,
}

impl Curve for DividedCurve<'_> {
    fn at(&self, age: f64) -> f64 {
        let worth = self.factor * self.curve.at(age);
        if age >= self.first {
            worth * FIRST
        } else {
            worth
        }
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        let age = self.curve.age_of(worth / self.factor)?;
        Some(age.min(self.first))
    }
}

/// No worth at any age.
struct Worthless;

impl Curve for Worthless {
    fn at(&self, _age: f64) -> f64 {
        0.0
    }
}

impl Refresh for DividedRefresh {
    fn needs(&self) -> Needs {
        self.policy.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.policy.observe(fact);
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        self.policy.weigh(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, importance: f64) -> Box<dyn Curve + 'a> {
        let factor = self.division.factor(FetchKind::Refresh);
        if page.number.index() < self.sources || factor == 0.0 {
            return Box::new(Worthless);
        }
        let rate = match self.division.split {
            Split::RefreshFirst => policy::change_rate(page.history),
            _ => None,
        };
        Box::new(DividedCurve {
            curve: self.policy.curve(page, importance),
            factor,
            first: rate.map_or(f64::INFINITY, f64::recip),
        })
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        let worth = self.policy.first(page, importance).value();
        Worth::new(worth * self.division.factor(FetchKind::First))
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.policy.stake(page, importance)
    }

    fn unit(&self) -> Option<f64> {
        self.policy.unit()
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        self.policy.terms(page, importance)
    }
}

/// The scheduler of sources of a town, with the worth of its division.
pub(super) struct DividedScheduler {
    scheduler: Box<dyn Scheduler>,
    division: Division,
}

impl DividedScheduler {
    pub fn new(scheduler: Box<dyn Scheduler>, division: Division) -> Self {
        Self {
            scheduler,
            division,
        }
    }

    /// Returns the wait after which a poll comes first; `None` if it never does.
    fn first(&self, outlook: &Outlook) -> Option<f64> {
        let first = self.division.split == Split::DiscoveryFirst && outlook.rate > 0.0;
        first.then(|| outlook.rate.recip())
    }
}

impl Scheduler for DividedScheduler {
    fn estimation(&self) -> Estimation {
        self.scheduler.estimation()
    }

    fn plan(&mut self, sources: &[Outlook], per_second: f64) {
        self.scheduler.plan(sources, per_second);
    }

    fn worth(&self, source: usize, outlook: &Outlook, waited: f64) -> f64 {
        let worth = self.scheduler.worth(source, outlook, waited);
        let worth = worth * self.division.factor(FetchKind::Poll);
        match self.first(outlook) {
            Some(first) if waited >= first => worth * FIRST,
            _ => worth,
        }
    }

    fn due(&self, source: usize, outlook: &Outlook, price: f64) -> Option<f64> {
        let factor = self.division.factor(FetchKind::Poll);
        if factor == 0.0 {
            return None;
        }
        let price = price / factor;
        let plain = self.scheduler.due(source, outlook, price);
        let Some(first) = self.first(outlook) else {
            return plain;
        };
        let early = self.scheduler.due(source, outlook, price / FIRST);
        let early = early.map(|wait| wait.max(first));
        plain.into_iter().chain(early).min_by(f64::total_cmp)
    }

    fn page(&self, page: &NewPage) -> f64 {
        let worth = self.scheduler.page(page) * self.division.factor(FetchKind::First);
        match self.division.split {
            Split::DiscoveryFirst => worth * FIRST,
            _ => worth,
        }
    }

    fn interval(&self, source: usize) -> Option<f64> {
        self.scheduler.interval(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integrator_finds_the_factors_that_keep_the_shares() {
        // A refresh is worth 3, a new page 1 to 2 evenly and a poll 0 to 1 evenly, times factors.
        let shares = QuotaShares {
            new: 0.3,
            polls: 0.2,
        };
        let division = Division::new(Split::Quota(shares), 2_000.0);
        let mut counts = [0; 3];
        for fetch in 0..40_000_u32 {
            let even = |times: u32| f64::from(fetch * times % 1000) / 1000.0;
            let kinds = [FetchKind::First, FetchKind::Poll, FetchKind::Refresh];
            let worths = [1.0 + even(617), even(331), 3.0];
            let worth = |kind: usize| worths[kind] * division.factor(kinds[kind]);
            let best = (0..3).max_by(|one, other| worth(*one).total_cmp(&worth(*other)));
            counts[best.unwrap()] += u32::from(fetch >= 20_000);
            division.count(kinds[best.unwrap()]);
        }
        let shares = counts.map(|count| f64::from(count) / 20_000.0);
        for (found, share) in shares.into_iter().zip([0.3, 0.2, 0.5]) {
            assert!((found - share).abs() < 0.01, "{shares:?}");
        }
    }

    #[test]
    fn a_share_that_cannot_be_used_is_divided_equally() {
        let shares = QuotaShares {
            new: 0.4,
            polls: 0.2,
        };
        let division = Division::new(Split::Quota(shares), 2_000.0);
        let mut polls = 0;
        for fetch in 0..40_000_u32 {
            // There is never a new page.
            let poll = f64::from(fetch * 331 % 1000) / 1000.0;
            let poll = poll * division.factor(FetchKind::Poll) > 1.0;
            polls += u32::from(poll && fetch >= 20_000);
            division.count(if poll {
                FetchKind::Poll
            } else {
                FetchKind::Refresh
            });
        }
        let share = f64::from(polls) / 20_000.0;
        assert!((share - 0.4).abs() < 0.01, "{share}");
    }

    #[test]
    fn one_price_changes_nothing_and_a_share_of_zero_ends_a_kind() {
        let kinds = [FetchKind::First, FetchKind::Poll, FetchKind::Refresh];
        let quota = |new: f64, polls: f64| Split::Quota(QuotaShares { new, polls });
        for (split, factors) in [
            (Split::OnePrice, [1.0, 1.0, 1.0]),
            (Split::RefreshFirst, [1.0, 1.0, 1.0]),
            (quota(0.0, 0.0), [0.0, 0.0, 1.0]),
            (quota(0.75, 0.25), [1.0, 1.0, 0.0]),
        ] {
            let division = Division::new(split, 100.0);
            assert_eq!(
                kinds.map(|kind| division.factor(kind)),
                factors,
                "{split:?}"
            );
            if split == Split::OnePrice {
                division.count(FetchKind::Poll);
                assert_eq!(kinds.map(|kind| division.factor(kind)), factors);
            }
        }
    }

    #[test]
    fn due_times_are_the_inverse_of_worth_also_for_what_comes_first() {
        let division = Division::new(Split::DiscoveryFirst, 100.0);
        let scheduler = DividedScheduler::new(Box::new(policy::source::Priced), division);
        let outlook = Outlook {
            rate: 1e-3,
            profit: 5.0,
            decay: 1e-4,
        };
        for price in [1e-3, 0.1, 10.0, 1e9] {
            let due = scheduler.due(0, &outlook, price).unwrap();
            assert!(
                scheduler.worth(0, &outlook, due * 1.000_001) >= price * 0.999,
                "{price}"
            );
            assert!(scheduler.worth(0, &outlook, due * 0.99) < price, "{price}");
        }
    }
}
