//! Are the closed forms of the ideal and the random crawler those of real orders of visits? (UO1)
//!
//! The ideal crawler's order is visited and measured like any other, and must give the closed form at
//! every page. Orders drawn by lot must give the random crawler's on average: how far their mean is off is
//! said in standard errors, which are known (hypergeometric) and not estimated.

use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::measured::{Judge, TARGETS, shares};
use crate::experiment::Claim;
use crate::measure::{Curve, Truth, p_bc, p_cs, p_st};
use crate::run::Trip;

/// Orders that are drawn, at most and at least, and pages that are visited by them in all.
const ORDERS: std::ops::RangeInclusive<usize> = 20..=100;
const VISITS: usize = 2_000_000;

/// More standard errors than a mean is off by chance at any of some hundred points. Four would do for normal
/// errors; where few pages are hot their count is not normal.
const TOO_FAR: f64 = 5.0;

/// How far measured curves are from the closed forms.
#[derive(Debug, Default)]
pub(super) struct Exact {
    /// The largest difference between the ideal order, visited, and its closed forms.
    pub ideal: f64,
    /// The largest between the mean of random orders and theirs, in standard errors.
    pub random: f64,
    /// The same, as it is.
    off: f64,
    orders: usize,
}

impl Exact {
    pub fn of(judge: &Judge<'_>, seed: u64) -> Self {
        let mut exact = Self::default();
        for (importance, truth) in &judge.truths {
            let visits = truth.ranking().to_vec();
            let size = judge.room().min(visits.len());
            // The ideal crawler drops what it has just visited: nothing better comes.
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

    pub fn claims(&self) -> Vec<Claim> {
        let ideal = Claim {
            id: "UO1",
            says: "the ideal crawler's curves are their closed forms".into(),
            published: "P_CS = 1; P_ST = K/H, then 1".into(),
            found: match self.ideal {
                0.0 => "the same at every page".into(),
                off => format!("off by {off:.1e} at most, at any page"),
            },
            holds: self.ideal < 1e-12,
        };
        let random = Claim {
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
                // After the last page there is no chance left, and rounding is no difference.
                self.random = self
                    .random
                    .max((off.abs() - 1e-12).max(0.0) / error.max(1e-12));
            }
        }
    }
}

/// What an order of visits comes to.
type Measure<'a> = Box<dyn Fn(&[usize]) -> Option<Curve> + 'a>;

/// A measure, its closed form, and how far one random order is from it after so many visits.
struct Form<'a> {
    closed: Curve,
    measure: Measure<'a>,
    spread: Box<dyn Fn(usize) -> f64 + 'a>,
    sums: Vec<f64>,
}

fn forms(truth: &Truth, room: usize, points: usize) -> Vec<Form<'_>> {
    let pages = truth.pages();
    let form = |closed, measure, spread| Form {
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
            // What fits into the buffer varies no more than what is met.
            Box::new(move |visited| spread(pages, hot, visited) / room as f64),
        )
    }));
    forms
}

/// The standard deviation of the hot pages among so many drawn without return: hypergeometric.
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

fn distance(a: &Curve, b: &Curve) -> f64 {
    let pairs = a.points.iter().zip(&b.points);
    let far = pairs.map(|(a, b)| (a.value - b.value).abs());
    match a.points.len() == b.points.len() {
        true => far.fold(0.0, f64::max),
        false => f64::INFINITY,
    }
}
