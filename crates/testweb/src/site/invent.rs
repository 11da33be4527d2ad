//! Generates a web from a plan.
//!
//! **Invariant:** pages are generated in the order of their numbers. Each but the first is linked
//! from an older ordinary page, so all pages can be reached from the first one. A home page is
//! linked from the home page of an older server, any other page from a page of its own server.
//! Further links choose their target in proportion to its in-links (preferential attachment),
//! which gives the power law.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use super::html::Prose;
use super::life::PageLife;
use super::plan::{Latency, Tail, WebPlan};
use super::web::{
    Coding, InventedPage, InventedRobots, InventedServer, PageAnswer, PageNumber, ServerNumber,
    TextSource, Web,
};
use crate::chance::{For, stream};

/// Share of links that stay on their server. On the real web it is about three quarters (Bharat
/// et al., "Who links to whom", ICDM 2001).
const LOCAL_LINKS: f64 = 0.75;

/// Distribution of pages per server. The sizes of sites follow a power law with an exponent of
/// about 1.8 (Huberman & Adamic, "Growth dynamics of the World Wide Web", Nature 1999). The
/// maximum ensures that in a web of few servers more than one is large.
const SERVER_SIZES: Tail = Tail {
    least: 10,
    exponent: 1.8,
    most: 1_000,
};

/// 2020-01-01, the date of the web's time 0. It lies years in the past, so that a web can run
/// years ahead without dates in the future.
const EPOCH: Duration = Duration::from_secs(1_577_836_800);

/// Maximum number of draws for a link target that the page does not link to yet.
const REDRAWS: u32 = 8;

/// Path sections of a server. A server with rules forbids the last.
const SECTIONS: [&str; 8] = [
    "news", "notes", "docs", "people", "archive", "events", "projects", "private",
];

const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

impl WebPlan {
    /// Generates the web.
    pub fn invent(&self) -> Web {
        let servers = self.servers.max(1);
        let mut growth = WebGenerator::new(self);
        for number in 0..servers {
            growth.add_home(number as u32);
        }
        for number in servers..self.pages {
            growth.add_page(number as u32);
        }
        let pages = growth.pages;
        let paths = pages
            .iter()
            .map(|page| ((page.server, page.path.clone()), page.number));
        Web {
            seed: self.seed,
            servers: (0..servers)
                .map(|number| self.server(number as u64))
                .collect(),
            paths: paths.collect::<HashMap<_, _>>(),
            text_source: TextSource::Prose(Prose::new(self.seed)),
            epoch: SystemTime::UNIX_EPOCH + EPOCH,
            pages,
        }
    }

    fn server(&self, number: u64) -> InventedServer {
        let mut rng = stream(self.seed, For::Servers, number, 0);
        let (connect, response) = match self.latency {
            Latency::None => (0.0, 0.0),
            Latency::PerServer { connect, response } => {
                (connect.draw(&mut rng), response.draw(&mut rng))
            }
        };
        InventedServer {
            // The first server must allow crawling, or there would be nothing to crawl.
            robots: if number == 0 {
                InventedRobots::Missing
            } else {
                self.robots(&mut rng)
            },
            requests_per_connection: self.keep_alive.draw(&mut rng),
            round_trip: Duration::try_from_secs_f64(connect).unwrap_or_default(),
            response_latency: Duration::try_from_secs_f64(response).unwrap_or_default(),
            coding: chance(&mut rng, self.compressed).then(|| match rng.random() {
                true => Coding::Gzip,
                false => Coding::Deflate,
            }),
            etag: chance(&mut rng, self.etags),
            last_modified: chance(&mut rng, self.last_modified),
            calendar: chance(&mut rng, self.calendars),
        }
    }

    fn robots(&self, rng: &mut impl Rng) -> InventedRobots {
        let shares = &self.robots;
        let files = [
            (shares.rules, InventedRobots::Rules { crawl_delay: None }),
            (
                shares.delay,
                InventedRobots::Rules {
                    crawl_delay: Some(self.crawl_delay),
                },
            ),
            (shares.missing, InventedRobots::Missing),
            (shares.broken, InventedRobots::Broken),
        ];
        pick(rng, files).unwrap_or(InventedRobots::Open)
    }

    fn life(&self, number: u32, home: bool) -> PageLife {
        let mut rng = stream(self.seed, For::Lives, u64::from(number), 0);
        let interval = self.changes.interval.draw(&mut rng);
        let rate = if chance(&mut rng, self.changes.share) {
            interval.recip()
        } else {
            0.0
        };
        let (late, when): (bool, f64) =
            (chance(&mut rng, self.population.born_later), rng.random());
        let years: f64 = Exp1.sample(&mut rng);
        if home {
            return PageLife {
                rate,
                ..PageLife::ALWAYS
            };
        }
        let born = if late {
            when * self.population.horizon
        } else {
            0.0
        };
        let dies = self
            .population
            .lifetime
            .map_or(f64::INFINITY, |mean| born + years * mean);
        PageLife { rate, born, dies }
    }
}

/// A web that is being generated.
struct WebGenerator<'a> {
    plan: &'a WebPlan,
    rng: rand_chacha::ChaCha8Rng,
    pages: Vec<InventedPage>,
    /// Every page once, and once more for each drawn link to it. A uniform draw from this list
    /// prefers pages with many in-links.
    popular: Vec<PageNumber>,
    local: Vec<ServerPages>,
    /// For each server, the sum of its weight and of all weights before it.
    weights: Vec<u64>,
}

/// The pages of one server: their number, the list to draw targets from, and the ordinary ones.
#[derive(Default)]
struct ServerPages {
    pages: u32,
    popular: Vec<PageNumber>,
    ordinary: Vec<PageNumber>,
}

impl<'a> WebGenerator<'a> {
    fn new(plan: &'a WebPlan) -> Self {
        let mut rng = stream(plan.seed, For::Graph, 0, 0);
        let servers = plan.servers.max(1);
        let weights = (0..servers).scan(0, |sum, _| {
            *sum += u64::from(SERVER_SIZES.draw(&mut rng));
            Some(*sum)
        });
        Self {
            plan,
            weights: weights.collect(),
            rng,
            pages: Vec::with_capacity(plan.pages),
            popular: Vec::new(),
            local: (0..servers).map(|_| ServerPages::default()).collect(),
        }
    }

    fn add_home(&mut self, number: u32) {
        let server = ServerNumber(number);
        // So far there are only home pages, so any older page is one.
        let parent = (number > 0).then(|| PageNumber(self.rng.random_range(0..number)));
        self.add(number, server, "/".into(), PageAnswer::Ordinary, parent);
    }

    fn add_page(&mut self, number: u32) {
        let server = self.draw_server();
        let path = self.path(server);
        let kind = self.kind(server);
        let ordinary = &self.local[server.0 as usize].ordinary;
        let parent = ordinary[self.rng.random_range(0..ordinary.len())];
        self.add(number, server, path, kind, Some(parent));
    }

    fn add(
        &mut self,
        number: u32,
        server: ServerNumber,
        path: Box<str>,
        kind: PageAnswer,
        parent: Option<PageNumber>,
    ) {
        let number = PageNumber(number);
        let links = match kind {
            PageAnswer::Ordinary | PageAnswer::Busy => self.draw_links(server),
            PageAnswer::Copy(_) | PageAnswer::Redirect(..) | PageAnswer::Error(_) => Vec::new(),
        };
        let mut life = self.plan.life(number.0, &*path == "/");
        if let Some(parent) = parent {
            let parent = &mut self.pages[parent.0 as usize];
            parent.links.push(number);
            // A page cannot be born before the page that links to it.
            let wait = (parent.life.born - life.born).max(0.0);
            life = PageLife {
                born: life.born + wait,
                dies: life.dies + wait,
                ..life
            };
        }
        self.pages.push(InventedPage {
            number,
            server,
            path,
            kind,
            links,
            size: self.plan.sizes.draw(&mut self.rng).min(f64::from(u32::MAX)) as u32,
            life,
        });
        self.popular.push(number);
        let local = &mut self.local[server.0 as usize];
        local.pages += 1;
        local.popular.push(number);
        if kind == PageAnswer::Ordinary {
            local.ordinary.push(number);
        }
    }

    fn draw_links(&mut self, server: ServerNumber) -> Vec<PageNumber> {
        let mut links = Vec::new();
        if self.popular.is_empty() {
            return links;
        }
        for _ in 0..self.plan.links.draw(&mut self.rng) {
            let new = (0..REDRAWS).map(|_| self.draw_popular(server));
            let Some(target) = new.into_iter().find(|target| !links.contains(target)) else {
                continue;
            };
            links.push(target);
            self.popular.push(target);
            let home = self.pages[target.0 as usize].server;
            self.local[home.0 as usize].popular.push(target);
        }
        links
    }

    fn draw_server(&mut self) -> ServerNumber {
        let all = self.weights.last().copied().unwrap_or(1);
        let drawn = self.rng.random_range(0..all);
        ServerNumber(self.weights.partition_point(|&sum| sum <= drawn) as u32)
    }

    fn draw_popular(&mut self, server: ServerNumber) -> PageNumber {
        let local = &self.local[server.0 as usize].popular;
        let from = match chance(&mut self.rng, LOCAL_LINKS) && !local.is_empty() {
            true => local,
            false => &self.popular,
        };
        from[self.rng.random_range(0..from.len())]
    }

    fn kind(&mut self, server: ServerNumber) -> PageAnswer {
        let faults = self.plan.faults;
        let status = REDIRECTS[self.rng.random_range(0..REDIRECTS.len())];
        let gone = if self.rng.random() { 404 } else { 410 };
        let target = self.draw_popular(server);
        let ordinary = &self.local[server.0 as usize].ordinary;
        let original = ordinary[self.rng.random_range(0..ordinary.len())];
        let kinds = [
            (faults.redirects, PageAnswer::Redirect(target, status)),
            (faults.gone, PageAnswer::Error(gone)),
            (faults.broken, PageAnswer::Error(500)),
            (faults.busy, PageAnswer::Busy),
            (self.plan.duplicates, PageAnswer::Copy(original)),
        ];
        pick(&mut self.rng, kinds).unwrap_or(PageAnswer::Ordinary)
    }

    fn path(&mut self, server: ServerNumber) -> Box<str> {
        let section = SECTIONS[self.rng.random_range(0..SECTIONS.len())];
        let n = self.local[server.0 as usize].pages;
        match self.rng.random_range(0..4) {
            0 => format!("/{section}/{n}/"),
            1 => format!("/{section}/view?id={n}"),
            _ => format!("/{section}/page-{n}.html"),
        }
        .into()
    }
}

/// Returns true with probability `share`. A share below 0 counts as 0, one above 1 as 1.
fn chance(rng: &mut impl Rng, share: f64) -> bool {
    rng.random::<f64>() < share
}

/// Draws one of the values by their shares. Returns `None` for the remaining share.
fn pick<T, const N: usize>(rng: &mut impl Rng, shares: [(f64, T); N]) -> Option<T> {
    let mut left: f64 = rng.random();
    shares.into_iter().find_map(|(share, value)| {
        left -= share;
        (left < 0.0).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the maximum likelihood estimate of the exponent of a power law, over the values
    /// from `least` on (Clauset, Shalizi & Newman, SIAM Review 2009, eq. 3.7).
    fn exponent(values: impl Iterator<Item = usize>, least: usize) -> f64 {
        let tail: Vec<f64> = values.filter(|&v| v >= least).map(|v| v as f64).collect();
        let logs: f64 = tail.iter().map(|v| (v / (least as f64 - 0.5)).ln()).sum();
        1.0 + tail.len() as f64 / logs
    }

    #[test]
    fn links_in_and_out_follow_power_laws() {
        let plan = WebPlan {
            servers: 100,
            pages: 30_000,
            ..WebPlan::small(1)
        };
        let web = plan.invent();
        let mut inward = vec![0; web.pages.len()];
        for page in &web.pages {
            for link in &page.links {
                inward[link.0 as usize] += 1;
            }
        }
        let outward = web.pages.iter().map(|page| page.links.len());
        let (inward_exponent, outward_exponent) =
            (exponent(inward.iter().copied(), 20), exponent(outward, 20));
        // Under preferential attachment, the in-links have an exponent of 2 to 3.
        assert!((1.8..3.0).contains(&inward_exponent), "{inward_exponent}");
        assert!((2.3..3.2).contains(&outward_exponent), "{outward_exponent}");
        inward.sort_unstable();
        let top: usize = inward.iter().rev().take(300).sum();
        let share = top as f64 / inward.iter().sum::<usize>() as f64;
        assert!(share > 0.2, "the first hundredth has {share} of all links");
    }

    #[test]
    fn servers_differ_in_size() {
        let web = WebPlan {
            servers: 100,
            pages: 30_000,
            ..WebPlan::small(2)
        }
        .invent();
        let mut sizes = vec![0; 100];
        for page in &web.pages {
            sizes[page.server.0 as usize] += 1;
        }
        sizes.sort_unstable();
        assert!(sizes[0] >= 1 && sizes[99] > 10 * sizes[10], "{sizes:?}");
    }

    #[test]
    fn draws_follow_the_log_normal_distribution_and_the_power_law() {
        let mut rng = stream(1, For::Graph, 0, 0);
        let spread = crate::site::Spread {
            median: 100.0,
            sigma: 2.0,
        };
        let mut draws: Vec<f64> = (0..20_000).map(|_| spread.draw(&mut rng)).collect();
        draws.sort_unstable_by(f64::total_cmp);
        // Quantiles of the log-normal distribution: exp(2 z) times the median, for z = 0, 1 and
        // -1.
        for (quantile, expected) in [(0.5, 100.0), (0.8413, 738.9), (0.1587, 13.53)] {
            let found = draws[(quantile * 20_000.0) as usize];
            assert!((found / expected - 1.0).abs() < 0.1, "{quantile}: {found}");
        }
        let tail = crate::site::Tail {
            least: 3,
            exponent: 2.5,
            most: 1_000,
        };
        let draws: Vec<u32> = (0..20_000).map(|_| tail.draw(&mut rng)).collect();
        assert!(draws.iter().all(|n| (3..=1_000).contains(n)));
        // P(n ≥ 30) = (30 / 3)^-1.5 = 0.0316, with a standard deviation of 0.0012.
        let many = draws.iter().filter(|&&n| n >= 30).count() as f64 / 20_000.0;
        assert!((0.026..0.038).contains(&many), "{many}");
    }

    #[test]
    fn a_plan_without_servers_and_pages_gives_one_home_page() {
        let web = WebPlan {
            servers: 0,
            pages: 0,
            ..WebPlan::small(1)
        }
        .invent();
        assert_eq!((web.servers.len(), web.pages.len()), (1, 1));
        assert_eq!(&*web.pages[0].path, "/");
    }
}
