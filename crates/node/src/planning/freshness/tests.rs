//! Compares the estimated with the true freshness in simulated worlds.
//!
//! The change rates of their pages differ by orders of magnitude. Visits are few and not random.

use std::time::Duration;

use policy::{Outcome, Visit};

use super::*;

/// A generator of pseudo-random numbers between 0 and 1 (Knuth's MMIX generator).
struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// A page with its true rate and freshness, which the model does not see.
struct SimulatedPage {
    host: u32,
    history: History,
    rate: f64,
    fresh: bool,
}

/// The parameters of a world and of its crawl.
#[derive(Debug, Clone, Copy)]
struct SimulatedWorld {
    /// The decimal logarithm of the lowest change rate, in changes per second. Rates are
    /// log-uniform between it and 10^-1.5.
    slowest: f64,
    /// The share of changes for which each host gives a hint.
    recall: [f64; 3],
    /// False hints per page and second.
    false_signals: f64,
    /// The share of visits without a hint that go to home pages. These are one page in sixty, and
    /// change at the highest rate.
    polled: f64,
}

const PAGES: usize = 600;
const HOMES: usize = 10;
const FASTEST: f64 = -1.5;

/// Returns the estimated and the true freshness after a crawl with four fetches per second.
fn simulate(world: &SimulatedWorld, seconds: u64, seed: u64) -> (f64, f64) {
    let mut draws = TestRng(seed);
    let mut pages: Vec<SimulatedPage> = (0..PAGES)
        .map(|page| {
            let first = Visit::new(Moment::START, Outcome::Changed);
            SimulatedPage {
                host: (page % 3) as u32,
                history: History::discovered(Moment::START, u16::from(page >= HOMES)).after(first),
                rate: 10f64.powf(match page < HOMES {
                    true => FASTEST,
                    false => world.slowest + (FASTEST - world.slowest) * draws.next(),
                }),
                fresh: true,
            }
        })
        .collect();
    let mut now = Moment::START;
    for _ in 0..seconds {
        now = now + Duration::from_secs(1);
        for page in &mut pages {
            let changes = draws.next() < -(-page.rate).exp_m1();
            page.fresh &= !changes;
            let recall = world.recall[page.host as usize];
            let hint = if changes { recall } else { world.false_signals };
            if draws.next() < hint {
                page.history = page.history.signalled(now);
            }
        }
        for _ in 0..4 {
            let waiting = (0..PAGES).filter(|page| pages[*page].history.signals.since > 0);
            let first = waiting.min_by_key(|page| pages[*page].history.signals.last);
            let chosen = match (first, draws.next() < world.polled) {
                (Some(first), _) if draws.next() < 0.75 => first,
                (_, true) => (draws.next() * HOMES as f64) as usize,
                // Of two random pages, the one with more observed changes.
                (_, false) => {
                    let any = [0; 2].map(|_| (draws.next() * PAGES as f64) as usize);
                    any.into_iter()
                        .max_by_key(|page| pages[*page].history.changes)
                        .unwrap_or(0)
                }
            };
            let page = &mut pages[chosen];
            let outcome = match page.fresh {
                true => Outcome::Unchanged,
                false => Outcome::Changed,
            };
            page.history = page.history.after(Visit::new(now, outcome));
            page.fresh = true;
        }
    }
    let histories = pages.iter().map(|page| (page.host, &page.history));
    let freshness = FreshnessModel::learned(histories, now).unwrap();
    let expected = (pages.iter()).map(|page| freshness.of(page.host, &page.history, now));
    let expected: f64 = expected.sum();
    let fresh = pages.iter().filter(|page| page.fresh).count();
    (expected / PAGES as f64, fresh as f64 / PAGES as f64)
}

/// On average, a page is revisited less than once in the shortest crawl, and less than three times
/// in the longest.
#[test]
fn the_estimate_is_close_to_the_truth_with_and_without_hints() {
    let mut errors = Vec::new();
    for (polled, seconds) in [(0.0, 100), (0.0, 400), (0.5, 400)] {
        for recall in [[0.0; 3], [0.5; 3], [0.0, 0.5, 0.9]] {
            for (slowest, false_signals) in [(-3.0, 0.0), (-4.0, 0.0005), (-6.0, 0.0)] {
                let world = SimulatedWorld {
                    slowest,
                    recall,
                    false_signals,
                    polled,
                };
                let of = |seed| {
                    let (expected, truth) = simulate(&world, seconds, seed);
                    expected - truth
                };
                let error = f64::midpoint(of(1), of(2));
                assert!(error.abs() < 0.08, "{world:?}, {seconds} s: {error}");
                errors.push(error.abs());
            }
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.025, "{mean}");
}

/// The absence of a hint raises the estimate on a host that gives hints, and a hint lowers it.
#[test]
fn the_absence_of_hints_is_evidence_on_a_host_that_gives_hints() {
    let at = |seconds: u64| Moment::from_micros(seconds * 1_000_000);
    let first = Visit::new(at(0), Outcome::Changed);
    let new = History::discovered(at(0), 1).after(first);
    let seen = |history: History, seconds| history.after(Visit::new(at(seconds), Outcome::Changed));
    let hinted = (1..9).fold(new, |page, turn| {
        seen(page.signalled(at(turn * 100)), turn * 100)
    });
    let unhinted = (1..9).fold(new, |page, turn| seen(page, turn * 100));
    let kinds = [(0, hinted), (0, new), (1, unhinted), (1, new)];
    let now = at(810);
    let pages = (0..40).map(|page| &kinds[page % 4]);
    let pages = pages.map(|(host, history)| (*host, history));
    let freshness = FreshnessModel::learned(pages, now).unwrap();
    let (with_hints, without) = (freshness.of(0, &new, now), freshness.of(1, &new, now));
    assert!(with_hints > without + 0.3, "{with_hints} {without}");
    let doubted = freshness.of(0, &new.signalled(at(800)), now);
    assert!(doubted < with_hints / 2.0, "{with_hints} {doubted}");
    // An unknown host gets the global distribution.
    let elsewhere = freshness.of(2, &new, now);
    assert!((0.0..1.0).contains(&elsewhere), "{elsewhere}");
}

#[test]
fn there_is_no_estimate_before_a_page_was_revisited() {
    let first = Visit::new(Moment::START, Outcome::Changed);
    let now = Moment::from_micros(9);
    let seed = History::discovered(Moment::START, 0).after(first);
    let page = History::discovered(Moment::START, 1).after(first);
    let again = |history: History| history.after(Visit::new(now, Outcome::Unchanged));
    let answers = |pages: &[History]| {
        let pages = pages.iter().map(|history| (0, history));
        FreshnessModel::learned(pages, now).is_some()
    };
    assert!(!answers(&[]) && !answers(&[seed, page]));
    assert!(
        !answers(&[again(seed), page]),
        "a seed says nothing about other pages"
    );
    assert!(answers(&[again(seed)]) && answers(&[seed, again(page)]));
}
