//! The life of a page: when it exists, and when it last changed.
//!
//! **Invariant:** a life is a function of the requested moment, not of earlier requests. A look-up
//! of the version costs the same at any moment: time is divided into windows with 16 changes on
//! average, and the changes of a window are drawn without drawing those of earlier windows. Given
//! their number, the moments of a Poisson process are independent and uniform, so this is exactly a
//! Poisson process.

use rand::RngExt;
use rand_distr::{Distribution, Poisson};

use crate::chance::{For, stream};

/// Expected number of changes per window: few enough to draw quickly, enough that a window is
/// rarely empty.
const CHANGES_A_WINDOW: f64 = 16.0;

/// The lifespan of a page and its change rate. Times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PageLife {
    /// Changes per second; 0 for a page that never changes.
    pub rate: f64,
    /// The first moment at which it exists; at most 0 for a page that exists from the start.
    pub born: f64,
    /// The first moment at which it no longer exists.
    pub dies: f64,
}

/// The version of a page's text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextVersion {
    /// 0 for the first text, and a distinct number for each change.
    pub id: u64,
    /// The moment of the change; the birth of the page for the first text.
    pub since: f64,
}

impl TextVersion {
    /// Returns the part of a random stream that paragraph `n` of a text is drawn from. A version
    /// differs from the first text in one paragraph, which its id determines.
    ///
    /// Part 0 is not used, so paragraphs count from 1. A changed paragraph draws from the upper
    /// half of the part numbers, which no paragraph reaches.
    pub fn part(self, n: u64, paragraphs: u64) -> u64 {
        match self.id > 0 && n == self.id % paragraphs {
            true => self.id | 1 << 63,
            false => n + 1,
        }
    }
}

impl PageLife {
    /// The life of a page that always exists and never changes.
    pub const ALWAYS: Self = Self {
        rate: 0.0,
        born: 0.0,
        dies: f64::INFINITY,
    };

    /// Returns the moments of all changes until a moment, in order. The cost grows with their
    /// number.
    pub fn moments(&self, seed: u64, page: u64, until: f64) -> Vec<f64> {
        let length = CHANGES_A_WINDOW / self.rate;
        if !length.is_finite() || until <= self.born {
            return Vec::new();
        }
        let windows = (self.born.max(0.0) / length) as u64..=(until / length) as u64;
        let mut moments: Vec<f64> = windows
            .flat_map(|window| {
                let start = window as f64 * length;
                let changes = changes_in_window(seed, page, window).into_iter();
                changes.map(move |share| start + share * length)
            })
            .filter(|&moment| moment <= until && moment > self.born)
            .collect();
        moments.sort_unstable_by(f64::total_cmp);
        moments
    }

    /// Returns whether the page exists.
    pub fn exists(&self, at: f64) -> bool {
        self.born <= at && at < self.dies
    }

    /// Returns the version at a moment.
    pub fn version(&self, seed: u64, page: u64, at: f64) -> TextVersion {
        let newborn = TextVersion {
            id: 0,
            since: self.born,
        };
        let length = CHANGES_A_WINDOW / self.rate;
        if !length.is_finite() || at <= self.born {
            return newborn;
        }
        let mut window = (at / length) as u64;
        loop {
            let start = window as f64 * length;
            let changes = changes_in_window(seed, page, window);
            let latest = (changes.iter())
                .map(|share| start + share * length)
                .enumerate()
                .filter(|&(_, moment)| moment <= at && moment > self.born)
                .max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((index, since)) = latest {
                // The low 16 bits number the change within its window.
                return TextVersion {
                    id: (window << 16 | index as u64) + 1,
                    since,
                };
            }
            if window == 0 || start <= self.born {
                return newborn;
            }
            window -= 1;
        }
    }
}

/// Returns the changes of one window, unordered, as shares of its length.
fn changes_in_window(seed: u64, page: u64, window: u64) -> Vec<f64> {
    let mut rng = stream(seed, For::Changes, page, window);
    let Ok(poisson) = Poisson::new(CHANGES_A_WINDOW) else {
        return Vec::new();
    };
    let count: f64 = poisson.sample(&mut rng);
    (0..count as usize).map(|_| rng.random()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    #[test]
    fn a_page_exists_from_birth_until_death() {
        let life = PageLife {
            rate: 0.0,
            born: 10.0,
            dies: 20.0,
        };
        for (at, exists) in [
            (0.0, false),
            (9.9, false),
            (10.0, true),
            (19.9, true),
            (20.0, false),
        ] {
            assert_eq!(life.exists(at), exists, "at {at}");
        }
    }

    #[test]
    fn a_page_without_a_rate_never_changes() {
        let life = PageLife {
            born: 3.0,
            ..PageLife::ALWAYS
        };
        for at in [0.0, 3.0, 1e9] {
            assert_eq!(life.version(SEED, 1, at), TextVersion { id: 0, since: 3.0 });
        }
    }

    #[test]
    fn the_number_of_changes_has_the_mean_and_variance_of_a_poisson_process() {
        // 200 pages over 50 seconds at 0.5 changes per second: 25 changes per page are expected.
        let life = PageLife {
            rate: 0.5,
            ..PageLife::ALWAYS
        };
        let step = 0.05;
        let (mut total, mut squares) = (0.0, 0.0);
        let pages = 200;
        for page in 0..pages {
            let mut last = 0;
            let mut seen = 0.0;
            for k in 0..1_000 {
                let id = life.version(SEED, page, f64::from(k) * step).id;
                if id != last {
                    seen += 1.0;
                    last = id;
                }
            }
            total += seen;
            squares += seen * seen;
        }
        let mean = total / pages as f64;
        let variance = squares / pages as f64 - mean * mean;
        // The step of 0.05 s hides one change in eighty. The mean has a standard deviation of
        // 0.35.
        assert!((23.4..26.0).contains(&mean), "{mean}");
        // The variance of a Poisson count equals its mean; here with a standard deviation of
        // 2.5.
        assert!((17.0..33.0).contains(&variance), "{variance}");
    }

    proptest::proptest! {
        #[test]
        fn a_version_lasts_from_its_moment_on(rate in 1e-6..10.0, at in 0.0..1e7, page: u64) {
            let life = PageLife { rate, ..PageLife::ALWAYS };
            let version = life.version(SEED, page, at);
            proptest::prop_assert!(version.since <= at);
            proptest::prop_assert_eq!(life.version(SEED, page, version.since), version);
            let moments = life.moments(SEED, page, at.min(2_000.0 / rate));
            proptest::prop_assert!(moments.is_sorted());
            if at <= 2_000.0 / rate {
                proptest::prop_assert_eq!(moments.last().copied().unwrap_or(0.0), version.since);
            }
            let between = version.since + (at - version.since) / 2.0;
            proptest::prop_assert_eq!(life.version(SEED, page, between), version);
        }
    }
}
