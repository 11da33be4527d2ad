//! Estimates the rate λ at which a source names new pages, from the discoveries of its polls
//! ([`Finds`]).
//!
//! The paper's estimate (Lefortier et al. 2013, §4.2.2) divides the new pages of the last T
//! polls by the time between them. Ours is a Gamma posterior whose prior is the distribution
//! over all sources. A young source is then neither given up after a first poll without a find
//! nor overrated after a first find.
//!
//! **Invariant:** rates are finite and above 0, because a source with λ = 0 would never be
//! polled again. Except for drawn rates, they depend only on the histories.

use crate::chance::drawn_gamma;
use crate::history::Finds;

/// Rate of a source before anything is known of any source, in new pages per second: one per
/// day.
const UNKNOWN: f64 = 1.0 / 86_400.0;

/// The largest weight of the prior and of the finds before the window of recent polls, as a
/// pseudo-count of pages. The limit lets the estimate follow a source that changes its rate. A
/// busy source names about this many pages in a day.
const REMEMBERED: f64 = 10.0;

/// The shortest time that the paper's estimate is based on, in seconds. Plans are made every
/// half hour.
const SHORTEST: f64 = 1_800.0;

/// A source is young until it has named this many pages or was polled this many times.
const YOUNG: u32 = 10;

/// The polls of a source and what they discovered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polled<'a> {
    /// The discoveries.
    pub finds: &'a Finds,
    /// Number of polls, without the first visit.
    pub polls: u32,
    /// Total time that the polls cover, in seconds.
    pub watched: f64,
}

/// The Gamma distribution of the rates of all sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrivals {
    /// The mean, in new pages per second: all finds divided by all the time observed.
    pub mean: f64,
    /// The shape: the squared ratio of mean to standard deviation. The larger, the more similar
    /// the sources.
    pub shape: f64,
}

impl Arrivals {
    /// Estimates the distribution by the method of moments. The variance of the Poisson counts
    /// is subtracted from the variance between sources.
    pub fn of<'a>(sources: impl Iterator<Item = Polled<'a>> + Clone) -> Self {
        // One pseudo-page in one pseudo-day, so that the mean is never 0.
        let (mut new, mut watched) = (1.0, 1.0 / UNKNOWN);
        for source in sources.clone() {
            new += f64::from(source.finds.total);
            watched += source.watched;
        }
        let mean = new / watched;
        let (mut spread, mut squares) = (0.0, 0.0);
        for source in sources {
            let expected = mean * source.watched;
            spread += (f64::from(source.finds.total) - expected).powi(2) - expected;
            squares += expected * expected;
        }
        let shape = if spread > 0.0 {
            squares / spread
        } else {
            f64::INFINITY
        };
        Self {
            mean,
            // Few or short observations are alike or different by chance, so the shape is
            // bounded.
            shape: if shape.is_nan() {
                1.0
            } else {
                shape.clamp(0.05, 1.0)
            },
        }
    }

    /// Returns λ by the paper's formula, from the last `window` polls and the seconds since the
    /// last.
    ///
    /// Before the first poll, λ is the mean of all sources. If the last polls found nothing, λ is
    /// half a page in the time that they cover, but at most the mean of all sources.
    ///
    /// The time extends to now and is at least [`SHORTEST`]. Otherwise a few productive polls
    /// in quick succession would suggest more new pages than the budget could fetch. A plan
    /// would then switch the source off, and without further polls the estimate would never
    /// change.
    pub fn printed(&self, source: &Polled<'_>, window: usize, since: f64) -> f64 {
        let (new, watched) = recent(source, window);
        let watched = (watched + since.max(0.0)).max(SHORTEST);
        if source.watched <= 0.0 {
            self.mean
        } else if new > 0.0 {
            new / watched
        } else {
            self.mean.min(0.5 / watched)
        }
    }

    /// Returns the mean of λ's posterior.
    ///
    /// Finds within the window of recent polls count fully. The prior and all earlier finds count
    /// by their common rate, with a weight of at most [`REMEMBERED`] pages.
    pub fn expected(&self, source: &Polled<'_>) -> f64 {
        let (new, watched) = recent(source, usize::MAX);
        let older_new = self.shape + (f64::from(source.finds.total) - new).max(0.0);
        let older_watched = self.shape / self.mean + (source.watched - watched).max(0.0);
        let weight = older_new.min(REMEMBERED.max(self.shape));
        (weight + new) / (weight * older_watched / older_new + watched)
    }

    /// Returns a rate drawn from the posterior of a young source (Thompson sampling, 1933). Such
    /// a source is polled with the probability that a poll of it is the best choice. For an older
    /// source, returns the mean of the posterior.
    ///
    /// The draw is a hash of `seed` and `lot`. `lot` must differ between sources and between
    /// days.
    pub fn drawn(&self, source: &Polled<'_>, seed: u64, lot: [u64; 3]) -> f64 {
        if source.finds.total >= YOUNG || source.polls >= YOUNG {
            return self.expected(source);
        }
        let shape = self.shape + f64::from(source.finds.total);
        let rate = self.shape / self.mean + source.watched;
        drawn_gamma(shape, seed, lot) / rate
    }
}

/// Returns the number of new pages of the last `window` polls, and the seconds that these polls
/// cover. A source without finds stores no window, so all its polls count.
fn recent(source: &Polled<'_>, window: usize) -> (f64, f64) {
    if source.finds.total == 0 {
        return (0.0, source.watched);
    }
    let last = source.finds.iter().rev().take(window.max(1));
    last.fold((0.0, 0.0), |(new, watched), find| {
        (new + f64::from(find.new), watched + f64::from(find.gap))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::{History, Moment, Outcome, Visit};

    const DAY: f64 = 86_400.0;

    /// Returns a history with a first visit and then these polls, each with its gap and number
    /// of finds.
    fn history(polls: &[(u64, u32)]) -> History {
        let first = History::default().after(Visit::new(Moment::START, Outcome::Changed));
        let (mut now, mut history) = (Moment::START, first);
        for &(gap, new) in polls {
            now = now + Duration::from_secs(gap);
            history = history.after(Visit::new(now, Outcome::Changed)).named(new);
        }
        history
    }

    fn polled(history: &History) -> Polled<'_> {
        Polled {
            finds: &history.finds,
            polls: history.revisits,
            watched: history.watched.as_secs_f64(),
        }
    }

    #[test]
    fn the_printed_rate_is_new_pages_over_time() {
        let all = Arrivals {
            mean: 1e-5,
            shape: 0.5,
        };
        for (polls, window, expected) in [
            (&[][..], 7, 1e-5),
            (&[(10_000, 4), (30_000, 0)], 7, 1e-4),
            (&[(10_000, 4), (30_000, 3)], 1, 1e-4),
            (&[(100_000, 9), (30_000, 3)], 1, 1e-4),
            (&[(1_000, 0)], 7, 1e-5),
            (&[(500_000, 0)], 7, 1e-6),
            (&[(1_000, 9), (40_000, 0), (60_000, 0)], 2, 5e-6),
            (&[(0, 2)], 7, 1e-5),
            // Two polls within seconds count as half an hour.
            (&[(20, 9)], 7, 9.0 / SHORTEST),
        ] {
            let found = all.printed(&polled(&history(polls)), window, 0.0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{polls:?}: {found}");
        }
    }

    #[test]
    fn the_prior_has_the_mean_and_the_spread_of_all_sources() {
        let empty = Arrivals::of(std::iter::empty());
        assert!((empty.mean * DAY - 1.0).abs() < 1e-12);
        let alike: Vec<History> = (0..50)
            .map(|_| history(&[(86_400, 4), (86_400, 6)]))
            .collect();
        let found = Arrivals::of(alike.iter().map(polled));
        assert!((found.mean * DAY - 5.0).abs() < 0.1, "{found:?}");
        assert_eq!(
            found.shape, 1.0,
            "no more different than by chance; the shape is at most 1"
        );
        let unlike: Vec<History> = (0..50)
            .map(|n| history(&[(86_400, if n == 0 { 500 } else { 0 })]))
            .collect();
        let found = Arrivals::of(unlike.iter().map(polled));
        assert!((found.shape - 0.05).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_posterior_moves_from_the_prior_to_the_source_and_follows_a_change() {
        let all = Arrivals {
            mean: 2.0 / DAY,
            shape: 0.5,
        };
        assert!((all.expected(&polled(&history(&[]))) * DAY - 2.0).abs() < 1e-9);
        let fruitless = all.expected(&polled(&history(&[(86_400, 0)]))) * DAY;
        assert!(
            (fruitless - 0.5 / 1.25).abs() < 1e-9,
            "half a page in a quarter of a day, and a day: {fruitless}"
        );
        let steady: Vec<(u64, u32)> = vec![(8_640, 1); 100];
        let found = all.expected(&polled(&history(&steady))) * DAY;
        assert!((found - 10.0).abs() < 0.2, "{found}");
        let stopped: Vec<_> = steady.iter().copied().chain(vec![(8_640, 0); 10]).collect();
        let found = all.expected(&polled(&history(&stopped))) * DAY;
        assert!(
            (found - 5.0).abs() < 0.1,
            "ten pages in a day, then none in another: {found}"
        );
    }

    #[test]
    fn draws_have_the_mean_and_the_spread_of_the_posterior() {
        let all = Arrivals {
            mean: 3.0 / DAY,
            shape: 0.3,
        };
        for polls in [&[][..], &[(86_400, 0)], &[(86_400, 2), (43_200, 3)]] {
            let history = history(polls);
            let source = polled(&history);
            let shape = 0.3 + f64::from(history.finds.total);
            let rate = 0.3 / all.mean + source.watched;
            let draws: Vec<f64> = (0..20_000)
                .map(|page| all.drawn(&source, 5, [page, 1, 1]) * rate)
                .collect();
            let mean = draws.iter().sum::<f64>() / 2e4;
            let square = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 2e4;
            assert!((mean / shape - 1.0).abs() < 0.05, "{mean}, {shape}");
            assert!((square / shape - 1.0).abs() < 0.15, "{square}, {shape}");
            assert_eq!(draws[7], all.drawn(&source, 5, [7, 1, 1]) * rate);
        }
        let old = history(&[(86_400, 10)]);
        assert_eq!(
            all.drawn(&polled(&old), 5, [1, 1, 1]),
            all.expected(&polled(&old))
        );
    }

    proptest! {
        #[test]
        fn rates_are_finite_and_never_zero(
            polls in prop::collection::vec((0..u64::from(u32::MAX), any::<u32>()), 0..15),
            mean in 1e-12..1e3_f64,
            shape in 0.05..1.0_f64,
            window in 0usize..12,
            lot in any::<[u64; 3]>(),
        ) {
            let history = history(&polls);
            let source = polled(&history);
            let some = Arrivals::of([source, source].into_iter());
            for all in [Arrivals { mean, shape }, some] {
                for rate in [all.printed(&source, window, 0.0), all.printed(&source, window, 1e4), all.expected(&source), all.drawn(&source, 1, lot), all.mean, all.shape] {
                    prop_assert!(rate > 0.0 && rate.is_finite(), "{}", rate);
                }
            }
        }
    }
}
