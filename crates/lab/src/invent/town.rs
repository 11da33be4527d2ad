//! Generator of a town: pages that are born, change and are clicked, sources that name them, and
//! sitemaps that hint at changes.
//!
//! It joins a press ([`SourcesPlan`]) and a set of changing pages ([`PagesPlan`]), invented or
//! recorded, and draws what neither has:
//!
//! - **Links.** Every old page links to `links` others. Their targets follow Zipf's law, so a few
//!   pages have most of the in-links. The home page of a site links to all its old pages.
//! - **Clicks on old pages.** They are a Poisson process. Its rate is proportional to the in-links
//!   plus one, times a log-normal factor (`demand_sigma`). So in-links predict clicks, but not
//!   well.
//! - **Edits of new pages.** A new page changes a Poisson number of times, each after an
//!   exponential wait from its birth.
//! - **Hints.** The sitemap of a site hints at a change with probability `recall`, at the moment
//!   of the change. It also hints falsely, as a Poisson process for each page.
//! - **Servers.** The time of a request is log-normal over the sites. The town has few pages, so
//!   connections are scarce only if requests are slow. That is why a request takes minutes.
//!
//! A recorded history is moved in time so that it ends when the press does. Pages of the history
//! that are born or disappear within the time of the town are left out. No source would name those
//! that are born.
//!
//! **Invariant:** each page and site draws from streams of its own.

use std::collections::HashMap;

use page::PageUrl;
use policy::Moment;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Exp1, StandardNormal};
use testweb::chance::{For, stream};

use super::DAY;
use super::draw::{Zipf, chance, poisson};
use super::knob::plan;
use super::pages::PagesPlan;
use super::sources::SourcesPlan;
use crate::LabError;
use crate::kinds::{Lives, NamedPeriod, News, Sitemap, Town, TownPage, TownSource, text_at};

plan! {
    /// A town to invent.
    TownPlan {
        /// Sites, each with a home page and sections that name new pages.
        sites: u32 = 6, 1 to 100_000;
        /// Sections of a site, beside its home page.
        sections: u32 = 3, 0 to 1_000;
        /// Old pages: those that exist at the beginning.
        pages: u32 = 400, 1 to 1_000_000;
        /// How long the town is watched, in days.
        days: f64 = 20.0, 1 to 3_650;
        /// New pages a day, of all sites together.
        births: f64 = 60.0, 0.1 to 1_000_000;
        /// Shape of the Weibull distribution of the old pages' mean time between changes.
        shape: f64 = 0.8, 0.1 to 50;
        /// Scale of that distribution, in days.
        lifetime: f64 = 10.0, 0.01 to 1_000_000;
        /// Days of a recorded history that pass in one day of the town.
        pace: f64 = 1.0, 0.001 to 1_000;
        /// Clicks a second on old pages.
        old_clicks: f64 = 0.012, 0 to 1_000;
        /// Clicks a second on new pages, if they are invented.
        new_clicks: f64 = 0.012, 0 to 1_000;
        /// Standard deviation of the logarithm of the clicks on old pages with the same number of
        /// in-links.
        demand_sigma: f64 = 1.0, 0 to 4;
        /// Links of an old page to other old pages.
        links: u32 = 5, 0 to 1_000;
        /// Exponent of Zipf's law for the in-links of old pages.
        link_skew: f64 = 0.8, 0 to 3;
        /// Mean number of changes of a new page after its birth.
        edits: f64 = 1.0, 0 to 1_000;
        /// Mean time from the birth of a page to each of these changes, in hours.
        edit_hours: f64 = 12.0, 0.01 to 10_000;
        /// The share of sites that have a sitemap.
        sitemaps: f64 = 0.5, 0 to 1;
        /// The share of changes that a sitemap hints at.
        recall: f64 = 0.7, 0 to 1;
        /// False hints of a sitemap about a page, a week.
        false_hints: f64 = 0.2, 0 to 1_000;
        /// Median over the sites of the seconds that a request takes; used only if connections are
        /// scarce.
        request: f64 = 240.0, 0.001 to 100_000;
        /// Standard deviation of the logarithm of these seconds.
        request_sigma: f64 = 1.2, 0 to 4;
    }
}

/// Parts of a page's or site's stream.
#[derive(Clone, Copy)]
enum Part {
    Links,
    Clicks,
    Edits,
    Hints,
    Server,
    Places,
}

impl TownPlan {
    /// Invents a town.
    ///
    /// # Errors
    /// If no new page appears.
    pub fn invent(&self, seed: u64) -> Result<Town, LabError> {
        let press = SourcesPlan {
            sources: self.sites * (1 + self.sections),
            sites: self.sites,
            days: self.days,
            after: 0.0,
            articles: self.births / DAY,
            profit: self.new_clicks,
            links: 2.0_f64.min(1.0 + f64::from(self.sections)),
            ..SourcesPlan::default()
        };
        let pages = PagesPlan {
            pages: self.pages,
            hosts: self.sites,
            host_sizes: 0.5,
            span: self.days,
            shape: self.shape,
            scale: self.lifetime,
            ..PagesPlan::default()
        };
        let lives = Lives::of_histories(&pages.invent(seed)?)?;
        self.join(&press.invent(seed), &lives, seed)
    }

    /// Joins a press and changing pages, and draws the rest.
    ///
    /// # Errors
    /// If no new page appears in the press, or no page exists all the time.
    pub fn join(&self, news: &News, lives: &Lives, seed: u64) -> Result<Town, LabError> {
        let lacks = |what: &str| LabError::Wish(format!("{what}: there is no town"));
        let first = news.links().first().map(|link| link.from);
        let last = news.links().last().map(|link| link.from);
        let (from, until) = first
            .zip(last)
            .filter(|(from, until)| from < until)
            .ok_or_else(|| lacks("no new page appears on the sources"))?;
        let mut sites = Sites::default();
        let mut pages = self.old_pages(lives, (from, until), &mut sites, seed);
        if pages.is_empty() {
            return Err(lacks("no page of the histories exists all the time"));
        }
        let old = pages.len();
        let mut sources: Vec<TownSource> = news
            .sources()
            .iter()
            .map(|url| TownSource {
                url: url.clone(),
                site: sites.number(url),
                named: Vec::new(),
                links: Vec::new(),
            })
            .collect();
        let new = self.new_pages(news, (from, until), &mut sites, seed);
        for link in news.links() {
            if let Some(page) = new.numbers.get(&link.article) {
                sources[link.source as usize].named.push(NamedPeriod {
                    page: (old + page) as u32,
                    from: link.from,
                    until: link.until,
                });
            }
        }
        link_homes(&mut sources, &pages);
        pages.extend(new.pages);
        let mut town = Town {
            from,
            until,
            old,
            sources,
            sitemaps: Vec::new(),
            seconds: (0..sites.origins.len())
                .map(|site| self.request_time(site, seed))
                .collect(),
            pages,
        };
        town.sitemaps = self.hints(&town, &sites, seed);
        Ok(town)
    }

    fn old_pages(
        &self,
        lives: &Lives,
        (from, until): (Moment, Moment),
        sites: &mut Sites,
        seed: u64,
    ) -> Vec<TownPage> {
        let Some((start, end)) = lives.span() else {
            return Vec::new();
        };
        let moved = |at: Moment| {
            let before = end.since(at).as_secs_f64() / self.pace;
            Moment::from_micros(until.micros().saturating_sub((before * 1e6) as u64))
        };
        let before = until.since(from).mul_f64(self.pace);
        let begin = Moment::from_micros(end.micros().saturating_sub(before.as_micros() as u64));
        let begin = begin.max(start);
        let mut pages = Vec::new();
        for number in 0..lives.pages() {
            let changes = lives.of(number);
            let later = changes.iter().filter(|change| change.at > begin);
            let stays = later.clone().all(|change| change.text.is_some());
            if text_at(changes, begin).is_none() || !stays {
                continue;
            }
            let url = lives.url(number);
            pages.push(TownPage {
                url: url.clone(),
                site: sites.number(url),
                born: from,
                changes: later.map(|change| moved(change.at)).collect(),
                clicks: Vec::new(),
                links: Vec::new(),
            });
        }
        self.link_and_click(&mut pages, (from, until), seed);
        pages
    }

    /// Draws the links of old pages, and the clicks on them.
    fn link_and_click(&self, pages: &mut [TownPage], (from, until): (Moment, Moment), seed: u64) {
        let zipf = Zipf::new(pages.len(), self.link_skew);
        let mut places: Vec<u32> = (0..pages.len() as u32).collect();
        places.shuffle(&mut draws(seed, 0, Part::Places));
        let mut in_links = vec![0_u32; pages.len()];
        for (number, page) in pages.iter_mut().enumerate() {
            let mut rng = draws(seed, number, Part::Links);
            let mut links: Vec<u32> = (0..self.links)
                .map(|_| places[zipf.draw(&mut rng)])
                .filter(|to| *to as usize != number)
                .collect();
            links.sort_unstable();
            links.dedup();
            links.iter().for_each(|to| in_links[*to as usize] += 1);
            page.links = links;
        }
        let weights: Vec<f64> = in_links
            .iter()
            .enumerate()
            .map(|(number, links)| {
                let normal: f64 = StandardNormal.sample(&mut draws(seed, number, Part::Clicks));
                f64::from(links + 1) * (self.demand_sigma * normal).exp()
            })
            .collect();
        let all: f64 = weights.iter().sum();
        let seconds = until.since(from).as_secs_f64();
        for ((number, page), weight) in pages.iter_mut().enumerate().zip(weights) {
            let mut rng = draws(seed, number, Part::Clicks);
            let _: f64 = StandardNormal.sample(&mut rng);
            let count = poisson(self.old_clicks * seconds * weight / all, &mut rng);
            let time = |_| moment(from, rng.random::<f64>() * seconds);
            page.clicks = (0..count).map(time).collect();
            page.clicks.sort_unstable();
        }
    }

    fn new_pages(
        &self,
        news: &News,
        (from, until): (Moment, Moment),
        sites: &mut Sites,
        seed: u64,
    ) -> NewPages {
        let mut new = NewPages::default();
        let mut seen = vec![false; news.articles().len()];
        // Links are sorted by time, so the first one is the birth.
        for link in news.links() {
            let article = link.article as usize;
            // What is linked at the first moment is old, and no crawl has to find it.
            if std::mem::replace(&mut seen[article], true) || link.from == from {
                continue;
            }
            let url = &news.articles()[article];
            let mut rng = draws(seed, article, Part::Edits);
            let edits = poisson(self.edits, &mut rng);
            let wait = |_| -> f64 { Exp1.sample(&mut rng) };
            let waits = (0..edits)
                .map(wait)
                .map(|wait| wait * self.edit_hours * 3_600.0);
            let mut changes: Vec<Moment> = waits
                .map(|wait| moment(link.from, wait.max(1.0)))
                .filter(|at| *at <= until)
                .collect();
            changes.sort_unstable();
            changes.dedup();
            new.numbers.insert(link.article, new.pages.len());
            new.pages.push(TownPage {
                url: url.clone(),
                site: sites.number(url),
                born: link.from,
                changes,
                clicks: Vec::new(),
                links: Vec::new(),
            });
        }
        let bin = News::BIN.as_secs_f64();
        for clicked in news.clicks() {
            let Some(page) = new.numbers.get(&clicked.article) else {
                continue;
            };
            // The recorded time of a click is a bin. The time within the bin is drawn.
            let own = clicked.at.micros() ^ u64::from(clicked.article) << 40;
            let mut rng = stream(seed, For::Looks, own, 1);
            let page = &mut new.pages[*page];
            for _ in 0..clicked.clicks {
                let at = moment(clicked.at, rng.random::<f64>() * bin).max(page.born);
                page.clicks.push(at);
            }
        }
        for page in &mut new.pages {
            page.clicks.retain(|click| *click <= until);
            page.clicks.sort_unstable();
        }
        new
    }

    fn request_time(&self, site: usize, seed: u64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut draws(seed, site, Part::Server));
        self.request * (self.request_sigma * normal).exp()
    }

    /// Draws the hints of all sitemaps.
    fn hints(&self, town: &Town, sites: &Sites, seed: u64) -> Vec<Sitemap> {
        let mut sitemaps: Vec<Option<Sitemap>> = Vec::new();
        for (site, origin) in (0..).zip(&sites.origins) {
            let mut rng = draws(seed, site as usize, Part::Hints);
            let url = PageUrl::parse(&format!("{origin}/sitemap.xml")).ok();
            let url = url.filter(|_| chance(&mut rng, self.sitemaps));
            sitemaps.push(url.map(|url| Sitemap {
                url,
                site,
                hints: Vec::new(),
            }));
        }
        for (number, page) in town.pages.iter().enumerate() {
            let Some(sitemap) = &mut sitemaps[page.site as usize] else {
                continue;
            };
            let mut rng = draws(seed, number, Part::Hints);
            let true_hints = page
                .changes
                .iter()
                .filter(|_| chance(&mut rng, self.recall));
            let mut hints: Vec<Moment> = true_hints.copied().collect();
            let seconds = town.until.since(page.born).as_secs_f64();
            let wrong = poisson(self.false_hints / (7.0 * DAY) * seconds, &mut rng);
            hints.extend((0..wrong).map(|_| moment(page.born, rng.random::<f64>() * seconds)));
            let hints = hints.into_iter().map(|at| (at, number as u32));
            sitemap.hints.extend(hints);
        }
        let mut sitemaps: Vec<Sitemap> = sitemaps.into_iter().flatten().collect();
        for sitemap in &mut sitemaps {
            sitemap.hints.sort_unstable();
        }
        sitemaps
    }
}

/// New pages, with the place of each article among them.
#[derive(Default)]
struct NewPages {
    pages: Vec<TownPage>,
    numbers: HashMap<u32, usize>,
}

/// The sites of the town, in the order in which their first page is named.
#[derive(Default)]
struct Sites {
    numbers: HashMap<page::HostId, u32>,
    origins: Vec<String>,
}

impl Sites {
    fn number(&mut self, url: &PageUrl) -> u32 {
        let next = self.origins.len() as u32;
        let number = *self.numbers.entry(url.host()).or_insert(next);
        if number == next {
            self.origins.push(url.origin().to_owned());
        }
        number
    }
}

/// Links the first source of each site to all old pages of the site. Old pages of sites without a
/// source are linked by the first source of all.
fn link_homes(sources: &mut [TownSource], old: &[TownPage]) {
    let mut homes: HashMap<u32, usize> = HashMap::new();
    for (number, source) in sources.iter().enumerate() {
        homes.entry(source.site).or_insert(number);
    }
    for (number, page) in (0..).zip(old) {
        let home = homes.get(&page.site).copied().unwrap_or_default();
        sources[home].links.push(number);
    }
}

fn draws(seed: u64, object: usize, part: Part) -> rand_chacha::ChaCha8Rng {
    stream(seed, For::Town, object as u64, 100 + part as u64)
}

fn moment(from: Moment, seconds: f64) -> Moment {
    Moment::from_micros(from.micros() + (seconds * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> TownPlan {
        TownPlan {
            sites: 4,
            pages: 200,
            days: 14.0,
            births: 50.0,
            ..TownPlan::default()
        }
    }

    #[test]
    fn a_town_has_what_its_plan_says() {
        let town = small().invent(1).unwrap();
        assert_eq!(town.old, 200);
        let new = town.pages.len() - town.old;
        assert!((400..1000).contains(&new), "{new}");
        let clicks = |pages: &[TownPage]| pages.iter().map(|page| page.clicks.len()).sum::<usize>();
        let expected = small().old_clicks * town.seconds();
        let old = clicks(&town.pages[..town.old]) as f64 / expected;
        assert!((0.95..1.05).contains(&old), "{old}");
        for page in &town.pages {
            assert!(page.changes.is_sorted() && page.clicks.is_sorted());
            let times = page.changes.iter().chain(&page.clicks);
            assert!(
                times
                    .clone()
                    .all(|at| (page.born..=town.until).contains(at))
            );
        }
        let named: std::collections::BTreeSet<u32> = (town.sources.iter())
            .flat_map(|source| source.named.iter().map(|named| named.page))
            .collect();
        assert_eq!(named.len(), new, "a source names every new page");
        let linked: usize = town.sources.iter().map(|source| source.links.len()).sum();
        assert_eq!(linked, town.old, "a home page links to every old page");
    }

    #[test]
    fn hints_have_their_recall_and_their_false_rate() {
        let plan = TownPlan {
            sitemaps: 1.0,
            recall: 0.6,
            false_hints: 0.3,
            ..small()
        };
        let town = plan.invent(2).unwrap();
        let hints = town.sitemaps.iter().flat_map(|sitemap| &sitemap.hints);
        let is_true = |(at, page): &&(Moment, u32)| {
            let changes = &town.pages[*page as usize].changes;
            changes.binary_search(at).is_ok()
        };
        let (right, wrong): (Vec<&(Moment, u32)>, Vec<_>) = hints.partition(is_true);
        let changes: usize = town.pages.iter().map(|page| page.changes.len()).sum();
        let recall = right.len() as f64 / changes as f64;
        assert!((0.55..0.65).contains(&recall), "{recall}");
        let weeks: f64 = (town.pages.iter())
            .map(|page| town.until.since(page.born).as_secs_f64() / (7.0 * DAY))
            .sum();
        let rate = wrong.len() as f64 / weeks;
        assert!((0.25..0.35).contains(&rate), "{rate}");
    }

    #[test]
    fn a_joined_town_has_the_clicks_of_the_press_and_the_changes_of_the_pages() {
        let plan = small();
        let press = SourcesPlan {
            sources: 12,
            sites: 4,
            days: 7.0,
            articles: 0.001,
            ..SourcesPlan::default()
        };
        let pages = PagesPlan {
            pages: 80,
            hosts: 4,
            span: 30.0,
            scale: 5.0,
            ..PagesPlan::default()
        };
        let news = press.invent(3);
        let lives = Lives::of_histories(&pages.invent(3).unwrap()).unwrap();
        let town = plan.join(&news, &lives, 3).unwrap();
        let (old, new) = town.pages.split_at(town.old);
        let place = |page: &TownPage| news.articles().iter().position(|url| *url == page.url);
        let bin = News::BIN.as_micros() as u64;
        for page in new {
            let article = place(page).unwrap() as u32;
            let own = news
                .clicks()
                .iter()
                .filter(|click| click.article == article);
            let (mut least, mut most) = (0, 0);
            for click in own {
                most += click.clicks;
                // All times of the bin are within the town.
                if click.at.micros() + bin <= town.until.micros() {
                    least += click.clicks;
                }
            }
            let clicks = page.clicks.len() as u32;
            assert!((least..=most).contains(&clicks), "{least} {clicks} {most}");
        }
        let end = lives.span().unwrap().1;
        let start = end.micros() - town.until.since(town.from).as_micros() as u64;
        for page in old {
            let number = (0..lives.pages()).find(|&number| *lives.url(number) == page.url);
            let changes = lives.of(number.unwrap()).iter();
            let within = changes.filter(|change| change.at.micros() > start);
            assert_eq!(page.changes.len(), within.count());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_town() {
        let [one, same, other] = [1, 1, 2].map(|seed| small().invent(seed).unwrap());
        let clicks = |town: &Town| -> Vec<Moment> {
            let pages = town.pages.iter();
            pages.flat_map(|page| page.clicks.clone()).collect()
        };
        assert_eq!(clicks(&one), clicks(&same));
        assert_ne!(clicks(&one), clicks(&other));
    }
}
