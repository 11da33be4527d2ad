//! Site sampling: a few pages of each site are visited, and what they show decides about the rest.
//!
//! Cho & Ntoulas, "Effective change detection using sampling" (VLDB 2002). In every round the
//! crawler visits a few pages of each site, its *sample*. Then it visits the other pages, those of
//! the site with the largest share ρ of changed samples first (their greedy policy, which is near
//! to the best).
//!
//! Here a sample is due once a round. The worth of any other page is `ρ(1 − 2^{−τ/T})` at age τ,
//! with T the length of a round, so that pages of one site take turns and a page that was just
//! visited waits. ρ is `(changed + ½)/(samples + 1)`, which is ½ before a sample was revisited.
//!
//! **Invariant:** the sample of a site is a function of the pages discovered so far, not of their
//! order, and every sample that is due comes before every other page.

use std::time::Duration;

use crate::chance::split_mix;
use crate::estimate::PageHosts;
use crate::moment::DAY;
use crate::{Curve, Discovered, Fact, Needs, Number, Page, Refresh, Term};

/// A policy that visits samples of sites, then the sites that changed.
#[derive(Debug, Clone)]
pub struct SiteSampling {
    /// Number of pages of a site that are sampled.
    samples: usize,
    round: Duration,
    hosts: PageHosts,
    sites: Vec<SampledSite>,
}

/// The sample of a site, in the order of its hashes.
#[derive(Debug, Clone, Default)]
struct SampledSite(Vec<SamplePage>);

#[derive(Debug, Clone, Copy)]
struct SamplePage {
    hash: u64,
    page: Number,
    /// Whether its last revisit found a change; `None` before the first.
    changed: Option<bool>,
}

impl SiteSampling {
    /// Default of the number of samples of a site.
    pub const SAMPLES: u32 = 5;
    /// Default of the length of a round, in days.
    pub const DAYS: f64 = 7.0;

    /// Creates a policy that samples this many pages of each site once per `round`.
    pub fn new(samples: usize, round: Duration) -> Self {
        Self {
            samples,
            round,
            hosts: PageHosts::default(),
            sites: Vec::new(),
        }
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.hosts.add(discovered);
        let page = discovered.page;
        let hash = split_mix(u64::from(page.0));
        let samples = self.samples;
        if let Some(SampledSite(sample)) = self.hosts.of_mut(page, &mut self.sites)
            && sample.iter().all(|known| known.page != page)
        {
            let place = sample.partition_point(|known| known.hash < hash);
            sample.insert(
                place,
                SamplePage {
                    hash,
                    page,
                    changed: None,
                },
            );
            sample.truncate(samples);
        }
    }

    fn site(&self, page: Number) -> Option<&SampledSite> {
        self.hosts.of(page, &self.sites)
    }
}

impl SampledSite {
    fn has(&self, page: Number) -> bool {
        self.0.iter().any(|sample| sample.page == page)
    }

    /// Returns ρ, the estimated share of the pages that have changed.
    fn changed(&self) -> f64 {
        let revisited = self.0.iter().filter_map(|sample| sample.changed);
        let (samples, changed) = revisited.fold((0.0, 0.0), |(samples, sum), changed| {
            (samples + 1.0, sum + f64::from(u8::from(changed)))
        });
        (changed + 0.5) / (samples + 1.0)
    }
}

/// The worth of a visit, with the length of a round in seconds.
enum SamplingCurve {
    Sample { round: f64 },
    Other { round: f64, changed: f64 },
}

impl Curve for SamplingCurve {
    fn at(&self, age: f64) -> f64 {
        match *self {
            Self::Sample { round } if age < round => 0.0,
            Self::Sample { round } => 1.0 + age / round,
            Self::Other { round, changed } => {
                -changed * (-std::f64::consts::LN_2 * age / round).exp_m1()
            }
        }
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        match *self {
            Self::Sample { round } => Some(round * (worth - 1.0).max(1.0)),
            Self::Other { round, changed } => (worth < changed)
                .then(|| -round * (-worth / changed).ln_1p() / std::f64::consts::LN_2),
        }
    }
}

impl Refresh for SiteSampling {
    fn needs(&self) -> Needs {
        Needs {
            visits: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.discover(discovered),
            Fact::Visited(visited) => {
                let mut site = self.hosts.of_mut(visited.page, &mut self.sites);
                let mut sample = site.iter_mut().flat_map(|site| &mut site.0);
                if let Some(sample) = sample.find(|sample| sample.page == visited.page) {
                    let last = visited.after.recent.iter().next_back();
                    sample.changed = last.map(|revisit| revisit.changed);
                }
            }
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        let round = self.round.as_secs_f64();
        let site = self.site(page.number);
        Box::new(match site {
            Some(site) if site.has(page.number) => SamplingCurve::Sample { round },
            _ => SamplingCurve::Other {
                round,
                changed: site.map_or(0.5, SampledSite::changed),
            },
        })
    }

    fn terms(&self, page: Page<'_>, _importance: f64) -> Vec<Term> {
        let Some(site) = self.site(page.number) else {
            return Vec::new();
        };
        let sampled = f64::from(u8::from(site.has(page.number)));
        vec![
            Term::new("1 for a sample of its site", sampled),
            Term::new("share of the samples that changed", site.changed()),
            Term::new("days of a round", self.round.as_secs_f64() / DAY),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, Moment, Outcome, Visit, VisitFact};

    const ROUND: Duration = Duration::from_secs(86_400);

    /// Two sites of 20 pages; the pages of site 0 are even. Samples of site 0 change, those of site
    /// 1 do not.
    fn sampled() -> SiteSampling {
        let mut policy = SiteSampling::new(3, ROUND);
        for page in 0..40 {
            policy.discover(&Discovered {
                host: page % 2,
                ..crate::focus::tests::discovered(page)
            });
        }
        for page in 0..40 {
            let start = History::discovered(Moment::START, 0);
            let before = start.after(Visit::new(Moment::START, Outcome::Changed));
            let outcome = [Outcome::Changed, Outcome::Unchanged][page as usize % 2];
            let after = before.after(Visit::new(Moment::START + ROUND, outcome));
            policy.observe(&Fact::Visited(VisitFact {
                page: Number(page),
                before: &before,
                after: &after,
            }));
        }
        policy
    }

    fn worth(policy: &SiteSampling, page: u32, rounds: f64) -> f64 {
        let history = History::default();
        let page = Page {
            number: Number(page),
            history: &history,
        };
        policy.curve(page, 1.0).at(rounds * ROUND.as_secs_f64())
    }

    #[test]
    fn samples_come_once_a_round_and_then_the_sites_whose_samples_changed() {
        let policy = sampled();
        let is_sample = |page: u32| policy.site(Number(page)).unwrap().has(Number(page));
        let samples: Vec<u32> = (0..40).filter(|&page| is_sample(page)).collect();
        assert_eq!(samples.iter().filter(|&&page| page % 2 == 0).count(), 3);
        assert_eq!(samples.len(), 6);
        for page in 0..40 {
            // (3 + ½)/4 of site 0 has changed, ½/4 of site 1.
            let share = [0.875, 0.125][page as usize % 2];
            let expected = |rounds: f64| match is_sample(page) {
                true if rounds < 1.0 => 0.0,
                true => 1.0 + rounds,
                false => share * (1.0 - 0.5f64.powf(rounds)),
            };
            for rounds in [0.5, 1.0, 3.0] {
                let found = worth(&policy, page, rounds);
                assert!((found - expected(rounds)).abs() < 1e-12, "{page}: {found}");
            }
        }
    }

    #[test]
    fn the_sample_does_not_depend_on_the_order_of_discovery() {
        let sample = |pages: &[u32]| {
            let mut policy = SiteSampling::new(4, ROUND);
            for &page in pages {
                policy.discover(&crate::focus::tests::discovered(page));
            }
            let pages = policy.sites[0].0.iter().map(|sample| sample.page.0);
            pages.collect::<Vec<u32>>()
        };
        let forward: Vec<u32> = (0..30).collect();
        let backward: Vec<u32> = (0..30).rev().collect();
        assert_eq!(sample(&forward), sample(&backward));
        assert_eq!(sample(&forward).len(), 4);
    }

    #[test]
    fn a_site_without_revisited_samples_is_expected_to_have_changed_by_half() {
        let policy = SiteSampling::new(3, ROUND);
        assert!((worth(&policy, 0, 1.0) - 0.25).abs() < 1e-12);
    }
}
