//! Generator of sources that publish articles, and of the clicks on these.
//!
//! It models the web of Lefortier et al., "Timely crawling of high-quality ephemeral new
//! content" (2013), §3 and §5: 3,000 sources of 150 sites, 415,000 new pages in 21 days (.229 a
//! second), and 2.4 million links (5.8 a page). One page in five is clicked at all, and the
//! bound on profit is .72 clicks a second. Numbers that the paper does not print were measured
//! in the recorded world `news`, with 130 sources over three weeks.
//!
//! - **Publishing.** A source publishes as a Poisson process. Its rate is log-normal over the
//!   sources (`news`: standard deviation 1.8 of the logarithm), scaled so that all together
//!   publish `articles` a second. It varies with the hour as `1 + day_night·cos`, with the
//!   maximum at 14:00 UTC (`news`: from .2 of the mean at night to 2 at noon). On Saturdays and
//!   Sundays it is the share `weekend` of other days (`news`: .6).
//! - **Links.** The source links to its article at once. A Poisson number of further sources of its
//!   site follow, each after an exponential wait. They are drawn at random, except that with
//!   probability `main` the main page is one of them. So two sources per site reach four fifths of
//!   the articles, as in the paper. Every link stays for a log-normal time (`news`: median 10
//!   hours, standard deviation 1.5 of the logarithm).
//! - **Clicks.** An article's worth P, its expected clicks, is the product of three log-normal
//!   draws: one of its site, one of its source and one of its own. It is scaled so that the sum
//!   over the sources of rate times mean worth is `profit`. With the three default deviations a
//!   fifth of the articles are clicked. Most of the variance is between sites and sources, because
//!   the paper's sources differ much in quality: 70 % of them are not worth a poll.
//! - **Decay.** Clicks at age t are a Poisson process with rate `P·μ·e^(-μt)` (the paper's §2),
//!   counted in bins of ten minutes from publication. The source's μ is log-normal. A μ of 1 per
//!   day leaves a thousandth of the clicks after a week ("almost all clicks appear in the first
//!   week").
//!
//! By default, neither the time that a link stays nor the worth of an article depends on the
//! publication rate of the source. In the recorded world, the links of a source stay shorter if it
//! publishes more (rank correlation −.79): a source shows about 30 links (20 to 90) whatever its
//! rate. `slots` models this. The two most active sources have 29 % of the articles and 5 % of the
//! clicks, and `dilution` models this. Over all sources, however, mean clicks rise with the rate
//! (rank correlation +.35).
//!
//! `profit` is the bound: the expected clicks a second of a crawler that fetches every article as
//! it appears. The worth of articles is heavy-tailed, so the clicks differ much between seeds. The
//! share `lasting` of articles (4 % in the paper) is clicked evenly until clicks are no longer
//! counted.
//!
//! **Invariant:** times are whole seconds. The articles of a source and the clicks of an article
//! have streams of their own.

use std::f64::consts::TAU;

use policy::Moment;
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use testweb::chance::{For, stream};

use super::draw::{chance, poisson};
use super::knob::plan;
use super::{BEGINNING, DAY};
use crate::kinds::{Clicked, LinkPeriod, News};

/// Hour of the day with the highest publication rate, in UTC.
const NOON: f64 = 14.0;

const HOUR: f64 = 3_600.0;

plan! {
    /// Sources to invent.
    SourcesPlan {
        /// Sources.
        sources: u32 = 3_000, 1 to 1_000_000;
        /// Sites that the sources are pages of, each with a registrable domain of its own.
        sites: u32 = 150, 1 to 1_000_000;
        /// Time during which articles are published, in days.
        days: f64 = 21.0, 0.01 to 3_650;
        /// Time during which clicks are counted after that, in days.
        after: f64 = 7.0, 0 to 3_650;
        /// New articles per second, of all sources together.
        articles: f64 = 0.229, 0.0001 to 1_000;
        /// Standard deviation of the logarithm of the sources' publication rates.
        rate_sigma: f64 = 1.8, 0 to 4;
        /// Daily swing of the publication rate, as a share of its mean; the peak is at 14:00 UTC.
        day_night: f64 = 0.8, 0 to 1;
        /// Publication rate on Saturdays and Sundays, as a share of that on other days.
        weekend: f64 = 0.6, 0 to 10;
        /// Mean number of links to an article; all are from its own site.
        links: f64 = 5.8, 1 to 1_000;
        /// Probability that the site's main page is chosen to link to an article before other
        /// sources are drawn; it can also be drawn like them.
        main: f64 = 0.25, 0 to 1;
        /// The mean wait for each link after the first, in hours.
        spread: f64 = 1.0, 0 to 10_000;
        /// Median time that a link stays, in hours.
        stay: f64 = 10.0, 0.001 to 100_000;
        /// Standard deviation of the logarithm of the time that a link stays.
        stay_sigma: f64 = 1.5, 0 to 4;
        /// Greatest number of links that a source shows; a new link then displaces the oldest one;
        /// 0 sets no limit.
        slots: u32 = 0, 0 to 1_000_000;
        /// Clicks per second on all articles together: the bound on profit.
        profit: f64 = 0.72, 0 to 1_000;
        /// Standard deviation of the logarithm of the sites' mean worth.
        site_sigma: f64 = 2.2, 0 to 4;
        /// Standard deviation of the logarithm of the sources' mean worth within a site.
        source_sigma: f64 = 1.4, 0 to 4;
        /// A source's mean worth is divided by its publication rate to this power.
        dilution: f64 = 0.0, 0 to 2;
        /// Standard deviation of the logarithm of the articles' worth within a source.
        article_sigma: f64 = 1.0, 0 to 4;
        /// Median over the sources of the rate at which interest decays, per day.
        decay: f64 = 1.0, 0.001 to 10_000;
        /// Standard deviation of the logarithm of the sources' decay rates.
        decay_sigma: f64 = 0.5, 0 to 3;
        /// The share of articles that are clicked at a constant rate as long as clicks are counted.
        lasting: f64 = 0.04, 0 to 1;
    }
}

/// The parameters of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NewsSource {
    /// Articles per second.
    rate: f64,
    /// Mean number of clicks on an article.
    worth: f64,
    /// Decay rate μ of interest, per second.
    decay: f64,
}

impl SourcesPlan {
    /// Invents the sources, their articles, and the clicks on these.
    pub fn invent(&self, seed: u64) -> News {
        let sources = self.sources(seed);
        let mut press = Publications {
            plan: self,
            seed,
            articles: Vec::new(),
            links: Vec::new(),
            clicks: Vec::new(),
        };
        for (number, source) in (0..).zip(&sources) {
            press.publish(number, source);
        }
        press.crowd_out();
        let urls: Vec<String> = (0..self.sources).map(|number| self.url(number)).collect();
        let articles = press.articles.iter().map(String::as_str);
        News::new(
            urls.iter().map(String::as_str),
            articles,
            press.links,
            press.clicks,
        )
    }

    /// Draws the parameters of all sources, scaled to the totals `articles` and `profit`.
    fn sources(&self, seed: u64) -> Vec<NewsSource> {
        let draw = |number| {
            let site: f64 = StandardNormal.sample(&mut stream(
                seed,
                For::Sources,
                u64::from(self.site(number)),
                1,
            ));
            let mut rng = stream(seed, For::Sources, u64::from(number), 0);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let rate = (self.rate_sigma * normal()).exp();
            let worth = (self.site_sigma * site + self.source_sigma * normal()).exp();
            NewsSource {
                rate,
                worth: worth * rate.powf(-self.dilution),
                decay: self.decay / DAY * (self.decay_sigma * normal()).exp(),
            }
        };
        let mut sources: Vec<NewsSource> = (0..self.sources).map(draw).collect();
        let rates: f64 = sources.iter().map(|source| source.rate).sum();
        for source in &mut sources {
            source.rate *= self.articles / rates;
        }
        let profit: f64 = sources
            .iter()
            .map(|source| source.rate * source.worth)
            .sum();
        for source in &mut sources {
            source.worth *= self.profit / profit;
        }
        sources
    }

    /// Returns the site of a source.
    fn site(&self, source: u32) -> u32 {
        source % self.sites
    }

    /// Returns the URL of a source. The first source of a site is its main page, the others are
    /// sections.
    fn url(&self, source: u32) -> String {
        let site = self.site(source);
        match source / self.sites {
            0 => format!("http://www.site{site}.example/"),
            section => format!("http://www.site{site}.example/section{section}/"),
        }
    }

    /// Returns the number of sources of a site.
    fn sections(&self, site: u32) -> u32 {
        (self.sources - site).div_ceil(self.sites)
    }

    /// Returns the factor on the publication rate, by hour and weekday, at a time in seconds after
    /// the beginning.
    fn swing(&self, second: f64) -> f64 {
        let hour = 1.0 + self.day_night * (TAU * (second - NOON * HOUR) / DAY).cos();
        hour * self.swing_of_day(second)
    }

    /// Returns the factor by weekday; day 0 is a Wednesday. Its mean over a week is 1.
    fn swing_of_day(&self, second: f64) -> f64 {
        let mean = (5.0 + 2.0 * self.weekend) / 7.0;
        match (second / DAY) as u64 % 7 {
            3 | 4 => self.weekend / mean,
            _ => 1.0 / mean,
        }
    }

    /// Returns the largest value of [`Self::swing`].
    fn largest_swing(&self) -> f64 {
        let mean = (5.0 + 2.0 * self.weekend) / 7.0;
        (1.0 + self.day_night) * self.weekend.max(1.0) / mean
    }
}

/// Everything that has been published so far.
struct Publications<'a> {
    plan: &'a SourcesPlan,
    seed: u64,
    articles: Vec<String>,
    links: Vec<LinkPeriod>,
    clicks: Vec<Clicked>,
}

impl Publications<'_> {
    fn publish(&mut self, number: u32, source: &NewsSource) {
        let mut rng = stream(self.seed, For::Articles, u64::from(number), 0);
        let largest = self.plan.largest_swing();
        let most = source.rate * largest;
        let mut now = 0.0;
        let mut published = 0;
        loop {
            let wait: f64 = Exp1.sample(&mut rng);
            now += wait / most;
            if now >= self.plan.days * DAY {
                return;
            }
            // Lewis & Shedler's thinning: candidates come at the highest rate, and each is kept
            // with the probability of the present rate divided by the highest.
            if chance(&mut rng, self.plan.swing(now) / largest) {
                let site = self.plan.site(number);
                let name = format!("http://www.site{site}.example/story-{number}-{published}.html");
                let article = self.articles.len() as u32;
                self.articles.push(name);
                // Key of the article's streams; a source may have 2³² articles.
                let own = u64::from(number) << 32 | published;
                self.show(article, number, now.floor(), own);
                self.click(article, source, now.floor(), own);
                published += 1;
            }
        }
    }

    fn show(&mut self, article: u32, source: u32, published: f64, own: u64) {
        let plan = self.plan;
        let mut rng = stream(self.seed, For::Shown, own, 0);
        let site = plan.site(source);
        let sections = plan.sections(site);
        let more = poisson(plan.links - 1.0, &mut rng).min(u64::from(sections - 1));
        let mut sources = vec![source];
        if more > 0 && source != site && chance(&mut rng, plan.main) {
            sources.push(site);
        }
        while sources.len() as u64 <= more {
            let other = site + plan.sites * rng.random_range(0..sections);
            if !sources.contains(&other) {
                sources.push(other);
            }
        }
        for (place, source) in sources.into_iter().enumerate() {
            let wait: f64 = Exp1.sample(&mut rng);
            let wait = if place == 0 {
                0.0
            } else {
                wait * plan.spread * HOUR
            };
            let normal: f64 = StandardNormal.sample(&mut rng);
            let stay = plan.stay * HOUR * (plan.stay_sigma * normal).exp();
            let from = (published + wait).floor();
            self.links.push(LinkPeriod {
                source,
                article,
                from: moment(from),
                // A link must last a second to be visible at all.
                until: moment(from + stay.max(1.0)),
            });
        }
    }

    /// Limits each source to `slots` links: a link ends when that many newer ones have appeared.
    fn crowd_out(&mut self) {
        let slots = self.plan.slots as usize;
        if slots == 0 {
            return;
        }
        self.links.sort_by_key(|link| (link.source, link.from));
        for source in self
            .links
            .chunk_by_mut(|one, next| one.source == next.source)
        {
            for place in 0..source.len().saturating_sub(slots) {
                let newer = source[place + slots].from;
                let link = &mut source[place];
                // A link must last a second to be visible at all.
                let second = Moment::from_micros(link.from.micros() + 1_000_000);
                link.until = link.until.min(newer.max(second));
            }
        }
    }

    fn click(&mut self, article: u32, source: &NewsSource, published: f64, own: u64) {
        let mut rng = stream(self.seed, For::Clicks, own, 0);
        let sigma = self.plan.article_sigma;
        let normal: f64 = StandardNormal.sample(&mut rng);
        let worth = source.worth * (sigma * normal - sigma * sigma / 2.0).exp();
        let end = (self.plan.days + self.plan.after) * DAY - published;
        // Given their number, the points of this Poisson process are uniform in `1 - e^(-μt)`.
        let clicks = poisson(worth, &mut rng);
        let lasts = chance(&mut rng, self.plan.lasting);
        let age = |uniform: f64| match lasts {
            true => uniform * end,
            false => -(-uniform).ln_1p() / source.decay,
        };
        let ages = (0..clicks).map(|_| age(rng.random()));
        let bin = News::BIN.as_secs_f64();
        let mut bins: Vec<u64> = ages
            .filter(|&age| age < end)
            .map(|age| (age / bin) as u64)
            .collect();
        bins.sort_unstable();
        for same in bins.chunk_by(|one, next| one == next) {
            self.clicks.push(Clicked {
                article,
                at: moment(published + same[0] as f64 * bin),
                clicks: same.len() as u32,
            });
        }
    }
}

/// Returns the time `seconds` after the beginning, rounded down to whole seconds.
fn moment(seconds: f64) -> Moment {
    Moment::from_micros(BEGINNING.micros() + seconds as u64 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a plan of a tenth of the sources for a week, at the default mean rate per source.
    fn small() -> SourcesPlan {
        SourcesPlan {
            sources: 300,
            sites: 15,
            days: 7.0,
            articles: 0.0229,
            profit: 0.072,
            ..SourcesPlan::default()
        }
    }

    fn published(news: &News) -> Vec<f64> {
        let mut first = vec![f64::INFINITY; news.articles().len()];
        for link in news.links() {
            let first = &mut first[link.article as usize];
            *first = first.min(link.from.since(BEGINNING).as_secs_f64());
        }
        first
    }

    #[test]
    fn the_bound_on_profit_is_as_set() {
        // Light tails, so that the mean converges quickly.
        let plan = SourcesPlan {
            site_sigma: 0.5,
            source_sigma: 0.9,
            article_sigma: 0.5,
            ..small()
        };
        let news = plan.invent(1);
        let seconds = 7.0 * DAY;
        let articles = news.articles().len() as f64 / seconds;
        // 13,850 articles are expected, with a standard deviation of less than 1 %.
        assert!((articles / 0.0229 - 1.0).abs() < 0.03, "{articles}");
        let clicks: u32 = news.clicks().iter().map(|click| click.clicks).sum();
        let profit = f64::from(clicks) / seconds;
        assert!((profit / 0.072 - 1.0).abs() < 0.06, "{profit}");
    }

    #[test]
    fn about_a_fifth_of_the_articles_is_clicked_and_links_have_their_set_number_and_duration() {
        let news = small().invent(2);
        let articles = news.articles().len();
        let mut clicked = vec![false; articles];
        news.clicks()
            .iter()
            .for_each(|click| clicked[click.article as usize] = true);
        let share = clicked.iter().filter(|&&clicked| clicked).count() as f64 / articles as f64;
        assert!((0.1..0.35).contains(&share), "{share}");
        let links = news.links().len() as f64 / articles as f64;
        assert!((links / 5.8 - 1.0).abs() < 0.03, "{links}");
        let stay = |link: &LinkPeriod| link.until.since(link.from).as_secs_f64() / HOUR;
        let mut stays: Vec<f64> = news.links().iter().map(stay).collect();
        stays.sort_unstable_by(f64::total_cmp);
        let median = stays[stays.len() / 2];
        assert!((median / 10.0 - 1.0).abs() < 0.05, "{median}");
    }

    #[test]
    fn clicks_decay_at_the_rate_set() {
        let plan = SourcesPlan {
            decay: 2.0,
            decay_sigma: 0.0,
            after: 30.0,
            lasting: 0.0,
            ..small()
        };
        let news = plan.invent(3);
        let first = published(&news);
        let (mut ages, mut all) = (0.0, 0.0);
        for click in news.clicks() {
            let age = click.at.since(BEGINNING).as_secs_f64() - first[click.article as usize];
            assert!(age >= 0.0, "a click before publication");
            ages += (age + 300.0) * f64::from(click.clicks);
            all += f64::from(click.clicks);
        }
        // The mean age at a click is 1/μ: half a day.
        let rate = DAY * all / ages;
        assert!(
            all > 10_000.0 && (rate / 2.0 - 1.0).abs() < 0.03,
            "{rate}, {all}"
        );
    }

    #[test]
    fn publication_rates_are_log_normal_over_sources_and_low_at_night() {
        let sources = SourcesPlan::default().sources(4);
        let mut rates: Vec<f64> = sources.iter().map(|source| source.rate.ln()).collect();
        let sum: f64 = sources
            .iter()
            .map(|source| source.rate * source.worth)
            .sum();
        assert!((sum - 0.72).abs() < 1e-9, "{sum}");
        rates.sort_unstable_by(f64::total_cmp);
        // The quantiles at −1 and +1 standard deviation are 3.6 apart.
        let apart = rates[2_524] - rates[476];
        assert!((apart - 3.6).abs() < 0.3, "{apart}");

        let news = small().invent(5);
        let mut hours = [0.0; 24];
        for second in published(&news) {
            hours[(second / HOUR) as usize % 24] += 24.0 / news.articles().len() as f64;
        }
        // The factor is 1.79 at 14:30 and .21 at 2:30.
        assert!(
            (hours[14] - 1.79).abs() < 0.3 && hours[2] < 0.4,
            "{hours:?}"
        );
    }

    #[test]
    fn slots_limit_the_links_of_a_source_and_dilution_the_worth_of_its_articles() {
        let crowded = SourcesPlan {
            slots: 5,
            ..small()
        };
        let [free, crowded] = [small(), crowded].map(|plan| plan.invent(6));
        let most = |news: &News| {
            let there = |at: &LinkPeriod| {
                let same = news.links().iter().filter(|link| link.source == at.source);
                same.filter(|link| link.from <= at.from && at.from < link.until)
                    .count()
            };
            news.links().iter().step_by(97).map(there).max().unwrap()
        };
        // Links that appear in the same second are visible together for that second.
        assert!(most(&free) > 20 && most(&crowded) <= 6);
        assert_eq!(free.articles().len(), crowded.articles().len());
        let diluted = SourcesPlan {
            dilution: 1.0,
            site_sigma: 0.0,
            source_sigma: 0.0,
            ..SourcesPlan::default()
        };
        for source in diluted.sources(4) {
            assert!((source.rate * source.worth * 3_000.0 - 0.72).abs() < 1e-6);
        }
    }

    #[test]
    fn articles_are_linked_by_their_own_site() {
        let news = small().invent(6);
        for link in news.links() {
            let (source, article) = (
                &news.sources()[link.source as usize],
                &news.articles()[link.article as usize],
            );
            assert_eq!(source.host(), article.host());
            assert!(link.from < link.until);
        }
        let one = SourcesPlan {
            sources: 4,
            sites: 10,
            links: 50.0,
            ..small()
        }
        .invent(6);
        assert_eq!(
            one.links().len(),
            one.articles().len(),
            "a site of one source has no other to link from"
        );
    }
}
