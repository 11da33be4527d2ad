//! Check of the closed forms of the ideal and the random crawler against real orders (UO1).
//!
//! The ideal order is measured like the order of a crawl, and must match its closed form after
//! every page. The mean over random permutations must match the random crawler's closed form. The
//! deviation of this mean is given in standard errors, which are computed from the hypergeometric
//! distribution and not estimated from the permutations.

use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::measured::{OrderingJudge, TARGETS, shares};
use crate::experiment::PublishedClaim;
use crate::measure::{MetricCurve, Truth, p_bc, p_cs, p_st};
use crate::run::Trip;

/// Bounds on the number of random orders.
const ORDERS: std::ops::RangeInclusive<usize> = 20..=100;
/// Number of visits over all random orders together, if the bounds [`ORDERS`] allow it.
const VISITS: usize = 2_000_000;

/// Tolerance in standard errors, over about 100 points. A tolerance of 4 would be enough for normal
/// errors, but the number of hot pages found is not normally distributed if hot pages are few.
const TOO_FAR: f64 = 5.0;

/// Largest deviations of measured curves from the closed forms.
#[derive(Debug, Default)]
pub(super) struct Exact {
    /// Absolute deviation of the measured ideal order from its closed forms.
    pub ideal: f64,
    /// Deviation of the mean of random orders from the random crawler's closed forms, in standard
    /// errors.
    pub random: f64,
    /// The largest absolute difference between the same means and closed forms.
    off: f64,
    orders: usize,
}

impl Exact {
    pub fn of(judge: &OrderingJudge<'_>, seed: u64) -> Self {
        let mut exact = Self::default();
        for (importance, truth) in &judge.truths {
            let visits = truth.ranking().to_vec();
            let size = judge.room().min(visits.len());
            // No later page is more important, so the ideal crawler drops each page at once when
            // the buffer is full.
            let drops = visits[size..].to_vec();
            let found = judge.curves(&Trip { visits, drops }, importance, truth);
            let closed = judge.ideal(importance, truth);
            for (found, closed) in found.iter().flatten().zip(closed.iter().flatten()) {
                exact.ideal = exact.ideal.max(distance(found, closed));
            }
        }
        if let Some((_, truth)) = judge.truths.first() {
            exact.draw(truth, judge.room(), seed);
        }
        exact
    }

    pub fn claims(&self) -> Vec<PublishedClaim> {
        let ideal = PublishedClaim {
            id: "UO1",
            says: "the ideal crawler's curves are their closed forms".into(),
            published: "P_CS = 1; P_ST = K/H, then 1".into(),
            found: match self.ideal {
                0.0 => "the same at every page".into(),
                off => format!("off by {off:.1e} at most, at any page"),
            },
            holds: self.ideal < 1e-12,
        };
        let random = PublishedClaim {
            id: "UO1",
            says: "random orders give the random crawler's closed forms on average".into(),
            published: "P_CS = P_ST = K/T (without ties)".into(),
            found: format!(
                "the mean of {} orders is off by {:.4} at most, {:.1} standard errors",
                self.orders, self.off, self.random
            ),
            holds: self.random < TOO_FAR,
        };
        vec![ideal, random]
    }

    fn draw(&mut self, truth: &Truth, room: usize, seed: u64) {
        let pages = truth.pages();
        self.orders = (VISITS / pages.max(1)).clamp(*ORDERS.start(), *ORDERS.end());
        let shares: Vec<f64> = shares().collect();
        let mut forms = forms(truth, room, shares.len());
        let mut visits: Vec<usize> = (0..pages).collect();
        for order in 0..self.orders {
            visits.shuffle(&mut stream(seed, For::Orders, order as u64, 0));
            for form in &mut forms {
                let Some(curve) = (form.measure)(&visits) else {
                    continue;
                };
                for (sum, &share) in form.sums.iter_mut().zip(&shares) {
                    *sum += curve.at(share, pages).unwrap_or(f64::NAN);
                }
            }
        }
        for form in &forms {
            for (sum, &share) in form.sums.iter().zip(&shares) {
                let off = sum / self.orders as f64 - form.closed.at(share, pages).unwrap_or(0.0);
                let visited = ((share * pages as f64).round() as usize).max(1);
                let error = (form.spread)(visited) / (self.orders as f64).sqrt();
                self.off = self.off.max(off.abs());
                // After the last page the standard error is 0; 1e-12 absorbs rounding errors.
                self.random = self
                    .random
                    .max((off.abs() - 1e-12).max(0.0) / error.max(1e-12));
            }
        }
    }
}

/// Computes the curve of an order of visits.
type Measure<'a> = Box<dyn Fn(&[usize]) -> Option<MetricCurve> + 'a>;

/// A measure, its closed form, and the standard deviation of one random order after a number of
/// visits.
struct ClosedForm<'a> {
    closed: MetricCurve,
    measure: Measure<'a>,
    spread: Box<dyn Fn(usize) -> f64 + 'a>,
    sums: Vec<f64>,
}

fn forms(truth: &Truth, room: usize, points: usize) -> Vec<ClosedForm<'_>> {
    let pages = truth.pages();
    let form = |closed, measure, spread| ClosedForm {
        closed,
        measure,
        spread,
        sums: vec![0.0; points],
    };
    let as_good_as = move |place| truth.hot(truth.of_place(place).unwrap_or(f64::NEG_INFINITY));
    let mut forms = vec![form(
        p_cs::random(truth),
        Box::new(|visits| Some(p_cs::curve(visits, truth))),
        Box::new(move |visited| spread(pages, as_good_as(visited), visited) / visited as f64),
    )];
    for target in TARGETS {
        let hot = truth.hot(target);
        let closed = p_st::random(truth, target).into_iter();
        forms.extend(closed.map(|closed| {
            form(
                closed,
                Box::new(move |visits| p_st::curve(visits, truth, target)),
                Box::new(move |visited| spread(pages, hot, visited) / hot as f64),
            )
        }));
    }
    let hot = as_good_as(room);
    let believed: Vec<f64> = (0..pages).map(|page| truth.of(page)).collect();
    let closed = p_bc::random(truth, room).into_iter();
    forms.extend(closed.map(|closed| {
        let believed = believed.clone();
        form(
            closed,
            Box::new(move |visits| p_bc::curve(visits, truth, &believed, room)),
            // The number of hot pages in the buffer varies at most as much as their number among
            // the pages visited.
            Box::new(move |visited| spread(pages, hot, visited) / room as f64),
        )
    }));
    forms
}

/// Returns the standard deviation of the number of hot pages among `drawn` pages without
/// replacement (hypergeometric).
fn spread(pages: usize, hot: usize, drawn: usize) -> f64 {
    if pages < 2 {
        return 0.0;
    }
    let (pages, hot, drawn) = (pages as f64, hot as f64, drawn as f64);
    let share = hot / pages;
    (drawn * share * (1.0 - share) * (pages - drawn) / (pages - 1.0))
        .max(0.0)
        .sqrt()
}

fn distance(a: &MetricCurve, b: &MetricCurve) -> f64 {
    let pairs = a.points.iter().zip(&b.points);
    let far = pairs.map(|(a, b)| (a.value - b.value).abs());
    match a.points.len() == b.points.len() {
        true => far.fold(0.0, f64::max),
        false => f64::INFINITY,
    }
}
