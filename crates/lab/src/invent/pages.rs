//! Generator of pages that change, are born and die, without texts.
//!
//! - **Changes.** By default each page changes as a Poisson process. The lifetime of a page, its
//!   mean time between changes, is Weibull over the pages, with shape 1.4 and scale 152.2 days
//!   (Brewington & Cybenko, "How dynamic is the web?", 2000). This gives a mean of 138.7 and a
//!   median of 117.1 days. A lifetime below `shortest` is raised to `shortest`, since the mean
//!   *rate* is infinite for a shape of 1 or less.
//! - **Hazard.** The time between two changes of a page is Weibull with the shape `hazard` and the
//!   page's mean lifetime. The change rate (the hazard rate) is constant for 1, which is the
//!   Poisson process; above 1 it rises with the age of the text, below 1 it falls.
//! - **Alike.** Lifetimes of one host can be correlated. The normal scores of a page and of its
//!   host are added with variances `1 - alike` and `alike` (a Gaussian copula), so the Weibull
//!   distribution over all pages stays the same.
//! - **Births.** The number of pages ever born grows as `pages·e^(growth·t)`; .00176 a day
//!   doubles it in 394 days (the same authors). None by default.
//! - **Deaths.** Each page dies at the rate `deaths` and does not return. None by default.
//! - **Bodies.** A body has no text, only a number that no other version of any page has, so each
//!   version of a page differs from its previous one.
//!
//! **Invariant:** times are whole seconds from [`BEGINNING`] on, as in the tables of recorded
//! worlds. Two versions of a page never share a second. A page draws from its own stream, so
//! adding pages does not change the times at which the others change.

use policy::Moment;
use policy::plan::Weibull;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use testweb::chance::{For, stream};

use super::draw::{Zipf, exponential_of_normal};
use super::knob::plan;
use super::{BEGINNING, DAY};
use crate::LabError;
use crate::kinds::{Bodies, Histories, Version};

/// Maximum number of pages born later; more would not fit into memory.
const MOST: f64 = 1e8;

plan! {
    /// Changing pages to invent.
    PagesPlan {
        /// Pages at the beginning.
        pages: u32 = 100_000, 1 to 50_000_000;
        /// Hosts, each with a registrable domain of its own.
        hosts: u32 = 1_000, 1 to 5_000_000;
        /// Exponent of Zipf's law for the pages of hosts; 0 makes all hosts equally large.
        host_sizes: f64 = 1.0, 0 to 3;
        /// Length of the observation, in days.
        span: f64 = 365.0, 0.01 to 36_500;
        /// Shape of the Weibull distribution of the mean time between changes of a page.
        shape: f64 = 1.4, 0.1 to 50;
        /// Scale of the Weibull distribution of the mean time between changes of a page, in days.
        scale: f64 = 152.2, 0.001 to 1_000_000;
        /// The least mean time between changes of a page, in days.
        shortest: f64 = 0.04, 0.001 to 1_000_000;
        /// Shape of the Weibull distribution of the time between two changes of a page:
        /// 1 for a constant change rate, above 1 for one that rises with the age of the text,
        /// below 1 for one that falls.
        hazard: f64 = 1.0, 0.2 to 20;
        /// Correlation of lifetimes within a host: 0 for none, 1 for equal lifetimes.
        alike: f64 = 0.0, 0 to 1;
        /// Births per day, as a share of all pages ever born.
        growth: f64 = 0.0, 0 to 0.1;
        /// Death rate of a page, per day.
        deaths: f64 = 0.0, 0 to 10;
    }
}

/// A page, by the stream that it draws from.
#[derive(Clone, Copy)]
enum PageStream {
    /// A page that exists from the beginning.
    Old(u32),
    /// A page born later.
    New(u32),
}

impl PagesPlan {
    /// Invents the pages and their versions.
    ///
    /// # Errors
    /// If the growth gives more pages than fit into memory.
    pub fn invent(&self, seed: u64) -> Result<Histories, LabError> {
        let newborn = self.newborn();
        if newborn > MOST {
            return Err(LabError::Wish(format!(
                "growth {} over {} days of invented:pages makes {newborn:.0} more pages; at most {MOST} are invented",
                self.growth, self.span
            )));
        }
        let zipf = Zipf::new(self.hosts as usize, self.host_sizes);
        // The mean of a Weibull distribution of scale 1.
        let mean = match self.hazard {
            1.0 => 1.0,
            shape => Weibull::new(shape, 1.0).map_or(1.0, |waits| waits.mean()),
        };
        let mut versions = Vec::new();
        let mut urls = Vec::with_capacity(self.pages as usize);
        for page in self.all() {
            let number = urls.len() as u32;
            let (host, lifetime, mut rng) = self.drawn(page, &zipf, seed);
            urls.push(format!("http://www.site{host}.example/page-{number}.html"));
            let scale = lifetime / mean;
            let life = PageLifetime { number, scale };
            self.live(page, life, &mut rng, &mut versions);
        }
        let bodies = Bodies::unknown(versions.len() as u32);
        Ok(Histories::new(
            urls.iter().map(String::as_str),
            versions,
            bodies,
        ))
    }

    /// Returns the change rates of all pages per day, from the same draws as [`Self::invent`].
    pub fn rates(&self, seed: u64) -> Vec<f64> {
        let zipf = Zipf::new(self.hosts as usize, self.host_sizes);
        let rate = |page| self.drawn(page, &zipf, seed).1.recip();
        self.all().map(rate).collect()
    }

    /// Returns the expected number of pages born after the beginning.
    fn newborn(&self) -> f64 {
        f64::from(self.pages) * (self.growth * self.span).exp_m1()
    }

    fn all(&self) -> impl Iterator<Item = PageStream> + use<> {
        let later = (0..self.newborn().round() as u32).map(PageStream::New);
        (0..self.pages).map(PageStream::Old).chain(later)
    }

    /// Draws a page's host and mean lifetime in days. Also returns its stream after these draws.
    fn drawn(&self, page: PageStream, zipf: &Zipf, seed: u64) -> (usize, f64, ChaCha8Rng) {
        let mut rng = page.stream(seed);
        let host = zipf.draw(&mut rng);
        let lifetime = self.lifetime(seed, host as u64, &mut rng);
        (host, lifetime, rng)
    }

    /// Draws a page's mean time between changes, in days.
    fn lifetime(&self, seed: u64, host: u64, rng: &mut ChaCha8Rng) -> f64 {
        let of_host: f64 = StandardNormal.sample(&mut stream(seed, For::Lifetimes, host, 2));
        let own: f64 = StandardNormal.sample(rng);
        let score = self.alike.sqrt() * of_host + (1.0 - self.alike).sqrt() * own;
        let weibull = self.scale * exponential_of_normal(score).powf(self.shape.recip());
        weibull.max(self.shortest)
    }

    /// Adds the versions of a page. The number of a body is the index of its version in `versions`.
    fn live(
        &self,
        page: PageStream,
        life: PageLifetime,
        rng: &mut ChaCha8Rng,
        versions: &mut Vec<Version>,
    ) {
        let (birth, until): (f64, f64) = (Exp1.sample(rng), Exp1.sample(rng));
        let born = match page {
            PageStream::Old(_) => 0.0,
            PageStream::New(_) => self.born(-(-birth).exp_m1()),
        };
        let dies = born + until / self.deaths;
        let end = self.span.min(dies);
        let mut last = None;
        let mut add = |days: f64, shown: bool| {
            let second = Some((days * DAY) as u64);
            if second > last {
                last = second;
                versions.push(Version {
                    page: life.number,
                    at: moment(days),
                    body: shown.then_some(versions.len() as u32),
                });
            }
        };
        let mut now = born;
        while now < end {
            add(now, true);
            let wait: f64 = Exp1.sample(rng);
            now += wait.powf(self.hazard.recip()) * life.scale;
        }
        if dies < self.span {
            add(dies, false);
        }
    }

    /// Returns the day by which this share of the later pages is born: the inverse of
    /// `(e^(growth·t) - 1)/(e^(growth·span) - 1)`.
    fn born(&self, share: f64) -> f64 {
        (share * (self.growth * self.span).exp_m1()).ln_1p() / self.growth
    }
}

/// A page's number and the scale of the times between its changes, in days.
#[derive(Clone, Copy)]
struct PageLifetime {
    number: u32,
    scale: f64,
}

impl PageStream {
    fn stream(self, seed: u64) -> ChaCha8Rng {
        match self {
            Self::Old(number) => stream(seed, For::Lifetimes, u64::from(number), 0),
            Self::New(number) => stream(seed, For::Lifetimes, u64::from(number), 1),
        }
    }
}

/// Returns the time `days` after the beginning, rounded down to whole seconds.
fn moment(days: f64) -> Moment {
    Moment::from_micros(BEGINNING.micros() + (days * DAY) as u64 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(version: &Version) -> f64 {
        version.at.since(BEGINNING).as_secs_f64() / DAY
    }

    fn lifetimes(plan: &PagesPlan, pages: u64) -> Vec<f64> {
        let draw = |page| plan.lifetime(1, page % 50, &mut stream(1, For::Lifetimes, page, 0));
        (0..pages).map(draw).collect()
    }

    #[test]
    fn lifetimes_are_those_of_brewington_and_cybenko() {
        for alike in [0.0, 0.2] {
            let plan = PagesPlan {
                alike,
                ..PagesPlan::default()
            };
            let mut drawn = lifetimes(&plan, 40_000);
            drawn.sort_unstable_by(f64::total_cmp);
            let mean = drawn.iter().sum::<f64>() / 40_000.0;
            // The mean has a standard deviation of .5 days, the median one of .6 days. Correlation
            // within hosts widens both.
            let room = if alike > 0.0 { 0.15 } else { 0.02 };
            assert!((mean / 138.7 - 1.0).abs() < room, "{mean}");
            assert!(
                (drawn[20_000] / 117.1 - 1.0).abs() < room,
                "{}",
                drawn[20_000]
            );
        }
    }

    /// By renewal theory the mean age of a text is E[T²]/(2·E[T]), for times T between changes; the
    /// age has the density S(t)/E[T] (equations 6.11 and 6.12 of Baldi, Frasconi & Smyth, 2003).
    #[test]
    fn ages_follow_the_hazard_function() {
        for hazard in [0.7, 1.0, 3.0] {
            let plan = PagesPlan {
                pages: 4_000,
                hosts: 10,
                // Practically all pages have the same lifetime.
                shape: 50.0,
                scale: 10.0,
                span: 400.0,
                hazard,
                ..PagesPlan::default()
            };
            let histories = plan.invent(3).unwrap();
            let mut since = vec![0.0; 4_000];
            for version in histories.versions() {
                since[version.page as usize] = days(version);
            }
            let changes = histories.versions().len() as f64 / 4_000.0 - 1.0;
            let ages: Vec<f64> = since.iter().map(|since| plan.span - since).collect();
            let age = ages.iter().sum::<f64>() / 4_000.0;
            let lifetime = Weibull::new(plan.shape, plan.scale).unwrap().mean();
            let moment = |order: f64| Weibull::new(hazard / order, 1.0).unwrap().mean();
            let expected = lifetime * moment(2.0) / (2.0 * moment(1.0).powi(2));
            assert!(
                (age / expected - 1.0).abs() < 0.06,
                "{hazard}: {age}, not {expected}"
            );
            let rate = plan.span / lifetime;
            assert!(
                (changes / rate - 1.0).abs() < 0.03,
                "{hazard}: {changes}, not {rate}"
            );
            // P(age > t) is the integral of S from t on, divided by E[T].
            let scale = lifetime / moment(1.0);
            let beyond: f64 = (0..20_000)
                .map(|n| lifetime + f64::from(n) * 0.01)
                .map(|t| 0.01 * (-(t / scale).powf(hazard)).exp() / lifetime)
                .sum();
            let older = ages.iter().filter(|age| **age > lifetime).count() as f64 / 4_000.0;
            assert!(
                (older - beyond).abs() < 0.03,
                "{hazard}: {older}, not {beyond}"
            );
        }
    }

    #[test]
    fn lifetimes_within_a_host_are_as_correlated_as_set() {
        // Share of the variance of the logarithms that lies between the 50 hosts of 40 pages
        // each.
        let between = |alike| {
            let logs: Vec<f64> = lifetimes(
                &PagesPlan {
                    alike,
                    ..PagesPlan::default()
                },
                2_000,
            )
            .iter()
            .map(|lifetime| lifetime.ln())
            .collect();
            let mean = logs.iter().sum::<f64>() / 2_000.0;
            let all: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2_000.0;
            let host = |host: usize| (0..40).map(|n| logs[n * 50 + host]).sum::<f64>() / 40.0;
            (0..50).map(|n| (host(n) - mean).powi(2)).sum::<f64>() / 50.0 / all
        };
        let (none, half, all) = (between(0.0), between(0.5), between(1.0));
        assert!(
            none < 0.06 && (0.3..0.7).contains(&half) && all > 0.999,
            "{none} {half} {all}"
        );
    }

    #[test]
    fn changes_are_poisson_at_the_drawn_rate() {
        // A steep shape makes all pages alike: one change in ten days.
        let plan = PagesPlan {
            pages: 2_000,
            shape: 50.0,
            scale: 10.0,
            span: 100.0,
            ..PagesPlan::default()
        };
        let histories = plan.invent(1).unwrap();
        let mut changes = vec![-1.0; 2_000];
        histories
            .versions()
            .iter()
            .for_each(|version| changes[version.page as usize] += 1.0);
        let mean = changes.iter().sum::<f64>() / 2_000.0;
        let variance = changes
            .iter()
            .map(|n: &f64| (n - mean).powi(2))
            .sum::<f64>()
            / 2_000.0;
        // The mean lifetime is 9.888 days; 10.11 changes are expected, with the same variance.
        assert!((mean - 10.11).abs() < 0.3, "{mean}");
        assert!((variance - 10.1).abs() < 1.5, "{variance}");
    }

    #[test]
    fn pages_change_at_the_rates_that_are_returned() {
        let plan = PagesPlan {
            pages: 300,
            span: 20_000.0,
            growth: 0.000_01,
            ..PagesPlan::default()
        };
        let histories = plan.invent(5).unwrap();
        let rates = plan.rates(5);
        assert_eq!(rates.len(), histories.urls().len());
        let mut versions = vec![0.0; rates.len()];
        for version in histories.versions() {
            versions[version.page as usize] += 1.0;
        }
        for (page, rate) in rates[..300].iter().enumerate() {
            let expected = rate * plan.span;
            let off = (versions[page] - 1.0 - expected) / expected.sqrt();
            assert!(off.abs() < 5.0, "page {page}: {off} deviations");
        }
    }

    #[test]
    fn births_double_a_web_in_394_days_and_deaths_halve_it() {
        let plan = PagesPlan {
            pages: 2_000,
            span: 393.8,
            growth: 0.00176,
            ..PagesPlan::default()
        };
        let histories = plan.invent(1).unwrap();
        assert_eq!(histories.urls().len(), 4_000);
        let mut first = vec![f64::INFINITY; 4_000];
        for version in histories.versions() {
            let first = &mut first[version.page as usize];
            *first = first.min(days(version));
        }
        assert!(first[..2_000].iter().all(|&day| day == 0.0));
        // At half of the time there are √2 times as many pages as at the start.
        let early = first[2_000..].iter().filter(|&&day| day < 196.9).count();
        assert!((early as f64 - 828.0).abs() < 70.0, "{early}");

        let plan = PagesPlan {
            pages: 4_000,
            span: 100.0,
            deaths: 0.006_931,
            ..PagesPlan::default()
        };
        let histories = plan.invent(2).unwrap();
        let mut gone = vec![false; 4_000];
        for version in histories.versions() {
            assert!(
                !gone[version.page as usize],
                "a page that is gone stays gone"
            );
            gone[version.page as usize] = version.body.is_none();
        }
        let dead = gone.iter().filter(|&&gone| gone).count();
        assert!((dead as f64 - 2_000.0).abs() < 130.0, "{dead}");
    }

    #[test]
    fn adding_pages_leaves_the_others_unchanged() {
        let of = |pages| {
            PagesPlan {
                pages,
                growth: 0.001,
                alike: 0.3,
                ..PagesPlan::default()
            }
            .invent(3)
            .unwrap()
        };
        let moments = |histories: &Histories, page| {
            let versions = histories.versions().iter();
            versions
                .filter(|version| version.page == page)
                .map(|version| version.at)
                .collect::<Vec<_>>()
        };
        let (few, many) = (of(50), of(60));
        for page in 0..50 {
            assert_eq!(few.urls()[page as usize], many.urls()[page as usize]);
            assert_eq!(moments(&few, page), moments(&many, page));
        }
    }

    #[test]
    fn every_version_has_a_new_body_and_too_much_growth_is_refused() {
        let histories = PagesPlan {
            pages: 300,
            ..PagesPlan::default()
        }
        .invent(4)
        .unwrap();
        let bodies: Vec<_> = histories
            .versions()
            .iter()
            .filter_map(|version| version.body)
            .collect();
        assert!(
            bodies
                .iter()
                .copied()
                .eq(0..histories.versions().len() as u32)
        );
        assert_eq!(histories.bodies().count() as usize, bodies.len());
        let explosion = PagesPlan {
            growth: 0.1,
            span: 36_500.0,
            ..PagesPlan::default()
        };
        assert!(
            explosion
                .invent(1)
                .unwrap_err()
                .to_string()
                .contains("growth 0.1")
        );
    }
}
