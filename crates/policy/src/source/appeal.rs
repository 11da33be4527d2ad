//! How much more, or less, will a page be clicked than others of its source, by its URL and the link to it?
//!
//! Clicks on a page are taken as Poisson with the mean of its source, times a factor for each of its [`Marks`]. Factors are found by iterative scaling: those of one kind of mark
//! after the other are set so that clicks and expectation agree, as far as the evidence goes beyond a prior of 1 (Darroch & Ratcliff 1972, with a Gamma prior). Clicks on news
//! have a heavy tail, so that no page counts for much more than one; and whether the factors are worth anything is asked of pages that they were not
//! learned from: how far they are believed, from not at all to wholly, is what would have foretold the clicks of one half of the pages from the other half best.
//!
//! **Invariant:** a factor is between 1/[`BOUND`] and [`BOUND`], and 1 without evidence. It follows from what was told of the last [`KEPT`] pages, and from nothing else.

use std::collections::VecDeque;

use super::marks::{KINDS, MARKS, Marks, OF_A_KIND};
use crate::chance::split_mix;
use crate::{Moment, Number};

/// Pages that are learned from: the last that were found.
const KEPT: usize = 8_192;
/// How far a page can be from the others of its source.
const BOUND: f64 = 20.0;
/// Clicks that a mark is taken to have had as expected.
const PRIOR: f64 = 4.0;
/// Clicks of a page that count: so many times what was expected, and a few.
const TAIL: (f64, f64) = (10.0, 3.0);
/// Rounds of scaling. Marks of several kinds share what they explain, which takes a few.
const ROUNDS: usize = 8;
/// How far factors may be believed.
const BELIEFS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// What is known of the last pages, and the factors of marks.
#[derive(Debug, Clone)]
pub(super) struct Appeal {
    /// By number.
    pages: VecDeque<Candidate>,
    factors: Vec<f32>,
    /// The last page's source and time, and how many came before it at that time.
    last: Option<(u32, Moment, u32)>,
}

/// A page.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    page: Number,
    on: u32,
    marks: Marks,
    linked: bool,
    clicks: f64,
    factor: f32,
}

/// What a page is evidence of.
#[derive(Debug, Clone, Copy)]
struct Row {
    marks: Marks,
    expected: f64,
    clicks: f64,
    /// What it counts for.
    weight: f64,
    /// Which half of the pages it is of, by lot: a source may name pages of two sections by turns.
    half: bool,
}

/// The factors of marks, and of all pages: those whose tail was cut get fewer clicks than expected.
struct Fit {
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

    /// Takes note of a page that appeared on a source. Pages come by number.
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
        let marks = Marks::of(url, host, place);
        self.pages.push_back(Candidate {
            page,
            on,
            marks,
            linked: false,
            clicks: 0.0,
            factor: factor(&self.factors, &marks) as f32,
        });
    }

    /// Takes note of the words of the link by which its source named it.
    pub fn linked(&mut self, page: Number, anchor: &str) {
        let Some(place) = self.place(page) else {
            return;
        };
        let candidate = &mut self.pages[place];
        if !candidate.linked && !anchor.is_empty() {
            candidate.linked = true;
            candidate.marks = candidate.marks.linked(anchor);
            candidate.factor = factor(&self.factors, &candidate.marks) as f32;
        }
    }

    /// Takes note of clicks.
    pub fn clicked(&mut self, page: Number, clicks: f64) {
        if let Some(place) = self.place(page).filter(|_| clicks > 0.0) {
            let candidate = &mut self.pages[place];
            candidate.clicks = (candidate.clicks + clicks).min(f64::from(f32::MAX));
        }
    }

    /// The factor of a page.
    pub fn of(&self, page: Number) -> f64 {
        let known = self.place(page);
        known.map_or(1.0, |place| f64::from(self.pages[place].factor))
    }

    /// Learns, told how many clicks were to be expected so far of a page of a source; `None`: nobody could have clicked it.
    pub fn learn(&mut self, expected: impl Fn(Number, u32) -> Option<f64>) {
        let rows: Vec<Row> = self
            .pages
            .iter()
            .filter_map(|page| {
                let expected = expected(page.page, page.on);
                let expected = expected.filter(|clicks| *clicks > 0.0 && clicks.is_finite())?;
                let (times, more) = TAIL;
                Some(Row {
                    marks: page.marks,
                    expected,
                    clicks: page.clicks.min(times * expected + more),
                    weight: 1.0 / (1.0 + expected),
                    half: split_mix(u64::from(page.page.0)) & 1 == 1,
                })
            })
            .collect();
        let belief = belief(&rows);
        self.factors.clear();
        if belief > 0.0 {
            self.factors = fit(rows.iter()).factors;
            for factor in &mut self.factors {
                *factor = factor.powf(belief as f32);
            }
        }
        for page in &mut self.pages {
            page.factor = factor(&self.factors, &page.marks) as f32;
        }
    }

    fn place(&self, page: Number) -> Option<usize> {
        let place = self.pages.binary_search_by_key(&page, |known| known.page);
        place.ok()
    }
}

/// How far factors that were learned from one half of the pages are to be believed, by the other half.
fn belief(rows: &[Row]) -> f64 {
    let mut gains = [0.0; BELIEFS.len()];
    for half in [true, false] {
        let fit = fit(rows.iter().filter(move |row| row.half == half));
        for row in rows.iter().filter(|row| row.half != half) {
            let factor = factor(&fit.factors, &row.marks);
            for (gain, belief) in gains.iter_mut().zip(BELIEFS) {
                let more = factor.powf(belief);
                let awaited = row.expected * fit.overall * (more - 1.0);
                *gain += row.weight * (row.clicks * more.ln() - awaited);
            }
        }
    }
    let best = (1..BELIEFS.len()).fold(0, |best, next| match gains[next] > gains[best] {
        true => next,
        false => best,
    });
    BELIEFS[best]
}

/// The factors at which clicks and expectation agree.
fn fit<'a>(rows: impl Iterator<Item = &'a Row>) -> Fit {
    let rows: Vec<&Row> = rows.collect();
    let clicks: Vec<f64> = rows.iter().map(|row| row.weight * row.clicks).collect();
    let mut awaited: Vec<f64> = rows.iter().map(|row| row.weight * row.expected).collect();
    let marked: [Marked; KINDS.len()] = std::array::from_fn(|kind| marked(&rows, kind));
    let all: f64 = clicks.iter().sum();
    let mut factors = vec![1.0_f32; MARKS];
    let mut overall = 1.0;
    for _ in 0..ROUNDS {
        let change = (all + PRIOR) / (awaited.iter().sum::<f64>() + PRIOR * overall);
        overall *= change;
        awaited.iter_mut().for_each(|awaited| *awaited *= change);
        for (kind, &most) in KINDS.iter().enumerate() {
            let mut sums = vec![[0.0; 2]; OF_A_KIND];
            for &(row, place) in &marked[kind] {
                let [sum, expected] = &mut sums[usize::from(place)];
                *sum += clicks[row as usize];
                *expected += awaited[row as usize];
            }
            let mut changes = vec![1.0_f64; OF_A_KIND];
            for (place, [clicks, expected]) in sums.into_iter().enumerate() {
                if expected > 0.0 {
                    let factor = &mut factors[kind * OF_A_KIND + place];
                    let change = (clicks + PRIOR) / (expected + PRIOR * f64::from(*factor));
                    changes[place] = change.powf(1.0 / most as f64);
                    *factor *= changes[place] as f32;
                }
            }
            for &(row, place) in &marked[kind] {
                awaited[row as usize] *= changes[usize::from(place)];
            }
        }
    }
    Fit { factors, overall }
}

/// Rows with their marks of a kind, by place among those of the kind. Every round goes through all of them, so they are looked for once.
type Marked = Vec<(u32, u16)>;

fn marked(rows: &[&Row], kind: usize) -> Marked {
    let each = (0..).zip(rows).flat_map(|(number, row)| {
        let marks = row.marks.of_kind(kind);
        marks.map(move |mark| (number, (mark % OF_A_KIND) as u16))
    });
    each.collect()
}

fn factor(factors: &[f32], marks: &Marks) -> f64 {
    if factors.is_empty() {
        return 1.0;
    }
    let product: f64 = marks.iter().map(|mark| f64::from(factors[mark])).product();
    match product.is_nan() {
        true => 1.0,
        false => product.clamp(1.0 / BOUND, BOUND),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A number from 0 to 1.
    fn chance(seed: u64) -> f64 {
        (split_mix(split_mix(seed)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A Poisson draw (Knuth 1969).
    fn poisson(mean: f64, seed: u64) -> f64 {
        let (mut left, mut count) = (chance(seed), 0.0);
        let mut draw = 1;
        while left > (-mean).exp() {
            left *= chance(seed ^ (draw << 32));
            (draw, count) = (draw + 1, count + 1.0);
        }
        count
    }

    /// Pages of two sections with words of chance, each expected to be clicked `mean` times; `true_factor` says how wrong that is.
    fn told(mean: f64, true_factor: impl Fn(u32) -> f64) -> Appeal {
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
    fn a_section_that_is_clicked_ten_times_as_often_is_known_by_it() {
        // Two thirds of 0.25 and a third of 2.5 are 1.
        let mut appeal = told(1.0, |page| if page % 3 == 2 { 2.5 } else { 0.25 });
        let [sport, money] =
            ["sport", "money"].map(|section| format!("http://e.org/{section}/new-words-1"));
        let [sport, money] =
            [(4_000, sport), (4_001, money)].map(|(page, url)| of_new(&mut appeal, page, &url));
        assert!(
            (7.0..13.0).contains(&(money / sport)),
            "{money} and {sport}"
        );
        assert!((2.0..3.0).contains(&money) && (0.2..0.35).contains(&sport));
        assert_eq!(appeal.of(Number(9_999)), 1.0, "nobody knows it");
    }

    #[test]
    fn without_evidence_all_are_alike() {
        assert_eq!(of_new(&mut Appeal::new(), 1, "http://e.org/sport/a"), 1.0);
        let mut silent = told(1e-6, |_| 0.0);
        assert!((of_new(&mut silent, 4_000, "http://e.org/sport/quick") - 1.0).abs() < 0.01);
        // Much is clicked, and some a hundred times as much, but by nothing that can be seen.
        let noise = |page: u32| match split_mix(u64::from(page) << 7) % 50 {
            0 => 30.0,
            _ => 0.4,
        };
        let mut noisy = told(1.0, noise);
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
        fn whatever_is_told_factors_are_bounded(
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
