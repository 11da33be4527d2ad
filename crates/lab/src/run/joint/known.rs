//! The contestants that know the parameters of the town: an upper bound for what better estimates
//! can earn at one price.
//!
//! They use the formulas of the production policies, in clicks, with the true parameters in the
//! place of estimates:
//!
//! - **Refreshes.** An old page with w clicks and λ changes a second is worth `(w/λ)·g(λτ)`, or
//!   the value for hints with the true recall and rate of false hints ([`Signalled`]). A page that
//!   was born later loses its readers: with P clicks in all, which decay at the rate μ, a refresh
//!   at age a is worth `P·e^{−μa}` times the probability that the page has changed since the copy.
//! - **Sources.** A source names λ new pages a second, each with P clicks in the mean, which decay
//!   at the rate μ. A page counts for the source that names it first.
//!
//! They know rates and means, and neither the time of a change or birth nor the clicks on a page
//! before its first copy. After the first copy they know the number of its clicks.
//!
//! **Invariant:** the crawl core chooses with them as with any policy.

use std::collections::HashMap;
use std::sync::Arc;

use page::{PageId, PageUrl};
use policy::plan::signal::Signalled;
use policy::source::{Estimation, NewPage, Outlook, Priced, Scheduler};
use policy::{Curve, Fact, Moment, Needs, Number, Page, Refresh, Rows, Term, VisitFact, Worth};

use super::Known;
use crate::kinds::Town;

/// Least number of changes that a page counts as having in the time of the town. Half a change is
/// the usual correction for a count of 0.
const LEAST_CHANGES: f64 = 0.5;

impl Known {
    /// Returns the policies with the parameters that they know. `order` has the sources of the town
    /// in the order of their page numbers.
    pub(super) fn policies(
        self,
        town: &Town,
        refresh: Box<dyn Refresh>,
        scheduler: Box<dyn Scheduler>,
        order: &[usize],
    ) -> (Box<dyn Refresh>, Box<dyn Scheduler>) {
        if self == Self::default() {
            return (refresh, scheduler);
        }
        let parameters = Arc::new(Parameters::of(town, order));
        let refresh = match self.copies {
            true => Box::new(KnownRefresh::new(refresh, parameters.clone(), town)),
            false => refresh,
        };
        let scheduler = match self.sources {
            true => Box::new(KnownScheduler {
                scheduler,
                parameters,
            }),
            false => scheduler,
        };
        (refresh, scheduler)
    }
}

/// The true parameters of a town.
#[derive(Debug)]
struct Parameters {
    pages: Vec<PageParameters>,
    /// Outlooks of the sources, in the order of their page numbers in the crawl.
    sources: Vec<Outlook>,
    /// Recall and false hints a second for each page of a site; `None` without a sitemap.
    hints: Vec<Option<(f64, f64)>>,
    /// Mean number of edits of a page that is born later, and the mean wait for each in seconds.
    edits: (f64, f64),
}

/// The true parameters of a page.
#[derive(Debug, Clone, Copy)]
enum PageParameters {
    /// Exists from the start: clicks a second, changes a second, and its site.
    Old { clicks: f64, rate: f64, site: u32 },
    /// Is born later: the time of its birth, its clicks in all and their decay a second.
    New {
        born: Moment,
        clicks: f64,
        decay: f64,
    },
}

impl Parameters {
    /// Measures the parameters of a town. `order` has the sources in the order of their page
    /// numbers.
    pub fn of(town: &Town, order: &[usize]) -> Self {
        let seconds = town.seconds();
        // The source that names a page first, and the page.
        let mut first: Vec<Option<(Moment, usize)>> = vec![None; town.pages.len()];
        for (source, named) in town.sources.iter().enumerate() {
            for named in &named.named {
                let known = &mut first[named.page as usize];
                if known.is_none_or(|(at, _)| named.from < at) {
                    *known = Some((named.from, source));
                }
            }
        }
        let mut sums = vec![SourceSums::default(); town.sources.len()];
        let mut all = SourceSums::default();
        for (page, first) in town.pages.iter().zip(&first).skip(town.old) {
            let ages = page.clicks.iter().map(|at| at.since(page.born));
            let sum = SourceSums {
                pages: 1.0,
                clicks: page.clicks.len() as f64,
                ages: ages.map(|age| age.as_secs_f64()).sum(),
            };
            all.add(sum);
            if let Some((_, source)) = first {
                sums[*source].add(sum);
            }
        }
        let outlook = |source: usize| Outlook {
            rate: sums[source].pages / seconds,
            profit: sums[source].clicks / sums[source].pages.max(1.0),
            decay: sums[source].decay(&all),
        };
        let pages = town.pages.iter().zip(&first).enumerate();
        let pages = pages.map(|(number, (page, first))| {
            let clicks = page.clicks.len() as f64;
            match number < town.old {
                true => PageParameters::Old {
                    clicks: clicks / seconds,
                    rate: (page.changes.len() as f64).max(LEAST_CHANGES) / seconds,
                    site: page.site,
                },
                false => PageParameters::New {
                    born: page.born,
                    clicks,
                    decay: first.map_or(all.decay(&all), |(_, source)| sums[source].decay(&all)),
                },
            }
        });
        Self {
            pages: pages.collect(),
            sources: order.iter().map(|source| outlook(*source)).collect(),
            hints: hints(town),
            edits: edits(town),
        }
    }

    /// Returns the worth of a refresh of a page over time.
    fn curve(&self, page: usize, visited: Page<'_>) -> KnownCurve {
        match self.pages[page] {
            PageParameters::Old { clicks, rate, site } => {
                let (recall, wrong) = self.hints[site as usize].unwrap_or((0.0, 1.0));
                KnownCurve::Steady {
                    clicks,
                    model: Signalled::new(rate, recall, wrong),
                    hints: visited.history.signals.since,
                }
            }
            PageParameters::New {
                born,
                clicks,
                decay,
            } => {
                let asked = visited.history.asked.unwrap_or(born);
                KnownCurve::Fading {
                    age: asked.since(born).as_secs_f64(),
                    clicks,
                    decay,
                    edits: self.edits,
                }
            }
        }
    }
}

/// Sums over the pages that a source names first.
#[derive(Debug, Clone, Copy, Default)]
struct SourceSums {
    pages: f64,
    clicks: f64,
    /// Sum of the ages of the page at its clicks, in seconds.
    ages: f64,
}

impl SourceSums {
    fn add(&mut self, other: Self) {
        self.pages += other.pages;
        self.clicks += other.clicks;
        self.ages += other.ages;
    }

    /// Returns the decay of interest, the inverse of the mean age at a click. Those of all sources
    /// count as ten clicks.
    fn decay(&self, all: &Self) -> f64 {
        let mean = all.ages.max(1.0) / all.clicks.max(1.0);
        (self.clicks + 10.0) / (self.ages + 10.0 * mean)
    }
}

/// Returns the recall of each site's hints, and its false hints a second for each page.
fn hints(town: &Town) -> Vec<Option<(f64, f64)>> {
    let mut found = vec![None; town.seconds.len()];
    for sitemap in &town.sitemaps {
        let is_true = |(at, page): &&(Moment, u32)| {
            let changes = &town.pages[*page as usize].changes;
            changes.binary_search(at).is_ok()
        };
        let right = sitemap.hints.iter().filter(is_true).count() as f64;
        let wrong = sitemap.hints.len() as f64 - right;
        let own = town.pages.iter().filter(|page| page.site == sitemap.site);
        let (changes, seconds) = own.fold((0.0, 0.0), |(changes, seconds), page| {
            let lived = town.until.since(page.born).as_secs_f64();
            (changes + page.changes.len() as f64, seconds + lived)
        });
        // Half a false hint keeps the rate above 0.
        let recall = right / f64::max(changes, 1.0);
        let false_hints = (wrong + 0.5) / f64::max(seconds, 1.0);
        found[sitemap.site as usize] = Some((recall, false_hints));
    }
    found
}

/// Returns the mean number of edits of the pages that are born later, and the mean wait for each.
fn edits(town: &Town) -> (f64, f64) {
    let new = &town.pages[town.old..];
    let waits = new.iter().flat_map(|page| {
        let waits = page.changes.iter().map(|at| at.since(page.born));
        waits.map(|wait| wait.as_secs_f64())
    });
    let (count, sum) = waits.fold((0.0, 0.0), |(count, sum), wait| (count + 1.0, sum + wait));
    (
        count / (new.len() as f64).max(1.0),
        (sum / f64::max(count, 1.0)).max(1.0),
    )
}

/// The worth of a refresh, in clicks.
enum KnownCurve {
    /// Of a page with constant rates.
    Steady {
        clicks: f64,
        model: Signalled,
        hints: u16,
    },
    /// Of a page that loses its readers. `age` is its age at the last visit.
    Fading {
        age: f64,
        clicks: f64,
        decay: f64,
        edits: (f64, f64),
    },
}

/// Beyond this age, in seconds, a curve has its largest value. The search for due times needs that,
/// and no crawl lasts as long.
const FOREVER: f64 = 1e9;

impl KnownCurve {
    fn worth(&self, age: f64) -> f64 {
        match self {
            Self::Steady {
                clicks,
                model,
                hints,
            } => clicks * model.worth(model.age(age, *hints)),
            Self::Fading {
                age: before,
                clicks,
                decay,
                edits: (count, wait),
            } => {
                let left = |age: f64| (-age / wait).exp();
                let expected = count * (left(*before) - left(before + age));
                let changed = -(-expected).exp_m1();
                changed * clicks * (-decay * (before + age)).exp()
            }
        }
    }

    /// Returns the age at which the worth is largest, and that worth. Tries ages from a minute to a
    /// month.
    fn peak(&self) -> (f64, f64) {
        let ages = (0..60).map(|step| 60.0 * 1.2_f64.powi(step));
        let worths = ages.map(|age| (age, self.worth(age)));
        let best = worths.max_by(|one, other| one.1.total_cmp(&other.1));
        best.unwrap_or_default()
    }
}

impl Curve for KnownCurve {
    /// The worth of a page that loses its readers falls in the end. The crawl core examines each
    /// page again when it is due.
    fn at(&self, age: f64) -> f64 {
        match self {
            Self::Fading { .. } if age > FOREVER => self.peak().1,
            _ => self.worth(age),
        }
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        if let Self::Steady { .. } = self {
            return None;
        }
        let (mut late, largest) = self.peak();
        if worth > largest {
            return None;
        }
        let mut early = 0.0;
        for _ in 0..60 {
            let middle = (early + late) / 2.0;
            match self.worth(middle) >= worth {
                true => late = middle,
                false => early = middle,
            }
        }
        Some(late)
    }
}

/// No worth at any age.
struct Worthless;

impl Curve for Worthless {
    fn at(&self, _age: f64) -> f64 {
        0.0
    }
}

/// A refresh policy that knows the clicks on all pages and their change rates.
struct KnownRefresh {
    policy: Box<dyn Refresh>,
    parameters: Arc<Parameters>,
    /// Page of the town by page number, plus 1; 0 for sources and sitemaps.
    pages: Rows<u32>,
    by_url: HashMap<PageId, u32>,
}

impl KnownRefresh {
    pub fn new(policy: Box<dyn Refresh>, parameters: Arc<Parameters>, town: &Town) -> Self {
        let by_url = (0..).zip(&town.pages);
        Self {
            policy,
            parameters,
            pages: Rows::new(0),
            by_url: by_url
                .map(|(number, page)| (page.url.id(), number))
                .collect(),
        }
    }
}

impl Refresh for KnownRefresh {
    fn needs(&self) -> Needs {
        Needs {
            words: true,
            ..self.policy.needs()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        if let Fact::Discovered(discovered) = fact
            && let Ok(url) = PageUrl::parse(discovered.url)
            && let Some(page) = self.by_url.get(&url.id())
        {
            self.pages.set(discovered.page.index(), page + 1);
        }
        self.policy.observe(fact);
    }

    fn weigh(&mut self, visited: &VisitFact<'_>, importance: f64) {
        self.policy.weigh(visited, importance);
    }

    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        match self.pages.get(page.number.index()) {
            0 => Box::new(Worthless),
            number => Box::new(self.parameters.curve(number as usize - 1, page)),
        }
    }

    fn first(&self, page: Number, importance: f64) -> Worth {
        self.policy.first(page, importance)
    }

    fn stake(&self, page: Number, importance: f64) -> f64 {
        self.policy.stake(page, importance)
    }

    fn unit(&self) -> Option<f64> {
        self.policy.unit()
    }

    fn terms(&self, page: Page<'_>, importance: f64) -> Vec<Term> {
        self.policy.terms(page, importance)
    }
}

/// A scheduler that knows the outlooks of all sources.
struct KnownScheduler {
    scheduler: Box<dyn Scheduler>,
    parameters: Arc<Parameters>,
}

impl KnownScheduler {
    fn outlook(&self, source: usize, estimated: &Outlook) -> Outlook {
        // Sitemaps follow the sources. They are polled at a fixed interval.
        let known = self.parameters.sources.get(source);
        *known.unwrap_or(estimated)
    }
}

impl Scheduler for KnownScheduler {
    fn estimation(&self) -> Estimation {
        self.scheduler.estimation()
    }

    fn worth(&self, source: usize, outlook: &Outlook, waited: f64) -> f64 {
        Priced.worth(source, &self.outlook(source, outlook), waited)
    }

    fn due(&self, source: usize, outlook: &Outlook, price: f64) -> Option<f64> {
        Priced.due(source, &self.outlook(source, outlook), price)
    }

    fn page(&self, page: &NewPage) -> f64 {
        Priced.page(&NewPage {
            outlook: self.outlook(page.source, &page.outlook),
            appeal: 1.0,
            ..*page
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{NamedPeriod, Sitemap, TownPage, TownSource};

    const HOUR: u64 = 3_600_000_000;

    fn at(hours: u64) -> Moment {
        Moment::from_micros(hours * HOUR)
    }

    fn page(name: &str, born: u64, changes: &[u64], clicks: &[u64]) -> TownPage {
        TownPage {
            url: PageUrl::parse(&format!("http://a.example/{name}")).unwrap(),
            site: 0,
            born: at(born),
            changes: changes.iter().map(|&hours| at(hours)).collect(),
            clicks: clicks.iter().map(|&hours| at(hours)).collect(),
            links: Vec::new(),
        }
    }

    fn town() -> Town {
        let source = |name: &str, named: &[(u32, u64)]| TownSource {
            url: PageUrl::parse(&format!("http://a.example/{name}")).unwrap(),
            site: 0,
            named: named
                .iter()
                .map(|&(page, from)| NamedPeriod {
                    page,
                    from: at(from),
                    until: at(100),
                })
                .collect(),
            links: Vec::new(),
        };
        Town {
            from: at(0),
            until: at(100),
            pages: vec![
                page("old", 0, &[10, 20, 30, 40], &[5, 6]),
                page("first", 20, &[25], &[21, 23, 25, 27]),
                page("second", 40, &[], &[]),
            ],
            old: 1,
            sources: vec![
                source("late", &[(1, 22)]),
                source("early", &[(1, 20), (2, 40)]),
            ],
            sitemaps: vec![Sitemap {
                url: PageUrl::parse("http://a.example/sitemap.xml").unwrap(),
                site: 0,
                hints: vec![(at(10), 0), (at(15), 0), (at(30), 0), (at(40), 0)],
            }],
            seconds: vec![1.0],
        }
    }

    #[test]
    fn the_parameters_are_those_of_the_town() {
        let known = Parameters::of(&town(), &[1, 0]);
        let hours = 3_600.0;
        let near = |found: f64, is: f64| assert!((found / is - 1.0).abs() < 1e-9, "{found} {is}");
        match known.pages[0] {
            PageParameters::Old { clicks, rate, .. } => {
                near(clicks, 2.0 / (100.0 * hours));
                near(rate, 4.0 / (100.0 * hours));
            }
            PageParameters::New { .. } => panic!("it exists from the start"),
        }
        // Both pages count for the source that named them first, which comes first in the order.
        near(known.sources[0].rate, 2.0 / (100.0 * hours));
        near(known.sources[0].profit, 2.0);
        // Four clicks at a mean age of 4 hours.
        near(known.sources[0].decay, 1.0 / (4.0 * hours));
        assert_eq!(known.sources[1].rate, 0.0);
        // Three of the five changes have a hint; one of the four hints is false.
        let (recall, wrong) = known.hints[0].unwrap();
        near(recall, 3.0 / 5.0);
        near(wrong, 1.5 / ((100.0 + 80.0 + 60.0) * hours));
        near(known.edits.0, 0.5);
        near(known.edits.1, 5.0 * hours);
    }

    #[test]
    fn the_age_at_which_a_fading_page_is_worth_a_price_is_found() {
        let curve = KnownCurve::Fading {
            age: 1_000.0,
            clicks: 20.0,
            decay: 1e-5,
            edits: (1.0, 40_000.0),
        };
        let (peak, largest) = curve.peak();
        assert!(curve.at(2.0 * peak) < largest, "it loses its readers");
        for share in [0.1, 0.5, 0.99] {
            let age = curve.age_of(share * largest).unwrap();
            assert!(age <= peak && (curve.at(age) / largest - share).abs() < 1e-6);
        }
        assert_eq!(curve.age_of(1.01 * largest), None);
    }
}
