//! Predicts the clicks on a new page relative to other pages of its source, from its URL, its
//! anchor text and its position.
//!
//! Clicks on a page are modelled as Poisson: the mean of its source times a factor for each of
//! its [`Features`]. The factors are found by iterative scaling (Darroch & Ratcliff 1972, with a
//! Gamma prior). For one kind of feature after the other, they are set so that clicks and
//! expectation agree, shrunk towards 1.
//!
//! Clicks on news are heavy-tailed, so the clicks of each page are capped ([`TAIL`]).
//! Cross-validation over two halves of the pages decides how far the factors are trusted: all
//! factors are raised to one exponent, from 0 (no trust) to 1 (full trust). The chosen exponent
//! predicts the clicks of each half best from the other half.
//!
//! **Invariant:** the factor of a page is between 1/[`BOUND`] and [`BOUND`], and 1 without
//! evidence.

use std::collections::VecDeque;

use super::features::{FEATURES, Features, KINDS, PER_KIND};
use crate::chance::split_mix;
use crate::{Moment, Number};

/// Number of most recently found pages that are used for learning.
const KEPT: usize = 8_192;
/// Bound on the factor of a page.
const BOUND: f64 = 20.0;
/// Pseudo-count of clicks with factor 1, per feature.
const PRIOR: f64 = 4.0;
/// Clicks of a page are capped at the first number times the expectation plus the second number.
const TAIL: (f64, f64) = (10.0, 3.0);
/// Number of iterations of scaling. One is not enough, because pages have features of several
/// kinds.
const ROUNDS: usize = 8;
/// Exponents on the factors that cross-validation chooses from.
const EXPONENTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The most recent pages, and the factors of features.
#[derive(Debug, Clone)]
pub(super) struct Appeal {
    /// Ordered by page number.
    pages: VecDeque<RecentPage>,
    factors: Vec<f32>,
    /// Source and time of the last page, and its position among the pages found there at that
    /// time.
    last: Option<(u32, Moment, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct RecentPage {
    page: Number,
    on: u32,
    features: Features,
    linked: bool,
    clicks: f64,
    factor: f32,
}

/// A page as a training sample.
#[derive(Debug, Clone, Copy)]
struct ClickSample {
    features: Features,
    expected: f64,
    clicks: f64,
    /// Weight of the sample.
    weight: f64,
    /// The half of the cross-validation. A hash decides, because a source may alternate between
    /// two sections.
    half: bool,
}

/// Fitted factors. `overall` is a factor on all pages: capped clicks add up to less than expected.
struct FactorFit {
    factors: Vec<f32>,
    overall: f64,
}

impl Appeal {
    pub fn new() -> Self {
        Self {
            pages: VecDeque::new(),
            factors: Vec::new(),
            last: None,
        }
    }

    /// Adds a page that appeared on a source. Ignores a page whose number is not above all earlier
    /// ones.
    pub fn found(&mut self, page: Number, on: u32, url: &str, host: u32, at: Moment) {
        let place = match self.last {
            Some((source, then, place)) if (source, then) == (on, at) => place.saturating_add(1),
            _ => 0,
        };
        self.last = Some((on, at, place));
        if self.pages.back().is_some_and(|last| last.page >= page) {
            return;
        }
        if self.pages.len() == KEPT {
            self.pages.pop_front();
        }
        let features = Features::of(url, host, place);
        self.pages.push_back(RecentPage {
            page,
            on,
            features,
            linked: false,
            clicks: 0.0,
            factor: factor(&self.factors, &features) as f32,
        });
    }

    /// Adds the anchor text of the link to a page. Only the first text that is not empty counts.
    pub fn linked(&mut self, page: Number, anchor: &str) {
        let Some(place) = self.place(page) else {
            return;
        };
        let recent = &mut self.pages[place];
        if !recent.linked && !anchor.is_empty() {
            recent.linked = true;
            recent.features = recent.features.linked(anchor);
            recent.factor = factor(&self.factors, &recent.features) as f32;
        }
    }

    /// Adds clicks on a page.
    pub fn clicked(&mut self, page: Number, clicks: f64) {
        if let Some(place) = self.place(page).filter(|_| clicks > 0.0) {
            let recent = &mut self.pages[place];
            recent.clicks = (recent.clicks + clicks).min(f64::from(f32::MAX));
        }
    }

    /// Returns the factor of a page; 1 if the page is not among the last [`KEPT`].
    pub fn of(&self, page: Number) -> f64 {
        let known = self.place(page);
        known.map_or(1.0, |place| f64::from(self.pages[place].factor))
    }

    /// Fits the factors.
    ///
    /// `expected` returns the clicks expected so far on a page of a source, or `None` if the page
    /// could not be clicked yet.
    pub fn learn(&mut self, expected: impl Fn(Number, u32) -> Option<f64>) {
        let rows: Vec<ClickSample> = self
            .pages
            .iter()
            .filter_map(|page| {
                let expected = expected(page.page, page.on);
                let expected = expected.filter(|clicks| *clicks > 0.0 && clicks.is_finite())?;
                let (times, more) = TAIL;
                Some(ClickSample {
                    features: page.features,
                    expected,
                    clicks: page.clicks.min(times * expected + more),
                    weight: 1.0 / (1.0 + expected),
                    half: split_mix(u64::from(page.page.0)) & 1 == 1,
                })
            })
            .collect();
        let exponent = exponent(&rows);
        self.factors.clear();
        if exponent > 0.0 {
            self.factors = fit(rows.iter()).factors;
            for factor in &mut self.factors {
                *factor = factor.powf(exponent as f32);
            }
        }
        for page in &mut self.pages {
            page.factor = factor(&self.factors, &page.features) as f32;
        }
    }

    fn place(&self, page: Number) -> Option<usize> {
        let place = self.pages.binary_search_by_key(&page, |known| known.page);
        place.ok()
    }
}

/// Returns the exponent that predicts the clicks of each half best from the other half.
fn exponent(rows: &[ClickSample]) -> f64 {
    let mut gains = [0.0; EXPONENTS.len()];
    for half in [true, false] {
        let fit = fit(rows.iter().filter(move |row| row.half == half));
        for row in rows.iter().filter(|row| row.half != half) {
            let factor = factor(&fit.factors, &row.features);
            for (gain, exponent) in gains.iter_mut().zip(EXPONENTS) {
                let more = factor.powf(exponent);
                let expected_clicks = row.expected * fit.overall * (more - 1.0);
                *gain += row.weight * (row.clicks * more.ln() - expected_clicks);
            }
        }
    }
    let best = (1..EXPONENTS.len()).fold(0, |best, next| match gains[next] > gains[best] {
        true => next,
        false => best,
    });
    EXPONENTS[best]
}

/// Fits the factors by iterative scaling, so that clicks and expectation agree.
fn fit<'a>(rows: impl Iterator<Item = &'a ClickSample>) -> FactorFit {
    let rows: Vec<&ClickSample> = rows.collect();
    let clicks: Vec<f64> = rows.iter().map(|row| row.weight * row.clicks).collect();
    let mut expected_clicks: Vec<f64> = rows.iter().map(|row| row.weight * row.expected).collect();
    let feature_rows: [FeatureRows; KINDS.len()] =
        std::array::from_fn(|kind| feature_rows(&rows, kind));
    let all: f64 = clicks.iter().sum();
    let mut factors = vec![1.0_f32; FEATURES];
    let mut overall = 1.0;
    for _ in 0..ROUNDS {
        let change = (all + PRIOR) / (expected_clicks.iter().sum::<f64>() + PRIOR * overall);
        overall *= change;
        expected_clicks
            .iter_mut()
            .for_each(|expected_clicks| *expected_clicks *= change);
        for (kind, &most) in KINDS.iter().enumerate() {
            let mut sums = vec![[0.0; 2]; PER_KIND];
            for &(row, place) in &feature_rows[kind] {
                let [sum, expected] = &mut sums[usize::from(place)];
                *sum += clicks[row as usize];
                *expected += expected_clicks[row as usize];
            }
            let mut changes = vec![1.0_f64; PER_KIND];
            for (place, [clicks, expected]) in sums.into_iter().enumerate() {
                if expected > 0.0 {
                    let factor = &mut factors[kind * PER_KIND + place];
                    let change = (clicks + PRIOR) / (expected + PRIOR * f64::from(*factor));
                    changes[place] = change.powf(1.0 / most as f64);
                    *factor *= changes[place] as f32;
                }
            }
            for &(row, place) in &feature_rows[kind] {
                expected_clicks[row as usize] *= changes[usize::from(place)];
            }
        }
    }
    FactorFit { factors, overall }
}

/// Pairs of a row and a feature of one kind, given by its index within the kind.
type FeatureRows = Vec<(u32, u16)>;

fn feature_rows(rows: &[&ClickSample], kind: usize) -> FeatureRows {
    let each = (0..).zip(rows).flat_map(|(number, row)| {
        let features = row.features.of_kind(kind);
        features.map(move |feature| (number, (feature % PER_KIND) as u16))
    });
    each.collect()
}

fn factor(factors: &[f32], features: &Features) -> f64 {
    if factors.is_empty() {
        return 1.0;
    }
    let product: f64 = features
        .iter()
        .map(|feature| f64::from(factors[feature]))
        .product();
    match product.is_nan() {
        true => 1.0,
        false => product.clamp(1.0 / BOUND, BOUND),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a number from 0 to 1.
    fn chance(seed: u64) -> f64 {
        (split_mix(split_mix(seed)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a Poisson draw (Knuth 1969).
    fn poisson(mean: f64, seed: u64) -> f64 {
        let (mut left, mut count) = (chance(seed), 0.0);
        let mut draw = 1;
        while left > (-mean).exp() {
            left *= chance(seed ^ (draw << 32));
            (draw, count) = (draw + 1, count + 1.0);
        }
        count
    }

    /// Returns a model of pages in two sections with random words. Each page has `mean` expected
    /// clicks, while the true mean is `true_factor` times that.
    fn trained(mean: f64, true_factor: impl Fn(u32) -> f64) -> Appeal {
        let mut appeal = Appeal::new();
        for page in 0..3_000 {
            let section = ["sport", "money"][page as usize % 3 / 2];
            let words = ["quick", "brown", "foxes", "jumped", "lazily", "sleeping"];
            let word = |more: u64| words[split_mix(u64::from(page) ^ more << 40) as usize % 6];
            let url = format!("http://e.org/{section}/{}-{}-{page}", word(1), word(2));
            let at = Moment::from_micros(u64::from(page / 4));
            appeal.found(Number(page), 0, &url, 0, at);
            appeal.linked(Number(page), word(3));
            appeal.clicked(
                Number(page),
                poisson(mean * true_factor(page), u64::from(page)),
            );
        }
        appeal.learn(|_, _| Some(mean));
        appeal
    }

    fn of_new(appeal: &mut Appeal, number: u32, url: &str) -> f64 {
        appeal.found(Number(number), 0, url, 0, Moment::from_micros(1 << 40));
        appeal.of(Number(number))
    }

    #[test]
    fn a_section_with_ten_times_the_clicks_gets_about_ten_times_the_factor() {
        // Two thirds of 0.25 and one third of 2.5 have the mean 1.
        let mut appeal = trained(1.0, |page| if page % 3 == 2 { 2.5 } else { 0.25 });
        let [sport, money] =
            ["sport", "money"].map(|section| format!("http://e.org/{section}/new-words-1"));
        let [sport, money] =
            [(4_000, sport), (4_001, money)].map(|(page, url)| of_new(&mut appeal, page, &url));
        assert!(
            (7.0..13.0).contains(&(money / sport)),
            "{money} and {sport}"
        );
        assert!((2.0..3.0).contains(&money) && (0.2..0.35).contains(&sport));
        assert_eq!(appeal.of(Number(9_999)), 1.0, "an unknown page");
    }

    #[test]
    fn without_evidence_factors_are_near_1() {
        assert_eq!(of_new(&mut Appeal::new(), 1, "http://e.org/sport/a"), 1.0);
        let mut silent = trained(1e-6, |_| 0.0);
        assert!((of_new(&mut silent, 4_000, "http://e.org/sport/quick") - 1.0).abs() < 0.01);
        // Some pages get 75 times as many clicks as others, but no feature predicts which.
        let noise = |page: u32| match split_mix(u64::from(page) << 7) % 50 {
            0 => 30.0,
            _ => 0.4,
        };
        let mut noisy = trained(1.0, noise);
        for (page, url) in [
            (4_000, "http://e.org/sport/quick-brown"),
            (4_001, "http://e.org/money/foxes-1"),
        ] {
            let factor = of_new(&mut noisy, page, url);
            assert!((0.75..1.33).contains(&factor), "{url}: {factor}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn factors_are_bounded_for_any_input(
            pages in prop::collection::vec(("\\PC{0,40}", "\\PC{0,20}", prop::num::f64::ANY, prop::num::f64::ANY), 1..60),
        ) {
            let mut appeal = Appeal::new();
            for (number, (url, anchor, clicks, _)) in (0..).zip(&pages) {
                appeal.found(Number(number), 0, url, number, Moment::START);
                appeal.linked(Number(number), anchor);
                appeal.clicked(Number(number), *clicks);
            }
            appeal.learn(|page, _| Some(pages[page.index()].3));
            for number in 0..pages.len() as u32 {
                let factor = appeal.of(Number(number));
                prop_assert!((1.0 / BOUND - 1e-6..=BOUND + 1e-6).contains(&factor), "{}", factor);
            }
        }
    }
}
