//! What is expected against what is true, in worlds whose pages differ by orders of magnitude and are visited a few times, and not at random.

use std::time::Duration;

use policy::{Outcome, Visit};

use super::*;

/// Numbers from 0 to 1, the same for the same seed (Knuth's MMIX generator).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// A page and what only the world knows of it.
struct Living {
    host: u32,
    history: History,
    rate: f64,
    fresh: bool,
}

/// A world, and how it is crawled.
#[derive(Debug, Clone, Copy)]
struct World {
    /// Rates are from 10 to the power of this to 10^-1.5 changes a second, each power of ten alike.
    slowest: f64,
    /// The share of changes that each host signals.
    recall: [f64; 3],
    /// False signals, a page and second.
    false_signals: f64,
    /// The share of the other visits that go to the home pages, one page in sixty, which change as fast as any.
    polled: f64,
}

const PAGES: usize = 600;
const HOMES: usize = 10;
const FASTEST: f64 = -1.5;

/// What is expected, and what is true, after some seconds of four fetches each.
fn judged(world: &World, seconds: u64, seed: u64) -> (f64, f64) {
    let mut draws = Draws(seed);
    let mut pages: Vec<Living> = (0..PAGES)
        .map(|page| {
            let first = Visit::new(Moment::START, Outcome::Changed);
            Living {
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
            let told = world.recall[page.host as usize];
            let said = if changes { told } else { world.false_signals };
            if draws.next() < said {
                page.history = page.history.signalled(now);
            }
        }
        for _ in 0..4 {
            let waiting = (0..PAGES).filter(|page| pages[*page].history.signals.since > 0);
            let first = waiting.min_by_key(|page| pages[*page].history.signals.last);
            let chosen = match (first, draws.next() < world.polled) {
                (Some(first), _) if draws.next() < 0.75 => first,
                (_, true) => (draws.next() * HOMES as f64) as usize,
                // Of two pages the one that was seen to change more.
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
    let freshness = Freshness::learned(histories, now).unwrap();
    let expected = (pages.iter()).map(|page| freshness.of(page.host, &page.history, now));
    let expected: f64 = expected.sum();
    let fresh = pages.iter().filter(|page| page.fresh).count();
    (expected / PAGES as f64, fresh as f64 / PAGES as f64)
}

/// Each page is visited less than once in the shortest time and not three times in the longest.
#[test]
fn what_is_expected_is_what_is_true_whomever_the_crawl_listens_to() {
    let mut errors = Vec::new();
    for (polled, seconds) in [(0.0, 100), (0.0, 400), (0.5, 400)] {
        for recall in [[0.0; 3], [0.5; 3], [0.0, 0.5, 0.9]] {
            for (slowest, false_signals) in [(-3.0, 0.0), (-4.0, 0.0005), (-6.0, 0.0)] {
                let world = World {
                    slowest,
                    recall,
                    false_signals,
                    polled,
                };
                let of = |seed| {
                    let (expected, truth) = judged(&world, seconds, seed);
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

/// A page that others would have spoken of is fresher in silence than one of which nobody speaks, and one of which they do is not.
#[test]
fn silence_counts_where_others_speak() {
    let at = |seconds: u64| Moment::from_micros(seconds * 1_000_000);
    let first = Visit::new(at(0), Outcome::Changed);
    let new = History::discovered(at(0), 1).after(first);
    let seen = |history: History, seconds| history.after(Visit::new(at(seconds), Outcome::Changed));
    let told = (1..9).fold(new, |page, turn| {
        seen(page.signalled(at(turn * 100)), turn * 100)
    });
    let untold = (1..9).fold(new, |page, turn| seen(page, turn * 100));
    let kinds = [(0, told), (0, new), (1, untold), (1, new)];
    let now = at(810);
    let pages = (0..40).map(|page| &kinds[page % 4]);
    let pages = pages.map(|(host, history)| (*host, history));
    let freshness = Freshness::learned(pages, now).unwrap();
    let (spoken, silent) = (freshness.of(0, &new, now), freshness.of(1, &new, now));
    assert!(spoken > silent + 0.3, "{spoken} {silent}");
    let doubted = freshness.of(0, &new.signalled(at(800)), now);
    assert!(doubted < spoken / 2.0, "{spoken} {doubted}");
    // Of a host that was never heard of nothing is known but what others are like.
    let elsewhere = freshness.of(2, &new, now);
    assert!((0.0..1.0).contains(&elsewhere), "{elsewhere}");
}

#[test]
fn before_a_page_was_visited_again_there_is_no_answer() {
    let first = Visit::new(Moment::START, Outcome::Changed);
    let now = Moment::from_micros(9);
    let seed = History::discovered(Moment::START, 0).after(first);
    let page = History::discovered(Moment::START, 1).after(first);
    let again = |history: History| history.after(Visit::new(now, Outcome::Unchanged));
    let answers = |pages: &[History]| {
        let pages = pages.iter().map(|history| (0, history));
        Freshness::learned(pages, now).is_some()
    };
    assert!(!answers(&[]) && !answers(&[seed, page]));
    assert!(!answers(&[again(seed), page]), "a seed speaks for itself");
    assert!(answers(&[again(seed)]) && answers(&[seed, again(page)]));
}
