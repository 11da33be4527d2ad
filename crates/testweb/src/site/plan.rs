//! What web to invent?
//!
//! **Invariant:** a plan is plain numbers; all chance is in its seed. Shares are fractions of 1 and
//! times are seconds of the web's own clock.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// A web to invent, repeatable to the byte.
///
/// Start from [`Plan::small`] and change what matters:
/// `Plan { servers: 500, pages: 20_000, ..Plan::small(7) }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Where all chance comes from.
    pub seed: u64,
    /// How many servers there are, each with an address of its own; at least one.
    pub servers: usize,
    /// How many pages there are; never fewer than servers, since each has a home page.
    pub pages: usize,
    /// Links on a page, besides those that hold the web together.
    pub links: Tail,
    /// Bytes of text on a page.
    pub sizes: Spread,
    /// How long servers take to answer.
    pub latency: Latency,
    /// How many requests servers answer on one connection.
    pub keep_alive: KeepAlive,
    /// What robots.txt files say.
    pub robots: RobotsShares,
    /// The `Crawl-delay` of servers that ask for one.
    pub crawl_delay: f64,
    /// Pages that answer with something other than a text.
    pub faults: Faults,
    /// How often pages change.
    pub changes: Changes,
    /// How pages come and go.
    pub population: Population,
    /// The share of servers that compress, half of them with gzip and half with deflate.
    pub compressed: f64,
    /// The share of servers that send an `ETag`.
    pub etags: f64,
    /// The share of servers that send `Last-Modified`.
    pub last_modified: f64,
    /// The share of pages that are byte for byte another page of their server.
    pub duplicates: f64,
    /// The share of servers with a calendar that never ends.
    pub calendars: f64,
}

/// A log-normal spread: half the draws are below the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The middle value.
    pub median: f64,
    /// The deviation of the logarithm; 0 gives the median always.
    pub sigma: f64,
}

/// A power law: the chance of more than `k` falls as `k^(1 - exponent)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// The least value.
    pub least: u32,
    /// The exponent of the density; above 1.
    pub exponent: f64,
    /// Where the tail is cut.
    pub most: u32,
}

/// How long a server takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Latency {
    /// As fast as the machine is.
    None,
    /// Each server draws its own two times, in seconds, and keeps them.
    PerServer {
        /// A round trip: what it takes to connect, and again for every request that waits for the
        /// answer before it. The kernel accepts a loopback connection at once, so a client sees the
        /// first as part of its first wait, which is two round trips and an answer.
        connect: Spread,
        /// What the server takes over every answer.
        response: Spread,
    },
}

/// How many requests a server answers before it closes the connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeepAlive {
    /// The share of servers that answer one.
    pub one: f64,
    /// The share of servers that answer a hundred. The rest answer 2 to 99, all equally likely.
    pub hundred: f64,
}

/// The shares of servers by their robots.txt; the rest forbid nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RobotsShares {
    /// `/private/` is forbidden.
    pub rules: f64,
    /// `/private/` is forbidden, and a delay is asked for.
    pub delay: f64,
    /// 404: all is allowed.
    pub missing: f64,
    /// 503: nothing is allowed.
    pub broken: f64,
}

/// The shares of pages by what they answer instead of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// How often pages change: each is a Poisson process with a rate of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changes {
    /// The share of pages that ever change.
    pub share: f64,
    /// The mean time between two changes of such a page; a wide spread gives the heavy tail of
    /// rates that real webs show.
    pub interval: Spread,
}

/// How pages come and go. Home pages were always there and stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Population {
    /// The share of pages that do not exist at time 0.
    pub born_later: f64,
    /// The time by which all of them are born, evenly.
    pub horizon: f64,
    /// The mean life of a page; `None`: for ever.
    pub lifetime: Option<f64>,
}

impl Plan {
    /// Eight servers and two hundred pages with some of everything but latency: what a test of a
    /// whole crawl needs, answered as fast as the machine is.
    pub fn small(seed: u64) -> Self {
        Self {
            seed,
            servers: 8,
            pages: 200,
            // In-links and out-links of the web fall with exponents of about 2.1 and 2.7:
            // Broder et al., "Graph structure in the web" (2000).
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
}

impl Plan {
    /// The web of the two-level scheduling experiment (`theory.md`, §3): 500 servers with 30,000 pages,
    /// which all may be fetched, never change and answer with a text.
    ///
    /// The paper does not print its times. A round trip of 30 ms and an answer in 80 ms are our guess
    /// at a crawler's own continent; a spread of e around them makes one server in forty seven times
    /// slower, and one in seven hundred twenty times. Nothing is compressed, to leave the
    /// processor to the crawler.
    ///
    /// One request after the other keeps connections busy for 5,500 to 6,100 s (seeds 1 to 5), 90 s of 64
    /// connections; but one large and slow server takes 280 to 400 s alone, and no order can end sooner.
    pub fn two_level(seed: u64) -> Self {
        let none = RobotsShares {
            rules: 0.0,
            delay: 0.0,
            missing: 0.0,
            broken: 0.0,
        };
        let spread = |median| Spread { median, sigma: 1.0 };
        let small = Self::small(seed);
        Self {
            servers: 500,
            pages: 30_000,
            latency: Latency::PerServer {
                connect: spread(0.03),
                response: spread(0.08),
            },
            robots: none,
            faults: Faults {
                redirects: 0.0,
                gone: 0.0,
                broken: 0.0,
                busy: 0.0,
            },
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
    /// What the servers of the two-level scheduling experiment did (`theory.md`, §3): 24% answered one
    /// request a connection, 66% a hundred.
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
