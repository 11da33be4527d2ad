//! How often does a source name new pages?
//!
//! λ from what its polls found ([`Finds`]). As printed (Lefortier et al. 2013, §4.2.2): new pages of the last T polls over the time between them. Ours: a Gamma posterior, whose prior
//! is what all sources are like, so that a young source is neither lost for its first poll in vain nor believed for its first find.
//!
//! **Invariant:** rates are finite and above 0 (a source with λ = 0 would never be polled again, whatever it does), and depend on nothing but the histories.

use crate::chance::split_mix;
use crate::history::Finds;

/// New pages a second that a source is expected to name of which, as of all others, nothing is known: one a day.
const UNKNOWN: f64 = 1.0 / 86_400.0;

/// Older finds count for at most so many pages, so that a source may change its habits. About a day's for a busy source.
const REMEMBERED: f64 = 10.0;

/// The least time that the printed estimate is taken from, in seconds: plans are made every half hour.
const SHORTEST: f64 = 1_800.0;

/// A source is young until it has named so many pages, or was polled so often.
const YOUNG: u32 = 10;

/// What the polls of a source told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polled<'a> {
    /// What they found.
    pub finds: &'a Finds,
    /// How many there were, the first look not counted.
    pub polls: u32,
    /// Seconds that they look back on, all together.
    pub watched: f64,
}

/// What the sources are like, all together: a Gamma distribution of their rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrivals {
    /// New pages a second, the mean: all that were found over all the time that was watched.
    pub mean: f64,
    /// How alike the sources are: the square of mean over deviation.
    pub shape: f64,
}

impl Arrivals {
    /// Of these sources. Each poll's chance is taken out of how much they differ, by the method of moments.
    pub fn of<'a>(sources: impl Iterator<Item = Polled<'a>> + Clone) -> Self {
        // One more page in one more day: the mean of nothing is something.
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
            // Sources that have not been watched for long seem alike, or not, by chance.
            shape: if shape.is_nan() {
                1.0
            } else {
                shape.clamp(0.05, 1.0)
            },
        }
    }

    /// λ as printed, from the last `window` polls and the seconds since. Before the first it is the mean of all; if the last polls found nothing, half a page in their time, but not more than that mean.
    ///
    /// Up to now, and from half an hour at least: a source whose last polls came soon after each other and found much would be thought to name more than all fetches could pay for. A plan leaves it alone then, with all
    /// that are worth less, and as long as it is left alone its polls say the same.
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

    /// The mean of λ's posterior. What was found before the last polls is remembered as a rate, but counts for ten pages at most.
    pub fn expected(&self, source: &Polled<'_>) -> f64 {
        let (new, watched) = recent(source, usize::MAX);
        let older_new = self.shape + (f64::from(source.finds.total) - new).max(0.0);
        let older_watched = self.shape / self.mean + (source.watched - watched).max(0.0);
        let weight = older_new.min(REMEMBERED.max(self.shape));
        (weight + new) / (weight * older_watched / older_new + watched)
    }

    /// A rate that a young source could have by what is known, drawn by hashing: by its posterior, so that it is polled as often as it is likely to pay (Thompson 1933).
    /// What is known of an old one is what is expected of it. `lot` must differ from source to source, and from day to day.
    pub fn drawn(&self, source: &Polled<'_>, seed: u64, lot: [u64; 3]) -> f64 {
        if source.finds.total >= YOUNG || source.polls >= YOUNG {
            return self.expected(source);
        }
        let first = lot.iter().fold(seed, |word, part| split_mix(word) ^ part);
        let second = split_mix(first);
        let words = [second, split_mix(second), split_mix(split_mix(second))];
        let shape = self.shape + f64::from(source.finds.total);
        let rate = self.shape / self.mean + source.watched;
        gamma(shape, words.map(uniform)) / rate
    }
}

/// New pages of the last polls, and seconds between these. A page without finds keeps no window: all its polls found nothing.
fn recent(source: &Polled<'_>, window: usize) -> (f64, f64) {
    if source.finds.total == 0 {
        return (0.0, source.watched);
    }
    let last = source.finds.iter().rev().take(window.max(1));
    last.fold((0.0, 0.0), |(new, watched), find| {
        (new + f64::from(find.new), watched + f64::from(find.gap))
    })
}

/// A number above 0 and below 1.
fn uniform(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// A draw of a Gamma distribution with scale 1, from three uniform numbers: for a shape of 1 more by Wilson & Hilferty's cube of a normal (1931), the normal by Box & Muller
/// (1958), brought down by a power of the third. Never 0.
fn gamma(shape: f64, [one, two, three]: [f64; 3]) -> f64 {
    let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos();
    let more = shape + 1.0;
    let small = 1.0 / (9.0 * more);
    let cube = (1.0 - small + normal * small.sqrt()).max(1e-3).powi(3);
    (more * cube * three.powf(1.0 / shape)).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::{History, Moment, Outcome, Visit};

    const DAY: f64 = 86_400.0;

    /// A first look, then polls after these gaps that found so much.
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
    fn as_printed_it_is_new_pages_over_time() {
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
            // Two polls within seconds say little: they count as half an hour.
            (&[(20, 9)], 7, 9.0 / SHORTEST),
        ] {
            let found = all.printed(&polled(&history(polls)), window, 0.0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{polls:?}: {found}");
        }
    }

    #[test]
    fn the_prior_is_what_all_are_like() {
        let nobody = Arrivals::of(std::iter::empty());
        assert!((nobody.mean * DAY - 1.0).abs() < 1e-12);
        let alike: Vec<History> = (0..50)
            .map(|_| history(&[(86_400, 4), (86_400, 6)]))
            .collect();
        let found = Arrivals::of(alike.iter().map(polled));
        assert!((found.mean * DAY - 5.0).abs() < 0.1, "{found:?}");
        assert_eq!(
            found.shape, 1.0,
            "as alike as chance allows, and not believed more than once"
        );
        let unlike: Vec<History> = (0..50)
            .map(|n| history(&[(86_400, if n == 0 { 500 } else { 0 })]))
            .collect();
        let found = Arrivals::of(unlike.iter().map(polled));
        assert!((found.shape - 0.05).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_posterior_goes_from_all_to_its_own_and_follows_a_change() {
        let all = Arrivals {
            mean: 2.0 / DAY,
            shape: 0.5,
        };
        assert!((all.expected(&polled(&history(&[]))) * DAY - 2.0).abs() < 1e-9);
        let vain = all.expected(&polled(&history(&[(86_400, 0)]))) * DAY;
        assert!(
            (vain - 0.5 / 1.25).abs() < 1e-9,
            "half a page in a quarter of a day, and a day: {vain}"
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
