//! The prior and the posterior of P, the mean clicks per page of a source: hierarchical
//! credibility (Jewell 1975, after Bühlmann & Straub 1970).
//!
//! Clicks on news are heavy-tailed: the variance within a source is 10 to 100 times the squared
//! mean. A few pages without a click say little about their source, and one page with many clicks
//! does not say all. The prior therefore counts *pages*, not clicks.
//!
//! **Model.** Each page has its own expected number of clicks. Over the pages of a source, this
//! number has the mean P and the relative variance v. P has the relative variance t over the
//! sources of a host, and the mean of a host has the relative variance h over the hosts. All
//! variances are relative to a squared mean, because sources differ by factors. A page that was
//! observed while the share e of its clicks came has a Poisson number of clicks, with e times the
//! page's expected number as its mean.
//!
//! **Estimate.** Clicks over exposure, `Σc/Σe`, has the variance `P²·(1/(PΣe) + v·Σe²/(Σe)²)`. The
//! best linear combination with the prior counts the prior as
//!
//! - `s = (1/P + v·Σe²/Σe)/t` pages,
//!
//! which is σ²/τ² if all pages were observed in full. If they were just found, the Poisson term
//! prevails and s is `1/(Pt)`, so a click in the first minutes counts in full. The less is known
//! of other sources of the host, the more of h is added to t. The posterior has the relative
//! variance `t·s/(s + Σe)`. It is drawn from a Gamma distribution, because P is above 0 and its
//! tail must be heavy. The shape of that distribution does not depend on the clicks of the source
//! itself, so more clicks never lower a draw.
//!
//! Means over sources and hosts are weighted by credibility and not by pages. A crawl finds most
//! pages on its best sources, so a mean over pages would be too high for the others.
//!
//! **Invariant:** all results are finite and above 0. They do not depend on the order of sources.

use std::collections::HashMap;

/// Variances that are assumed before there is data, relative to squared means: v, t and h. About
/// those of the recorded world `news`.
const ASSUMED: [f64; 3] = [10.0, 2.0, 2.0];

/// Weight of the assumed variances, as a pseudo-count of sources (or of hosts, for h).
const WEIGHT: f64 = 2.0;

/// Least relative variance between sources and between hosts: a standard deviation of a fifth of
/// the mean. Few sources may look alike by chance.
const LEAST: f64 = 0.05;

/// Weight of the mean over all pages in the mean over hosts, as a pseudo-count of hosts. It
/// matters only before any page was observed.
const PAGES_MEAN: f64 = 0.1;

/// Sums over the pages of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PageSums {
    /// Σe: the sum over the pages of e, the share of a page's clicks that came while it was
    /// observed.
    pub exposure: f64,
    /// Σe².
    pub squared_exposure: f64,
    /// Σc: their clicks.
    pub clicks: f64,
    /// Σc².
    pub squared_clicks: f64,
}

impl PageSums {
    /// Returns the sums of a source whose pages are expected to get `factor` times as many clicks
    /// as those of other sources, so that its mean can be compared with theirs.
    pub fn in_units(self, factor: f64) -> Self {
        Self {
            exposure: self.exposure * factor,
            squared_exposure: self.squared_exposure * factor * factor,
            ..self
        }
    }

    /// Returns Σe²/Σe, the mean exposure of a page weighted by exposure.
    fn mean_exposure(&self) -> f64 {
        match self.exposure > 0.0 {
            true => self.squared_exposure / self.exposure,
            false => 0.0,
        }
    }

    /// Returns an unbiased estimate of the squared mean P²: the mean product of the clicks on two
    /// different pages, divided by the mean product of their exposures. `None` if there are fewer
    /// than about 1.6 fully observed pages.
    fn product(&self) -> Option<f64> {
        let pairs = self.exposure * self.exposure - self.squared_exposure;
        let products = self.clicks * self.clicks - self.squared_clicks;
        (pairs >= 1.0).then(|| products.max(0.0) / pairs)
    }

    /// Returns an unbiased estimate of `P²(1 + v)`: the mean square of the clicks on a page,
    /// without the Poisson variance.
    fn square(&self) -> f64 {
        (self.squared_clicks - self.clicks).max(0.0) / self.squared_exposure
    }
}

/// Means of hosts and the variances around them.
#[derive(Debug, Clone, PartialEq)]
pub struct Credibility {
    variation: Variation,
    /// Mean over all pages, in clicks per page.
    pooled: f64,
    /// Sums of credibility and of credibility times mean, over the sources of each host.
    hosts: HashMap<u32, WeightedSum>,
    /// Mean of all hosts, in clicks per page.
    overall: f64,
}

/// What other sources say of the P of a source, and what its own pages leave open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrediblePrior {
    /// The mean of the prior, in clicks per page.
    pub profit: f64,
    /// s, the weight of the prior as a pseudo-count of pages.
    pub pages: f64,
    /// The shape of the Gamma posterior: 1 over its relative variance.
    pub shape: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct WeightedSum {
    weight: f64,
    sum: f64,
}

impl Credibility {
    /// Estimates means and variances from sources, each with its host. `pooled` is the mean over
    /// all pages, in clicks per page.
    pub fn of(sources: impl Iterator<Item = (u32, PageSums)>, pooled: f64) -> Self {
        let mut sources: Vec<(u32, PageSums)> = sources.collect();
        sources.sort_by_key(|(host, _)| *host);
        let by_host = || sources.chunk_by(|(one, _), (other, _)| one == other);
        let mut found = Self {
            variation: Variation::of(by_host()),
            pooled,
            hosts: HashMap::new(),
            overall: pooled,
        };
        let mut all = WeightedSum {
            weight: PAGES_MEAN,
            sum: PAGES_MEAN * pooled,
        };
        for sources in by_host() {
            let mut host = WeightedSum::default();
            for (_, source) in sources {
                let own = found.weighted(source);
                host.weight += own.weight;
                host.sum += own.sum;
            }
            if host.weight > 0.0 {
                let weight = host.weight / (host.weight + found.variation.sources_per_host());
                all.weight += weight;
                all.sum += weight * host.sum / host.weight;
                found.hosts.insert(sources[0].0, host);
            }
        }
        found.overall = all.sum / all.weight;
        found
    }

    /// Returns the prior of a source. `own` are the sums of the source; they do not count in its
    /// own prior.
    pub fn prior(&self, host: u32, own: &PageSums) -> CrediblePrior {
        let counted = self.weighted(own);
        let host = self.hosts.get(&host).copied().unwrap_or_default();
        let others = (host.weight - counted.weight).max(0.0);
        let weight = self.variation.sources_per_host();
        let profit =
            ((host.sum - counted.sum).max(0.0) + weight * self.overall) / (others + weight);
        let between = self.variation.between(weight / (others + weight));
        let pages = self.spread(own, profit) / between;
        CrediblePrior {
            profit,
            pages,
            shape: (1.0 + own.exposure / pages) / between,
        }
    }

    /// Returns the relative variance of the clicks per page, for one page of exposure. P is about
    /// `mean`.
    fn spread(&self, own: &PageSums, mean: f64) -> f64 {
        1.0 / mean + self.variation.pages * own.mean_exposure()
    }

    /// Returns the credibility of a source within its host, and that times its mean.
    fn weighted(&self, own: &PageSums) -> WeightedSum {
        let pages = self.spread(own, self.pooled) / self.variation.sources;
        let weight = 1.0 / (own.exposure + pages);
        WeightedSum {
            weight: weight * own.exposure,
            sum: weight * own.clicks,
        }
    }
}

/// Variances of the clicks per page, each relative to a squared mean.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Variation {
    /// v: between pages of one source.
    pages: f64,
    /// t: between sources of one host.
    sources: f64,
    /// h: between hosts.
    hosts: f64,
}

impl Variation {
    /// Estimates the variances from products of different pages, sources and hosts. The ratio of
    /// such a product to that of the next level is 1 plus the relative variance.
    fn of<'a>(hosts: impl Iterator<Item = &'a [(u32, PageSums)]>) -> Self {
        let [mut of_pages, mut of_sources, mut of_all] = [[0.0; 2]; 3];
        // The mean of each host, and the mean product of its sources.
        let mut host_means = Vec::new();
        for sources in hosts {
            let products = |(_, source): &(u32, PageSums)| Some((*source, source.product()?));
            let sources: Vec<(PageSums, f64)> = sources.iter().filter_map(products).collect();
            let means = sources
                .iter()
                .map(|(source, _)| source.clicks / source.exposure);
            let (mean, of_host) = mean_and_product(means);
            if mean.is_nan() || mean <= 0.0 {
                continue;
            }
            let sum: f64 = sources.iter().map(|(_, product)| product).sum();
            host_means.push((mean, sum / sources.len() as f64));
            for (source, of_source) in sources {
                // Sources count alike, whatever their mean: both terms are relative to it.
                let square = ((source.clicks + mean) / (source.exposure + 1.0)).powi(2);
                let of_page = source.square();
                add(&mut of_pages, [of_page, of_source], square);
                if let Some(of_host) = of_host {
                    add(&mut of_sources, [of_source, of_host], mean * mean);
                }
            }
        }
        let (mean, product) = mean_and_product(host_means.iter().map(|(mean, _)| *mean));
        for (_, of_source) in &host_means {
            if let Some(product) = product {
                add(&mut of_all, [*of_source, product], mean * mean);
            }
        }
        let variance = |[above, below]: [f64; 2], assumed: f64| {
            (above + (1.0 + assumed) * WEIGHT) / (below + WEIGHT) - 1.0
        };
        let [pages, sources, hosts] = ASSUMED;
        let all = variance(of_all, (1.0 + sources) * (1.0 + hosts) - 1.0);
        // Hosts with one source do not say how much of the variance is between hosts.
        let sources = variance(of_sources, sources).min(all).max(LEAST);
        Self {
            // A variance below that of a geometric distribution is taken as chance.
            pages: variance(of_pages, pages).max(1.0),
            sources,
            hosts: ((1.0 + all) / (1.0 + sources) - 1.0).max(LEAST),
        }
    }

    /// Returns the relative variance of P around its prior. `open` is the share of the variance
    /// between hosts that the other sources of the host leave open.
    fn between(&self, open: f64) -> f64 {
        (1.0 + self.sources) * (1.0 + self.hosts * open) - 1.0
    }

    /// Returns the weight of the mean of all hosts in the mean of a host, as a pseudo-count of
    /// sources.
    fn sources_per_host(&self) -> f64 {
        self.sources / self.hosts
    }
}

/// Adds two terms in units of `square`.
fn add(sums: &mut [f64; 2], terms: [f64; 2], square: f64) {
    sums[0] += terms[0] / square;
    sums[1] += terms[1] / square;
}

/// Returns the mean of some numbers, and the mean product of two different ones if there are two.
fn mean_and_product(numbers: impl Iterator<Item = f64>) -> (f64, Option<f64>) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for number in numbers {
        count += 1.0;
        sum += number;
        squares += number * number;
    }
    let product = (sum * sum - squares).max(0.0) / (count * (count - 1.0));
    (sum / count, (count > 1.0).then_some(product))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chance::drawn_gamma;

    /// Adds a page that was observed for the share `exposure` of its clicks.
    fn observe(sums: &mut PageSums, exposure: f64, clicks: f64) {
        sums.exposure += exposure;
        sums.squared_exposure += exposure * exposure;
        sums.clicks += clicks;
        sums.squared_clicks += clicks * clicks;
    }

    /// Returns the sums of pages that were observed in full.
    fn full(clicks: &[f64]) -> PageSums {
        let mut sums = PageSums::default();
        clicks
            .iter()
            .for_each(|&clicks| observe(&mut sums, 1.0, clicks));
        sums
    }

    /// Returns sources with 200 pages each, 8 of each host. Pages, sources and hosts have Gamma
    /// distributions with these relative variances, and the mean is 5 clicks. Every second page
    /// was observed for half of its clicks.
    fn sources([pages, sources, hosts]: [f64; 3], count: u32) -> Vec<(u32, PageSums)> {
        let draw = |variance: f64, lot: [u64; 3]| drawn_gamma(1.0 / variance, 1, lot) * variance;
        let of_source = |host: u32, source: u64| {
            let of_host = draw(hosts, [host.into(), 0, 0]);
            let mean = 5.0 * of_host * draw(sources, [host.into(), source, 1]);
            let mut sums = PageSums::default();
            for page in 0..200 {
                let exposure = if page % 2 == 0 { 1.0 } else { 0.5 };
                let own = mean * exposure * draw(pages, [host.into(), source, 2 + page]);
                // Rounded up or down by chance, so that the mean stays.
                let chance = drawn_gamma(1.0, 2, [host.into(), source, page]);
                observe(&mut sums, exposure, (own + (-chance).exp()).floor());
            }
            (host, sums)
        };
        let of_host = |host: u32| (1..=8).map(move |source| of_source(host, source));
        (1..=count).flat_map(of_host).collect()
    }

    #[test]
    fn variances_and_mean_are_found() {
        for truth in [[20.0, 1.0, 2.0], [5.0, 0.3, 0.3], [10.0, 2.0, 0.5]] {
            let found = Credibility::of(sources(truth, 300).into_iter(), 1.0);
            let Variation {
                pages,
                sources,
                hosts,
            } = found.variation;
            for (found, truth) in [pages, sources, hosts].iter().zip(truth) {
                assert!((0.6..1.6).contains(&(found / truth)), "{found}, {truth}");
            }
            assert!((4.0..6.0).contains(&found.overall), "{}", found.overall);
        }
    }

    /// The prior of a source with 4 pages is its host's mean, and counts σ²/τ² pages.
    #[test]
    fn a_prior_is_the_mean_of_the_host_without_the_source() {
        let mut known = sources([20.0, 1.0, 2.0], 300);
        let clicks = |(_, source): &(u32, PageSums)| source.clicks;
        let by_host = known.chunk_by(|(one, _), (other, _)| one == other);
        let of_hosts = by_host.map(|host| (host[0].0, host.iter().map(clicks).sum::<f64>()));
        let (host, clicks) = of_hosts.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
        let quiet = full(&[0.0; 4]);
        known.push((host, quiet));
        let found = Credibility::of(known.into_iter(), 1.0);
        let prior = found.prior(host, &quiet);
        let ratio = prior.profit / (clicks / 1_200.0);
        assert!((0.7..1.3).contains(&ratio), "{prior:?}");
        assert!((12.0..33.0).contains(&prior.pages), "{prior:?}");
        let unknown = found.prior(1_000, &quiet);
        assert_eq!(unknown.profit, found.overall);
        assert!(unknown.pages < prior.pages && unknown.shape < prior.shape);
        assert!(found.prior(host, &PageSums::default()).shape < prior.shape);
        // Pages that were just found have hardly been observed, so a click counts in full.
        let mut young = PageSums::default();
        (0..4).for_each(|_| observe(&mut young, 0.001, 0.0));
        assert!(found.prior(host, &young).pages < 1.0);
    }

    #[test]
    fn without_data_the_variances_are_assumed() {
        let quiet = [(1, PageSums::default()), (2, PageSums::default())];
        for sources in [&quiet[..0], &quiet] {
            let found = Credibility::of(sources.iter().copied(), 3.0);
            let prior = found.prior(1, &full(&[0.0]));
            // The variance of a page's clicks is 10 between pages plus 1/3 from the Poisson number.
            // It is divided by the variance of sources and hosts, 3·3 − 1.
            let expected = (10.0 + 1.0 / 3.0) / 8.0;
            assert!((prior.profit - 3.0).abs() < 1e-12, "{found:?}");
            assert!((prior.pages - expected).abs() < 1e-9, "{prior:?}");
        }
    }

    /// Returns the mean of the posterior, and a draw from it.
    fn posterior(found: &Credibility, own: &PageSums, lot: u64) -> (f64, f64) {
        let prior = found.prior(1, own);
        let mean = (prior.pages * prior.profit + own.clicks) / (prior.pages + own.exposure);
        let drawn = mean * drawn_gamma(prior.shape, 1, [lot, 0, 0]) / prior.shape;
        (mean, drawn)
    }

    #[test]
    fn many_pages_give_the_plain_mean() {
        let others = sources([20.0, 1.0, 2.0], 20);
        let found = Credibility::of(others.into_iter(), 1.0);
        let mut own = PageSums::default();
        for page in 0..200_000 {
            observe(&mut own, 1.0, if page % 50 == 0 { 100.0 } else { 0.0 });
        }
        let (mean, drawn) = posterior(&found, &own, 1);
        assert!((mean - 2.0).abs() < 0.002, "{mean}");
        assert!((drawn - 2.0).abs() < 0.1, "{drawn}");
    }

    proptest! {
        /// With the same randomness.
        #[test]
        fn more_clicks_never_lower_a_draw(
            pages in prop::collection::vec((0.001..1.0_f64, 0.0..300.0_f64), 1..40),
            more in 0.0..100.0_f64,
            lot in any::<u64>(),
        ) {
            let found = Credibility::of(sources([20.0, 1.0, 2.0], 3).into_iter(), 1.0);
            let sums = |more: f64| {
                let mut sums = PageSums::default();
                for (page, &(exposure, clicks)) in pages.iter().enumerate() {
                    observe(&mut sums, exposure, clicks + if page == 0 { more } else { 0.0 });
                }
                sums
            };
            // The source is on a host of its own, so that its prior is that of all others.
            let [few, many] = [0.0, more].map(|more| {
                let own = sums(more);
                let prior = found.prior(1_000, &own);
                let mean = (prior.pages * prior.profit + own.clicks) / (prior.pages + own.exposure);
                mean * drawn_gamma(prior.shape, 1, [lot, 0, 0]) / prior.shape
            });
            prop_assert!(many >= few, "{} after {}", many, few);
            prop_assert!(few > 0.0 && many.is_finite());
        }
    }
}
