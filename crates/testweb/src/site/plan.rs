//! The parameters of an invented web.
//!
//! **Invariant:** a plan consists of plain numbers; all randomness comes from its seed. Shares
//! are fractions of 1, and times are seconds of the web's own clock.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Parameters of an invented web, which is reproducible to the byte.
///
/// Start from [`WebPlan::small`] and change what matters:
/// `WebPlan { servers: 500, pages: 20_000, ..WebPlan::small(7) }`.
#[derive(Debug, Clone, PartialEq)]
pub struct WebPlan {
    /// The seed of all random numbers.
    pub seed: u64,
    /// Number of servers, each with an address of its own; at least one.
    pub servers: usize,
    /// Number of pages. There are never fewer than servers, since each has a home page.
    pub pages: usize,
    /// Links per page, besides those that keep the web connected.
    pub links: Tail,
    /// Bytes of text per page.
    pub sizes: Spread,
    /// How long servers take to answer.
    pub latency: Latency,
    /// How many requests servers answer per connection.
    pub keep_alive: KeepAlive,
    /// What robots.txt files contain.
    pub robots: RobotsShares,
    /// The `Crawl-delay` of servers that state one, in seconds.
    pub crawl_delay: f64,
    /// Shares of pages that answer with something other than a text.
    pub faults: Faults,
    /// How often pages change.
    pub changes: Changes,
    /// Birth and death of pages.
    pub population: Population,
    /// Share of servers that compress, half of them with gzip and half with deflate.
    pub compressed: f64,
    /// Share of servers that send an `ETag`.
    pub etags: f64,
    /// Share of servers that send `Last-Modified`.
    pub last_modified: f64,
    /// Share of pages that are byte for byte equal to another page of their server.
    pub duplicates: f64,
    /// Share of servers with an endless calendar.
    pub calendars: f64,
}

/// A log-normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// Standard deviation of the logarithm; with 0, every draw is the median.
    pub sigma: f64,
}

/// A power law: the probability of more than `k` falls as `k^(1 - exponent)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// The minimum.
    pub least: u32,
    /// The exponent of the density; above 1.
    pub exponent: f64,
    /// The maximum; larger draws are reduced to it.
    pub most: u32,
}

/// How long servers take to answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latency {
    /// No added delay.
    None,
    /// Each server draws two durations, in seconds, and keeps them.
    PerServer {
        /// The round trip time. It is added when a connection is opened, and again for every
        /// request that waits for the answer before it. The kernel accepts a loopback connection
        /// at once. So a client sees the first round trip as part of its first wait, which is
        /// two round trips and an answer.
        connect: Spread,
        /// The time that the server takes for every answer.
        response: Spread,
    },
}

/// How many requests a server answers before it closes the connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeepAlive {
    /// Share of servers that answer one request.
    pub one: f64,
    /// Share of servers that answer 100 requests. The rest answer 2 to 99, all equally likely.
    pub hundred: f64,
}

/// Shares of servers by their robots.txt. The remaining servers forbid nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RobotsShares {
    /// `/private/` is forbidden.
    pub rules: f64,
    /// `/private/` is forbidden, and a `Crawl-delay` is stated.
    pub delay: f64,
    /// 404, which allows everything.
    pub missing: f64,
    /// 503, which forbids everything.
    pub broken: f64,
}

/// Shares of pages that do not answer with a text at once. By default there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// A redirect (301, 302, 303, 307 or 308) to an older page.
    pub redirects: f64,
    /// 404 or 410.
    pub gone: f64,
    /// 500.
    pub broken: f64,
    /// 503 with `Retry-After: 1` to the first request, the page to the later ones.
    pub busy: f64,
}

/// How often pages change. Each page is a Poisson process with a rate of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    /// Share of pages that ever change.
    pub share: f64,
    /// Mean seconds between two changes of such a page. A large sigma gives the heavy tail of rates
    /// that real webs have.
    pub interval: Spread,
}

/// Birth and death of pages. Home pages always exist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Population {
    /// Share of pages that do not exist at time 0.
    pub born_later: f64,
    /// Seconds of the web within which these pages are born, uniformly distributed.
    pub horizon: f64,
    /// Mean lifetime of a page, in seconds; `None` means for ever.
    pub lifetime: Option<f64>,
}

impl WebPlan {
    /// Eight servers and 200 pages with some of everything except latency: a web for the test of
    /// a whole crawl.
    pub fn small(seed: u64) -> Self {
        Self {
            seed,
            servers: 8,
            pages: 200,
            // The in-links and out-links of the web follow power laws with exponents of about
            // 2.1 and 2.7 (Broder et al., "Graph structure in the web", 2000).
            links: Tail {
                least: 3,
                exponent: 2.7,
                most: 200,
            },
            sizes: Spread {
                median: 4_000.0,
                sigma: 1.0,
            },
            latency: Latency::None,
            keep_alive: KeepAlive::MEASURED,
            robots: RobotsShares {
                rules: 0.4,
                delay: 0.0,
                missing: 0.3,
                broken: 0.1,
            },
            crawl_delay: 1.0,
            faults: Faults {
                redirects: 0.05,
                gone: 0.04,
                broken: 0.02,
                busy: 0.01,
            },
            changes: Changes {
                share: 0.7,
                interval: Spread {
                    median: 3_600.0,
                    sigma: 2.0,
                },
            },
            population: Population {
                born_later: 0.1,
                horizon: 86_400.0,
                lifetime: None,
            },
            compressed: 0.6,
            etags: 0.6,
            last_modified: 0.6,
            duplicates: 0.05,
            calendars: 0.0,
        }
    }

    /// The web of the two-level scheduling experiment (`docs/science/theory.md`, section 3): 500
    /// servers with 30,000 pages. All pages may be fetched, never change and answer with a text.
    ///
    /// The paper does not print its times. A round trip of 30 ms and an answer in 80 ms are our
    /// guess for servers on the crawler's own continent. With a sigma of 1, one server in forty
    /// is seven times slower, and one in seven hundred is twenty times slower. Nothing is
    /// compressed, to leave the processor to the crawler.
    ///
    /// With one request after the other, connections are busy for 5,500 to 6,100 s in total
    /// (seeds 1 to 5), which is 90 s for 64 connections. But one large and slow server takes 280
    /// to 400 s alone, and no schedule can finish sooner.
    pub fn two_level(seed: u64) -> Self {
        let spread = |median| Spread { median, sigma: 1.0 };
        let small = Self::small(seed);
        Self {
            servers: 500,
            pages: 30_000,
            latency: Latency::PerServer {
                connect: spread(0.03),
                response: spread(0.08),
            },
            robots: RobotsShares::default(),
            faults: Faults::default(),
            changes: Changes {
                share: 0.0,
                ..small.changes
            },
            population: Population {
                born_later: 0.0,
                lifetime: None,
                ..small.population
            },
            compressed: 0.0,
            duplicates: 0.0,
            ..small
        }
    }
}

impl KeepAlive {
    /// The servers of the two-level scheduling experiment (`docs/science/theory.md`, section 3):
    /// 24% answered one request per connection, 66% answered 100.
    pub const MEASURED: Self = Self {
        one: 0.24,
        hundred: 0.66,
    };

    pub(super) fn draw(&self, rng: &mut impl Rng) -> u32 {
        let chance: f64 = rng.random();
        if chance < self.one {
            1
        } else if chance < self.one + self.hundred {
            100
        } else {
            rng.random_range(2..100)
        }
    }
}

impl Spread {
    pub(super) fn draw(&self, rng: &mut impl Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(rng);
        self.median * (self.sigma * normal).exp()
    }
}

impl Tail {
    pub(super) fn draw(&self, rng: &mut impl Rng) -> u32 {
        // 1 - u is in (0, 1], so the power is finite.
        let chance = 1.0 - rng.random::<f64>();
        let value = f64::from(self.least) * chance.powf(-1.0 / (self.exponent - 1.0));
        (value as u32).clamp(self.least, self.most.max(self.least))
    }
}
